// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("the metrics endpoint")
struct MetricsEndpointTests {
    private static let sequence = "dnp_telemetry_ledger_sequence"

    @Test("the metrics endpoint gives each client the format that it accepts", arguments: AcceptHeader.all)
    func negotiatedFormat(header: AcceptHeader) async throws {
        try await withService { service in
            let client = await service.client
            for headers in [header.headers, header.headers + [("Accept-Encoding", "gzip")]] {
                let answer = try await client.scrape(headers)
                #expect(answer.status == 200)
                #expect(answer.headers["content-type"] == header.contentType)
            }
            let sums = FamilySums(try await client.scrape(header.headers))
            #expect(sums["dnp_prefetch_scheduled_total"] == 0)
            #expect(sums["dnp_telemetry_scrape_requests_total"] == 2)
        }
    }

    @Test("the metrics endpoint answers HEAD like GET without a body, plain and compressed")
    func metricsHead() async throws {
        try await withService { service in
            let client = await service.client
            for coding in ["identity", "gzip"] {
                let path =
                    "/metrics?name%5B%5D=dnp_prefetch_failure&name%5B%5D=dnp_prefetch_sequence_violations_total"
                let get = try await client.scrape([("Accept-Encoding", coding)], path: path)
                let head = try await client.scrape([("Accept-Encoding", coding)], method: "HEAD", path: path)
                #expect(get.status == 200 && head.status == 200)
                #expect(head.body.isEmpty)
                for name in ["content-type", "content-length", "content-encoding", "vary"] {
                    #expect(head.headers[name] == get.headers[name], "\(name)")
                }
                #expect(get.headers["content-length"] == "\(get.body.count)")
                #expect(get.headers["content-encoding"] == (coding == "gzip" ? "gzip" : nil))
                #expect(get.headers["vary"] == "Accept, Accept-Encoding")
            }
            #expect(try await client.metric("dnp_telemetry_scrape_in_flight") == 1)
        }
    }

    @Test("the metrics endpoint shows the families selected by name, with or without _total, and no others")
    func metricsByName() async throws {
        try await withService { service in
            let client = await service.client
            func types(_ query: String) async throws -> Set<String> {
                let answer = try await client.scrape(path: "/metrics?\(query)")
                #expect(answer.status == 200)
                return Set(MetricsPage(answer.text).types.keys)
            }
            #expect(try await types("name[]=\(Self.sequence)") == [Self.sequence])
            #expect(
                try await types("name%5B%5D=dnp_prefetch_failure&name%5B%5D=dnp_prefetch_executed_total&x=y")
                    == ["dnp_prefetch_failure_total", "dnp_prefetch_executed_total"]
            )
            #expect(
                try await types("name[]=dnp_prefetch_start_delay_seconds") == ["dnp_prefetch_start_delay_seconds"]
            )
            #expect(try await types("name[]=no_such_family&name[]=") == [])
            #expect(try await types("name=x&page=2").count > 50)
            let many = Array(repeating: "name[]=a", count: 1_001).joined(separator: "&")
            let refused = try await client.scrape(path: "/metrics?\(many)")
            #expect(try refused.status == 400 && refused.problem().detail.contains("name[]"))
        }
    }

    @Test("gunzip, Python and curl read the compressed page, repeatedly while counters move")
    func metricsGzip() async throws {
        try await withService { service in
            let client = await service.client
            let path = "/metrics?name[]=dnp_prefetch_sequence_violations&name[]=dnp_prefetch_fetch_duration_seconds"
            for round in 0..<5 {
                _ = try await client.post(EventFactory(prefix: "gzip-\(round)").cycles(0..<20).ndjson).receipt()
                let plain = try await client.scrape(path: path)
                let packed = try await client.scrape([("Accept-Encoding", "gzip")], path: path)
                #expect(packed.headers["content-encoding"] == "gzip")
                #expect(packed.body.count * 2 < plain.body.count)
                try await expectInflates(packed.body, to: plain.body)
            }
            let whole = try await client.scrape([("Accept-Encoding", "gzip")])
            let text = try await withTemporaryDirectory { directory in
                let file = "\(directory)/page.gz"
                try Data(whole.body).write(to: URL(fileURLWithPath: file))
                return try await Command.run(["/usr/bin/gunzip", "-c", file]).text
            }
            #expect(try await Prometheus.lint(text) == "")
            let url = "http://127.0.0.1:\(client.port)\(path.replacingOccurrences(of: "[]", with: "%5B%5D"))"
            let curl = try await Command.run(["/usr/bin/curl", "-sS", "--compressed", url])
            #expect(try await Array(curl.output) == client.scrape(path: path).body, "\(curl.error)")
            #expect(try await client.metric("dnp_telemetry_scrape_sent_bytes_total") ?? 0 > 0)
        }
    }

    private func expectInflates(_ packed: [UInt8], to plain: [UInt8]) async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/page.gz"
            try Data(packed).write(to: URL(fileURLWithPath: file))
            #expect(try await Array(Command.run(["/usr/bin/gunzip", "-c", file]).output) == plain)
            #expect(try await Command.run(["/usr/bin/gzip", "-t", file]).status == .code(0))
            let script = "import gzip, sys; sys.stdout.buffer.write(gzip.open(sys.argv[1]).read())"
            #expect(try await Array(Command.run(["/usr/bin/python3", "-c", script, file]).output) == plain)
        }
    }

    @Test(
        "the page tells when counters and histograms were created, unless fewer samples are configured",
        arguments: [true, false]
    )
    func createdSamples(isTold: Bool) async throws {
        try await withService(options: isTold ? [] : ["--no-created-samples"]) { service in
            let client = await service.client
            let path = "/metrics?name[]=dnp_prefetch_failure&name[]=dnp_prefetch_fetch_duration_seconds"
            let openMetrics = [("Accept", "application/openmetrics-text")]
            for coding in ["identity", "gzip"] {
                let headers = openMetrics + [("Accept-Encoding", coding)]
                let page = try await client.scrape(headers, path: path, unpacks: true)
                #expect(page.headers["content-type"] == AcceptHeader.openMetrics)
                #expect(page.text.hasSuffix("# EOF\n"))
                let created = page.text.split(separator: "\n").filter { $0.contains("_created") }
                #expect(created.count == (isTold ? 4 : 0))
                #expect(page.text.contains("dnp_prefetch_failure_total{reason=\"AUTH\"} 0"))
            }
            #expect(try await client.scrape(path: path).text.contains("_created") == false)
        }
    }

    @Test("the metrics path is where it is configured, and nowhere else")
    func metricsPath() async throws {
        try await withService(options: ["--metrics-path", "/probe/telemetry"]) { service in
            let client = await service.client
            #expect(try await client.scrape(path: "/probe/telemetry").status == 200)
            #expect(try await client.scrape(method: "HEAD", path: "/probe/telemetry").status == 200)
            let missing = try await client.scrape()
            #expect(try missing.status == 404 && missing.problem().detail.contains("/probe/telemetry"))
            #expect(await service.screen["scrape"] == "http://127.0.0.1:\(client.port)/probe/telemetry")
            let page = MetricsPage(try await client.scrape(path: "/probe/telemetry").text)
            let scraped = page.value(
                "dnp_telemetry_http_requests_total",
                ["route": "/probe/telemetry", "status": "200"]
            )
            #expect(scraped == 2)
        }
    }

    @Test(
        "an invalid metrics path or number prevents the start",
        arguments: [
            ["--metrics-path", "metrics"], ["--metrics-path", "/v1/events"], ["--metrics-path", "/{id}"],
            ["--max-scrapes", "0"], ["--max-scrapes", "10001"],
        ]
    )
    func metricsWrongUsage(options: [String]) async throws {
        let result = try await Command.run([Service.binary(), "serve"] + options)
        #expect(result.status == .code(64))
        #expect(result.error.contains(options[0]) && result.error.contains(options[1]))
    }
}

@Suite("scrape accounts")
struct ScrapeAccountTests {
    private static let plain = "dnp_telemetry_scrape_plain_bytes_total"
    private static let sent = "dnp_telemetry_scrape_sent_bytes_total"

    @Test("scrape accounts count the bytes sent: none for HEAD, the compressed size for gzip")
    func countedScrapeBytes() async throws {
        try await withService { service in
            let client = await service.client
            let path = "/metrics?name[]=\(Self.plain)&name[]=\(Self.sent)"
            var expected = (plain: 0.0, sent: 0.0)
            // All over one connection, on which an answer is counted before the next request is read.
            for coding in ["identity", "gzip"] {
                let page = try await client.scrape([("Accept-Encoding", coding)])
                expected.sent += Double(page.body.count)
                _ = try await client.scrape([("Accept-Encoding", coding)], method: "HEAD")
            }
            let first = try await client.scrape(path: path)
            let sums = FamilySums(first)
            #expect(sums[Self.sent] == expected.sent)
            #expect(sums[Self.plain] > 2 * expected.sent)
            expected = (sums[Self.plain], expected.sent + Double(first.body.count))
            let head = try await client.scrape(method: "HEAD", path: path)
            let last = try await client.scrape(path: path)
            expected.plain += Double(last.body.count) + (Double(head.headers["content-length"] ?? "") ?? .nan)
            #expect(FamilySums(last)[Self.sent] == expected.sent)
            #expect(FamilySums(last)[Self.plain] == expected.plain)
        }
    }

    @Test("request accounts name a path by its route, whatever slashes it has")
    func countedRoutes() async throws {
        try await withService { service in
            let client = await service.client
            for path in ["/metrics", "/metrics/", "//metrics"] {
                #expect(try await client.scrape(path: path).status == 200)
                #expect(try await client.scrape(method: "HEAD", path: path).status == 200)
                #expect(try await client.scrape(method: "DELETE", path: path).status == 405)
            }
            for path in ["/metrics/more", "/metric", "/v1"] {
                #expect(try await client.scrape(path: path).status == 404)
            }
            let page = try await client.metrics()
            func count(_ route: String, _ status: String) -> Double? {
                page.value("dnp_telemetry_http_requests_total", ["route": route, "status": status])
            }
            #expect(count("/metrics", "200") == 6)
            #expect(count("/metrics", "405") == 3)
            #expect(count("other", "404") == 3)
            #expect(count("other", "200") == nil)
        }
    }
}

/// Accept headers of clients, and the content type each must get.
struct AcceptHeader: Sendable, CustomStringConvertible {
    let client: String
    let value: String?
    let contentType: String

    var description: String { client }

    static let text004 = "text/plain; version=0.0.4; charset=utf-8"
    static let text100 = "text/plain; version=1.0.0; charset=utf-8"
    static let openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    static let protobuf = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"

    static let all = [
        AcceptHeader(client: "no header", value: nil, contentType: text004),
        AcceptHeader(client: "curl", value: "*/*", contentType: text004),
        AcceptHeader(
            client: "a browser",
            value: "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
            contentType: text004
        ),
        AcceptHeader(
            client: "Prometheus 2.42",
            value: "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            contentType: openMetrics
        ),
        AcceptHeader(
            client: "Prometheus 2.42 with native histograms",
            value: "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,"
                + "application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,"
                + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            contentType: protobuf
        ),
        AcceptHeader(
            client: "Prometheus 3",
            value: "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
                + "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
                + "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
            contentType: openMetrics + "; escaping=allow-utf-8"
        ),
        AcceptHeader(client: "text 1.0.0", value: "text/plain;version=1.0.0", contentType: text100),
        AcceptHeader(client: "JSON alone", value: "application/json", contentType: text004),
        AcceptHeader(client: "garbage", value: ";;q=,=\"\\,,*/;q=9,text/plain;version", contentType: text004),
        AcceptHeader(client: "very long", value: String(repeating: "a/b;q=0.1,", count: 5_000), contentType: text004),
    ]

    /// One for each format.
    static let formats = all.filter { ["curl", "Prometheus 2.42", "text 1.0.0"].contains($0.client) || $0.isProtobuf }

    private var isProtobuf: Bool { contentType == Self.protobuf }

    var headers: [(String, String)] { value.map { [("Accept", $0)] } ?? [] }
}
