// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The pages of the projections' states.
struct StateTable {
    let database: Database

    init(_ database: Database) {
        self.database = database
    }

    /// Applies changes in their order.
    func apply(_ changes: StateChanges, to projection: String) throws(LedgerError) {
        for change in changes.changes {
            switch change {
            case .put(let key, let value): try put(key, value, in: projection)
            case .remove(let key): try remove(key, from: projection)
            case .removeAll(let prefix): try removeAll(prefix: prefix, from: projection)
            }
        }
    }

    /// Hands the pages whose keys start with `prefix` to `body`, in the order of their keys.
    func load(
        prefix: StateKey,
        of projection: String,
        _ body: (StateKey, [UInt8]) throws(LedgerError) -> Void
    ) throws(LedgerError) {
        try matching("SELECT key, value, checksum", prefix, of: projection, suffix: " ORDER BY key") {
            (statement) throws(LedgerError) in
            let key = StateKey(bytes: statement.bytes(0))
            let value = statement.bytes(1)
            guard key.checksum(of: value) == statement.integer(2) else {
                throw LedgerError.damagedState(projection: projection, key: key)
            }
            try body(key, value)
        }
    }

    private func put(_ key: StateKey, _ value: [UInt8], in projection: String) throws(LedgerError) {
        let statement = try LedgerStatement(
            """
            INSERT INTO state (projection, key, checksum, value) VALUES (?, ?, ?, ?)
            ON CONFLICT (projection, key) DO UPDATE SET checksum = excluded.checksum, value = excluded.value
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(projection, at: 1)
        try statement.bind(key.checksum(of: value), at: 3)
        try statement.binding(key.bytes, at: 2) { () throws(LedgerError) in
            try statement.binding(value, at: 4) { () throws(LedgerError) in
                try statement.run()
            }
        }
    }

    private func remove(_ key: StateKey, from projection: String) throws(LedgerError) {
        let statement = try LedgerStatement("DELETE FROM state WHERE projection = ? AND key = ?", in: database)
        defer { statement.reset() }
        try statement.bind(projection, at: 1)
        try statement.binding(key.bytes, at: 2) { () throws(LedgerError) in
            try statement.run()
        }
    }

    private func removeAll(prefix: StateKey, from projection: String) throws(LedgerError) {
        try matching("DELETE", prefix, of: projection, suffix: "") { _ in }
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
