// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState

/// Saves how far the journal has come and deletes what no projection needs any more (DESIGN, retention).
struct LedgerRetention: Sendable {
    private static let interval: Int64 = 1_000_000
    /// How many batches one call deletes at most, and the pause before the next while there are more, in microseconds.
    private static let batches = 1_024
    private static let pause: Int64 = 10_000

    private let journal: JournalProgress?
    private let keepSeconds: @Sendable () -> Int64
    private var nextAt: Int64 = 0

    /// - Parameters:
    ///   - journal: how far the journal has come; nil when there is none to wait for.
    ///   - keepSeconds: how long batches stay beyond that, asked each time.
    init(journal: JournalProgress?, keepSeconds: @escaping @Sendable () -> Int64) {
        self.journal = journal
        self.keepSeconds = keepSeconds
    }

    /// Does its work once a second, sooner while there is more to delete than one call takes; true when it has.
    mutating func apply(_ ledger: EventLedger, lifecycle: LedgerPosition, now: Int64) throws(LedgerError) -> Bool {
        guard now >= nextAt || now < nextAt - 2 * Self.interval else { return false }
        nextAt = now + Self.interval
        savePosition(ledger, now: now)
        let needed = prunable(lifecycle)
        let pruning = try ledger.prune(upTo: needed, keepSince: now - keepSeconds() * 1_000_000, limit: Self.batches)
        if pruning.isCutShort { nextAt = now + Self.pause }
        return true
    }

    /// What neither projection needs. Rows without events lie behind the journal's batch and are of no use to it.
    private func prunable(_ lifecycle: LedgerPosition) -> LedgerPosition {
        guard let written = journal?.saved.position, written.sequence < lifecycle.sequence else { return lifecycle }
        return min(lifecycle, written)
    }

    /// Makes the journal's position durable; only then is it shown as confirmed, so that the counter survives a kill.
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
