// SPDX-License-Identifier: Apache-2.0

/// Where in the ledger a batch came to lie.
public struct CommitPlacement: Sendable, Hashable {
    /// The batch's id.
    public let batch: Int64
    /// The sequence number of its first event, or of the next event to come when it has none.
    public let firstSequence: UInt64
    /// How many events it has.
    public let count: UInt32

    /// The position after the batch.
    public var position: LedgerPosition {
        LedgerPosition(batch: batch, sequence: firstSequence + UInt64(count) - 1)
    }

    init(following position: LedgerPosition, count: UInt32) {
        batch = position.batch + 1
        firstSequence = position.sequence + 1
        self.count = count
    }
}
