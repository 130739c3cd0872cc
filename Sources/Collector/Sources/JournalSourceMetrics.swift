// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// How the journal is followed, since this start.
struct JournalSourceMetrics: Sendable {
    let lag: Gauge
    let entries: Counter
    let skipped: Counter
    let gaps: Counter
    let failures: Counter

    init(_ registry: MetricsRegistry) {
        lag = registry.gauge(
            "dnp_telemetry_follow_journal_lag_seconds",
            help: "Time since all matching entries of the followed journal were read and stored; 0 while they are.",
            unit: "seconds"
        )
        entries = registry.counter(
            "dnp_telemetry_follow_journal_entries_total",
            help: "Matching entries of the followed journal whose lines were read."
        )
        skipped = registry.counter(
            "dnp_telemetry_follow_journal_skipped_total",
            help: "Matching entries of the followed journal that collectors wrote, and that are not read."
        )
        gaps = registry.counter(
            "dnp_telemetry_follow_journal_gaps_total",
            help: "Times that entries of the followed journal were gone or damaged before they were read."
        )
        failures = registry.counter(
            "dnp_telemetry_follow_journal_read_errors_total",
            help: "Attempts to read the followed journal that failed."
        )
    }
}
