// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The pages of the projections' states, each in the generations that ``LedgerSchema`` tells of.
struct StateTable {
    let database: Database

    init(_ database: Database) {
        self.database = database
    }

    /// Writes changes in their order as a part of a generation that doesn't count yet; returns the keys of its rows.
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

    /// Hands the pages whose keys start with `prefix` to `body`, in the order of their keys, as of the generation that
    /// counts.
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

    /// Leaves no row of the generation where there is none before it, and a row without a value where there is.
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

    /// Runs a statement over the pages whose keys lie between `prefix` and its end, which may be open.
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
