// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// One connection to the ledger's database; its users take turns.
final class LedgerConnection: Sendable {
    private let queue: DatabaseQueue

    /// Opens `path` and prepares the connection with `setUp`, a list of statements.
    init(path: String, readOnly: Bool, setUp: [String]) throws(LedgerError) {
        var configuration = Configuration()
        configuration.readonly = readOnly
        configuration.foreignKeysEnabled = false
        // A transaction that could not even be rolled back is ended before the next one, rather than the process.
        configuration.allowsUnsafeTransactions = true
        configuration.busyMode = .timeout(Self.busySeconds)
        configuration.label = readOnly ? "ledger.read" : "ledger.write"
        configuration.prepareDatabase { database in
            // The last one reads the file's header: an error is sorted while there is a connection to ask.
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

    /// How long a connection waits for a lock that someone else's tool holds.
    private static let busySeconds = 5.0

    /// Runs `body` outside a transaction: every statement is its own.
    func access<R>(_ body: (Database) throws(LedgerError) -> R) throws(LedgerError) -> R {
        let result: Result<R, LedgerError> = queue.unsafeRead { database in
            Result { () throws(LedgerError) -> R in try body(database) }
        }
        return try result.get()
    }

    /// When a transaction takes the right to write: never, or before its first statement.
    enum TransactionKind {
        case deferred, immediate

        /// GRDB's own transactions compile this each time, which nearly doubles the processor time of a small commit.
        fileprivate var beginning: String {
            switch self {
            case .deferred: "BEGIN DEFERRED TRANSACTION"
            case .immediate: "BEGIN IMMEDIATE TRANSACTION"
            }
        }
    }

    /// Runs `body` in one transaction, which is rolled back when it throws or can't be committed.
    func transaction<R>(
        _ kind: TransactionKind,
        _ body: (Database) throws(LedgerError) -> R
    ) throws(LedgerError) -> R {
        try access { (database) throws(LedgerError) in
            try Self.transaction(kind, in: database, body)
        }
    }

    /// The same within an access.
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

    /// Closes the connection; every later use throws.
    func close() throws(LedgerError) {
        do {
            try queue.close()
        } catch {
            throw LedgerError(error, in: nil)
        }
    }
}
