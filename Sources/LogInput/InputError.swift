// SPDX-License-Identifier: Apache-2.0

internal import TextOutput

/// An input that cannot be read, in words for the one who named it.
package struct InputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The input as it was named.
    package let input: String
    /// What is wrong with it, and what to do.
    package let problem: String

    package init(input: String, problem: String) {
        self.input = input
        self.problem = problem
    }

    /// The input and its problem.
    package var description: String { "\(PlainText.line(input)): \(problem)" }
}
