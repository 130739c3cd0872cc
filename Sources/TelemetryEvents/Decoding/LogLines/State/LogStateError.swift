// SPDX-License-Identifier: Apache-2.0

/// The saved state of a log's decoder cannot be read.
public struct LogStateError: Error, Sendable, CustomStringConvertible {
    /// What is wrong with it.
    public let problem: String

    /// What was expected, what was found and what to do.
    public var description: String {
        "expected the saved state of a log's decoder, found \(problem); the log is read on without it, so that lines may bind "
            + "to new cycles"
    }
}
