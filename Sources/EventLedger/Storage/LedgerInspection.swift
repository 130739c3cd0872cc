// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite

/// The state of a ledger's files before they are opened for writing.
enum LedgerInspection: Equatable {
    /// There is no database, an empty one, or one whose creation was interrupted.
    case blank
    /// A ledger of this schema or an older one.
    case sound
    /// Not a ledger, or a damaged one; the reason is for the log.
    case damaged(String)

    /// Inspects the files through a read-only connection, so that a damaged ledger is kept as it was found.
    static func inspect(_ files: LedgerFiles, limits: LedgerLimits) throws(LedgerError) -> LedgerInspection {
        guard let size = try files.databaseBytes(), size > 0 else {
            let logSize = try files.size(of: files.log) ?? 0
            return logSize > 0 ? .damaged("the database is empty or missing beside its write-ahead log") : .blank
        }
        do {
            return try inspect(files, readOnly: true, size: size, limits: limits)
        } catch .other(let code, _) where code == SQLITE_READONLY | (2 << 8) || code == SQLITE_READONLY | (3 << 8) {
            return try inspect(files, readOnly: false, size: size, limits: limits)
        }
    }

    /// `readOnly` is false for a file whose creation crashed: only a writer may apply its rollback journal.
    private static func inspect(
        _ files: LedgerFiles,
        readOnly: Bool,
        size: Int64,
        limits: LedgerLimits
    ) throws(LedgerError) -> LedgerInspection {
        do {
            let connection = try LedgerConnection(
                path: files.databaseName,
                readOnly: readOnly,
                setUp: limits.readerSetUp
            )
            let found = Result { () throws(LedgerError) -> LedgerInspection in
                try connection.access { (database) throws(LedgerError) in
                    try inspect(database, files: files, checksEverything: size < limits.fullCheckBytes, limits: limits)
                }
            }
            try connection.close()
            return try found.get()
        } catch .corrupt(let detail) {
            return .damaged(detail)
        } catch .other(SQLITE_ERROR, let message) {
            // The statements above are valid, so the file's format or schema is not.
            return .damaged(message)
        }
    }

    private static func inspect(
        _ database: Database,
        files: LedgerFiles,
        checksEverything: Bool,
        limits: LedgerLimits
    ) throws(LedgerError) -> LedgerInspection {
        let tables = try tables(of: database)
        let version = try LedgerSchema.version(of: database)
        let application = try LedgerSchema.integer("PRAGMA application_id", in: database)
        if tables.isEmpty, version == 0 {
            // A new database has its tables in its own file before its creation ends.
            return try files.isInCreation() ? .blank : .damaged("it has no tables: the log that held them is gone")
        }
        guard application == LedgerSchema.applicationID else {
            return .damaged("application id \(LedgerSchema.applicationID) expected, \(application) found")
        }
        guard version <= LedgerSchema.version else {
            throw LedgerError.newerSchema(found: version, supported: LedgerSchema.version, path: files.database)
        }
        guard version > 0 else { return .damaged("it has tables and no schema version") }
        let missing = LedgerSchema.tables(of: version).subtracting(tables)
        guard missing.isEmpty else {
            return .damaged("no table \(missing.sorted().joined(separator: ", "))")
        }
        if !checksEverything { _ = try BatchTable(database).damagedTail(upTo: .max, limits.tail) }
        let finding = try finding(in: database, checksEverything: checksEverything)
        return finding.map { .damaged($0) } ?? .sound
    }

    /// What SQLite finds wrong with the tables; nil where it finds at most single values of batches that are damaged, each
    /// of which is skipped when it is read.
    ///
    /// The quick check does not compare indexes with their tables. Those of the small tables are compared, since a row that
    /// an index hides would be written a second time, after which the table cannot be read.
    ///
    /// - Throws: where the disk failed to read a page, which the check reports like damage.
    private static func finding(in database: Database, checksEverything: Bool) throws(LedgerError) -> String? {
        var checks = ["integrity_check(position)", "integrity_check(state)"]
        if checksEverything { checks.insert("quick_check(\(maximumFindings))", at: 0) }
        var finding: String?
        for check in checks where finding == nil { finding = try result(of: check, database) }
        guard let finding else { return nil }
        let code = unsafe SQLiteSystemError.ofFiles(database.sqliteConnection)
        let error = LedgerError(code: SQLITE_CORRUPT, systemError: code, message: finding)
        guard case .corrupt = error else { throw error }
        return finding
    }

    private static func result(of pragma: String, _ database: Database) throws(LedgerError) -> String? {
        let check = try LedgerStatement("PRAGMA \(pragma)", in: database)
        defer { check.reset() }
        var findings = 0
        while try check.step() {
            let finding = check.text(0)
            if findings == 0, finding == "ok" { return nil }
            findings += 1
            guard isOfOneBatch(finding), findings < maximumFindings else { return finding }
        }
        return findings == 0 ? "no answer" : nil
    }

    private static let maximumFindings = 100

    /// A column without its type, as in `NULL value in batch.events` or `non-BLOB value in batch.events`.
    private static func isOfOneBatch(_ finding: String) -> Bool {
        let words = finding.split(separator: " ")
        return words.count == 4 && words[1] == "value" && words[2] == "in" && words[3].hasPrefix("batch.")
    }

    private static func tables(of database: Database) throws(LedgerError) -> Set<String> {
        let statement = try LedgerStatement("SELECT name FROM sqlite_schema WHERE type = 'table'", in: database)
        defer { statement.reset() }
        var names: Set<String> = []
        while try statement.step() {
            names.insert(statement.text(0))
        }
        return names
    }
}
