// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The table of batches, through one connection.
struct BatchTable {
    let database: Database

    init(_ database: Database) {
        self.database = database
    }

    /// The columns in the order in which ``row(of:)`` takes them; both blobs come last, so that what precedes them is
    /// read without them.
    private static let columns = "id, first_sequence, count, received_at, origin, checksum, receipt, events"

    /// Stores a batch as `id`, with its events numbered from `firstSequence` on.
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

    /// Reads batches with greater ids in order, until `limit` or the end or a damaged one is reached.
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

    /// Hands every batch with a greater id to `body`, sound or not, until it returns false.
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

    /// The id of the last batch that ends at or before `sequence`: what follows it holds `sequence + 1` and later.
    ///
    /// Ends never decrease with the id, so that a search by halves needs no index, which would cost a page in every
    /// commit.
    func lastBatch(endingBy sequence: UInt64) throws(LedgerError) -> Int64 {
        guard var low = try end(ordered: "id ASC"), let newest = try end(ordered: "id DESC") else { return 0 }
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

    /// The ends of the table; nil when it is empty.
    func oldest() throws(LedgerError) -> BatchEnd? { try end(ordered: "id ASC") }

    /// The last batch; nil when there is none.
    func newest() throws(LedgerError) -> BatchEnd? { try end(ordered: "id DESC") }

    /// Verifies the last batches, the newest first, until `limit`.
    func verifyTail(_ limit: ReadLimit) throws(LedgerError) {
        let statement = try LedgerStatement("SELECT \(Self.columns) FROM batch ORDER BY id DESC", in: database)
        defer { statement.reset() }
        var batches = 0
        var bytes = 0
        var successor: StoredBatch?
        while batches < limit.batches, bytes < limit.bytes, try statement.step() {
            let stored = try row(of: statement).get()
            if let successor, stored.position.sequence + 1 != successor.firstSequence || stored.id + 1 != successor.id {
                throw LedgerError.damagedBatch(
                    id: successor.id,
                    detail: "it does not follow \(stored.position)"
                )
            }
            successor = stored
            batches += 1
            bytes += stored.batch.receipt.count + stored.batch.events.count
        }
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
