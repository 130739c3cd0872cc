// SPDX-License-Identifier: Apache-2.0

/// Why a test can't go on.
struct TestFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
