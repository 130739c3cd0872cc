// SPDX-License-Identifier: Apache-2.0

/// Why a figure could not be had.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
