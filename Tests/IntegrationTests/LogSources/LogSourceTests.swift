// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension EndToEnd {
    @Suite("device logs into the service")
    struct LogSources {
        static let logs = Sample.all.filter { $0.name.hasPrefix("logs/") }

        enum Way: CaseIterable {
            case posted, stdin, followed
        }

        @Test("move the counters as their expectation says, whichever way they come", arguments: logs, Way.allCases)
        func samples(sample: Sample, way: Way) async throws {
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

        @Test("that are not a log are counted and are no error")
        func foreign() async throws {
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

        @Test("stop with the service, and what was read is stored", arguments: ["stdin", "file"])
        func graceful(source: String) async throws {
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

        @Test("of a single device are compared with the device's own counters")
        func singleDevice() async throws {
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

        @Test("that can never be followed, or that no zone or form fits, keep the service from starting")
        func refused() async throws {
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
