// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The second app in a real service (docs/second-app.md).
@Suite("the second app")
struct SecondAppServiceTests {
    /// A run as the device logs it.
    private static let lines = [
        "2025-11-15T05:54:00Z [BackgroundRefresh] Background refresh task started",
        "2025-11-15T05:54:01Z [BackgroundRefresh] Last test was 100 days ago. Available: true",
        "2025-11-15T05:54:01Z [BackgroundRefresh] Sent test available notification",
        "2025-11-15T05:54:02Z [BackgroundRefresh] Background refresh completed in 1.25s with success: true",
        "2025-11-15T05:54:02Z [BackgroundRefresh] Scheduled background refresh for 4.0 hours from now",
    ]
    private static let prefetch = "2025-11-15T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (id=a)"

    private static func event(_ kind: String, second: Int, _ properties: String = "", device: String = "q") -> String {
        let time = "2025-11-15T05:54:0\(second)Z"
        return
            #"{"event":"\#(kind)","timestamp":"\#(time)","installationId":"\#(device)","properties":{\#(properties)}}"#
    }

    /// The same as analytics events tell it.
    private static let events = [
        event("refresh_started", second: 0),
        event("refresh_checked", second: 1, #""daysSinceTest":100,"available":true"#),
        event("backgroundRefreshNotificationSent", second: 1),
        event("backgroundRefreshCompleted", second: 2, #""success":1,"durationMs":1250"#),
        event("refresh_scheduled", second: 2, #""hours":4"#),
    ]

    private static func text(_ lines: [String]) -> [UInt8] { Array(lines.map { $0 + "\n" }.joined().utf8) }

    private func expectRun(_ client: TelemetryClient, prefetches: Double = 1) async throws {
        try await eventually("the run is counted", within: .seconds(60), every: .milliseconds(100)) {
            try await client.metrics().value("aiq_background_refresh_runs_total", ["outcome": "completed"]) == 1
        }
        let page = try await client.metrics()
        let counted: [(String, [String: String])] = [
            ("checks_total", ["available": "true"]), ("notifications_total", ["result": "sent"]),
            ("schedules_total", ["result": "scheduled"]), ("duration_seconds_count", [:]),
            ("days_since_test_count", [:]),
        ]
        for (name, labels) in counted { #expect(page.value("aiq_background_refresh_\(name)", labels) == 1, "\(name)") }
        #expect(page.value("aiq_background_refresh_duration_seconds_sum") == 1.25)
        #expect(page.value("dnp_prefetch_scheduled_total") == prefetches)
        #expect(page.ingestBalance == 0)
    }

    enum Way: CaseIterable {
        case json, ndjson, log, stdin, file, socket, journal
    }

    @Test("a run counts by every way in, beside the prefetch", arguments: Way.allCases)
    func everyWay(way: Way) async throws {
        let log = Self.text(Self.lines + [Self.prefetch])
        let scheduled = #"{"event":"prefetch_scheduled","scheduleId":"a","timestamp":"2025-11-15T05:41:00Z"}"#
        switch way {
        case .json, .ndjson, .log:
            try await withService { service in
                let client = await service.client
                let lines = Self.events + [scheduled]
                let answer =
                    switch way {
                    case .json:
                        try await client.post(Array("[\(lines.joined(separator: ","))]".utf8), type: "application/json")
                    case .ndjson: try await client.post(Self.text(lines))
                    default: try await client.post(log, type: "text/plain")
                    }
                #expect(try answer.receipt().accepted == 6)
                try await expectRun(client)
            }
        case .stdin:
            try await withService(options: ["--stdin"]) { service in
                try await service.feed(log)
                try await expectRun(await service.client)
            }
        case .file:
            try await withTemporaryDirectory { directory in
                try Data(log).write(to: URL(fileURLWithPath: "\(directory)/device.log"))
                try await withService(options: ["--follow", "\(directory)/device.log"]) { service in
                    try await expectRun(await service.client)
                }
            }
        case .socket:
            try await withTemporaryDirectory { directory in
                let path = "\(directory)/lines.sock"
                let options = ["--listen", "unix:\(path) serve=lines", "--single-device"]
                try await withService(options: options) { service in
                    let client = try LinesClient(path: path)
                    var rest = log[...]
                    try await eventually("the lines are durable") {
                        rest = rest.dropFirst(client.offer(rest))
                        return client.receive() && client.durable == 6
                    }
                    try await expectRun(await service.client)
                }
            }
        case .journal:
            try await TestJournald.with { journal in
                try await withTemporaryDirectory { directory in
                    let options = ["--follow-journal", "SYSLOG_IDENTIFIER=AIQ"]
                    try await withService(options: options, in: journal.namespace) { service in
                        let path = "\(directory)/lines"
                        // Without a prefix: the process tells the app.
                        let lines = Self.lines.map { String($0.split(separator: "] ", maxSplits: 1)[1]) }
                        try Data(Self.text(lines)).write(to: URL(fileURLWithPath: path))
                        let socket = "/run/systemd/journal/dev-log"
                        let command = ["/usr/bin/logger", "-u", socket, "-t", "AIQ", "-f", path]
                        #expect(try await journal.namespace.run(command).status == .code(0))
                        try await expectRun(await service.client, prefetches: 0)
                    }
                }
            }
        }
    }

    @Test("with one app alone the other one's events are unknown, its lines foreign and its families absent")
    func oneApp() async throws {
        try await withService(options: ["--apps", "dnp"]) { service in
            let client = await service.client
            let refused = try await client.post(Self.text(Self.events))
            #expect(refused.status == 400)
            #expect(refused.text.contains("All 5 events were rejected; the first: event: not one of the known kinds"))
            let log = try await client.post(Self.text(Self.lines + [Self.prefetch]), type: "text/plain")
            #expect(try log.receipt().accepted == 1)
            let page = try await client.metrics()
            #expect(page.value("dnp_telemetry_log_lines_total", ["result": "foreign"]) == 5)
            #expect(page.samples.keys.filter { $0.name.hasPrefix("aiq_") } == [])
        }
        try await withService(options: ["--apps", "aiq"]) { service in
            let client = await service.client
            let log = try await client.post(Self.text(Self.lines + [Self.prefetch]), type: "text/plain")
            #expect(try log.receipt().accepted == 5)
            try await expectRun(client, prefetches: 0)
        }
    }

    @Test("an app that nobody knows is refused with the known ones")
    func unknownApp() async throws {
        let result = try await Command.run([Service.binary(), "serve", "--apps", "dpn"])
        #expect(result.status == .code(64))
        #expect(result.error.contains("expected dnp or aiq, found \"dpn\""), "\(result.error)")
    }

    @Test("a violation of a run stands in the journal with its rule and the hash that its events have too")
    func journaledVerdict() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                let client = await service.client
                let early = Self.events.map { $0.replacing(":100,", with: ":50,") }
                _ = try await client.post(Self.text(early)).receipt()
                try await waitUntilJournaled(service)
                let fields = ["DNP_EVENT", "DNP_CYCLE", "DNP_REASON", "MESSAGE_ID", "PRIORITY"]
                let entries = try await journal.entries(fields: fields)
                #expect(
                    entries.map { $0["DNP_EVENT"] } == [
                        "refresh_started", "refresh_checked", "refresh_notification_sent", "refresh_completed",
                        "refresh_scheduled",
                    ]
                )
                let cycles = Set(entries.compactMap { $0["DNP_CYCLE"] })
                #expect(cycles.count == 1 && cycles.first?.count == 16)
                #expect(Set(entries.compactMap { $0["MESSAGE_ID"] }).count == 5)
            }
        }
    }

    @Test("a real Prometheus reads the second app's families, at 0 first, and promtool finds nothing to complain of")
    func prometheusRefresh() async throws {
        try await withService { service in
            let client = await service.client
            try await Prometheus.with(scraping: client.port) { prometheus in
                func value(_ query: String) async throws -> Double? {
                    try await prometheus.query("aiq_background_refresh_\(query)").first?.value
                }
                try await eventually("the families arrive at 0") {
                    try await value(#"checks_total{available="true"}"#) == 0
                }
                #expect(try await value(#"runs_total{outcome="expired"}"#) == 0)
                #expect(try await value("open_runs") == 0)
                _ = try await client.post(Self.text(Self.events)).receipt()
                try await eventually("the run arrives", within: .seconds(60)) {
                    try await value(#"runs_total{outcome="completed"}"#) == 1
                }
                #expect(try await value(#"duration_seconds_bucket{le=~"20|20.0"}"#) == 1)
                #expect(try await value(#"days_since_test_bucket{le=~"90|90.0"}"#) == 0)
                #expect(try await value(#"days_since_test_bucket{le=~"100|100.0"}"#) == 1)
            }
            #expect(try await Prometheus.lint(try await client.metrics().text) == "")
        }
    }

    @Test("hostile events of the second app are bounded, counted and refused with a reason")
    func hostileRefresh() async throws {
        func members(_ count: Int) -> String { (0..<count).map { #""m\#($0)":1"# }.joined(separator: ",") }
        let hostile = [
            Self.event("refresh_completed", second: 1, members(5_000)),
            Self.event("refresh_completed", second: 1, members(10_000)),
            Self.event("refresh_completed", second: 2, #""success":true,"durationSeconds":1e308"#),
            Self.event("refresh_checked", second: 3, #""daysSinceTest":-1,"available":true"#),
            Self.event("refresh_checked", second: 4, #""daysSinceTest":1e9,"available":true"#),
            Self.event("refresh_scheduled", second: 5, #""hours":-1e308"#),
            #"{"event":"refresh_completed","timestamp":"2025-11-15T05:54:09Z","properties":[1,2]}"#,
        ]
        try await withService { service in
            let client = await service.client
            let receipt = try await client.post(Self.text(hostile)).receipt()
            #expect(receipt.accepted + receipt.rejected.count == hostile.count)
            #expect(receipt.rejected.contains { $0.reason.contains("65536 bytes") }, "\(receipt)")
            // A start every millisecond of one device.
            let starts = (0..<10_000).map { number in
                let fraction = String(100_000 + number).dropFirst(2)
                let second = 10 + number / 1_000
                return
                    #"{"event":"refresh_started","timestamp":"2025-11-15T05:54:\#(second).\#(fraction)Z","installationId":"q"}"#
            }
            for chunk in 0..<10 {
                _ = try await client.post(Self.text(Array(starts[chunk * 1_000..<(chunk + 1) * 1_000]))).receipt()
            }
            let page = try await client.metrics()
            #expect(page.value("aiq_background_refresh_days_since_test_sum") == 0)
            #expect(page.value("aiq_background_refresh_duration_seconds_sum") == 0)
            #expect(page.value("dnp_telemetry_unknown_fields_total") ?? 0 >= 5_000)
            let incomplete = page.value("aiq_background_refresh_runs_total", ["outcome": "incomplete"]) ?? 0
            let open = page.value("aiq_background_refresh_open_runs") ?? 0
            #expect(open <= 512 && incomplete + open >= 9_000, "\(incomplete) closed, \(open) open")
            #expect(page.ingestBalance == 0)
        }
    }
}
