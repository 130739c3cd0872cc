// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite

/// The tables of the database and their migrations.
///
/// `PRAGMA application_id` is the bytes `DNPL`, `PRAGMA user_version` the number of the last migration applied.
enum LedgerSchema {
    /// The schema that this version writes; it reads older ones too.
    static let version = Int64(migrations.count)

    /// The first schema whose state has generations.
    static let firstWithGenerations: Int64 = 2

    /// The first schema with a table of lives.
    static let firstWithLives: Int64 = 3

    /// `DNPL` in ASCII, at offset 68 of the file, where file(1) looks for it.
    static let applicationID: Int64 = 0x444E_504C

    /// The tables that a ledger of a schema has.
    static func tables(of version: Int64) -> Set<String> {
        var tables: Set<String> = ["meta", "batch", "position", "state"]
        if version >= firstWithLives { tables.insert("life") }
        return tables
    }

    /// The statements from each schema to the next one; each list runs in the transaction that also sets the version.
    ///
    /// The writer assigns the ids of batches from memory; AUTOINCREMENT has a table of its own, which would add a page
    /// to every commit. `state` keeps its rowid: pages of 4 KB and up are updated three times as fast as in a
    /// WITHOUT ROWID table, which moves values over a quarter of a database page to overflow pages.
    ///
    /// From the second schema on, a page of `state` has a row for each checkpoint that wrote it, until ``StateTable``
    /// deletes the older ones. The current row has the greatest generation up to the position's; when its value is
    /// null, the page was removed.
    ///
    /// The third schema has the lives of the ledger; what an older one was so far is the first. `comparable` and
    /// `is_marked` are those of ``LedgerIdentity``.
    static let migrations: [[String]] = [
        [
            """
            CREATE TABLE meta (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                ledger TEXT NOT NULL,
                created_at INTEGER NOT NULL,
                pruned_batch INTEGER NOT NULL,
                pruned_sequence INTEGER NOT NULL
            ) STRICT
            """,
            """
            CREATE TABLE batch (
                id INTEGER PRIMARY KEY,
                first_sequence INTEGER NOT NULL,
                count INTEGER NOT NULL,
                received_at INTEGER NOT NULL,
                origin INTEGER NOT NULL,
                checksum INTEGER NOT NULL,
                receipt BLOB NOT NULL,
                events BLOB NOT NULL
            ) STRICT
            """,
            """
            CREATE TABLE position (
                projection TEXT PRIMARY KEY,
                sequence INTEGER NOT NULL,
                batch INTEGER NOT NULL,
                note TEXT NOT NULL,
                updated_at INTEGER NOT NULL
            ) STRICT
            """,
            """
            CREATE TABLE state (
                projection TEXT NOT NULL,
                key BLOB NOT NULL,
                checksum INTEGER NOT NULL,
                value BLOB NOT NULL,
                PRIMARY KEY (projection, key)
            ) STRICT
            """,
        ],
        [
            "ALTER TABLE position ADD COLUMN generation INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE state RENAME TO state_before",
            """
            CREATE TABLE state (
                projection TEXT NOT NULL,
                key BLOB NOT NULL,
                generation INTEGER NOT NULL,
                checksum INTEGER NOT NULL,
                value BLOB,
                PRIMARY KEY (projection, key, generation)
            ) STRICT
            """,
            """
            INSERT INTO state (projection, key, generation, checksum, value)
                SELECT projection, key, 0, checksum, value FROM state_before ORDER BY projection, key
            """,
            "DROP TABLE state_before",
        ],
        [
            """
            CREATE TABLE life (
                number INTEGER PRIMARY KEY,
                id TEXT NOT NULL,
                after_batch INTEGER NOT NULL,
                after_sequence INTEGER NOT NULL,
                started_at INTEGER NOT NULL,
                reason TEXT NOT NULL,
                acknowledged_batch INTEGER NOT NULL,
                acknowledged_sequence INTEGER NOT NULL
            ) STRICT
            """,
            "INSERT INTO life SELECT 1, ledger, 0, 0, created_at, 'created', 0, 0 FROM meta",
            "ALTER TABLE meta ADD COLUMN comparable INTEGER",
            "ALTER TABLE meta ADD COLUMN is_marked INTEGER NOT NULL DEFAULT 0",
        ],
    ]

    /// The schema version recorded in the file; 0 for a new file.
    static func version(of database: Database) throws(LedgerError) -> Int64 {
        try integer("PRAGMA user_version", in: database)
    }

    /// Migrates the database to the newest schema; `create` fills the tables of a new one.
    static func migrate(
        _ connection: LedgerConnection,
        create: (Database) throws(LedgerError) -> Void
    ) throws(LedgerError) {
        let found = try connection.access { (database) throws(LedgerError) in try version(of: database) }
        guard found < version else { return }
        for target in (found + 1)...version {
            do throws(LedgerError) {
                try connection.transaction(.immediate) { (database) throws(LedgerError) in
                    try apply(target, to: database)
                    if target == 1 { try create(database) }
                }
            } catch .other(SQLITE_ERROR, let message) {
                throw .corrupt(detail: "its tables are not those of schema \(target - 1): \(message)")
            }
        }
    }

    private static func apply(_ target: Int64, to database: Database) throws(LedgerError) {
        for statement in migrations[Int(target) - 1] {
            try LedgerStatement(statement, in: database).run()
        }
        try LedgerStatement("PRAGMA user_version = \(target)", in: database).run()
        if target == 1 { try LedgerStatement("PRAGMA application_id = \(applicationID)", in: database).run() }
    }

    /// The first column of the first row of a statement without parameters; 0 when there is no row.
    static func integer(_ sql: String, in database: Database) throws(LedgerError) -> Int64 {
        let statement = try LedgerStatement(sql, in: database)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }
}
