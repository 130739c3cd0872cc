// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite

/// Reads a ledger through a connection of its own, which neither waits for the writer nor holds it up.
///
/// One is part of every ``EventLedger``; another may be opened beside a running service to look inside. Calls block
/// for the time of the read, and callers on different threads take turns.
public final class LedgerReader: Sendable {
    let connection: LedgerConnection
    let files: LedgerFiles

    /// Opens the ledger in `directory` for reading alone, whether or not a service works on it.
    ///
    /// The process needs permission to write in the directory: readers of a write-ahead log share its index.
    public static func open(directory: String) throws(LedgerError) -> LedgerReader {
        let files = LedgerFiles(directory: directory)
        guard let size = try LedgerFiles.size(of: files.database), size > 0 else {
            throw LedgerError.absent(path: files.database)
        }
        let reader = try LedgerReader(files: files, limits: LedgerLimits())
        try reader.connection.access { (database) throws(LedgerError) in
            guard try LedgerSchema.integer("PRAGMA application_id", in: database) == LedgerSchema.applicationID else {
                throw LedgerError.absent(path: files.database)
            }
            let version = try LedgerSchema.version(of: database)
            guard version <= LedgerSchema.version else {
                throw LedgerError.newerSchema(found: version, supported: LedgerSchema.version, path: files.database)
            }
        }
        return reader
    }

    init(files: LedgerFiles, limits: LedgerLimits) throws(LedgerError) {
        self.files = files
        connection = try LedgerConnection(path: files.database, readOnly: true, setUp: limits.readerSetUp)
    }

    /// Reads the batches that follow the batch with the given id, in order.
    ///
    /// Checksums are verified. A damaged batch ends the read before it; when it is the first one, the call throws
    /// ``LedgerError/damagedBatch(id:detail:)`` and reading after that id skips it.
    public func read(afterBatch batch: Int64, limit: ReadLimit = ReadLimit()) throws(LedgerError) -> [StoredBatch] {
        try connection.access { (database) throws(LedgerError) in
            try BatchTable(database).read(after: batch, limit: limit)
        }
    }

    /// Reads from the batch that holds the event `sequence + 1` on, in order; its first events may precede that one.
    ///
    /// Finds the place in O(log n) look-ups.
    public func read(
        afterSequence sequence: UInt64,
        limit: ReadLimit = ReadLimit()
    ) throws(LedgerError) -> [StoredBatch] {
        try connection.transaction(.deferred) { (database) throws(LedgerError) in
            let table = BatchTable(database)
            return try table.read(after: table.lastBatch(endingBy: sequence), limit: limit)
        }
    }

    /// How far a projection has come; nil when it never recorded a position.
    public func position(of projection: String) throws(LedgerError) -> ProjectionPosition? {
        try connection.access { (database) throws(LedgerError) in
            try PositionTable(database).get(projection)
        }
    }

    /// How far every projection has come, by name.
    public func positions() throws(LedgerError) -> [ProjectionPosition] {
        try connection.access { (database) throws(LedgerError) in
            try PositionTable(database).all()
        }
    }

    /// Hands the saved pages of a projection whose keys start with `keyPrefix` to `body`, in the order of their keys,
    /// and returns the position that they are true for.
    ///
    /// Pages and position are of one moment. One page is in memory at a time.
    /// - Throws: ``LedgerError/damagedState(projection:key:)`` at the first page whose checksum is wrong; the pages
    ///   before it were handed over already.
    @discardableResult
    public func loadState(
        _ projection: String,
        keyPrefix: StateKey = "",
        _ body: (StateKey, [UInt8]) throws(LedgerError) -> Void
    ) throws(LedgerError) -> ProjectionPosition? {
        try connection.transaction(.deferred) { (database) throws(LedgerError) in
            let position = try PositionTable(database).get(projection)
            try StateTable(database).load(prefix: keyPrefix, of: projection, body)
            return position
        }
    }

    /// The ledger's id (32 hexadecimal digits, made once) and when it was made, in microseconds since 1970 UTC.
    public func identity() throws(LedgerError) -> (id: String, createdAt: Int64) {
        try connection.access { (database) throws(LedgerError) in
            try MetaTable(database).identity()
        }
    }

    /// The size and the ends of the ledger, in a few look-ups.
    public func statistics() throws(LedgerError) -> LedgerStatistics {
        let (pruned, oldest, newest) = try connection.transaction(.deferred) { (database) throws(LedgerError) in
            let table = BatchTable(database)
            return try (MetaTable(database).pruned(), table.oldest(), table.newest())
        }
        let start = oldest?.start ?? pruned
        let end = max(newest?.position ?? pruned, pruned)
        return try LedgerStatistics(
            batches: end.batch - min(start.batch, end.batch),
            events: end.sequence - min(start.sequence, end.sequence),
            pruned: pruned,
            end: end,
            oldestReceivedAt: oldest?.receivedAt,
            databaseBytes: LedgerFiles.size(of: files.database) ?? 0,
            logBytes: LedgerFiles.size(of: files.log) ?? 0,
            availableBytes: files.availableBytes,
            memoryBytes: sqlite3_memory_used()
        )
    }
}
