// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Collector

extension TimeSpan: ExpressibleByArgument {
    /// Nil for a text that is no time.
    public init?(argument: String) {
        self.init(argument)
    }
}
