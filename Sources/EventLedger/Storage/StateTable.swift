// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The table `state`: the pages of the projections' states, in generations (``LedgerSchema/migrations``).
struct StateTable {
    let database: Database

    init(_ database: Database) {
        self.database = database
    }

    /// Writes changes in order as a part of an uncommitted generation; returns the keys of its rows.
    func stage(
        _ changes: StateChanges,
        of projection: String,
        generation: Int64
    ) throws(LedgerError) -> [StateKey] {
        var keys: [StateKey] = []
        keys.reserveCapacity(changes.count)
        for change in changes.changes {
            switch change {
            case .put(let key, let value):
                try put(key, value, in: projection, generation)
                keys.append(key)
            case .remove(let key):
                try remove(key, from: projection, generation)
                keys.append(key)
            case .removeAll(let prefix):
                for key in try self.keys(prefix: prefix, of: projection) {
                    try remove(key, from: projection, generation)
                    keys.append(key)
                }
            }
        }
        return keys
    }

    /// Passes the current pages whose keys start with `prefix` to `body`, in the order of their keys.
    func load(
        prefix: StateKey,
        of projection: String,
        _ body: (StateKey, [UInt8]) throws(LedgerError) -> Void
    ) throws(LedgerError) {
        var newest = ""
        if try LedgerSchema.version(of: database) >= LedgerSchema.firstWithGenerations {
            newest = """
                 AND value IS NOT NULL AND generation =
                    (SELECT max(generation) FROM state AS row WHERE row.projection = state.projection
                        AND row.key = state.key AND row.generation <=
                            ifnull((SELECT generation FROM position WHERE projection = state.projection), 0))
                """
        }
        try matching("SELECT key, value, checksum", prefix, of: projection, suffix: newest + " ORDER BY key") {
            (statement) throws(LedgerError) in
            let key = StateKey(bytes: statement.bytes(0))
            let value = statement.bytes(1)
            guard key.checksum(of: value) == statement.integer(2) else {
                throw LedgerError.damagedState(projection: projection, key: key)
            }
            try body(key, value)
        }
    }

    /// Deletes the whole state of a projection.
    func removeAll(of projection: String) throws(LedgerError) {
        let statement = try LedgerStatement("DELETE FROM state WHERE projection = ?", in: database)
        defer { statement.reset() }
        try statement.bind(projection, at: 1)
        try statement.run()
    }

    private func put(
        _ key: StateKey,
        _ value: [UInt8],
        in projection: String,
        _ generation: Int64
    ) throws(LedgerError) {
        let statement = try LedgerStatement(
            """
            INSERT INTO state (projection, key, generation, checksum, value) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (projection, key, generation) DO UPDATE SET checksum = excluded.checksum, value = excluded.value
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(projection, at: 1)
        try statement.bind(generation, at: 3)
        try statement.bind(key.checksum(of: value), at: 4)
        try statement.binding(key.bytes, at: 2) { () throws(LedgerError) in
            try statement.binding(value, at: 5) { () throws(LedgerError) in
                try statement.run()
            }
        }
    }

    /// Deletes the generation's row, and marks the page as removed where an earlier generation has it.
    private func remove(_ key: StateKey, from projection: String, _ generation: Int64) throws(LedgerError) {
        for sql in [
            "DELETE FROM state WHERE projection = ?1 AND key = ?2 AND generation = ?3",
            """
            INSERT INTO state (projection, key, generation, checksum, value) SELECT ?1, ?2, ?3, 0, NULL
                WHERE EXISTS (SELECT 1 FROM state WHERE projection = ?1 AND key = ?2 AND generation < ?3)
            """,
        ] {
            let statement = try LedgerStatement(sql, in: database)
            defer { statement.reset() }
            try statement.bind(projection, at: 1)
            try statement.bind(generation, at: 3)
            try statement.binding(key.bytes, at: 2) { () throws(LedgerError) in
                try statement.run()
            }
        }
    }

    private func keys(prefix: StateKey, of projection: String) throws(LedgerError) -> [StateKey] {
        var keys: [StateKey] = []
        try matching("SELECT DISTINCT key", prefix, of: projection, suffix: "") { (statement) throws(LedgerError) in
            keys.append(StateKey(bytes: statement.bytes(0)))
        }
        return keys
    }

    /// Runs a statement over the pages whose keys start with `prefix`.
    private func matching(
        _ verb: String,
        _ prefix: StateKey,
        of projection: String,
        suffix: String,
        _ body: (LedgerStatement) throws(LedgerError) -> Void
    ) throws(LedgerError) {
        let end = prefix.endOfPrefix
        let bound = end == nil ? "" : " AND key < ?"
        let statement = try LedgerStatement(
            "\(verb) FROM state WHERE projection = ? AND key >= ?\(bound)\(suffix)",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(projection, at: 1)
        try statement.binding(prefix.bytes, at: 2) { () throws(LedgerError) in
            guard let end else {
                while try statement.step() { try body(statement) }
                return
            }
            try statement.binding(end.bytes, at: 3) { () throws(LedgerError) in
                while try statement.step() { try body(statement) }
            }
        }
    }
}

// MARK: Obsolete rows

/// Rows are obsolete when a newer committed one replaces them, or when their generation was never committed.
extension StateTable {
    /// The keys from `start` that have obsolete rows, in a scan of `limit` rows.
    ///
    /// It reads the index alone: a page with a removal mark has an older row too, so no value is needed.
    /// - Returns: the keys, and where the next scan starts; nil at the end.
    func outdatedKeys(
        of projection: String,
        from start: StateKey,
        committed: Int64,
        rows limit: Int
    ) throws(LedgerError) -> (keys: [StateKey], next: StateKey?) {
        let statement = try LedgerStatement(
            "SELECT key, generation FROM state WHERE projection = ? AND key >= ? ORDER BY key, generation",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(projection, at: 1)
        return try statement.binding(start.bytes, at: 2) { () throws(LedgerError) in
            var keys: [StateKey] = []
            var current: [UInt8]?
            var rows = 0
            while try statement.step() {
                let key = statement.bytes(0)
                let isNext = key != current
                if isNext, rows >= limit { return (keys, StateKey(bytes: key)) }
                rows += 1
                if !isNext || statement.integer(1) > committed, keys.last?.bytes != key {
                    keys.append(StateKey(bytes: key))
                }
                current = key
            }
            return (keys, nil)
        }
    }

    /// Deletes the obsolete rows of a page.
    ///
    /// - Returns: the bytes of their values.
    func tidy(_ key: StateKey, of projection: String, committed: Int64) throws(LedgerError) -> Int {
        let outdated = try outdatedRows(key, of: projection, committed: committed)
        let delete = try LedgerStatement("DELETE FROM state WHERE rowid = ?", in: database)
        var bytes = 0
        for row in outdated {
            defer { delete.reset() }
            try delete.bind(row.id, at: 1)
            try delete.run()
            bytes += row.bytes
        }
        return bytes
    }

    private func outdatedRows(
        _ key: StateKey,
        of projection: String,
        committed: Int64
    ) throws(LedgerError) -> [(id: Int64, bytes: Int)] {
        let statement = try LedgerStatement(
            """
            SELECT rowid, length(value), generation FROM state WHERE projection = ? AND key = ?
            ORDER BY generation DESC
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(projection, at: 1)
        return try statement.binding(key.bytes, at: 2) { () throws(LedgerError) in
            var rows: [(id: Int64, bytes: Int)] = []
            var isFound = false
            while try statement.step() {
                let isCurrent = !isFound && statement.integer(2) <= committed
                if isCurrent { isFound = true }
                if isCurrent, !statement.isNull(1) { continue }
                rows.append((statement.integer(0), Int(statement.integer(1))))
            }
            return rows
        }
    }
}

/// The obsolete and the staged rows of one projection's state, as far as this process knows them.
struct StateUpkeep: Sendable {
    /// Where the next scan for rows that an earlier process left starts; nil when all are found.
    var searchFrom: StateKey? = ""
    /// Keys that may have obsolete rows.
    var outdated: [StateKey] = []
    /// The keys of what was written of the uncommitted generation.
    private var staged: [StateKey] = []

    /// Whether nothing is obsolete, so that a generation may be staged.
    var isTidy: Bool { searchFrom == nil && outdated.isEmpty }

    mutating func staged(_ keys: [StateKey]) {
        staged += keys
    }

    /// Records that the staged rows are obsolete, or have made others so once they are committed.
    mutating func discard() {
        outdated += staged
        staged = []
    }
}
