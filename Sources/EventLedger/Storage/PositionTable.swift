// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The table `position`, one row a projection.
struct PositionTable {
    let database: Database

    init(_ database: Database) {
        self.database = database
    }

    /// Replaces a projection's position and, unless nil, the generation of the state that it is true for.
    func set(
        _ projection: String,
        to position: LedgerPosition,
        generation: Int64? = nil,
        note: String,
        at now: Int64
    ) throws(LedgerError) {
        let statement = try LedgerStatement(
            """
            INSERT INTO position (projection, sequence, batch, note, updated_at, generation)
                VALUES (?, ?, ?, ?, ?, ifnull(?6, 0))
            ON CONFLICT (projection) DO UPDATE SET sequence = excluded.sequence, batch = excluded.batch,
                note = excluded.note, updated_at = excluded.updated_at, generation = ifnull(?6, generation)
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(projection, at: 1)
        try statement.bind(Int64(bitPattern: position.sequence), at: 2)
        try statement.bind(position.batch, at: 3)
        try statement.bind(note, at: 4)
        try statement.bind(now, at: 5)
        if let generation { try statement.bind(generation, at: 6) }
        try statement.run()
    }

    /// The generation of the state that a projection's position is true for; 0 before its first checkpoint.
    func generation(of projection: String) throws(LedgerError) -> Int64 {
        let statement = try LedgerStatement("SELECT generation FROM position WHERE projection = ?", in: database)
        defer { statement.reset() }
        try statement.bind(projection, at: 1)
        return try statement.step() ? statement.integer(0) : 0
    }

    /// Deletes a projection's position.
    func remove(_ projection: String) throws(LedgerError) {
        let statement = try LedgerStatement("DELETE FROM position WHERE projection = ?", in: database)
        defer { statement.reset() }
        try statement.bind(projection, at: 1)
        try statement.run()
    }

    /// The position of a projection; nil when it has none.
    func get(_ projection: String) throws(LedgerError) -> ProjectionPosition? {
        let statement = try LedgerStatement("\(Self.select) WHERE projection = ?", in: database)
        defer { statement.reset() }
        try statement.bind(projection, at: 1)
        return try statement.step() ? Self.row(of: statement) : nil
    }

    /// The positions of all projections, sorted by name.
    func all() throws(LedgerError) -> [ProjectionPosition] {
        let statement = try LedgerStatement("\(Self.select) ORDER BY projection", in: database)
        defer { statement.reset() }
        var positions: [ProjectionPosition] = []
        while try statement.step() {
            positions.append(Self.row(of: statement))
        }
        return positions
    }

    private static let select = "SELECT projection, sequence, batch, note, updated_at FROM position"

    private static func row(of statement: LedgerStatement) -> ProjectionPosition {
        ProjectionPosition(
            projection: statement.text(0),
            position: LedgerPosition(batch: statement.integer(2), sequence: UInt64(max(0, statement.integer(1)))),
            note: statement.text(3),
            updatedAt: statement.integer(4)
        )
    }
}
