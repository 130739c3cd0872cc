// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import MetricsRegistry

/// The metrics of the ledger's lives: whether acknowledged events are missing (docs/ledger.md#lives).
struct LedgerLifeMetrics: Sendable {
    /// What showed that events are missing.
    private static let witnesses: [LedgerLife.Reason] = [.mark, .journal]

    private let lives: Gauge
    private let start: Gauge
    private let missing: CounterFamily
    private let markFailures: Counter
    private let unmarked: Gauge

    init(_ registry: MetricsRegistry) {
        lives = registry.gauge(
            "dnp_telemetry_ledger_lives",
            help: "Lives of the ledger: 1, and one more each time that its numbers could have been given twice."
        )
        start = registry.gauge(
            "dnp_telemetry_ledger_life_start_time_seconds",
            help: "When the ledger's newest life began, in seconds since 1970.",
            unit: "seconds"
        )
        missing = registry.counter(
            "dnp_telemetry_ledger_missing_events_total",
            help: "Acknowledged events that the ledger has lost, by what showed it.",
            labels: ["witness"]
        )
        for witness in Self.witnesses { _ = missing.with(witness.rawValue) }
        markFailures = registry.counter(
            "dnp_telemetry_ledger_mark_failures_total",
            help: "Commits after which the mark of what was acknowledged could not be written."
        )
        unmarked = registry.gauge(
            "dnp_telemetry_ledger_unmarked_events",
            help: "Acknowledged events that the mark beside the ledger does not show, because it cannot be written."
        )
    }

    func collect(_ ledger: EventLedger) {
        let all = ledger.lives
        if let newest = all.last {
            lives.set(Int(clamping: newest.number))
            start.set(Double(newest.startedAt) / 1e6)
        }
        for witness in Self.witnesses {
            let events = all.reduce(UInt64(0)) { $0 &+ ($1.witness == witness ? $1.missingEvents : 0) }
            missing.with(witness.rawValue).restore(to: events, created: all.first?.startedAt)
        }
        markFailures.restore(to: ledger.markFailures)
        unmarked.set(Int(clamping: ledger.markFailure?.events ?? 0))
    }
}
