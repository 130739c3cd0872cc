// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Synchronization

extension EventLedger {
    /// The most bytes that a projection's name may have.
    public static let maximumProjectionBytes = 128

    /// The most bytes that the note beside a position may have: 64 KiB.
    public static let maximumNoteBytes = 64 << 10

    /// Writes what changed in a projection's state together with the position that the state is now true for.
    ///
    /// Both are in one transaction: a reader or a restart sees the state and the position from before, or both after.
    /// What was staged before is discarded. For changes of more than some megabytes see ``stage(_:of:)``.
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
        try changes.validate()
        while try !tidy(projection) {}
        let keys = try connection.transaction(.immediate) { (database) throws(LedgerError) in
            let positions = PositionTable(database)
            let generation = try positions.generation(of: projection) + 1
            let keys = try StateTable(database).stage(changes, of: projection, generation: generation)
            try positions.set(projection, to: position, generation: generation, note: note, at: now)
            return keys
        }
        upkeep.withLock {
            $0[projection, default: StateUpkeep()].staged(keys, bytes: changes.bytes)
            $0[projection, default: StateUpkeep()].committed()
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
        try connection.transaction(.immediate) { (database) throws(LedgerError) in
            try StateTable(database).removeAll(of: projection)
            try PositionTable(database).remove(projection)
        }
        upkeep.withLock { $0[projection] = nil }
    }

    func validate(_ projection: String, _ position: LedgerPosition, _ note: String) throws(LedgerError) {
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
