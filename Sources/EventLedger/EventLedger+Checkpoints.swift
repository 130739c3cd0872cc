// SPDX-License-Identifier: Apache-2.0

internal import GRDB

extension EventLedger {
    /// The most bytes that a projection's name may have.
    public static let maximumProjectionBytes = 128

    /// The most bytes that the note beside a position may have: 64 KiB.
    public static let maximumNoteBytes = 64 << 10

    /// Writes what changed in a projection's state together with the position that the state is now true for.
    ///
    /// Both are in one transaction: a reader or a restart sees the state and the position from before, or both after.
    /// - Parameters:
    ///   - projection: the projection's name.
    ///   - position: a position that the ledger has reached; it may be an earlier one than before.
    ///   - changes: the pages to write and to remove.
    ///   - note: a text of the projection's own.
    ///   - now: the time, in microseconds since 1970 UTC.
    public func checkpoint(
        projection: String,
        at position: LedgerPosition,
        changes: StateChanges,
        note: String = "",
        now: Int64
    ) throws(LedgerError) {
        try validate(projection, position, note)
        for change in changes.changes {
            guard case .put(let key, let value) = change else { continue }
            guard key.bytes.count <= StateKey.maximumBytes, value.count <= StateChanges.maximumPageBytes else {
                throw LedgerError.refused(
                    detail: "a page may have a key of \(StateKey.maximumBytes) bytes and a value of "
                        + "\(StateChanges.maximumPageBytes), this one has \(key.bytes.count) and \(value.count)"
                )
            }
        }
        try connection.transaction(.immediate) { (database) throws(LedgerError) in
            try StateTable(database).apply(changes, to: projection)
            try PositionTable(database).set(projection, to: position, note: note, at: now)
        }
    }

    /// Records how far a projection that keeps no state here has come; one small transaction.
    public func advance(
        projection: String,
        to position: LedgerPosition,
        note: String = "",
        now: Int64
    ) throws(LedgerError) {
        try validate(projection, position, note)
        try connection.transaction(.immediate) { (database) throws(LedgerError) in
            try PositionTable(database).set(projection, to: position, note: note, at: now)
        }
    }

    /// Forgets a projection: its state and its position. It no longer holds pruning back.
    public func forget(projection: String) throws(LedgerError) {
        var changes = StateChanges()
        changes.removeAll(prefix: "")
        try connection.transaction(.immediate) { (database) throws(LedgerError) in
            try StateTable(database).apply(changes, to: projection)
            try PositionTable(database).remove(projection)
        }
    }

    private func validate(_ projection: String, _ position: LedgerPosition, _ note: String) throws(LedgerError) {
        guard !projection.isEmpty, projection.utf8.count <= Self.maximumProjectionBytes else {
            throw LedgerError.refused(
                detail: "a projection's name has 1 to \(Self.maximumProjectionBytes) bytes, "
                    + "this one has \(projection.utf8.count)"
            )
        }
        guard note.utf8.count <= Self.maximumNoteBytes else {
            throw LedgerError.refused(
                detail: "a note has at most \(Self.maximumNoteBytes) bytes, this one has \(note.utf8.count)"
            )
        }
        let end = self.position
        guard position.batch >= 0, position.batch <= end.batch, position.sequence <= end.sequence else {
            throw LedgerError.refused(detail: "the ledger ends at \(end), before \(position)")
        }
    }
}
