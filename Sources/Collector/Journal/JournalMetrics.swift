// SPDX-License-Identifier: Apache-2.0

internal import Journald
internal import MetricsRegistry

/// The metrics of the journal's delivery; how far it has come is in `ProjectionMetrics`.
struct JournalMetrics: Sendable {
    private let written: Counter
    private let lost: Counter
    private let retried: Counter
    private let reconnects: Counter
    private let up: Gauge
    private let batching: Gauge

    init(_ registry: MetricsRegistry) {
        written = registry.counter(
            "dnp_telemetry_journal_entries_written_total",
            help: "Entries handed to the journal, those sent again included."
        )
        lost = registry.counter(
            "dnp_telemetry_journal_entries_lost_total",
            help: "Entries that the journal took and discarded, as reading back proved; they are sent again."
        )
        retried = registry.counter(
            "dnp_telemetry_journal_entries_retried_total",
            help: "Entries that were sent again."
        )
        reconnects = registry.counter(
            "dnp_telemetry_journal_reconnects_total",
            help: "New connections to journald, because it was away or entries were not read back in time."
        )
        up = registry.gauge("dnp_telemetry_journal_up", help: "1 while the journal takes entries, else 0.")
        batching = registry.gauge(
            "dnp_telemetry_journal_batching",
            help: "1 when reading back has proven that several entries in one datagram are stored, else 0."
        )
    }

    func collect(_ statistics: JournalDeliveryStatistics?) {
        guard let statistics else { return up.set(1) }
        written.restore(to: statistics.written)
        lost.restore(to: statistics.lost)
        retried.restore(to: statistics.retried)
        reconnects.restore(to: statistics.reconnects)
        up.set(statistics.state == .streaming ? 1 : 0)
        batching.set(statistics.isBatchingProven ? 1 : 0)
    }
}
