// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import MetricsRegistry
import TestSupport
import Testing

@Suite("a real Prometheus and each format")
struct PrometheusFormatTests {
    /// A format, and what makes Prometheus 2.42 request it.
    struct Way: Sendable, CustomTestStringConvertible {
        let format: String
        /// The Accept header of a relay, where Prometheus cannot send it.
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

    @Test("a real Prometheus reads types, counters, gauges and histograms in each format", arguments: ways)
    func prometheusReadsEachFormat(way: Way) async throws {
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
        "a real Prometheus reads the exemplars with the schedule that was counted last",
        arguments: [
            ["exemplar-storage"], ["exemplar-storage", "native-histograms"],
        ]
    )
    func prometheusReadsExemplars(features: [String]) async throws {
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

    @Test("an exemplar has the pseudonym of an id that is not plain, and the old text format shows none")
    func pseudonymsInExemplars() async throws {
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
            #expect(exemplars.count == 2)
            #expect(exemplars.allSatisfy { $0.contains("# {schedule_id=\"redacted-h") }, "\(exemplars)")
            #expect(exemplars.last?.contains("\"} 1.7 ") == true)
            #expect(try await client.scrape(path: path).text.contains("schedule_id") == false)
        }
    }
}

@Suite("a real Prometheus and native histograms")
struct PrometheusNativeTests {
    /// The factor from a bucket's bound to the next one's.
    private static let growth = exp2(1.0 / 8)
    private static let features = ["native-histograms", "exemplar-storage"]

    private let registry = MetricsRegistry()

    @Test("a real Prometheus reads count, sum, quantiles and fractions of native histograms over several scrapes")
    func prometheusReadsNativeHistograms() async throws {
        let sizes = registry.histogram(
            "fetch_seconds",
            help: "Fetches.",
            unit: "seconds",
            native: NativeBuckets(schema: 3)
        )
        for value in 1...1_000 { sizes.observe(Double(value) / 100) }
        try await PageServer.with(registry) { port in
            try await Prometheus.with(scraping: port, features: Self.features) { prometheus in
                try await eventually("the histogram is scraped") {
                    try await prometheus.query("histogram_count(fetch_seconds)").map(\.value) == [1_000]
                }
                let sum = try await prometheus.query("histogram_sum(fetch_seconds)").first?.value
                #expect(abs((sum ?? .nan) - 5_005) < 1e-6)
                for (rank, value) in [(0.1, 1.0), (0.5, 5), (0.99, 9.9)] {
                    let found = try await prometheus.query("histogram_quantile(\(rank),fetch_seconds)").first?.value
                    #expect((value / Self.growth...value * Self.growth).contains(found ?? .nan), "\(rank)")
                }
                // 4 is a bound of every resolution.
                let fraction = try await prometheus.query("histogram_fraction(0,4,fetch_seconds)").first?.value
                #expect(abs((fraction ?? .nan) - 0.4) < 1e-9)
                #expect(
                    try await prometheus.query("fetch_seconds_bucket") == [],
                    "it was not taken as a classic one"
                )
                #expect(try await prometheus.type(of: "fetch_seconds") == "histogram")

                for value in 1...500 { sizes.observe(-Double(value)) }
                for _ in 0..<250 { sizes.observe(0) }
                try await eventually("new buckets, negative ones and that of zero are scraped") {
                    try await prometheus.query("histogram_count(fetch_seconds)").map(\.value) == [1_750]
                }
                let below = try await prometheus.query("histogram_fraction(-1024,0,fetch_seconds)").first?.value
                #expect((500.0 / 1_750...750.0 / 1_750).contains(below ?? .nan))
                let total = try await prometheus.query("histogram_sum(fetch_seconds)").first?.value
                #expect(abs((total ?? .nan) - (5_005 - 125_250)) < 1e-6)
            }
        }
    }

    @Test("a real Prometheus reads exemplars of native histograms with fixed bounds")
    func prometheusReadsNativeExemplars() async throws {
        let delays = registry.histogram(
            "delay_seconds",
            help: "Delays.",
            unit: "seconds",
            buckets: [1, 10, 100],
            native: NativeBuckets(schema: 3)
        )
        let now = Int64(Date().timeIntervalSince1970 * 1e6)
        func observe(_ value: Double, _ id: String, at time: Int64) throws {
            let exemplar = try Exemplar(labels: [("schedule_id", id)], value: value, timestamp: time)
            delays.observe(value, exemplar: exemplar)
        }
        try observe(5, "a", at: now - 2_000_000)
        try await PageServer.with(registry) { port in
            try await Prometheus.with(scraping: port, features: Self.features) { prometheus in
                try await eventually("the histogram is scraped") {
                    try await prometheus.query("histogram_count(delay_seconds)").map(\.value) == [1]
                }
                #expect(try await prometheus.query("histogram_sum(delay_seconds)").map(\.value) == [5])
                try await eventually("the exemplar is stored") {
                    try await prometheus.exemplars("delay_seconds").count == 1
                }
                // Prometheus 2.42 takes the first exemplar of a native histogram alone.
                try observe(6, "b", at: now - 1_000_000)
                try observe(50, "c", at: now)
                try await eventually("the next one is stored too") {
                    try await prometheus.exemplars("delay_seconds").count >= 2
                }
                let found = try await prometheus.exemplars("delay_seconds").prefix(2)
                #expect(found.map(\.labels) == [["schedule_id": "a"], ["schedule_id": "b"]])
                #expect(found.map(\.value) == [5, 6])
            }
        }
    }
}

/// A relay that scrapes a service with an Accept header of its own, for a client whose header cannot be configured.
enum ScrapeRelay {
    private static let script = """
        import sys, http.server, urllib.request
        port, accept = sys.argv[2], sys.argv[3]
        class Relay(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                request = urllib.request.Request(f"http://127.0.0.1:{port}{self.path}", headers={"Accept": accept})
                with urllib.request.urlopen(request) as answer:
                    body = answer.read()
                    self.send_response(answer.status)
                    self.send_header("Content-Type", answer.headers["Content-Type"])
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
        http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Relay).serve_forever()
        """

    /// Runs a relay to a port, and passes its own.
    static func with<Value>(to port: Int, accept: String, _ body: (Int) async throws -> Value) async throws -> Value {
        try MissingDependency.require(executable: "/usr/bin/python3", package: "python3")
        return try await withTemporaryDirectory { directory in
            let own = try FreePort.any()
            let process = try ChildProcess(
                ["/usr/bin/python3", "-c", script, "\(own)", "\(port)", accept],
                logs: directory,
                name: "relay"
            )
            do {
                let client = TelemetryClient(port: own)
                try await eventually("the relay answers: \(process.errorText)") {
                    (try? await client.get("/metrics", within: .seconds(5)))?.status == 200
                }
                let value = try await body(own)
                await process.killAndWait()
                return value
            } catch {
                await process.killAndWait()
                throw error
            }
        }
    }
}

/// An in-process server of a registry's page in the negotiated format.
enum PageServer {
    /// Runs a server, and passes its port.
    static func with<Value>(_ registry: MetricsRegistry, _ body: (Int) async throws -> Value) async throws -> Value {
        let router = Router()
        router.get("/metrics") { request, _ in
            let format = ExpositionFormat.negotiated(accept: request.headers[.accept])
            let page = ByteBuffer(bytes: registry.exposition(format))
            return Response(status: .ok, headers: [.contentType: format.contentType], body: .init(byteBuffer: page))
        }
        let port = try FreePort.any()
        let server = Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
        let running = Task { try await server.run() }
        defer { running.cancel() }
        let client = TelemetryClient(port: port)
        try await eventually("the page is served") {
            (try? await client.get("/metrics", within: .seconds(5)))?.status == 200
        }
        return try await body(port)
    }
}
