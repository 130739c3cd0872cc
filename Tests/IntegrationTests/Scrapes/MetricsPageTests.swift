// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("Prometheus")
struct PrometheusScrapeTests {
    @Test("a real Prometheus scrapes the five families, with no labels but the documented one")
    func prometheusFamilies() async throws {
        let batch = EventFactory(prefix: "prom").cycles(0..<100)
        try await withService { service in
            try await Prometheus.with(scraping: await service.client.port) { prometheus in
                try await eventually("the five series arrive at 0") {
                    try await values(prometheus) == LifecycleTotals().series
                }
                #expect(try await prometheus.query("up").map(\.value) == [1])
                #expect(try await service.client.post(batch.ndjson).receipt().accepted == batch.count)
                try await eventually("the new values arrive") {
                    try await values(prometheus) == batch.totals.series
                }
                await service.kill()
                try await service.start()
                try await eventually("they are scraped again after a restart") {
                    try await prometheus.query("dnp_telemetry_events_duplicate_total").first?.value == 0
                }
                #expect(try await values(prometheus) == batch.totals.series)
            }
        }
    }

    private func values(_ prometheus: Prometheus) async throws -> [MetricsPage.Series: Double] {
        var values: [MetricsPage.Series: Double] = [:]
        for name in Set(LifecycleTotals().series.keys.map(\.name)) {
            for element in try await prometheus.query(name) {
                var labels = element.labels
                for own in ["__name__", "instance", "job"] { labels[own] = nil }
                values[MetricsPage.Series(name: name, labels: labels)] = element.value
            }
        }
        return values
    }

    @Test(
        "promtool accepts the page before and after events, and no documented metric is missing"
    )
    func promtoolLint() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                let client = await service.client
                let answer = try await client.get("/metrics")
                #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
                let types = MetricsPage(answer.text).types
                #expect(Self.documented.filter { types[$0.key] != $0.value } == [:])
                let first = try await Prometheus.lint(answer.text)
                #expect(first == "")
                _ = try await client.post(EventFactory(prefix: "lint").cycles(0..<50).ndjson).receipt()
                _ = try await client.post(Array("{}".utf8))
                _ = try await client.get("/nowhere")
                try await waitUntilJournaled(service)
                let page = try await client.metrics()
                #expect(page.types["http_server_active_requests"] == nil)
                #expect(page.sum("http_server_request_duration_seconds_count") >= 4)
                let second = try await Prometheus.lint(page.text)
                #expect(second == "")
            }
        }
    }

    private static let documented = [
        "dnp_telemetry_events_received_total": "counter", "dnp_telemetry_events_accepted_total": "counter",
        "dnp_telemetry_events_duplicate_total": "counter", "dnp_telemetry_events_rejected_total": "counter",
        "dnp_telemetry_unknown_fields_total": "counter", "dnp_telemetry_implied_stages_total": "counter",
        "dnp_telemetry_ledger_sequence": "gauge", "dnp_telemetry_ledger_commits_total": "counter",
        "dnp_telemetry_ledger_commit_seconds": "histogram", "dnp_telemetry_ledger_batch_events": "histogram",
        "dnp_telemetry_ledger_bytes": "gauge", "dnp_telemetry_ledger_set_aside": "gauge",
        "dnp_telemetry_ledger_lives": "gauge", "dnp_telemetry_ledger_missing_events_total": "counter",
        "dnp_telemetry_ledger_life_start_time_seconds": "gauge",
        "dnp_telemetry_ledger_mark_failures_total": "counter",
        "dnp_telemetry_journal_entries_written_total": "counter",
        "dnp_telemetry_journal_entries_confirmed_total": "counter",
        "dnp_telemetry_journal_entries_lost_total": "counter",
        "dnp_telemetry_journal_entries_retried_total": "counter",
        "dnp_telemetry_journal_reconnects_total": "counter",
        "dnp_telemetry_journal_entries_skipped_total": "counter",
        "dnp_telemetry_journal_pending_entries": "gauge", "dnp_telemetry_journal_lag_seconds": "gauge",
        "dnp_telemetry_journal_up": "gauge", "dnp_telemetry_http_requests_total": "counter",
        "dnp_telemetry_http_connections": "gauge", "dnp_telemetry_scrape_seconds": "histogram",
        "dnp_telemetry_scrape_bytes": "gauge", "dnp_telemetry_build_info": "gauge",
        "dnp_telemetry_scrape_requests_total": "counter", "dnp_telemetry_scrape_in_flight": "gauge",
        "dnp_telemetry_scrape_refused_total": "counter", "dnp_telemetry_scrape_timeouts_total": "counter",
        "process_cpu_seconds_total": "counter", "process_resident_memory_bytes": "gauge",
        "process_open_fds": "gauge", "process_start_time_seconds": "gauge",
    ]

    @Test("a failure of an unknown class adds OTHER, and nothing else")
    func otherFailureReason() async throws {
        let line =
            #"{"event":"prefetch_failure","scheduleId":"o","timestamp":"2025-11-15T05:48:32Z","reason":"OTHER"}"#
        try await withService { service in
            let client = await service.client
            #expect(try await client.metrics().value("dnp_prefetch_failure_total", ["reason": "OTHER"]) == nil)
            _ = try await client.post(Array(line.utf8)).receipt()
            let page = try await client.metrics()
            #expect(page.value("dnp_prefetch_failure_total", ["reason": "OTHER"]) == 1)
            #expect(page.series("dnp_prefetch_failure_total").count == 4)
        }
    }
}

@Suite("documented metrics")
struct DocumentedPageTests {
    @Test("the page and its documented table have the same families of the same types")
    func documentedMetrics() async throws {
        var root = URL(fileURLWithPath: #filePath)
        while root.lastPathComponent != "Tests" { root.deleteLastPathComponent() }
        let readme = text(of: root.deletingLastPathComponent().appendingPathComponent("docs/metrics.md").path)
        let options = ["--follow", "/nowhere/app.log", "--follow-journal", "SYSLOG_IDENTIFIER=dnp-telemetry-test"]
        try await withService(journal: .journald, options: options) { service in
            let types = try await service.client.metrics().types
            #expect(types.count > 80)
            for (family, type) in types.sorted(by: { $0.key < $1.key }) {
                #expect(readme.contains("\n| `\(family)` | \(type) |"), "\(family), a \(type)")
            }
        }
    }
}

@Suite("the page reader of the tests")
struct MetricsPageTests {
    @Test("the page reader of the tests reads labels, escapes, types and infinities")
    func metricsPageReader() {
        let page = MetricsPage(
            #"""
            # HELP a_total A help, with "quotes" and a 7.
            # TYPE a_total counter
            a_total 3
            a_total{reason="x, y}=\"z\" \\ \n",kind="k"} 4.5
            b_bucket{le="+Inf"} 7 1700000000000
            c +Inf
            """#
        )
        #expect(page.value("a_total") == 3)
        #expect(page.value("a_total", ["kind": "k", "reason": "x, y}=\"z\" \\ \n"]) == 4.5)
        #expect(page.sum("a_total") == 7.5)
        #expect(page.value("b_bucket", ["le": "+Inf"]) == 7)
        #expect(page.value("c") == .infinity)
        #expect(page.types == ["a_total": "counter"])
        #expect(page.samples.count == 4)
    }

    @Test("the counter watch of the tests notices a counter that falls or disappears, and ignores gauges")
    func counterWatch() {
        var watch = CounterWatch()
        watch.observe(MetricsPage("# TYPE dnp_prefetch_open gauge\ndnp_prefetch_open 5\ndnp_prefetch_a_total 2\n"))
        watch.observe(MetricsPage("# TYPE dnp_prefetch_open gauge\ndnp_prefetch_open 1\ndnp_prefetch_a_total 2\n"))
        #expect(watch.falls == [])
        watch.observe(MetricsPage("dnp_prefetch_a_total 1\n"))
        #expect(watch.falls.count == 1)
        watch.observe(MetricsPage(""))
        #expect(watch.falls.count == 2)
        #expect(watch.scrapes == 4)
    }
}
