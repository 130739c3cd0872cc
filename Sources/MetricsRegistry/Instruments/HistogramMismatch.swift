// SPDX-License-Identifier: Apache-2.0

/// Bucket counts that don't fit the histogram they were meant for; nothing of them was taken.
public struct HistogramMismatch: Error, Sendable, Hashable {
    /// The number of counts that the histogram takes: one for each bound and one for +Inf.
    public let expected: Int
    /// The number of counts that were given.
    public let found: Int
}

extension HistogramMismatch: CustomStringConvertible {
    /// What was expected and found, and what to do.
    public var description: String {
        "expected \(expected) bucket counts (one a bound and one for +Inf), found \(found); "
            + "tally with the bounds that the histogram was registered with"
    }
}
