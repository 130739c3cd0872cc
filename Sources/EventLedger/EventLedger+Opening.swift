// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite

extension EventLedger {
    /// Opens the ledger in `directory`, or makes one, and says which.
    ///
    /// The directory is made with mode 0700 when it is missing, its parent is not; the files have mode 0600. A ledger
    /// that is damaged is renamed, never removed, and a new one takes its place. What counts as damage: not a
    /// database, SQLite's quick check failing (below 256 MiB; of larger ones the header, the schema and the last
    /// batches are checked), or a wrong checksum among the last batches. A batch damaged further back is found when
    /// it is read and can be skipped there.
    /// - Parameters:
    ///   - directory: the directory; one ledger fits into it.
    ///   - durability: what a commit survives.
    ///   - now: the time for what is made or set aside, in microseconds since 1970 UTC.
    /// - Throws: ``LedgerError/locked(directory:holder:)`` when another ledger works there,
    ///   ``LedgerError/newerSchema(found:supported:path:)`` for one of a newer version, which stays untouched.
    public static func open(
        directory: String,
        durability: LedgerDurability,
        now: Int64
    ) throws(LedgerError) -> (ledger: EventLedger, opening: LedgerOpening) {
        try open(directory: directory, durability: durability, now: now, limits: LedgerLimits())
    }

    static func open(
        directory: String,
        durability: LedgerDurability,
        now: Int64,
        limits: LedgerLimits
    ) throws(LedgerError) -> (ledger: EventLedger, opening: LedgerOpening) {
        let files = LedgerFiles(directory: directory)
        try files.makeDirectory()
        let lock = try DirectoryLock(directory: directory)
        return try files.withReserve { () throws(LedgerError) in
            try openOrMake(files, lock: lock, durability: durability, now: now, limits: limits)
        }
    }

    private static func openOrMake(
        _ files: LedgerFiles,
        lock: DirectoryLock,
        durability: LedgerDurability,
        now: Int64,
        limits: LedgerLimits
    ) throws(LedgerError) -> (ledger: EventLedger, opening: LedgerOpening) {
        var opening: LedgerOpening
        switch try LedgerInspection.inspect(files, limits: limits) {
        case .blank: opening = .created
        case .sound: opening = .opened
        case .damaged(let reason): opening = .setAside(path: try files.setAside(at: now), reason: reason)
        }
        do {
            return (try open(files, lock: lock, durability: durability, now: now, limits: limits), opening)
        } catch .corrupt(let detail) where opening == .opened {
            opening = .setAside(path: try files.setAside(at: now), reason: detail)
            return (try open(files, lock: lock, durability: durability, now: now, limits: limits), opening)
        }
    }

    /// Opens files that were inspected; `now` is the time for a new ledger.
    static func open(
        _ files: LedgerFiles,
        lock: DirectoryLock,
        durability: LedgerDurability,
        now: Int64,
        limits: LedgerLimits
    ) throws(LedgerError) -> EventLedger {
        try files.protectDatabase()
        let isNew = try LedgerFiles.size(of: files.database) == 0
        let connection = try connect(to: files, setUp: limits.writerSetUp(durability, isNew: isNew))
        try LedgerSchema.migrate(connection) { (database) throws(LedgerError) in
            try MetaTable(database).create(at: now)
        }
        try files.synchronizeDirectory()
        let (identity, end) = try connection.transaction(.deferred) { (database) throws(LedgerError) in
            try (MetaTable(database).identity(), lastPosition(in: database))
        }
        let reader = try LedgerReader(files: files, limits: limits)
        return EventLedger(connection: connection, reader: reader, identity: identity, end: end, lock: lock)
    }

    /// Opens the writing connection. The file can be written by now, so that what SQLite takes for read-only is a
    /// damaged header.
    private static func connect(to files: LedgerFiles, setUp: [String]) throws(LedgerError) -> LedgerConnection {
        do throws(LedgerError) {
            let connection = try LedgerConnection(path: files.database, readOnly: false, setUp: setUp)
            let mayWrite = try connection.access { (database) throws(LedgerError) in
                unsafe sqlite3_db_readonly(database.sqliteConnection, "main") == 0
            }
            guard mayWrite else { throw LedgerError.corrupt(detail: "its header says that nobody may write") }
            return connection
        } catch .other(let code, let message) where code & 0xFF == SQLITE_READONLY {
            throw LedgerError.corrupt(detail: message)
        }
    }

    /// The greatest position that anything in the database speaks of, so that no number is given twice even when rows
    /// were removed by hand.
    private static func lastPosition(in database: Database) throws(LedgerError) -> LedgerPosition {
        var end = try MetaTable(database).pruned()
        var positions = try PositionTable(database).all().map(\.position)
        if let newest = try BatchTable(database).newest() {
            positions.append(newest.position)
        }
        for position in positions {
            end.batch = max(end.batch, position.batch)
            end.sequence = max(end.sequence, position.sequence)
        }
        return end
    }
}
