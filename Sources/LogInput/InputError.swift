// SPDX-License-Identifier: Apache-2.0

/// An input that cannot be read, in words for the one who named it.
public struct InputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The input as it was named.
    public let input: String
    /// What is wrong with it, and what to do.
    public let problem: String

    /// The input and its problem.
    public var description: String { "\(PlainText.line(input)): \(problem)" }
}
