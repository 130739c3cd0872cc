// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import MetricsRegistry

/// The journal's side of the accounts, set in the same update as the ledger's: `accepted = confirmed + skipped + pending`
/// (SPEC 4.5) holds on every page.
///
/// Only what is saved in the ledger is shown as confirmed, so that no kill lets the counter fall.
struct JournalSums: Sendable {
    private let progress: JournalProgress
    private let confirmed: Counter
    private let skipped: Counter
    private let pending: Gauge

    init(_ registry: MetricsRegistry, _ progress: JournalProgress) {
        self.progress = progress
        confirmed = registry.counter(
            "dnp_telemetry_journal_entries_confirmed_total",
            help: "Events that were read back from the journal."
        )
        skipped = registry.counter(
            "dnp_telemetry_journal_entries_skipped_total",
            help: "Events that left the ledger while no journal was written."
        )
        pending = registry.gauge(
            "dnp_telemetry_journal_pending_entries",
            help: "Events in the ledger that are not confirmed in the journal yet."
        )
    }

    func set(accepted: UInt64, created: Int64, in update: inout MetricsUpdate) {
        let saved = progress.saved
        let done = min(saved.position.sequence, accepted)
        let passed = min(saved.skipped, done)
        update.raise(confirmed, to: done - passed, created: created)
        update.raise(skipped, to: passed, created: created)
        update.set(pending, to: accepted - done)
    }
}
