// SPDX-License-Identifier: Apache-2.0

/// A place in the ledger: everything up to and including `batch` and `sequence`.
public struct LedgerPosition: Hashable, Sendable {
    /// The id of the last batch, 0 before the first one.
    public var batch: Int64
    /// The sequence number of the last event, 0 before the first one.
    public var sequence: UInt64

    /// Before everything.
    public static let start = LedgerPosition(batch: 0, sequence: 0)

    /// Makes a position from its two coordinates.
    public init(batch: Int64, sequence: UInt64) {
        self.batch = batch
        self.sequence = sequence
    }
}

extension LedgerPosition: Comparable {
    /// Orders by batch, then by sequence; a batch without events moves only the first.
    public static func < (left: LedgerPosition, right: LedgerPosition) -> Bool {
        (left.batch, left.sequence) < (right.batch, right.sequence)
    }
}

extension LedgerPosition: CustomStringConvertible {
    /// The position as people read it in a log line.
    public var description: String {
        "batch \(batch), sequence \(sequence)"
    }
}
