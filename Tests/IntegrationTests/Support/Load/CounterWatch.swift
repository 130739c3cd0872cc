// SPDX-License-Identifier: Apache-2.0

/// Compares each scrape with the one before: what the ledger keeps never goes down, and never goes away.
struct CounterWatch {
    private var last: [MetricsPage.Series: Double] = [:]
    private(set) var scrapes = 0
    private(set) var falls: [String] = []

    private static let durable = [
        "dnp_prefetch_", "dnp_notification_", "dnp_plugin_", "dnp_content_", "dnp_integrity_", "dnp_telemetry_events_",
        "dnp_telemetry_unknown_fields_", "dnp_telemetry_implied_stages_", "dnp_telemetry_journal_entries_confirmed_",
    ]

    mutating func observe(_ page: MetricsPage) {
        scrapes += 1
        let now = page.samples.filter { isDurable($0.key.name, on: page) }
        for (series, value) in last {
            guard let current = now[series] else {
                falls.append("\(series.name)\(series.labels): \(value), then gone")
                continue
            }
            if current < value { falls.append("\(series.name)\(series.labels): \(value), then \(current)") }
        }
        last = now
    }

    private func isDurable(_ name: String, on page: MetricsPage) -> Bool {
        if name == "dnp_telemetry_ledger_sequence" { return true }
        return page.types[name] != "gauge" && Self.durable.contains { name.hasPrefix($0) }
    }
}
