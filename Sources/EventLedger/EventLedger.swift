// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Synchronization

/// The durable, ordered record of accepted events, in an SQLite database with a write-ahead log.
///
/// Its unit is the batch. Batches have contiguous ids and events contiguous sequence numbers, both from 1 and neither
/// ever given twice. Projections keep their state and their position here too, so that both change together. One
/// process works on a directory at a time; within it, any thread may call, and writers take turns. All calls block
/// for as long as the disk takes.
public final class EventLedger: Sendable {
    /// Reads without waiting for the writer.
    public let reader: LedgerReader

    /// The ledger's id: 16 random bytes in hexadecimal, made once.
    public let id: String

    /// When the ledger was made, in microseconds since 1970 UTC.
    public let createdAt: Int64

    let connection: LedgerConnection
    private let end: Mutex<LedgerPosition>
    private let lock: Mutex<DirectoryLock?>
    let upkeep = Mutex<[String: StateUpkeep]>([:])

    /// The position of the last batch that was committed.
    public var position: LedgerPosition {
        end.withLock { $0 }
    }

    init(
        connection: LedgerConnection,
        reader: LedgerReader,
        identity: (id: String, createdAt: Int64),
        end: LedgerPosition,
        lock: DirectoryLock
    ) {
        self.connection = connection
        self.reader = reader
        id = identity.id
        createdAt = identity.createdAt
        self.end = Mutex(end)
        self.lock = Mutex(lock)
    }

    /// Appends batches in one transaction and returns the position after the last of them.
    ///
    /// When it returns, they are as durable as the ledger was opened for. When it throws, none of them is there, and
    /// the numbers that they would have had go to the next ones.
    @discardableResult
    public func append(_ batches: [LedgerBatch]) throws(LedgerError) -> LedgerPosition {
        for batch in batches where batch.receipt.count + batch.events.count > LedgerBatch.maximumBytes {
            throw LedgerError.refused(
                detail: "a batch may have \(LedgerBatch.maximumBytes) bytes, this one has "
                    + "\(batch.receipt.count + batch.events.count)"
            )
        }
        guard !batches.isEmpty else { return position }
        return try connection.access { (database) throws(LedgerError) in
            let start = position
            let end = try LedgerConnection.transaction(.immediate, in: database) { (database) throws(LedgerError) in
                let table = BatchTable(database)
                var end = start
                for batch in batches {
                    let (sequence, overflow) = end.sequence.addingReportingOverflow(UInt64(batch.count))
                    guard !overflow, sequence < UInt64(Int64.max), end.batch < Int64.max else {
                        throw LedgerError.refused(detail: "the ledger has no numbers left after \(end)")
                    }
                    try table.insert(batch, id: end.batch + 1, firstSequence: end.sequence + 1)
                    end = LedgerPosition(batch: end.batch + 1, sequence: sequence)
                }
                return end
            }
            self.end.withLock { $0 = end }
            return end
        }
    }

    /// Commits a transaction that writes a page and changes nothing: proof that the ledger can be written now.
    public func touch() throws(LedgerError) {
        try connection.transaction(.immediate) { (database) throws(LedgerError) in try MetaTable(database).touch() }
    }

    /// Closes the files and lets go of the directory; every later call throws.
    ///
    /// The log is moved into the database, so that only one file is left beside the lock and the reserve.
    public func close() throws(LedgerError) {
        try reader.connection.close()
        try connection.close()
        reader.files.makeReserve()
        lock.withLock { $0 = nil }
    }
}
