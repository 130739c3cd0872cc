// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Synchronization

extension EventLedger {
    /// What one call of ``prune(upTo:keepSince:limit:bytes:vacuumBytes:)`` came to.
    public struct Pruning: Sendable, Equatable {
        /// How many batches were deleted.
        public var batches = 0
        /// True when it ended at a limit, so that there may be more to delete.
        public var isCutShort = false
    }

    /// Deletes the oldest batches, at most `limit` of them.
    ///
    /// What goes is always a beginning of the ledger: every batch up to the last one that is old enough, so that a
    /// batch stamped by a clock that was ahead for a while does not hold up those around it. Numbers are not given
    /// again. Space goes back to the file system little by little, at most as many bytes a call as `vacuumBytes`.
    /// - Parameters:
    ///   - position: the least position of all projections; nothing after it is deleted.
    ///   - keepSince: batches received at this time or later stay, in microseconds since 1970 UTC.
    ///   - limit: the most batches to look at and to delete in one call.
    ///   - bytes: the size of the batches after which the call ends, about; 1 MiB takes some milliseconds.
    ///   - vacuumBytes: how much of the file to give back in one call.
    @discardableResult
    public func prune(
        upTo position: LedgerPosition,
        keepSince: Int64,
        limit: Int = 256,
        bytes: Int = 1 << 20,
        vacuumBytes: Int = 512 << 10
    ) throws(LedgerError) -> Pruning {
        let pruning = try connection.transaction(.immediate) { (database) throws(LedgerError) in
            guard
                let (last, isCutShort) = try lastPrunable(
                    upTo: position.batch,
                    keepSince: keepSince,
                    limit: limit,
                    bytes: bytes,
                    in: database
                )
            else { return Pruning() }
            let delete = try LedgerStatement("DELETE FROM batch WHERE id <= ?", in: database)
            defer { delete.reset() }
            try delete.bind(last.batch, at: 1)
            try delete.run()
            let deleted = try LedgerSchema.integer("SELECT changes()", in: database)
            try MetaTable(database).setPruned(last)
            return Pruning(batches: Int(deleted), isCutShort: isCutShort)
        }
        try giveBack(bytes: vacuumBytes)
        return pruning
    }

    private func lastPrunable(
        upTo batch: Int64,
        keepSince: Int64,
        limit: Int,
        bytes: Int,
        in database: Database
    ) throws(LedgerError) -> (LedgerPosition, isCutShort: Bool)? {
        let statement = try LedgerStatement(
            """
            SELECT id, first_sequence, count, received_at, size >= ?4 OR place >= ?2 FROM
                (SELECT *, sum(bytes) OVER sofar AS size, count(*) OVER sofar AS place FROM
                    (SELECT id, first_sequence, count, received_at, length(receipt) + length(events) AS bytes
                        FROM batch WHERE id <= ?1 ORDER BY id LIMIT ?2)
                    WINDOW sofar AS (ORDER BY id))
            WHERE received_at < ?3 AND size - bytes < ?4 ORDER BY id DESC LIMIT 1
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(batch, at: 1)
        try statement.bind(Int64(max(0, limit)), at: 2)
        try statement.bind(keepSince, at: 3)
        try statement.bind(Int64(max(1, bytes)), at: 4)
        return try statement.step() ? (BatchEnd(statement).position, statement.integer(4) != 0) : nil
    }

    /// Cuts free pages off the file's end beyond a reserve, which the next batches use without growing the file.
    private func giveBack(bytes: Int) throws(LedgerError) {
        try connection.access { (database) throws(LedgerError) in
            let pageBytes = try max(1, LedgerSchema.integer("PRAGMA page_size", in: database))
            let free = try LedgerSchema.integer("PRAGMA freelist_count", in: database)
            let reserve =
                Self.reservedFreeBytes + upkeep.withLock { $0.values.reduce(0) { $0 + Int64($1.committedBytes) } }
            let excess = min(free - reserve / pageBytes, Int64(max(0, bytes)) / pageBytes)
            guard excess > 0 else { return }
            let statement = try LedgerStatement("PRAGMA incremental_vacuum(\(excess))", in: database)
            defer { statement.reset() }
            try statement.run()
        }
    }

    /// The free space that stays in the file beside that for the next checkpoint: 16 MiB.
    private static var reservedFreeBytes: Int64 { 16 << 20 }
}
