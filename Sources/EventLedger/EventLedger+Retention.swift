// SPDX-License-Identifier: Apache-2.0

internal import GRDB

extension EventLedger {
    /// Deletes the oldest batches, at most `limit` of them, and returns how many.
    ///
    /// What goes is always a beginning of the ledger: every batch up to the last one that is old enough, so that a
    /// batch stamped by a clock that was ahead for a while does not hold up those around it. Numbers are not given
    /// again. Space goes back to the file system little by little, at most as many bytes a call as `vacuumBytes`.
    /// - Parameters:
    ///   - position: the least position of all projections; nothing after it is deleted.
    ///   - keepSince: batches received at this time or later stay, in microseconds since 1970 UTC.
    ///   - limit: the most batches to look at and to delete in one call.
    ///   - vacuumBytes: how much of the file to give back in one call.
    @discardableResult
    public func prune(
        upTo position: LedgerPosition,
        keepSince: Int64,
        limit: Int = 256,
        vacuumBytes: Int = 2 << 20
    ) throws(LedgerError) -> Int {
        let deleted = try connection.transaction(.immediate) { (database) throws(LedgerError) in
            guard
                let last = try lastPrunable(upTo: position.batch, keepSince: keepSince, limit: limit, in: database)
            else { return 0 }
            let delete = try LedgerStatement("DELETE FROM batch WHERE id <= ?", in: database)
            defer { delete.reset() }
            try delete.bind(last.batch, at: 1)
            try delete.run()
            let deleted = try LedgerSchema.integer("SELECT changes()", in: database)
            try MetaTable(database).setPruned(last)
            return Int(deleted)
        }
        try giveBack(bytes: vacuumBytes)
        return deleted
    }

    private func lastPrunable(
        upTo batch: Int64,
        keepSince: Int64,
        limit: Int,
        in database: Database
    ) throws(LedgerError) -> LedgerPosition? {
        let statement = try LedgerStatement(
            """
            SELECT id, first_sequence, count, received_at FROM
                (SELECT id, first_sequence, count, received_at FROM batch WHERE id <= ? ORDER BY id LIMIT ?)
            WHERE received_at < ? ORDER BY id DESC LIMIT 1
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(batch, at: 1)
        try statement.bind(Int64(max(0, limit)), at: 2)
        try statement.bind(keepSince, at: 3)
        return try statement.step() ? BatchEnd(statement).position : nil
    }

    /// Cuts free pages off the file's end beyond a reserve, which the next batches use without growing the file.
    private func giveBack(bytes: Int) throws(LedgerError) {
        try connection.access { (database) throws(LedgerError) in
            let pageBytes = try max(1, LedgerSchema.integer("PRAGMA page_size", in: database))
            let free = try LedgerSchema.integer("PRAGMA freelist_count", in: database)
            let excess = min(free - Self.reservedFreeBytes / pageBytes, Int64(max(0, bytes)) / pageBytes)
            guard excess > 0 else { return }
            let statement = try LedgerStatement("PRAGMA incremental_vacuum(\(excess))", in: database)
            defer { statement.reset() }
            try statement.run()
        }
    }

    /// The free space that stays in the file: 16 MiB.
    private static var reservedFreeBytes: Int64 { 16 << 20 }
}
