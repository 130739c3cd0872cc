// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension EndToEnd {
    @Suite("a real Prometheus and each format")
    struct PrometheusFormats {
        /// A format, and how Prometheus 2.42 comes to ask for it.
        struct Way: Sendable, CustomTestStringConvertible {
            let format: String
            /// What a relay asks for in its place.
            var accept: String?
            var features: [String] = []
            var testDescription: String { format }
        }

        static let ways = [
            Way(format: "text-0.0.4", accept: "text/plain;version=0.0.4"),
            Way(format: "text-1.0.0", accept: "text/plain;version=1.0.0"),
            Way(format: "openmetrics-1.0.0"),
            Way(format: "protobuf", features: ["native-histograms"]),
        ]

        private static let events = Array(
            """
            {"event":"prefetch_scheduled","timestamp":"2025-11-15T05:41:00Z","id":"a","scheduledFor":"2025-11-15T05:53:00Z"}
            {"event":"prefetch_executed","timestamp":"2025-11-15T05:48:00Z","id":"a"}
            {"event":"prefetch_success","timestamp":"2025-11-15T05:48:02Z","id":"a","fetchDurationMs":1700}
            {"event":"prefetch_used_for_notification","timestamp":"2025-11-15T05:53:00Z","id":"a","age":178}
            {"event":"prefetch_scheduled","timestamp":"2025-11-16T05:41:00Z","id":"b","scheduledFor":"2025-11-16T05:53:00Z"}
            {"event":"prefetch_executed","timestamp":"2025-11-16T05:48:00Z","id":"b"}
            {"event":"prefetch_failure","timestamp":"2025-11-16T05:48:01Z","id":"b","reason":"AUTH","duration_ms":700}
            """.utf8
        )

        @Test("come together: types, counters, gauges and histograms are read back from its API", arguments: ways)
        func readBack(way: Way) async throws {
            try await withService { service in
                let client = await service.client
                #expect(try await client.post(Self.events).receipt().accepted == 7)
                if let accept = way.accept {
                    try await ScrapeRelay.with(to: client.port, accept: accept) { port in
                        try await expect(way, scrapedFrom: port)
                    }
                } else {
                    try await expect(way, scrapedFrom: client.port)
                }
            }
        }

        private func expect(_ way: Way, scrapedFrom port: Int) async throws {
            try await Prometheus.with(scraping: port, features: way.features) { prometheus in
                try await eventually("a page in this format was scraped") {
                    try await prometheus.query("dnp_telemetry_scrape_requests_total")
                        .contains { $0.labels["format"] == way.format && $0.value > 0 }
                }
                #expect(try await prometheus.query("up").map(\.value) == [1])
                #expect(try await prometheus.query("dnp_prefetch_scheduled_total").map(\.value) == [2])
                let failures = try await prometheus.query("dnp_prefetch_failure_total")
                #expect(failures.count == 3)
                #expect(failures.first { $0.labels["reason"] == "AUTH" }?.value == 1)
                #expect(try await prometheus.query("dnp_prefetch_open_cycles").map(\.value) == [2])
                let buckets = try await prometheus.query("dnp_prefetch_fetch_duration_seconds_bucket")
                let byBound = Dictionary(
                    buckets.map { (Double($0.labels["le"] ?? "") ?? .infinity, $0.value) },
                    uniquingKeysWith: { $0 + $1 }
                )
                #expect(byBound.count == 12)
                #expect(byBound[0.5] == 0 && byBound[1] == 1 && byBound[2.5] == 2 && byBound[.infinity] == 2)
                #expect(try await prometheus.query("dnp_prefetch_fetch_duration_seconds_count").first?.value == 2)
                #expect(try await prometheus.query("dnp_prefetch_fetch_duration_seconds_sum").first?.value == 2.4)
                #expect(try await prometheus.type(of: "dnp_prefetch_fetch_duration_seconds") == "histogram")
                #expect(try await prometheus.type(of: "dnp_prefetch_open_cycles") == "gauge")
            }
        }

        @Test(
            "bring the schedule of what was counted last to its exemplars",
            arguments: [
                ["exemplar-storage"], ["exemplar-storage", "native-histograms"],
            ]
        )
        func exemplars(features: [String]) async throws {
            let start = Date().timeIntervalSince1970
            try await withService { service in
                let client = await service.client
                try await Prometheus.with(scraping: client.port, features: features) { prometheus in
                    try await eventually("it scrapes") { try await prometheus.query("up").first?.value == 1 }
                    #expect(try await client.post(Self.events).receipt().accepted == 7)
                    try await eventually("the failure's exemplar arrives") {
                        try await prometheus.exemplars("dnp_prefetch_failure_total").isEmpty == false
                    }
                    let failure = try #require(try await prometheus.exemplars("dnp_prefetch_failure_total").first)
                    #expect(failure.series["reason"] == "AUTH")
                    #expect(failure.labels == ["schedule_id": "b"])
                    #expect(failure.value == 1)
                    #expect((start - 1...Date().timeIntervalSince1970 + 1).contains(failure.timestamp))
                    let durations = try await prometheus.exemplars("dnp_prefetch_fetch_duration_seconds_bucket")
                    let found = durations.map {
                        [$0.labels["schedule_id"], $0.series["le"].map { "\(Double($0) ?? 0)" }]
                    }
                    #expect(Set(found) == [["a", "2.5"], ["b", "1.0"]])
                    #expect(Set(durations.map(\.value)) == [1.7, 0.7])
                    let ages = try await prometheus.exemplars("dnp_prefetch_content_age_seconds_bucket")
                    #expect(ages.map(\.labels) == [["schedule_id": "a"]])
                    #expect(ages.map(\.value) == [178])
                }
            }
        }

        @Test("leave out ids that are too long for an exemplar, and show none in the old text")
        func tooLong() async throws {
            try await withService { service in
                let client = await service.client
                let long = String(repeating: "x", count: 118)
                let most = String(repeating: "é", count: 60)
                for (id, duration) in [(long, 700), (most, 1_700)] {
                    let event = """
                        {"event":"prefetch_success","timestamp":"2025-11-15T05:48:02Z","id":"\(id)","duration_ms":\(duration)}
                        """
                    #expect(try await client.post(Array(event.utf8)).receipt().accepted == 1)
                }
                let path = "/metrics?name[]=dnp_prefetch_fetch_duration_seconds"
                let openMetrics = try await client.scrape([("Accept", "application/openmetrics-text")], path: path)
                #expect(openMetrics.headers["content-type"] == AcceptHeader.openMetrics)
                let exemplars = openMetrics.text.split(separator: "\n").filter { $0.contains(" # {") }
                #expect(exemplars.count == 1)
                #expect(exemplars.first?.contains("# {schedule_id=\"\(most)\"} 1.7 ") == true)
                #expect(try await client.scrape(path: path).text.contains("schedule_id") == false)
            }
        }
    }
}
