// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("lifecycle metrics")
struct LifecycleMetricsTests {
    /// An hour ago, in whole seconds since 1970, so that no cycle closes during the test.
    private static let start = Int(Date().timeIntervalSince1970) - 3_600

    private static func time(_ second: Int) -> String {
        Date(timeIntervalSince1970: Double(start + second)).formatted(.iso8601)
    }

    /// A cycle whose execution is lost on the way, and the client's own counters, which know of it.
    private static let events = Array(
        """
        {"event":"prefetch_scheduled","timestamp":"\(time(0))","id":"a","scheduledFor":"\(time(720))",\
        "installationId":"device-1","platform":"iOS","appVersion":"2.1"}
        {"event":"prefetch_success","timestamp":"\(time(542))","id":"a","fetchDurationMs":1700,\
        "installationId":"device-1","platform":"iOS","appVersion":"2.1"}
        {"event":"prefetch_used_for_notification","timestamp":"\(time(720))","id":"a","age":178,\
        "installationId":"device-1"}
        {"event":"telemetry_snapshot","timestamp":"\(time(780))","installationId":"device-1",\
        "telemetry":{"dnp_prefetch_scheduled_total":1,"dnp_prefetch_executed_total":1,\
        "dnp_prefetch_success_total":1,"dnp_prefetch_used_for_notification_total":1}}
        """.utf8
    )

    /// The samples that are functions of the ledger alone.
    private static func lifecycle(_ page: MetricsPage) -> [MetricsPage.Series: Double] {
        let prefixes = ["dnp_prefetch_", "dnp_notification_", "dnp_content_", "dnp_plugin_", "dnp_integrity_"]
        return page.samples.filter { sample in prefixes.contains { sample.key.name.hasPrefix($0) } }
    }

    @Test("a real Prometheus reads the lifecycle metrics, histograms and recovered values included, also after a kill")
    func lifecycleMetricsInPrometheus() async throws {
        try await withService { service in
            let client = await service.client
            try await Prometheus.with(scraping: client.port) { prometheus in
                try await eventually("the recovered stages arrive at 0") {
                    try await Self.recovered(prometheus) == 0
                }
                #expect(try await client.post(Self.events).receipt().accepted == 4)
                try await eventually("the recovered execution arrives") {
                    try await Self.recovered(prometheus) == 1
                }
                try await Self.expectHistogram(prometheus)
                let page = try await client.metrics()
                #expect(try await Prometheus.lint(page.text) == "")
                await service.kill()
                try await service.start()
                #expect(try await client.post(Self.events).receipt().duplicates == 4)
                try await eventually("it is scraped again") {
                    try await prometheus.query("dnp_telemetry_events_duplicate_total").first?.value == 4
                }
                #expect(try await Self.recovered(prometheus) == 1)
                try await Self.expectHistogram(prometheus)
                #expect(try await Self.lifecycle(client.metrics()) == Self.lifecycle(page))
            }
        }
    }

    private static func recovered(_ prometheus: Prometheus) async throws -> Double? {
        try await prometheus.query("dnp_telemetry_recovered_events_total")
            .first { $0.labels["stage"] == "executed" }?.value
    }

    private static func expectHistogram(_ prometheus: Prometheus) async throws {
        let buckets = try await prometheus.query("dnp_prefetch_fetch_duration_seconds_bucket")
        #expect(buckets.first { $0.labels["le"].flatMap(Double.init) == 1 }?.value == 0)
        #expect(buckets.first { $0.labels["le"] == "2.5" }?.value == 1)
        #expect(try await prometheus.query("dnp_prefetch_fetch_duration_seconds_sum").first?.value == 1.7)
        #expect(try await prometheus.query("dnp_prefetch_content_age_seconds_sum").first?.value == 178)
        #expect(
            try await prometheus.query("dnp_prefetch_success_timestamp_seconds").first?.value
                == Double(start + 542)
        )
    }

    @Test("lifecycle metrics are labelled by platform and app version where configured")
    func lifecycleMetricLabels() async throws {
        try await withService(options: ["--label", "app_version", "--label", "platform"]) { service in
            let client = await service.client
            _ = try await client.post(Self.events).receipt()
            let page = try await client.metrics()
            let app = ["platform": "ios", "app_version": "2.1"]
            let unknown = ["platform": "unknown", "app_version": "unknown"]
            #expect(page.value("dnp_prefetch_scheduled_total", app) == 1)
            #expect(page.value("dnp_prefetch_scheduled_total", unknown) == 0)
            #expect(page.value("dnp_prefetch_fetch_duration_seconds_count", app) == 1)
            #expect(page.value("dnp_prefetch_open_cycles") == 1)
            #expect(page.value("dnp_telemetry_recovered_events_total", ["stage": "executed"]) == 1)
            #expect(try await Prometheus.lint(page.text) == "")
            await service.kill()
            try await service.start()
            #expect(try await Self.lifecycle(client.metrics()) == Self.lifecycle(page))
        }
    }

    @Test("an unknown metric label is refused with the known ones", arguments: [["serve"], ["replay", "device.log"]])
    func lifecycleMetricUnknownLabel(command: [String]) async throws {
        let result = try await Command.run([Service.binary()] + command + ["--label", "device"])
        #expect(result.status == .code(64))
        #expect(result.error.contains(command == ["serve"] ? "\"device\"" : "'device'"))
        #expect(result.error.contains("platform") && result.error.contains("app_version"))
    }

    @Test("replay shows the same labels, and none in its JSON")
    func lifecycleMetricLabelsOfReplay() async throws {
        let events = String(decoding: Self.events, as: UTF8.self)
        let page = try await Command.telemetry("replay", "--label", "platform", "-", input: events)
        #expect(page.status == .code(0))
        #expect(MetricsPage(page.text).value("dnp_prefetch_scheduled_total", ["platform": "ios"]) == 1)
        #expect(try await Prometheus.lint(page.text) == "")
        let json = try await Command.telemetry("replay", "--label", "platform", "--format", "json", "-")
        #expect(json.status == .code(64))
    }
}
