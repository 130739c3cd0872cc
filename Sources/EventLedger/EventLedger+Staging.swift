// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Synchronization

/// A checkpoint that is written in parts, so that none of them holds up a commit for long.
///
/// First ``tidy(_:bytes:)`` until it returns true, then ``stage(_:of:)`` for each part, then ``commitStage(of:at:note:now:)``.
/// Until that last, tiny transaction every reader and every restart sees the checkpoint before.
extension EventLedger {
    /// Writes a part of the next checkpoint in a transaction of its own.
    ///
    /// When it throws, nothing of this part is there; the same call works later.
    /// - Throws: ``LedgerError/refused(detail:)`` when ``tidy(_:bytes:)`` has not ended.
    public func stage(_ changes: StateChanges, of projection: String) throws(LedgerError) {
        try validate(projection, .start, "")
        try changes.validate()
        guard upkeep.withLock({ $0[projection]?.isTidy ?? false }) else {
            throw LedgerError.refused(detail: "the state of '\(projection)' has to be tidied before a part is staged")
        }
        let keys = try connection.transaction(.immediate) { (database) throws(LedgerError) in
            let generation = try PositionTable(database).generation(of: projection) + 1
            return try StateTable(database).stage(changes, of: projection, generation: generation)
        }
        upkeep.withLock { $0[projection, default: StateUpkeep()].staged(keys, bytes: changes.bytes) }
    }

    /// Makes everything that was staged the projection's state, with the position that it is true for.
    public func commitStage(
        of projection: String,
        at position: LedgerPosition,
        note: String = "",
        now: Int64
    ) throws(LedgerError) {
        try validate(projection, position, note)
        guard upkeep.withLock({ $0[projection]?.isTidy ?? false }) else {
            throw LedgerError.refused(detail: "nothing of '\(projection)' was staged since its state was tidied")
        }
        try connection.transaction(.immediate) { (database) throws(LedgerError) in
            let positions = PositionTable(database)
            let generation = try positions.generation(of: projection) + 1
            try positions.set(projection, to: position, generation: generation, note: note, at: now)
        }
        upkeep.withLock { $0[projection, default: StateUpkeep()].committed() }
    }

    /// Deletes a part of what does not count in a projection's state: pages that were replaced or removed, and those of
    /// a checkpoint that was never committed, which is discarded.
    ///
    /// - Parameter bytes: the size of the pages after which the call ends, about.
    /// - Returns: true when there is nothing more to delete.
    public func tidy(_ projection: String, bytes: Int = 256 << 10) throws(LedgerError) -> Bool {
        var state = upkeep.withLock { $0[projection] ?? StateUpkeep() }
        state.discard()
        guard !state.isTidy else { return true }
        let tidied = try connection.transaction(.immediate) { (database) throws(LedgerError) in
            let table = StateTable(database)
            let committed = try PositionTable(database).generation(of: projection)
            var state = state
            if let start = state.searchFrom, state.outdated.isEmpty {
                (state.outdated, state.searchFrom) = try table.outdatedKeys(
                    of: projection,
                    from: start,
                    committed: committed,
                    rows: Self.searchedRows
                )
            }
            var rest = max(1, bytes)
            while rest > 0, let key = state.outdated.popLast() {
                rest -= try table.tidy(key, of: projection, committed: committed) + Self.rowBytes
            }
            return state
        }
        upkeep.withLock { $0[projection] = tidied }
        return tidied.isTidy
    }

    /// How many rows one call looks at in search of those that an earlier process left, and what deleting one counts for
    /// beside its value.
    private static var searchedRows: Int { 2_048 }
    private static var rowBytes: Int { 4_096 }
}
