// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Waits until the journal has confirmed all accepted events.
func waitUntilJournaled(
    _ service: Service,
    within limit: Duration = .seconds(60),
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let client = await service.client
    var last = ""
    do {
        try await eventually(
            "all accepted events are confirmed in the journal",
            within: limit,
            every: .milliseconds(50)
        ) {
            let page = try await client.metrics()
            last = page.text.split(separator: "\n").filter { $0.hasPrefix("dnp_telemetry_journal_") }
                .joined(separator: "\n")
            return page.isJournalComplete
        }
    } catch let error as DeadlineExceeded {
        Issue.record("\(error)\n\(last)", sourceLocation: sourceLocation)
        throw error
    }
}

/// Expects each of these events in the journal exactly once, and no other.
func expectExactlyOnce(
    _ expected: [EventIdentity],
    in journal: TestJournald,
    optional: [EventIdentity] = [],
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let entries = try await journal.entries(fields: [
        "DNP_EVENT", "DNP_SCHEDULE_ID", "DNP_EVENT_ID", "DNP_SEQ", "DNP_LEDGER",
    ])
    var counts: [EventIdentity: Int] = [:]
    for entry in entries { counts[entry.identity, default: 0] += 1 }
    let missing = expected.filter { counts[$0] == nil }
    let repeated = counts.filter { $0.value > 1 }
    let foreign = Set(counts.keys).subtracting(expected).subtracting(optional)
    #expect(
        missing.count == 0,
        "\(missing.count) of \(expected.count) events are missing, first \(missing.prefix(3))",
        sourceLocation: sourceLocation
    )
    #expect(
        repeated.count == 0,
        "\(repeated.count) of \(expected.count) events stand more than once, as \(repeated.prefix(3))",
        sourceLocation: sourceLocation
    )
    #expect(foreign.count == 0, "never sent: \(foreign.prefix(3))", sourceLocation: sourceLocation)
    #expect(Set(entries.map { $0["DNP_SEQ"] }).count == counts.count, sourceLocation: sourceLocation)
    #expect(Set(entries.map { $0["DNP_LEDGER"] }).count <= 1, sourceLocation: sourceLocation)
}

/// Expects every acknowledged event to count once, and beyond them at most the abandoned ones.
func expectCounted(
    _ delivery: Delivery,
    on page: MetricsPage,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(delivery.contradictions == [], sourceLocation: sourceLocation)
    let least = delivery.acknowledged.totals.series
    let most = (delivery.acknowledged.totals + delivery.abandoned.totals).series
    let found = page.lifecycle
    #expect(Set(found.keys) == Set(least.keys), sourceLocation: sourceLocation)
    for (series, low) in least {
        let high = most[series] ?? low
        let value = found[series] ?? -1
        #expect(
            value >= low && value <= high,
            "\(series.name)\(series.labels) is \(value), and \(low)...\(high) were sent",
            sourceLocation: sourceLocation
        )
    }
    let runs = delivery.acknowledged.runs...delivery.acknowledged.runs + delivery.abandoned.runs
    for (name, labels) in [("checks", ["available": "true"]), ("schedules", ["result": "scheduled"])] {
        let value = page.value("aiq_background_refresh_\(name)_total", labels) ?? 0
        #expect(runs.contains(Int(value)), "\(value) \(name), and \(runs) were sent", sourceLocation: sourceLocation)
    }
}

/// Expects all runs whose check counts to have completed.
func expectCompleted(on page: MetricsPage, sourceLocation: SourceLocation = #_sourceLocation) {
    let checks = page.value("aiq_background_refresh_checks_total", ["available": "true"])
    #expect(checks ?? 0 > 0, sourceLocation: sourceLocation)
    #expect(
        page.value("aiq_background_refresh_runs_total", ["outcome": "completed"]) == checks,
        sourceLocation: sourceLocation
    )
}

/// Compares each scrape with the one before: durable series never fall and never disappear.
struct CounterWatch {
    private var last: [MetricsPage.Series: Double] = [:]
    private(set) var scrapes = 0
    private(set) var falls: [String] = []

    private static let durable = [
        "aiq_background_refresh_", "dnp_prefetch_", "dnp_notification_", "dnp_plugin_", "dnp_content_",
        "dnp_integrity_", "dnp_telemetry_events_",
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
