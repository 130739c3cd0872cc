// SPDX-License-Identifier: Apache-2.0

/// Why the service cannot start: one sentence for the operator.
package struct CollectorError: Error, Sendable, CustomStringConvertible {
    /// What was expected, what was found and what to do.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
