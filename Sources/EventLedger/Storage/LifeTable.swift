// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The table `life`, one row a life of the ledger, in their order.
struct LifeTable {
    /// The maximum number of lives; the oldest but the first are forgotten.
    static let maximumLives: Int64 = 256

    let database: Database

    init(_ database: Database) {
        self.database = database
    }

    /// All lives; of a schema without this table the one that the ledger has had.
    func all() throws(LedgerError) -> [LedgerLife] {
        guard try LedgerSchema.version(of: database) >= LedgerSchema.firstWithLives else {
            let (id, createdAt) = try MetaTable(database).identity()
            return [
                LedgerLife(
                    number: 1,
                    id: id,
                    after: .start,
                    startedAt: createdAt,
                    reason: .created,
                    acknowledged: .start
                )
            ]
        }
        let statement = try LedgerStatement(
            """
            SELECT id, after_batch, after_sequence, started_at, reason, acknowledged_batch, acknowledged_sequence, number
                FROM life ORDER BY number
            """,
            in: database
        )
        defer { statement.reset() }
        var lives: [LedgerLife] = []
        while try statement.step() {
            guard let reason = LedgerLife.Reason(rawValue: statement.text(4)) else {
                throw .corrupt(detail: "a life began for the unknown reason '\(statement.text(4))'")
            }
            lives.append(
                LedgerLife(
                    number: statement.integer(7),
                    id: statement.text(0),
                    after: Self.position(statement.integer(1), statement.integer(2)),
                    startedAt: statement.integer(3),
                    reason: reason,
                    acknowledged: Self.position(statement.integer(5), statement.integer(6))
                )
            )
        }
        return lives
    }

    /// Writes a life, and forgets those beyond the maximum.
    func put(_ life: LedgerLife) throws(LedgerError) {
        let statement = try LedgerStatement(
            """
            INSERT INTO life (number, id, after_batch, after_sequence, started_at, reason, acknowledged_batch,
                acknowledged_sequence)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (number) DO UPDATE SET acknowledged_batch = excluded.acknowledged_batch,
                acknowledged_sequence = excluded.acknowledged_sequence
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(life.number, at: 1)
        try statement.bind(life.id, at: 2)
        try statement.bind(life.after.batch, at: 3)
        try statement.bind(Int64(clamping: life.after.sequence), at: 4)
        try statement.bind(life.startedAt, at: 5)
        try statement.bind(life.reason.rawValue, at: 6)
        try statement.bind(life.acknowledged.batch, at: 7)
        try statement.bind(Int64(clamping: life.acknowledged.sequence), at: 8)
        try statement.run()
        guard life.number > Self.maximumLives else { return }
        let deletion = try LedgerStatement("DELETE FROM life WHERE number > 1 AND number <= ?", in: database)
        defer { deletion.reset() }
        try deletion.bind(life.number - Self.maximumLives, at: 1)
        try deletion.run()
    }

    private static func position(_ batch: Int64, _ sequence: Int64) -> LedgerPosition {
        LedgerPosition(batch: max(0, batch), sequence: UInt64(max(0, sequence)))
    }
}
