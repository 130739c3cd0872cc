// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState

/// Saves the journal's position and deletes batches that no projection needs any more.
struct LedgerRetention: Sendable {
    private static let intervalMicroseconds: Int64 = 1_000_000
    /// The same while the ledger is short of room.
    private static let hurriedMicroseconds: Int64 = 100_000
    /// How many batches one call deletes at most, so that a commit never waits long.
    private static let maximumBatches = 1_024
    /// The pause until the next call while there is more to delete.
    private static let pauseMicroseconds: Int64 = 10_000

    private let journal: JournalProgress?
    private let keepSeconds: @Sendable () -> Int64
    private var nextAt: Int64 = 0
    private var lastAt: Int64 = 0

    /// - Parameters:
    ///   - journal: The journal's position; nil without a journal.
    ///   - keepSeconds: How long batches are kept beyond that, read at each call since it is hot-reloadable.
    init(journal: JournalProgress?, keepSeconds: @escaping @Sendable () -> Int64) {
        self.journal = journal
        self.keepSeconds = keepSeconds
    }

    /// Runs once a second, sooner while the ledger is short of room or one call cannot delete all that is due; true when
    /// it ran.
    ///
    /// - Parameter believed: the time by which batches grow old (``ClockWatch``); nil while none can be believed, and then
    ///   they do not.
    mutating func apply(
        _ ledger: EventLedger,
        lifecycle: LedgerPosition,
        isShort: Bool,
        believed: Int64?,
        now: Int64
    ) throws(LedgerError) -> Bool {
        if isShort { nextAt = min(nextAt, lastAt + Self.hurriedMicroseconds) }
        guard now >= nextAt || now < nextAt - 2 * Self.intervalMicroseconds else { return false }
        nextAt = now + Self.intervalMicroseconds
        lastAt = now
        savePosition(ledger, now: now)
        let keepMicroseconds = keepSeconds() * 1_000_000
        // What need not be kept goes whatever the clock says.
        guard keepMicroseconds == 0 || believed != nil else { return true }
        let pruning = try ledger.prune(
            upTo: prunable(lifecycle),
            keepSince: keepMicroseconds == 0 ? .max : (believed ?? now) - keepMicroseconds,
            now: (believed ?? now) + ClockWatch.toleratedMicroseconds,
            limit: Self.maximumBatches
        )
        if pruning.isCutShort { nextAt = now + Self.pauseMicroseconds }
        return true
    }

    /// Whether the journal is ahead of a checkpoint, so that a newer one lets batches be deleted.
    func isAhead(of lifecycle: LedgerPosition) -> Bool {
        journal.map { $0.latest > lifecycle.sequence } ?? true
    }

    /// The position that both projections have passed. Rows without events may follow the journal's batch; it needs none.
    private func prunable(_ lifecycle: LedgerPosition) -> LedgerPosition {
        guard let written = journal?.saved.position, written.sequence < lifecycle.sequence else { return lifecycle }
        return min(lifecycle, written)
    }

    /// Makes the journal's position durable; only then is it shown as confirmed, so that the counter never falls after a kill.
    func savePosition(_ ledger: EventLedger, now: Int64) {
        guard let journal, let reached = journal.unsaved else { return }
        do throws(LedgerError) {
            try ledger.advance(
                projection: JournalProgress.projection,
                to: reached.position,
                note: reached.note,
                now: now
            )
            journal.saved(reached)
        } catch {
            return
        }
    }
}
