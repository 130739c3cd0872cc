// SPDX-License-Identifier: Apache-2.0

internal import EventLedger

/// Saves how far the journal has come and deletes what no projection needs any more (DESIGN, retention).
struct LedgerRetention: Sendable {
    static let journalProjection = "journal"
    private static let interval: Int64 = 1_000_000

    private let journal: JournalProgress?
    private let keepMicroseconds: Int64
    private var nextAt: Int64 = 0

    /// - Parameters:
    ///   - journal: how far the journal has come; nil when there is none to wait for.
    ///   - keepSeconds: how long batches stay beyond that.
    init(journal: JournalProgress?, keepSeconds: Int64) {
        self.journal = journal
        keepMicroseconds = keepSeconds * 1_000_000
    }

    /// Does its work once a second; true when it has.
    mutating func apply(_ ledger: EventLedger, lifecycle: LedgerPosition, now: Int64) -> Bool {
        guard now >= nextAt || now < nextAt - 2 * Self.interval else { return false }
        nextAt = now + Self.interval
        savePosition(ledger, now: now)
        let needed = journal.map { min(lifecycle, $0.saved.position) } ?? lifecycle
        _ = try? ledger.prune(upTo: needed, keepSince: now - keepMicroseconds)
        return true
    }

    /// Makes the journal's position durable; only then is it shown as confirmed, so that the counter survives a kill.
    func savePosition(_ ledger: EventLedger, now: Int64) {
        guard let journal, let reached = journal.unsaved else { return }
        do throws(LedgerError) {
            try ledger.advance(
                projection: Self.journalProjection,
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
