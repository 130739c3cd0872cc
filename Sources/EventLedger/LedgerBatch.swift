// SPDX-License-Identifier: Apache-2.0

/// What is appended in one piece: the events of one submission and the account of what became of the others.
///
/// The ledger does not look into `receipt` and `events`. A batch with a `count` of 0 takes no sequence numbers; it
/// carries only its receipt, such as an account of duplicates or a recorded tick of the clock.
public struct LedgerBatch: Sendable, Equatable {
    /// The most bytes that `receipt` and `events` may have together: 64 MiB.
    public static let maximumBytes = 64 << 20

    /// When it was received, in microseconds since 1970 UTC.
    public var receivedAt: Int64
    /// The code of source and format, opaque to the ledger.
    public var origin: UInt16
    /// How many events `events` holds, and so how many sequence numbers the batch takes.
    public var count: UInt32
    /// The account of duplicates and rejections, opaque to the ledger.
    public var receipt: [UInt8]
    /// The encoded events, opaque to the ledger.
    public var events: [UInt8]

    /// Makes a batch; nothing is copied beyond the arrays' own references.
    public init(receivedAt: Int64, origin: UInt16, count: UInt32, receipt: [UInt8], events: [UInt8]) {
        self.receivedAt = receivedAt
        self.origin = origin
        self.count = count
        self.receipt = receipt
        self.events = events
    }
}
