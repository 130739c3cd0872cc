// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension EndToEnd {
    @Suite("a followed file and kill -9")
    struct FollowKills {
        private static let cycles = 10_000
        private static let pieces = 100

        @Test("200,000 lines through three rotations and five kills are each counted once", .timeLimit(.minutes(4)))
        func eachLineOnce() async throws {
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
}
