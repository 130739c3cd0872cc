// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite

/// One connection to the ledger's database; its callers take turns.
final class LedgerConnection: Sendable {
    private let queue: DatabaseQueue

    /// Opens `path`, which may be a URI, and prepares the connection with `setUp`, a list of statements.
    init(path: String, readOnly: Bool, setUp: [String]) throws(LedgerError) {
        var configuration = Configuration()
        configuration.readonly = readOnly
        configuration.foreignKeysEnabled = false
        // GRDB would trap on a transaction that is still open after a failed rollback; ``transaction(_:in:_:)`` rolls it
        // back before the next one instead.
        configuration.allowsUnsafeTransactions = true
        configuration.busyMode = .timeout(Self.busySeconds)
        configuration.label = readOnly ? "ledger.read" : "ledger.write"
        configuration.prepareDatabase { database in
            // The last statement reads the file's header, so that a damaged one is reported while there is a connection
            // to ask for details.
            for statement in setUp + ["SELECT 1 FROM sqlite_schema LIMIT 1"] {
                try LedgerStatement(statement, in: database).run()
            }
        }
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
        } catch {
            throw LedgerError(error, in: nil)
        }
    }

    /// How long a connection waits for a lock that another program holds, such as a backup tool.
    private static let busySeconds = 5.0

    /// Runs `body` outside a transaction: every statement is its own.
    func access<R>(_ body: (Database) throws(LedgerError) -> R) throws(LedgerError) -> R {
        let result: Result<R, LedgerError> = queue.unsafeRead { database in
            Result { () throws(LedgerError) -> R in try body(database) }
        }
        return try result.get()
    }

    /// When a transaction takes the write lock: not at all, or before its first statement.
    enum TransactionKind {
        case deferred, immediate

        /// Cached by ``transaction(_:in:_:)``: GRDB's own transactions compile it each time, which nearly doubles the
        /// processor time of a small commit.
        fileprivate var beginning: String {
            switch self {
            case .deferred: "BEGIN DEFERRED TRANSACTION"
            case .immediate: "BEGIN IMMEDIATE TRANSACTION"
            }
        }
    }

    /// Runs `body` in one transaction and rolls it back when `body` or the commit throws.
    func transaction<R>(
        _ kind: TransactionKind,
        _ body: (Database) throws(LedgerError) -> R
    ) throws(LedgerError) -> R {
        try access { (database) throws(LedgerError) in
            try Self.transaction(kind, in: database, body)
        }
    }

    /// Runs `body` in one transaction within ``access(_:)``.
    static func transaction<R>(
        _ kind: TransactionKind,
        in database: Database,
        _ body: (Database) throws(LedgerError) -> R
    ) throws(LedgerError) -> R {
        let outcome: Result<R, LedgerError>
        do {
            if database.isInsideTransaction { try database.rollback() }
            try database.cachedStatement(sql: kind.beginning).execute()
            outcome = Result { () throws(LedgerError) -> R in try body(database) }
            if case .success = outcome {
                try database.cachedStatement(sql: "COMMIT TRANSACTION").execute()
            } else {
                try? database.rollback()
            }
        } catch {
            let failure = LedgerError(error, in: database)
            try? database.rollback()
            throw failure
        }
        return try outcome.get()
    }

    /// Runs `body`, whose commits survive a power failure whatever the connection was prepared for.
    static func durably<R>(in database: Database, _ body: () throws(LedgerError) -> R) throws(LedgerError) -> R {
        let level = try LedgerSchema.integer("PRAGMA synchronous", in: database)
        guard level < fullySynchronous else { return try body() }
        try LedgerStatement("PRAGMA synchronous = \(fullySynchronous)", in: database).run()
        let result = Result { () throws(LedgerError) -> R in try body() }
        try LedgerStatement("PRAGMA synchronous = \(level)", in: database).run()
        return try result.get()
    }

    /// `FULL`: every commit waits for the disk.
    private static let fullySynchronous: Int64 = 2

    /// Cuts free pages off the end of the file.
    ///
    /// - Parameters:
    ///   - keptBytes: how many free bytes stay in the file.
    ///   - limitBytes: how many bytes the file shrinks by at most.
    func releaseFreePages(keepingBytes keptBytes: Int64, limitBytes: Int) throws(LedgerError) {
        try access { (database) throws(LedgerError) in
            let pageBytes = try max(1, LedgerSchema.integer("PRAGMA page_size", in: database))
            let free = try LedgerSchema.integer("PRAGMA freelist_count", in: database)
            let excess = min(free - keptBytes / pageBytes, Int64(max(0, limitBytes)) / pageBytes)
            guard excess > 0 else { return }
            let statement = try LedgerStatement("PRAGMA incremental_vacuum(\(excess))", in: database)
            defer { statement.reset() }
            try statement.run()
        }
    }

    /// The size of the database with what is still in the log, and of its free pages, in bytes.
    func pageSizes() throws(LedgerError) -> (database: Int64, free: Int64) {
        try access { (database) throws(LedgerError) in
            let pageBytes = try LedgerSchema.integer("PRAGMA page_size", in: database)
            let pages = try LedgerSchema.integer("PRAGMA page_count", in: database)
            return try (pages * pageBytes, LedgerSchema.integer("PRAGMA freelist_count", in: database) * pageBytes)
        }
    }

    /// Moves the write-ahead log into the database, as far as no reader needs it, so that the next commit starts the log
    /// anew and the database's file ends where its pages do.
    ///
    /// SQLite does so by itself when the log is long, and then ignores that there was no space.
    ///
    /// - Parameter truncating: whether the log's file is cut to nothing; waits for readers for a moment.
    func writeBackLog(truncating: Bool = false) throws(LedgerError) {
        try access { (database) throws(LedgerError) in
            do {
                if database.isInsideTransaction { try database.rollback() }
            } catch {
                throw LedgerError(error, in: database)
            }
            let connection = unsafe database.sqliteConnection
            _ = unsafe sqlite3_busy_timeout(connection, Self.truncationMilliseconds)
            let mode = truncating ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
            let code = unsafe sqlite3_wal_checkpoint_v2(connection, nil, mode, nil, nil)
            let systemError = unsafe SQLiteSystemError.last(of: connection, code)
            let message = unsafe sqlite3_errmsg(connection).map { unsafe String(cString: $0) }
            _ = unsafe sqlite3_busy_timeout(connection, Int32(Self.busySeconds * 1_000))
            guard code == SQLITE_OK || code & 0xFF == SQLITE_BUSY || code & 0xFF == SQLITE_LOCKED else {
                throw LedgerError(code: code, systemError: systemError, message: message ?? "no message")
            }
        }
    }

    /// How long ``writeBackLog(truncating:)`` waits for readers.
    private static let truncationMilliseconds: Int32 = 50

    /// Closes the connection; every later use throws.
    func close() throws(LedgerError) {
        do {
            try queue.close()
        } catch {
            throw LedgerError(error, in: nil)
        }
    }
}

/// The sizes that a ledger is opened with, and the PRAGMAs that set them.
struct LedgerLimits: Sendable {
    /// 8 KiB, the fastest of 4 to 32 KiB for batches of 60 KB and of 200 bytes alike, within the noise.
    var pageBytes = 8 << 10

    /// The size of the write-ahead log at which a commit checkpoints it into the database: so small that such a commit
    /// takes some 20 ms with its two fsyncs, and that a start after a crash reads little.
    var logBytes = 4 << 20

    /// What the log is truncated to after a long read let it grow.
    var keptLogBytes = 32 << 20

    /// The file size below which opening checks every page: 256 MiB, well under a second.
    var fullCheckBytes: Int64 = 256 << 20

    /// The last batches whose pages opening reads in a larger file.
    var tail = ReadLimit(batches: 64, bytes: 16 << 20)

    /// The page cache of one connection.
    var cacheBytes = 2 << 20

    /// The same with a log that suits a file system of that size.
    func fitted(toTotal bytes: Int64) -> LedgerLimits {
        var limits = self
        let step = LedgerRoom.stepBytes(ofTotal: bytes)
        limits.logBytes = min(logBytes, Int(step))
        limits.keptLogBytes = min(keptLogBytes, Int(max(4 * step, min(bytes / 16, 32 << 20))))
        return limits
    }

    /// The statements that prepare the writing connection.
    ///
    /// Page size and `auto_vacuum` are set on a new file only: in an existing one SQLite would write the latter again,
    /// for which there may be no space. `secure_delete`, on by default in Debian's SQLite, makes pruning twelve times
    /// slower, and nothing stored here has to be wiped.
    func writerSetUp(_ durability: LedgerDurability, isNew: Bool) -> [String] {
        (isNew ? ["PRAGMA page_size = \(pageBytes)", "PRAGMA auto_vacuum = INCREMENTAL"] : []) + [
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = \(durability == .power ? "FULL" : "NORMAL")",
            "PRAGMA wal_autocheckpoint = \(max(1, logBytes / pageBytes))",
            "PRAGMA journal_size_limit = \(keptLogBytes)",
            "PRAGMA secure_delete = OFF",
        ] + readerSetUp
    }

    /// The statements that prepare every connection.
    var readerSetUp: [String] {
        [
            "PRAGMA cache_size = -\(max(64, cacheBytes >> 10))",
            "PRAGMA temp_store = MEMORY",
            "PRAGMA trusted_schema = OFF",
            "PRAGMA cell_size_check = ON",
        ]
    }
}
