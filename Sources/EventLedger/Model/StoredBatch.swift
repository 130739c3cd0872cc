// SPDX-License-Identifier: Apache-2.0

/// A batch as it is read back, with the id and the sequence numbers that it was given.
public struct StoredBatch: Sendable, Equatable {
    /// The id; ids are contiguous from 1 and never given twice.
    public let id: Int64
    /// The sequence number of its first event, or of the next event to come when it has none.
    public let firstSequence: UInt64
    /// What was appended.
    public let batch: LedgerBatch

    /// The position after this batch.
    public var position: LedgerPosition {
        LedgerPosition(batch: id, sequence: firstSequence + UInt64(batch.count) - 1)
    }

    /// Makes a stored batch; `firstSequence` starts at 1.
    init(id: Int64, firstSequence: UInt64, batch: LedgerBatch) {
        self.id = id
        self.firstSequence = firstSequence
        self.batch = batch
    }
}
