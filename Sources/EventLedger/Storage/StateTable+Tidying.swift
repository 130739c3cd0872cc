// SPDX-License-Identifier: Apache-2.0

/// Finding and deleting the rows that do not count: older than the one that does, or of a generation that was never
/// committed.
extension StateTable {
    /// The keys from `start` on that have rows to delete, as far as `rows` rows tell.
    ///
    /// The index alone answers. A removed page has an older row for as long as it has one without a value, so that no
    /// value has to be looked at.
    /// - Returns: the keys and where to go on; nil when that was the end.
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

    /// Deletes the rows of a page that do not count.
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
                let counts = !isFound && statement.integer(2) <= committed
                if counts { isFound = true }
                if counts, !statement.isNull(1) { continue }
                rows.append((statement.integer(0), Int(statement.integer(1))))
            }
            return rows
        }
    }
}
