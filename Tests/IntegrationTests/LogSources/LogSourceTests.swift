// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("log sources")
struct LogSourceTests {
    static let logs = Sample.all.filter { $0.name.hasPrefix("logs/") }

    enum Way: CaseIterable {
        case posted, stdin, followed
    }

    @Test("a device log moves the counters as expected when posted, piped and followed", arguments: logs, Way.allCases)
    func logSourceSamples(sample: Sample, way: Way) async throws {
        let log = Array(try Data(contentsOf: URL(fileURLWithPath: sample.path)))
        let expected = LifecycleTotals(sample.expected.counters)
        switch way {
        case .posted:
            try await withService { service in
                let client = await service.client
                let answer = try await client.post(log, type: "text/plain; charset=utf-8")
                #expect(try answer.receipt().rejected == [])
                #expect(answer.text.contains(#""lines":{"read":\#(log.count(of: "\n")),"#), "\(answer.text)")
                #expect(try await client.metrics().lifecycle == expected.series)
            }
        case .stdin:
            try await withService(options: ["--stdin"]) { service in
                try await service.feed(log)
                try await expect(expected, lines: log.count(of: "\n"), source: "stdin", service)
                #expect(await service.log.contains("standard input has ended; the service goes on"))
            }
        case .followed:
            try await withTemporaryDirectory { directory in
                let path = "\(directory)/device.log"
                try Data(log).write(to: URL(fileURLWithPath: path))
                try await withService(options: ["--follow", path]) { service in
                    try await expect(expected, lines: log.count(of: "\n"), source: "file", service)
                    #expect(await service.screen["follow"] == path)
                }
            }
        }
    }

    private func expect(_ totals: LifecycleTotals, lines: Int, source: String, _ service: Service) async throws {
        let client = await service.client
        try await eventually("the lines are counted as expected", every: .milliseconds(50)) {
            let page = try await client.metrics()
            return page.sum("dnp_telemetry_log_lines_total") == Double(lines) && page.lifecycle == totals.series
        }
        let page = try await client.metrics()
        #expect(page.value("dnp_telemetry_events_received_total", ["source": source, "format": "log"]) ?? 0 > 0)
        #expect(page.ingestBalance == 0)
    }

    /// Lines of events, one of them in an array and one in an envelope, and lines of events that are lost.
    private static let lossy: [String] = [
        event(0), "[\(event(1))]", "{\"sentAt\":\"2025-11-15T06:00:00Z\",\"events\":[\(event(2))]}",
        String(event(3).dropLast(20)), #"{"scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#,
        "{\"reason\":\"\(String(repeating: "x", count: 70_000))\"}",
        #"{"level":"info","msg":"of another program"}"#,
        event(4),
    ]

    private static func event(_ index: Int) -> String {
        #"{"event":"prefetch_scheduled","scheduleId":"lossy-\#(index)","timestamp":"2025-11-15T05:48:32Z"}"#
    }

    private func expectLossy(_ service: Service, rejected: [String: Double]) async throws {
        let client = await service.client
        try await eventually("the lines are counted", every: .milliseconds(50)) {
            try await client.metrics().sum("dnp_telemetry_log_lines_total") == Double(Self.lossy.count)
        }
        let page = try await client.metrics()
        #expect(page.value("dnp_prefetch_scheduled_total") == 4)
        #expect(page.value("dnp_telemetry_log_lines_total", ["result": "foreign"]) == 1)
        #expect(page.value("dnp_telemetry_log_lines_total", ["result": "unrecognised"]) == 3)
        for (reason, count) in rejected {
            #expect(page.value("dnp_telemetry_events_rejected_total", ["reason": reason]) == count, "\(reason)")
        }
        #expect(page.sum("dnp_telemetry_events_rejected_total") == 3)
        #expect(page.ingestBalance == 0)
    }

    @Test("lines with events that cannot be taken are counted as rejected with their reason", arguments: Way.allCases)
    func lostEventsAreRejected(way: Way) async throws {
        let log = Array(Self.lossy.map { $0 + "\n" }.joined().utf8)
        let reasons = ["truncated": 1.0, "missing_field": 1, "too_long": 1]
        switch way {
        case .posted:
            try await withService { service in
                let receipt = try await service.client.post(log, type: "text/plain").receipt()
                #expect(receipt.accepted == 4)
                #expect(receipt.rejected.map(\.index) == [3, 4, 5])
                try await expectLossy(service, rejected: reasons)
            }
        case .stdin:
            try await withService(options: ["--stdin"]) { service in
                try await service.feed(log)
                try await expectLossy(service, rejected: reasons)
            }
        case .followed:
            try await withTemporaryDirectory { directory in
                let path = "\(directory)/device.log"
                try Data(log).write(to: URL(fileURLWithPath: path))
                try await withService(options: ["--follow", path]) { service in
                    try await expectLossy(service, rejected: reasons)
                }
            }
        }
    }

    @Test("journal entries with events that cannot be taken are counted as rejected with their reason")
    func lostEventsOfTheJournal() async throws {
        try await TestJournald.with { journal in
            try await withTemporaryDirectory { directory in
                let options = ["--follow-journal", "SYSLOG_IDENTIFIER=app"]
                try await withService(options: options, in: journal.namespace) { service in
                    let path = "\(directory)/lines"
                    try Data(Self.lossy.map { $0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: path))
                    let run = try await journal.namespace.run([
                        "/usr/bin/systemd-cat", "-t", "app", "/bin/cat", path,
                    ])
                    #expect(run.status == .code(0), "\(run.error)")
                    let client = await service.client
                    try await eventually("the lines are counted", every: .milliseconds(50)) {
                        try await client.metrics().value("dnp_prefetch_scheduled_total") == 4
                    }
                    let page = try await client.metrics()
                    func rejected(_ reason: String) -> Double? {
                        page.value("dnp_telemetry_events_rejected_total", ["reason": reason])
                    }
                    // journald divides the line of 70 KB into two entries, of which the second is no JSON.
                    #expect(rejected("truncated") == 2 && rejected("missing_field") == 1)
                    #expect(page.ingestBalance == 0)
                }
            }
        }
    }

    @Test("foreign lines in a device log are counted and are no error")
    func logSourceForeignLines() async throws {
        try await withService { service in
            let client = await service.client
            let answer = try await client.post(Array("hello\nworld\n".utf8), type: "text/plain")
            #expect(try answer.receipt().accepted == 0)
            #expect(answer.text.contains(#""foreign":2"#))
            #expect(try await client.post([], type: "text/plain").status == 400)
            let page = try await client.metrics()
            #expect(page.value("dnp_telemetry_log_lines_total", ["result": "foreign"]) == 2)
        }
    }

    @Test("log sources stop with the service, and what was read is stored", arguments: ["stdin", "file"])
    func logSourceStop(source: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/device.log"
            let lines = LogFactory.cycle(0).lines.map { $0 + "\n" }.joined()
            try Data(lines.utf8).write(to: URL(fileURLWithPath: path))
            let options = source == "stdin" ? ["--stdin"] : ["--follow", path]
            try await withService(options: options) { service in
                if source == "stdin" { try await service.feed(Array(lines.utf8)) }
                let client = await service.client
                try await eventually("the lines are read") {
                    try await client.metrics().sum("dnp_telemetry_log_lines_total") > 0
                }
                let clock = ContinuousClock()
                let start = clock.now
                #expect(try await service.terminate() == .code(0))
                #expect(clock.now - start < .seconds(5))
                try await service.start()
                let page = try await client.metrics()
                #expect(page.sum("dnp_telemetry_log_lines_total") == Double(LogFactory.linesPerCycle))
                #expect(page.lifecycle == LogFactory.cycle(0).totals.series)
            }
        }
    }

    @Test("the log of a single device is compared with the device's own counters")
    func logSourceSingleDevice() async throws {
        try await withService(options: ["--stdin", "--single-device"]) { service in
            let lines = LogFactory.cycle(0).lines.map { $0 + "\n" }.joined()
            let counted = LogFactory.cycle(0).totals.scheduled
            let snapshot = """
                {"event":"telemetry_snapshot","timestamp":"2026-01-01T00:00:00Z",\
                "telemetry":{"dnp_prefetch_scheduled_total":\(counted + 2)}}

                """
            try await service.feed(Array((lines + snapshot).utf8))
            let client = await service.client
            try await eventually("what was lost is counted") {
                try await client.metrics().value("dnp_prefetch_scheduled_total") == Double(counted + 2)
            }
        }
    }

    @Test("a log source that can never be followed, or has no valid zone or format, prevents the start")
    func logSourceRefused() async throws {
        let binary = try Service.binary()
        try await withTemporaryDirectory { directory in
            for (options, sentence) in [
                (["--follow", directory], "it is a directory; name a file in it"),
                (["--follow", "/dev/null"], "it is a device"),
                (["--follow", "-"], "expected a file, found \"-\"; use stdin for it"),
                (["--timezone", "Europe/Berln"], "did you mean Europe/Berlin?"),
                (["--input-format", "paper"], "logcat-threadtime"),
            ] {
                let command = [binary, "serve", "--listen", "127.0.0.1:0", "--state-dir", directory + "/state"]
                let result = try await Command.run(command + ["--journal", "off"] + options)
                #expect(result.status != .code(0))
                #expect(result.error.contains(sentence), "\(result.error)")
            }
        }
    }
}

extension LifecycleTotals {
    init(_ counters: Sample.Expectation.Counters) {
        self.init(
            scheduled: counters.dnp_prefetch_scheduled_total,
            executed: counters.dnp_prefetch_executed_total,
            success: counters.dnp_prefetch_success_total,
            failure: counters.dnp_prefetch_failure_total,
            used: counters.dnp_prefetch_used_for_notification_total
        )
    }
}

extension [UInt8] {
    fileprivate func count(of character: Character) -> Int {
        reduce(0) { $0 + ($1 == character.asciiValue ? 1 : 0) }
    }
}

@Suite("a followed file and kill -9")
struct FollowedFileTests {
    private static let cycles = 3_000
    private static let pieces = 100

    @Test("60,000 lines through three rotations and five kills are each counted once", .timeLimit(.minutes(4)))
    func followedFileKills() async throws {
        let given = ProcessInfo.processInfo.environment["DNP_TELEMETRY_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 1...1_000_000)
        print("follow test: DNP_TELEMETRY_SEED=\(seed)")
        try await withTemporaryDirectory { directory in
            let writer = try LogWriter(path: "\(directory)/device.log")
            try await withService(options: ["--follow", writer.path, "--log-level", "info"]) { service in
                try await run(service, writer, seed: seed)
            }
        }
    }

    private func run(_ service: Service, _ writer: LogWriter, seed: UInt64) async throws {
        let client = await service.client
        let writing = Task { try await Self.write(writer, seed: seed) }
        var random = SplitMix64(seed: seed &+ 1)
        var counters = CounterWatch()
        for round in 0..<5 {
            try await Task.sleep(for: .milliseconds(Int.random(in: 100...1_500, using: &random)))
            if let page = try? await client.metrics() { counters.observe(page) }
            await service.kill()
            if round % 2 == 0 { try await Task.sleep(for: .milliseconds(1_200)) }
            try await service.start()
            counters.observe(try await client.metrics())
        }
        try await writing.value
        let lines = await writer.lines
        try await eventually("every line is counted", within: .seconds(120), every: .milliseconds(100)) {
            let page = try await client.metrics()
            counters.observe(page)
            return page.sum("dnp_telemetry_log_lines_total") >= Double(lines)
        }
        // What is counted too often comes before all is stored, and what waited for its cycle.
        let used = Double(await writer.totals.used)
        try await eventually("everything is stored", within: .seconds(60), every: .milliseconds(100)) {
            let page = try await client.metrics()
            return page.sum("dnp_telemetry_follow_lag_bytes") == 0
                && page.sum("dnp_telemetry_events_duplicate_total") >= used
        }
        let page = try await client.metrics()
        let foreign = Self.cycles * LogFactory.foreignPerCycle
        #expect(page.value("dnp_telemetry_log_lines_total", ["result": "foreign"]) == Double(foreign))
        #expect(page.value("dnp_telemetry_log_lines_total", ["result": "recognised"]) == Double(lines - foreign))
        #expect(page.value("dnp_telemetry_log_lines_total", ["result": "unrecognised"]) == 0)
        #expect(page.lifecycle == (await writer.totals).series, "seed \(seed)")
        // Two lines of one second tell of each use, which is one event.
        #expect(page.sum("dnp_telemetry_events_duplicate_total") == Double(await writer.totals.used))
        #expect(page.sum("dnp_telemetry_events_rejected_total") == 0)
        #expect(page.sum("dnp_telemetry_follow_gaps_total") == 0)
        #expect(page.sum("dnp_telemetry_follow_lag_bytes") == 0)
        #expect(page.ingestBalance == 0)
        #expect(counters.falls == [])
    }

    /// Writes all lines in about ten seconds, with three rotations on the way.
    private static func write(_ writer: LogWriter, seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        var rotations: [Int: LogWriter.Rotation] = [:]
        for (third, rotation) in [LogWriter.Rotation.rename, .copyTruncate, .rename].enumerated() {
            rotations[pieces / 4 * (third + 1) + Int.random(in: -8...8, using: &random)] = rotation
        }
        for piece in 0..<pieces {
            if let rotation = rotations[piece] { try await writer.rotate(rotation) }
            try await writer.append(cycles: cycles / pieces, random: &random)
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...200, using: &random)))
        }
    }
}
