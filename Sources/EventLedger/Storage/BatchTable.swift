// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The table `batch`, one row a batch.
struct BatchTable {
    let database: Database

    init(_ database: Database) {
        self.database = database
    }

    /// The columns in the order in which ``row(of:)`` takes them; the blobs come last, so that SQLite reads the others
    /// without loading them.
    private static let columns = "id, first_sequence, count, received_at, origin, checksum, receipt, events"

    /// Inserts a batch as `id`, with its events numbered from `firstSequence`.
    func insert(_ batch: LedgerBatch, id: Int64, firstSequence: UInt64) throws(LedgerError) {
        let statement = try LedgerStatement(
            "INSERT INTO batch (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(id, at: 1)
        try statement.bind(Int64(bitPattern: firstSequence), at: 2)
        try statement.bind(Int64(batch.count), at: 3)
        try statement.bind(batch.receivedAt, at: 4)
        try statement.bind(Int64(batch.origin), at: 5)
        try statement.bind(batch.checksum(firstSequence: firstSequence), at: 6)
        try statement.binding(batch.receipt, at: 7) { () throws(LedgerError) in
            try statement.binding(batch.events, at: 8) { () throws(LedgerError) in
                try statement.run()
            }
        }
    }

    /// Reads the batches after `batch` in order, up to `limit`.
    ///
    /// A damaged batch ends the read; it is an error when it is the first one.
    func read(after batch: Int64, limit: ReadLimit) throws(LedgerError) -> [StoredBatch] {
        var batches: [StoredBatch] = []
        var bytes = 0
        do {
            try scan(after: batch) { (row) throws(LedgerError) in
                let stored = try row.get()
                batches.append(stored)
                bytes += stored.batch.receipt.count + stored.batch.events.count
                return batches.count < limit.batches && bytes < limit.bytes
            }
        } catch {
            guard case .damagedBatch = error, !batches.isEmpty else { throw error }
        }
        return batches
    }

    /// Passes every batch after `batch`, sound or damaged, to `body` until it returns false.
    func scan(
        after batch: Int64,
        _ body: (Result<StoredBatch, LedgerError>) throws(LedgerError) -> Bool
    ) throws(LedgerError) {
        let statement = try LedgerStatement(
            "SELECT \(Self.columns) FROM batch WHERE id > ? ORDER BY id",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(batch, at: 1)
        while try statement.step() {
            guard try body(row(of: statement)) else { return }
        }
    }

    /// The id of the last batch that ends at or before `sequence`: the next one holds `sequence + 1` or later.
    ///
    /// Ends never decrease with the id, so a binary search over the ids replaces an index, which would cost a page in
    /// every commit.
    func lastBatch(endingBy sequence: UInt64) throws(LedgerError) -> Int64 {
        guard var low = try oldest(), let newest = try end(ordered: "id DESC") else { return 0 }
        guard low.position.sequence <= sequence else { return low.position.batch - 1 }
        var high = newest.position.batch
        while low.position.batch < high {
            let middle = low.position.batch + (high - low.position.batch + 1) / 2
            guard let found = try end(from: middle) else { break }
            if found.position.sequence <= sequence {
                low = found
            } else {
                high = middle - 1
            }
        }
        return low.position.batch
    }

    /// The first batch; nil when there is none.
    func oldest() throws(LedgerError) -> BatchEnd? { try end(ordered: "id ASC") }

    /// The last batch; nil when there is none.
    ///
    /// Numbers that do not continue those before them are damaged, here or there, and new batches must not continue them.
    /// Then the last sound batch tells how far the numbers are known.
    func newest() throws(LedgerError) -> BatchEnd? {
        let statement = try LedgerStatement("\(Self.selectEnd) ORDER BY id DESC LIMIT 2", in: database)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        let newest = BatchEnd(statement)
        let former = try statement.step() ? BatchEnd(statement).position : MetaTable(database).pruned()
        if newest.start == former { return newest }
        if let sound = try lastSoundSequence() { return newest.ending(at: sound) }
        return try newest.ending(at: MetaTable(database).pruned().sequence)
    }

    /// The last number of the last batch whose checksum is right; nil where none of the last ones is.
    private func lastSoundSequence() throws(LedgerError) -> UInt64? {
        let statement = try LedgerStatement(
            "SELECT \(Self.columns) FROM batch ORDER BY id DESC LIMIT \(Self.maximumDamagedTail)",
            in: database
        )
        defer { statement.reset() }
        while try statement.step() {
            if case .success(let stored) = row(of: statement) { return stored.position.sequence }
        }
        return nil
    }

    /// How many batches are read to find a sound one.
    private static let maximumDamagedTail = 64

    /// Reads the last batches up to `batch`, and returns which of them are damaged, the newest first.
    func damagedTail(upTo batch: Int64, _ limit: ReadLimit) throws(LedgerError) -> [Int64] {
        let statement = try LedgerStatement(
            "SELECT \(Self.columns) FROM batch WHERE id <= ? ORDER BY id DESC",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(batch, at: 1)
        var damaged: [Int64] = []
        var batches = 0
        var bytes = 0
        while batches < limit.batches, bytes < limit.bytes, try statement.step() {
            batches += 1
            switch row(of: statement) {
            case .success(let stored): bytes += stored.batch.receipt.count + stored.batch.events.count
            case .failure: damaged.append(statement.integer(0))
            }
        }
        return damaged
    }

    /// The last batch that pruning may delete, in one scan of at most `limit` rows; nil when there is none.
    ///
    /// - Returns: its position, and whether the scan ended at `limit` or `bytes`.
    func lastPrunable(
        upTo batch: Int64,
        keepSince: Int64,
        now: Int64,
        limit: Int,
        bytes: Int
    ) throws(LedgerError) -> (LedgerPosition, isCutShort: Bool)? {
        func last(_ condition: String) throws(LedgerError) -> (end: BatchEnd, isCutShort: Bool)? {
            let statement = try LedgerStatement(
                """
                SELECT id, first_sequence, count, received_at, size >= ?4 OR place >= ?2 FROM
                    (SELECT *, sum(bytes) OVER sofar AS size, count(*) OVER sofar AS place,
                        sum(received_at BETWEEN ?3 AND ?5) OVER sofar AS kept FROM
                        (SELECT id, first_sequence, count, received_at, length(receipt) + length(events) AS bytes
                            FROM batch WHERE id <= ?1 ORDER BY id LIMIT ?2)
                        WINDOW sofar AS (ORDER BY id))
                WHERE \(condition) AND kept = 0 AND size - bytes < ?4 ORDER BY id DESC LIMIT 1
                """,
                in: database
            )
            defer { statement.reset() }
            try statement.bind(batch, at: 1)
            try statement.bind(Int64(max(0, limit)), at: 2)
            try statement.bind(keepSince, at: 3)
            try statement.bind(Int64(max(1, bytes)), at: 4)
            try statement.bind(now, at: 5)
            return try statement.step() ? (BatchEnd(statement), statement.integer(4) != 0) : nil
        }
        if let (old, isCutShort) = try last("received_at < ?3") { return (old.position, isCutShort) }
        // All that was scanned may be from while the clock was ahead.
        guard let oldest = try self.oldest(), oldest.receivedAt > now,
            let (ahead, isCutShort) = try last("received_at > ?5"), isCutShort,
            try isFollowedByOld(ahead.position.batch, upTo: batch, keepSince: keepSince, now: now)
        else { return nil }
        return (ahead.position, isCutShort)
    }

    /// Whether a batch stamped by a clock that was ahead comes before one that is old.
    ///
    /// It looks at batches at twice the distance each time until one is not ahead: as few as there are bits in their number,
    /// and up to that much further than the first one that is not.
    private func isFollowedByOld(
        _ batch: Int64,
        upTo end: Int64,
        keepSince: Int64,
        now: Int64
    ) throws(LedgerError) -> Bool {
        var distance: Int64 = 1
        while batch + distance <= end, let found = try self.end(from: batch + distance) {
            if found.receivedAt <= now { return found.receivedAt < keepSince }
            distance *= 2
        }
        return false
    }

    /// Deletes every batch up to `batch` and returns how many there were.
    func delete(upTo batch: Int64) throws(LedgerError) -> Int {
        let statement = try LedgerStatement("DELETE FROM batch WHERE id <= ?", in: database)
        defer { statement.reset() }
        try statement.bind(batch, at: 1)
        try statement.run()
        return Int(try LedgerSchema.integer("SELECT changes()", in: database))
    }

    private func end(ordered order: String) throws(LedgerError) -> BatchEnd? {
        let statement = try LedgerStatement("\(Self.selectEnd) ORDER BY \(order) LIMIT 1", in: database)
        defer { statement.reset() }
        return try statement.step() ? BatchEnd(statement) : nil
    }

    private func end(from id: Int64) throws(LedgerError) -> BatchEnd? {
        let statement = try LedgerStatement("\(Self.selectEnd) WHERE id >= ? ORDER BY id LIMIT 1", in: database)
        defer { statement.reset() }
        try statement.bind(id, at: 1)
        return try statement.step() ? BatchEnd(statement) : nil
    }

    private static let selectEnd = "SELECT id, first_sequence, count, received_at FROM batch"

    private func row(of statement: LedgerStatement) -> Result<StoredBatch, LedgerError> {
        let id = statement.integer(0)
        let first = statement.integer(1)
        // The checksum is over the others.
        guard statement.isInteger(2), statement.isInteger(3), statement.isInteger(4) else {
            return .failure(.damagedBatch(id: id, detail: "a number is of another type"))
        }
        guard first > 0, let count = UInt32(exactly: statement.integer(2)), first <= Int64.max - Int64(count),
            let origin = UInt16(exactly: statement.integer(4))
        else {
            return .failure(.damagedBatch(id: id, detail: "its numbers are out of range"))
        }
        let batch = LedgerBatch(
            receivedAt: statement.integer(3),
            origin: origin,
            count: count,
            receipt: statement.bytes(6),
            events: statement.bytes(7)
        )
        let expected = statement.integer(5)
        let found = batch.checksum(firstSequence: UInt64(first))
        guard found == expected else {
            return .failure(
                .damagedBatch(
                    id: id,
                    detail: "checksum \(UInt64(bitPattern: expected)) expected, \(UInt64(bitPattern: found)) found"
                )
            )
        }
        return .success(StoredBatch(id: id, firstSequence: UInt64(first), batch: batch))
    }
}

/// Where a batch begins and ends, without its content.
struct BatchEnd {
    /// The position before it.
    let start: LedgerPosition
    /// The position after it.
    private(set) var position: LedgerPosition
    let receivedAt: Int64

    /// The same with another last number.
    func ending(at sequence: UInt64) -> BatchEnd {
        var end = self
        end.position.sequence = sequence
        return end
    }

    /// Reads id, first sequence, count and received time from the first four columns.
    init(_ statement: LedgerStatement) {
        let id = statement.integer(0)
        let sequence = UInt64(bitPattern: max(1, statement.integer(1)) - 1)
        let count = UInt64(UInt32(clamping: statement.integer(2)))
        start = LedgerPosition(batch: id &- 1, sequence: sequence)
        position = LedgerPosition(batch: id, sequence: sequence + count)
        receivedAt = statement.integer(3)
    }
}
