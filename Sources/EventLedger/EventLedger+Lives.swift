// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What identifies the ledger's numbers (docs/ledger.md#lives).
extension EventLedger {
    /// All lives of the ledger, the newest last; there is at least one.
    public var lives: [LedgerLife] { identity.withLock { $0.lives } }

    /// The life that began when the ledger was opened, because acknowledged events may be missing; nil when none did.
    public var renewal: LedgerLife? { identity.withLock { $0.renewal } }

    /// The last number that may stand in the journal under the newest life's id when the journal is compared: this
    /// ledger has sent none after it since.
    public var comparable: UInt64 { identity.withLock { max($0.comparable, $0.current.after.sequence) } }

    /// How many times the mark of what was acknowledged could not be written.
    public var markFailures: UInt64 { mark?.failures ?? 0 }

    /// Why the mark of what was acknowledged cannot be written; nil once it was written again.
    public var markFailure: LedgerMarkFailure? { mark?.failure }

    /// Compares the ledger with the mark of what was acknowledged, begins a life where they disagree, and writes the mark.
    ///
    /// The evidence stays until the life is stored: where the disk is full that is with the first batch.
    func compare(with mark: LedgerMark.Reading, now: Int64) throws(LedgerError) {
        let end = position
        do throws(LedgerError) {
            try changeIdentity {
                $0.compare(with: mark, end: end, now: now)
                return !$0.hasStoredLives
            }
        } catch {
            guard error.isHindrance else { throw error }
            identity.withLock { $0.compare(with: mark, end: end, now: now) }
            return
        }
        self.mark?.write(life: identity.withLock { $0.current.id }, end)
    }

    /// Records in the database's own file, out of its log's reach, that there is a mark.
    ///
    /// Without its log and its mark a database looks like one that never acknowledged anything, unless it says that there was
    /// a mark. The mark is durable before that.
    func rememberMark() throws(LedgerError) {
        if let mark, mark.isWritten, identity.withLock({ !$0.isMarkStored }) {
            try mark.synchronize()
            try changeIdentity { _ in true }
        }
        try keeper.drawing { () throws(LedgerError) in try connection.writeBackLog() }
    }

    /// Records that the journal was compared and holds no number of the newest life that this ledger never gave.
    ///
    /// Call it before anything is sent to the journal; it is durable when it returns.
    public func journalCompared() throws(LedgerError) {
        try changeIdentity { $0.compared() }
    }

    /// Begins a life after `sequence`, because the journal holds numbers up to `shown` which this ledger never gave.
    ///
    /// Numbers after `sequence` that were given meanwhile belong to the new life. It is durable when the call returns;
    /// when it throws, nothing has changed.
    public func beginLife(after sequence: UInt64, shown: UInt64, now: Int64) throws(LedgerError) -> LedgerLife {
        try changeIdentity {
            _ = $0.compared()
            _ = $0.begin(after: sequence, shown: shown, now: now)
            return true
        }
        return identity.withLock { $0.current }
    }

    /// Records that the journal holds numbers up to `sequence` of a life that another one has replaced.
    ///
    /// - Returns: the life behind it, when this shows more missing events than were known.
    public func journalShowed(_ life: String, upTo sequence: UInt64) throws(LedgerError) -> LedgerLife? {
        var isNew = false
        try changeIdentity {
            isNew = $0.showed(life, upTo: sequence)
            return isNew
        }
        guard isNew else { return nil }
        let lives = self.lives
        return lives.lastIndex { $0.id == life }.map { lives[$0 + 1] }
    }

    /// Changes the identity and stores it durably when `change` says so, if need be in the space that is held back: the
    /// journal's confirmations, which let batches be deleted, wait for it.
    private func changeIdentity(_ change: (inout LedgerIdentity) -> Bool) throws(LedgerError) {
        try keeper.drawing { () throws(LedgerError) in try storeIdentity(change) }
    }

    private func storeIdentity(_ change: (inout LedgerIdentity) -> Bool) throws(LedgerError) {
        try connection.access { (database) throws(LedgerError) in
            var changed = identity.withLock { $0 }
            if change(&changed) {
                let isMarked = mark?.isWritten ?? false
                try LedgerConnection.durably(in: database) { () throws(LedgerError) in
                    try LedgerConnection.transaction(.immediate, in: database) { (database) throws(LedgerError) in
                        try changed.store(in: database, isMarked: isMarked)
                    }
                }
                changed.stored(isMarked: isMarked)
            }
            let current = changed.current.id
            identity.withLock { $0 = changed }
            if mark?.isWritten == true { mark?.write(life: current, position) }
        }
    }
}
