// SPDX-License-Identifier: Apache-2.0

/// The size and the ends of the ledger.
public struct LedgerStatistics: Sendable, Equatable {
    /// How many batches it holds.
    public let batches: Int64
    /// How many events the batches that it holds carry.
    public let events: UInt64
    /// The position before the oldest batch that it still holds; what was pruned ends here.
    public let pruned: LedgerPosition
    /// The position of the newest batch, or of the last one that was pruned.
    public let end: LedgerPosition
    /// When the oldest batch was received, in microseconds since 1970 UTC; nil when there is none.
    public let oldestReceivedAt: Int64?
    /// The bytes of the database file.
    public let databaseBytes: Int64
    /// The bytes of its write-ahead log.
    public let logBytes: Int64
    /// The bytes that the file system still gives to this process for the ledger; nil when it doesn't say.
    public let availableBytes: Int64?
    /// The bytes of memory that SQLite uses in this process, for all its connections.
    public let memoryBytes: Int64

    /// The bytes on disk of all the ledger's files that grow.
    public var bytesOnDisk: Int64 { databaseBytes + logBytes }
}
