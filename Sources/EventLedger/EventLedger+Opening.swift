// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite

extension EventLedger {
    /// Opens the ledger in `directory`, creating it when there is none.
    ///
    /// A missing directory is created with mode 0700, its parent is not; the files have mode 0600. A damaged ledger is
    /// renamed, never removed, and replaced by a new one. Damaged is a file that is no database or fails SQLite's quick
    /// check (below 256 MiB; of larger files the header, the schema, the pages of the last batches and the tables of state and
    /// positions are checked). A single damaged batch, wherever it is, is found when it is read and can be skipped there.
    /// - Parameters:
    ///   - directory: the directory; it holds one ledger.
    ///   - durability: what a commit survives.
    ///   - now: the time for what is created or set aside, in microseconds since 1970 UTC.
    /// - Throws: ``LedgerError/locked(directory:holder:)`` when another ledger has it open,
    ///   ``LedgerError/newerSchema(found:supported:path:)`` for one of a newer version, which stays unchanged.
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
        limits: LedgerLimits,
        disk: any LedgerDisk = SystemDisk()
    ) throws(LedgerError) -> (ledger: EventLedger, opening: LedgerOpening) {
        let files = LedgerFiles(directory: directory, disk: disk)
        try files.makeDirectory()
        try files.requireFiles()
        let lock = try DirectoryLock(files)
        return try files.withReserve { () throws(LedgerError) in
            try openOrCreate(files, lock: lock, durability: durability, now: now, limits: limits)
        }
    }

    private static func openOrCreate(
        _ files: LedgerFiles,
        lock: DirectoryLock,
        durability: LedgerDurability,
        now: Int64,
        limits: LedgerLimits
    ) throws(LedgerError) -> (ledger: EventLedger, opening: LedgerOpening) {
        var opening: LedgerOpening
        let resumesCreation = try files.isInCreation()
        func serve() throws(LedgerError) -> EventLedger {
            try Self.serve(
                files,
                lock: lock,
                durability: durability,
                now: now,
                limits: limits,
                resumesCreation: resumesCreation
            )
        }
        let found = try LedgerInspection.inspect(files, limits: limits)
        switch found {
        case .blank:
            opening = .created
            try files.beginCreation()
        case .sound: opening = resumesCreation ? .created : .opened
        case .damaged(let reason): opening = .setAside(path: try files.setAside(at: now), reason: reason)
        }
        do {
            return (try serve(), opening)
        } catch .corrupt(let detail) where found == .sound {
            opening = .setAside(path: try files.setAside(at: now), reason: detail)
            return (try serve(), opening)
        }
    }

    /// Opens inspected files to acknowledge events, after a comparison with the mark of what was acknowledged before.
    ///
    /// The mark of a ledger that was set aside or deleted stays where it is, so that a new ledger tells what is missing.
    private static func serve(
        _ files: LedgerFiles,
        lock: DirectoryLock,
        durability: LedgerDurability,
        now: Int64,
        limits: LedgerLimits,
        resumesCreation: Bool
    ) throws(LedgerError) -> EventLedger {
        var before = try LedgerMark.read(files)
        // A loss of power during the creation may leave a mark without its content; nothing was acknowledged yet.
        if resumesCreation, before == .unreadable { before = .absent }
        let isCreation = try files.isInCreation()
        let ledger = try open(
            files,
            lock: lock,
            durability: durability,
            now: now,
            limits: limits,
            keptLog: KeptLog.keep(files, mark: before, limits: limits),
            mark: LedgerMark(files, holding: before)
        )
        try ledger.compare(with: before, now: now)
        if before == .absent { try files.synchronizeDirectory() }
        do throws(LedgerError) {
            try ledger.rememberMark()
        } catch {
            // Until the next start it is in the log alone. A new ledger has nothing yet that could be served without.
            if case .corrupt = error { throw error }
            guard !isCreation else { throw error }
        }
        try files.endCreation()
        return ledger
    }

    /// Opens inspected files; `now` is the creation time of a new ledger.
    private static func open(
        _ files: LedgerFiles,
        lock: DirectoryLock,
        durability: LedgerDurability,
        now: Int64,
        limits: LedgerLimits,
        keptLog: KeptLog?,
        mark: LedgerMark? = nil
    ) throws(LedgerError) -> EventLedger {
        try files.protectDatabase()
        let isNew = try files.databaseBytes() == 0
        let fitted = files.space.map { limits.fitted(toTotal: $0.total) } ?? limits
        let connection = try connect(to: files, setUp: fitted.writerSetUp(durability, isNew: isNew))
        try LedgerSchema.migrate(connection) { (database) throws(LedgerError) in
            try MetaTable(database).create(at: now)
        }
        try files.synchronizeDirectory()
        let (identity, end) = try connection.transaction(.deferred) { (database) throws(LedgerError) in
            let end = try lastPosition(in: database)
            return try (LedgerIdentity(from: database, end: end), end)
        }
        let reader = try LedgerReader(files: files, limits: limits)
        return try EventLedger(
            connection: connection,
            reader: reader,
            identity: identity,
            keptLog: keptLog,
            mark: mark,
            end: end,
            lock: lock
        )
    }

    /// Opens the writing connection.
    ///
    /// The file's mode allows writing by now, so that a database that SQLite opens read-only has a damaged header.
    private static func connect(to files: LedgerFiles, setUp: [String]) throws(LedgerError) -> LedgerConnection {
        do throws(LedgerError) {
            let connection = try LedgerConnection(path: files.databaseName, readOnly: false, setUp: setUp)
            let mayWrite = try connection.access { (database) throws(LedgerError) in
                unsafe sqlite3_db_readonly(database.sqliteConnection, "main") == 0
            }
            guard mayWrite else { throw LedgerError.corrupt(detail: "its header marks it as read-only") }
            return connection
        } catch .other(let code, let message) where code & 0xFF == SQLITE_READONLY {
            throw LedgerError.corrupt(detail: message)
        }
    }

    /// The greatest position recorded anywhere in the database, so that no number is used twice even when rows were
    /// deleted by hand.
    static func lastPosition(in database: Database) throws(LedgerError) -> LedgerPosition {
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

    /// Opens an existing ledger: creates none, and leaves a damaged one in place.
    ///
    /// - Throws: ``LedgerError/absent(path:)`` where there is none, ``LedgerError/corrupt(detail:)`` for a damaged one,
    ///   ``LedgerError/locked(directory:holder:)`` while another ledger has it open.
    public static func openExisting(
        directory: String,
        durability: LedgerDurability
    ) throws(LedgerError) -> EventLedger {
        let files = LedgerFiles(directory: directory)
        guard let size = try files.databaseBytes(), size > 0 else {
            throw .absent(path: files.database)
        }
        let limits = LedgerLimits()
        try files.requireFiles()
        let lock = try DirectoryLock(files)
        return try files.withReserve { () throws(LedgerError) in
            switch try LedgerInspection.inspect(files, limits: limits) {
            case .sound:
                let keptLog = KeptLog.keep(files, mark: try LedgerMark.read(files), limits: limits)
                return try open(files, lock: lock, durability: durability, now: 0, limits: limits, keptLog: keptLog)
            case .blank: throw .absent(path: files.database)
            case .damaged(let reason): throw .corrupt(detail: reason)
            }
        }
    }

    /// Closes the ledger and renames its files, for one whose content proves unusable after opening.
    ///
    /// - Parameter now: the time for the new name, in microseconds since 1970 UTC.
    /// - Returns: the path that the database has now.
    public func setAside(now: Int64) throws(LedgerError) -> String {
        try close()
        return try reader.files.setAside(at: now)
    }
}

/// How a ledger was opened.
public enum LedgerOpening: Sendable, Equatable {
    /// There was none; a new one was created.
    case created
    /// An existing, sound one.
    case opened
    /// A damaged one was renamed to `path` (with `-wal` and `-shm` beside it), and a new one was created.
    case setAside(path: String, reason: String)
}

extension LedgerOpening: CustomStringConvertible {
    /// One sentence for the log.
    public var description: String {
        switch self {
        case .created: "made a new ledger"
        case .opened: "opened the ledger"
        case .setAside(let path, let reason):
            "the ledger was damaged (\(reason)); it is kept as \(path), and a new one was made"
        }
    }
}

/// What a commit survives.
public enum LedgerDurability: String, Sendable, CaseIterable {
    /// The end of the process by any means; a power failure may lose the last commits.
    case process
    /// A power failure: every commit waits for the disk.
    case power
}
