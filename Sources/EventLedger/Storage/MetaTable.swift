// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The table `meta`: one row with the ledger's identity and the position up to which it was pruned.
struct MetaTable {
    let database: Database

    init(_ database: Database) {
        self.database = database
    }

    /// Inserts the row of a new ledger, whose id is 16 random bytes in hexadecimal.
    func create(at now: Int64) throws(LedgerError) {
        let statement = try LedgerStatement(
            "INSERT INTO meta (id, ledger, created_at, pruned_batch, pruned_sequence)"
                + " VALUES (1, lower(hex(randomblob(16))), ?, 0, 0)",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(now, at: 1)
        try statement.run()
    }

    /// The ledger's id and when it was created.
    func identity() throws(LedgerError) -> (id: String, createdAt: Int64) {
        let statement = try LedgerStatement("SELECT ledger, created_at FROM meta WHERE id = 1", in: database)
        defer { statement.reset() }
        guard try statement.step() else { throw LedgerError.corrupt(detail: "the ledger has no id") }
        return (statement.text(0), statement.integer(1))
    }

    /// The position up to which batches were deleted.
    func pruned() throws(LedgerError) -> LedgerPosition {
        let statement = try LedgerStatement(
            "SELECT pruned_batch, pruned_sequence FROM meta WHERE id = 1",
            in: database
        )
        defer { statement.reset() }
        guard try statement.step() else { throw LedgerError.corrupt(detail: "the ledger has no id") }
        return LedgerPosition(batch: max(0, statement.integer(0)), sequence: UInt64(max(0, statement.integer(1))))
    }

    /// The last number that may stand in the journal by right, nil once all may, and whether a mark was written.
    func witnesses() throws(LedgerError) -> (comparable: UInt64?, isMarked: Bool) {
        let statement = try LedgerStatement("SELECT comparable, is_marked FROM meta WHERE id = 1", in: database)
        defer { statement.reset() }
        guard try statement.step() else { throw LedgerError.corrupt(detail: "the ledger has no id") }
        return (statement.isNull(0) ? nil : UInt64(max(0, statement.integer(0))), statement.integer(1) != 0)
    }

    /// Replaces both.
    func setWitnesses(comparable: UInt64?, isMarked: Bool) throws(LedgerError) {
        let statement = try LedgerStatement("UPDATE meta SET comparable = ?, is_marked = ? WHERE id = 1", in: database)
        defer { statement.reset() }
        if let comparable { try statement.bind(Int64(clamping: comparable), at: 1) }
        try statement.bind(isMarked ? 1 : 0, at: 2)
        try statement.run()
    }

    /// Records that batches up to `position` were deleted.
    func setPruned(_ position: LedgerPosition) throws(LedgerError) {
        let statement = try LedgerStatement(
            "UPDATE meta SET pruned_batch = ?, pruned_sequence = ? WHERE id = 1",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(position.batch, at: 1)
        try statement.bind(Int64(bitPattern: position.sequence), at: 2)
        try statement.run()
    }

    /// Writes the row and leaves it unchanged: up and down by 1, because SQLite skips an update that changes nothing.
    func touch() throws(LedgerError) {
        for step in [1, -1] as [Int64] {
            let statement = try LedgerStatement(
                "UPDATE meta SET created_at = created_at + ? WHERE id = 1",
                in: database
            )
            defer { statement.reset() }
            try statement.bind(step, at: 1)
            try statement.run()
        }
    }
}
