// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite

/// Reads a ledger through a connection of its own, which neither waits for the writer nor blocks it.
///
/// Every ``EventLedger`` has one; another may be opened beside a running service. Calls block for the time of the read,
/// and callers on different threads take turns.
public final class LedgerReader: Sendable {
    let files: LedgerFiles
    private let connection: LedgerConnection

    /// Opens the ledger in `directory` read-only, whether or not a service writes to it.
    ///
    /// The process needs permission to write in the directory: readers of a write-ahead log share its index.
    public static func open(directory: String) throws(LedgerError) -> LedgerReader {
        let files = LedgerFiles(directory: directory)
        guard let size = try files.databaseBytes(), size > 0 else {
            throw LedgerError.absent(path: files.database)
        }
        try files.requireDatabaseFiles(followsLinks: true)
        let reader = try LedgerReader(files: files, limits: LedgerLimits())
        try reader.connection.access { (database) throws(LedgerError) in
            let application = try LedgerSchema.integer("PRAGMA application_id", in: database)
            guard application == LedgerSchema.applicationID else {
                guard try !files.isInCreation() else { throw LedgerError.absent(path: files.database) }
                throw LedgerError.corrupt(
                    detail: "application id \(LedgerSchema.applicationID) expected, \(application) found"
                )
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
        connection = try LedgerConnection(path: files.databaseName, readOnly: true, setUp: limits.readerSetUp)
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

    /// Reads from the batch that holds the event `sequence + 1`, in order; its first events may precede that one.
    ///
    /// It finds the batch in O(log n) look-ups.
    public func read(
        afterSequence sequence: UInt64,
        limit: ReadLimit = ReadLimit()
    ) throws(LedgerError) -> [StoredBatch] {
        try connection.transaction(.deferred) { (database) throws(LedgerError) in
            let table = BatchTable(database)
            return try table.read(after: table.lastBatch(endingBy: sequence), limit: limit)
        }
    }

    /// The damaged ones among the last batches up to one with an id, the newest first.
    ///
    /// A recovery does not read what a checkpoint has. It is still to be journaled, or dumped, and a disk that begins to fail
    /// shows there first.
    public func damagedBatches(
        upTo batch: Int64,
        limit: ReadLimit = ReadLimit(batches: 64, bytes: 16 << 20)
    ) throws(LedgerError) -> [Int64] {
        try connection.access { (database) throws(LedgerError) in
            try BatchTable(database).damagedTail(upTo: batch, limit)
        }
    }

    /// The last recorded position of a projection; nil when there is none.
    public func position(of projection: String) throws(LedgerError) -> ProjectionPosition? {
        try connection.access { (database) throws(LedgerError) in
            try PositionTable(database).get(projection)
        }
    }

    /// The positions of all projections, sorted by name.
    public func positions() throws(LedgerError) -> [ProjectionPosition] {
        try connection.access { (database) throws(LedgerError) in
            try PositionTable(database).all()
        }
    }

    /// Passes the saved pages of a projection whose keys start with `keyPrefix` to `body`, in the order of their keys,
    /// and returns the position that they are true for.
    ///
    /// Pages and position are read in one transaction. One page is in memory at a time.
    /// - Throws: ``LedgerError/damagedState(projection:key:)`` at the first page whose checksum is wrong; `body` has
    ///   had the pages before it.
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

    /// The ledger's id (32 hexadecimal digits) and when it was created, in microseconds since 1970 UTC.
    public func identity() throws(LedgerError) -> (id: String, createdAt: Int64) {
        try connection.access { (database) throws(LedgerError) in
            try MetaTable(database).identity()
        }
    }

    /// The lives of the ledger, the newest last.
    public func lives() throws(LedgerError) -> [LedgerLife] {
        try connection.access { (database) throws(LedgerError) in try LifeTable(database).all() }
    }

    /// What the mark beside the database shows as acknowledged.
    ///
    /// Read it before the batches: the service writes it after them.
    public func acknowledged() throws(LedgerError) -> LedgerAcknowledgement {
        switch try LedgerMark.read(files) {
        case .read(let life, let position): return .read(life: life, position: position)
        case .unreadable: return .unreadable
        case .absent:
            return try connection.access { (database) throws(LedgerError) in
                guard try LedgerSchema.version(of: database) >= LedgerSchema.firstWithLives else { return .never }
                return try MetaTable(database).witnesses().isMarked ? .absent : .never
            }
        }
    }

    /// The size of the ledger and its first and last positions, in a few look-ups.
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
            databaseBytes: files.size(of: files.database) ?? 0,
            logBytes: files.size(of: files.log) ?? 0,
            availableBytes: files.availableBytes,
            memoryBytes: sqlite3_memory_used()
        )
    }

    /// The bytes of the database that are in use: what deleting batches makes free at once, though the file shrinks later.
    public func usedBytes() throws(LedgerError) -> Int64 {
        try connection.transaction(.deferred) { (database) throws(LedgerError) in
            let pages = try LedgerSchema.integer("PRAGMA page_count", in: database)
            let free = try LedgerSchema.integer("PRAGMA freelist_count", in: database)
            return (pages - free) * (try LedgerSchema.integer("PRAGMA page_size", in: database))
        }
    }

    /// The findings of SQLite's integrity check of the whole file; empty when it is sound.
    ///
    /// At most ``LedgerVerification/maximumFindings``. It reads every page in one transaction; what a running service
    /// commits meanwhile stays in the write-ahead log until it ends. It does not verify checksums of batches: see
    /// ``verify(afterBatch:limit:)``.
    public func integrityFindings() throws(LedgerError) -> [String] {
        try connection.access { (database) throws(LedgerError) in
            let check = try LedgerStatement(
                "PRAGMA integrity_check(\(LedgerVerification.maximumFindings))",
                in: database
            )
            defer { check.reset() }
            var findings: [String] = []
            do throws(LedgerError) {
                while try check.step() { findings.append(check.text(0)) }
            } catch .corrupt(let detail) {
                findings.append(detail)
            }
            return findings == ["ok"] ? [] : findings
        }
    }

    /// Verifies batches: their checksums, and that ids and sequence numbers have no gaps.
    ///
    /// Call it again with ``LedgerVerification/next`` until that is nil; each call reads up to `limit`.
    public func verify(
        afterBatch batch: Int64 = 0,
        limit: ReadLimit = ReadLimit(batches: 4096, bytes: 64 << 20)
    ) throws(LedgerError) -> LedgerVerification {
        try connection.access { (database) throws(LedgerError) in
            var verification = LedgerVerification()
            var bytes = 0
            var previous: LedgerPosition?
            try BatchTable(database).scan(after: batch) { (row) throws(LedgerError) in
                verification.batches += 1
                switch row {
                case .success(let stored):
                    verification.events += UInt64(stored.batch.count)
                    bytes += stored.batch.receipt.count + stored.batch.events.count
                    if let previous,
                        stored.id != previous.batch + 1 || stored.firstSequence != previous.sequence + 1
                    {
                        verification.findings.append(
                            .init(
                                batch: stored.id,
                                detail: "it begins with sequence \(stored.firstSequence) and follows \(previous)"
                            )
                        )
                    }
                    previous = stored.position
                    verification.next = stored.id
                case .failure(.damagedBatch(let id, let detail)):
                    verification.findings.append(.init(batch: id, detail: detail))
                    previous = nil
                    verification.next = id
                case .failure(let error):
                    throw error
                }
                return verification.batches < limit.batches && bytes < limit.bytes
                    && verification.findings.count < LedgerVerification.maximumFindings
            }
            let isFull =
                verification.batches >= limit.batches || bytes >= limit.bytes
                || verification.findings.count >= LedgerVerification.maximumFindings
            if !isFull { verification.next = nil }
            return verification
        }
    }

    func close() throws(LedgerError) {
        try connection.close()
    }
}

/// What the mark beside a ledger's database shows (docs/ledger.md#lives).
public enum LedgerAcknowledgement: Sendable, Equatable {
    /// There is none, and none was written so far.
    case never
    /// It is gone.
    case absent
    /// It is cut, or its checksum is wrong.
    case unreadable
    /// Everything up to a position was acknowledged in a life.
    case read(life: String, position: LedgerPosition)
}

/// The maximum size of one read.
public struct ReadLimit: Sendable, Hashable {
    /// The maximum number of batches, at least 1.
    public var batches: Int
    /// The number of bytes after which no further batch is read. A read returns at least one batch if there is one, so
    /// it exceeds this by less than ``LedgerBatch/maximumBytes``.
    public var bytes: Int

    /// Makes a limit; the defaults are 1,024 batches and 4 MiB.
    public init(batches: Int = 1024, bytes: Int = 4 << 20) {
        self.batches = max(1, batches)
        self.bytes = max(1, bytes)
    }
}

/// The result of verifying a part of the ledger.
public struct LedgerVerification: Sendable, Equatable {
    /// How many batches were read.
    public internal(set) var batches = 0
    /// How many events the sound batches hold.
    public internal(set) var events: UInt64 = 0
    /// The damaged or misplaced batches, in order; at most ``maximumFindings``.
    public internal(set) var findings: [Finding] = []
    /// The last batch that was read, after which the next call continues; nil at the end of the ledger.
    public internal(set) var next: Int64?

    /// The maximum number of findings of one call.
    public static let maximumFindings = 100

    /// A damaged or misplaced batch.
    public struct Finding: Sendable, Equatable {
        /// The batch's id.
        public let batch: Int64
        /// What was expected and what was found.
        public let detail: String
    }
}

/// The size of the ledger and its first and last positions.
public struct LedgerStatistics: Sendable, Equatable {
    /// How many batches it holds.
    public let batches: Int64
    /// How many events those batches hold.
    public let events: UInt64
    /// The position before the oldest batch: everything up to here was pruned.
    public let pruned: LedgerPosition
    /// The position of the newest batch, or of the last pruned one.
    public let end: LedgerPosition
    /// When the oldest batch was received, in microseconds since 1970 UTC; nil when there is none.
    public let oldestReceivedAt: Int64?
    /// The bytes of the database file.
    public let databaseBytes: Int64
    /// The bytes of its write-ahead log.
    public let logBytes: Int64
    /// The bytes available to unprivileged processes on the ledger's file system; nil when unknown.
    public let availableBytes: Int64?
    /// The bytes of memory that SQLite uses in this process, over all connections.
    public let memoryBytes: Int64

    /// The bytes of the database and its log.
    public var bytesOnDisk: Int64 { databaseBytes + logBytes }
}
