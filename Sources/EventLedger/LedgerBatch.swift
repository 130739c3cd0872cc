// SPDX-License-Identifier: Apache-2.0

/// The ledger's unit: the accepted events of one submission, and the receipt for the others.
///
/// The ledger does not decode `receipt` and `events`. A batch with a `count` of 0 takes no sequence numbers; it
/// holds only its receipt, such as counts of duplicates or a recorded tick of the clock.
public struct LedgerBatch: Sendable, Equatable {
    /// The maximum size of `receipt` and `events` together: 64 MiB.
    public static let maximumBytes = 64 << 20

    /// When it was received, in microseconds since 1970 UTC.
    public var receivedAt: Int64
    /// A code for source and format, opaque to the ledger.
    public var origin: UInt16
    /// How many events `events` holds, which is how many sequence numbers the batch takes.
    public var count: UInt32
    /// The counts of duplicates and rejections, opaque to the ledger.
    public var receipt: [UInt8]
    /// The encoded events, opaque to the ledger.
    public var events: [UInt8]

    /// Makes a batch; the arrays are not copied.
    public init(receivedAt: Int64, origin: UInt16, count: UInt32, receipt: [UInt8], events: [UInt8]) {
        self.receivedAt = receivedAt
        self.origin = origin
        self.count = count
        self.receipt = receipt
        self.events = events
    }
}

extension LedgerBatch {
    /// The checksum stored with the batch: over the receipt, then the events, seeded with the sequence number, so that a
    /// misplaced batch is found too.
    func checksum(firstSequence: UInt64) -> Int64 {
        let receiptHash = XXH64.hash(receipt, seed: firstSequence)
        return Int64(bitPattern: XXH64.hash(events, seed: receiptHash))
    }
}

/// A batch as read from the ledger, with its id and its sequence numbers.
public struct StoredBatch: Sendable, Equatable {
    /// The id; ids are contiguous from 1 and never reused.
    public let id: Int64
    /// The sequence number of its first event, or of the next batch's first event when it has none.
    public let firstSequence: UInt64
    /// The batch as it was appended.
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
    /// The position for a log line.
    public var description: String {
        "batch \(batch), sequence \(sequence)"
    }
}

/// The last recorded position of a projection.
public struct ProjectionPosition: Sendable, Equatable {
    /// The projection's name.
    public let projection: String
    /// The projection includes everything up to here.
    public let position: LedgerPosition
    /// A text of the projection's own, such as the cursor of the last confirmed journal entry.
    public let note: String
    /// When it was recorded, in microseconds since 1970 UTC.
    public let updatedAt: Int64
}
