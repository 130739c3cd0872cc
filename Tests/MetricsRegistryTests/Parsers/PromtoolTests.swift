// SPDX-License-Identifier: Apache-2.0

import Foundation
import MetricsRegistry
import Testing

extension OneAtATime {
    @Suite("promtool")
    struct PromtoolTests {
        /// Needs `promtool` (Debian: package prometheus); without it the test fails.
        @Test("promtool accepts a page with every kind of metric", .timeLimit(.minutes(1)))
        func promtoolSilent() throws {
            let fixture = RegistryFixture()
            let registry = fixture.registry
            let hits = registry.counter("hits_total", help: "Hits, \"quoted\" \\ and\nbroken.", labels: ["value"])
            for hostile in HostileText.all { hits.with(hostile.text).add(3) }
            _ = registry.counter("failures_total", help: "Failures.", label: "reason", of: Reason.self)
            registry.fractionalCounter("busy_seconds_total", help: "Busy.", unit: "seconds").add(0.1 + 0.2)
            let temperatures = registry.gauge("temperature_celsius", help: "Temperatures.", labels: ["room"])
            for (index, value) in [.nan, .infinity, -.infinity, 1e-7, -1e300].enumerated() {
                temperatures.with("\(index)").set(value)
            }
            let delays = registry.histogram("delay_seconds", help: "D.", labels: ["way"], buckets: [0.00001, 60, 5e6])
            delays.with("in").observe(61)
            delays.with("out").observe(0)
            let (status, output) = try Promtool.check(registry.exposition())
            #expect(output == "")
            #expect(status == 0)
        }

        @Test("promtool rejects a wrong page", .timeLimit(.minutes(1)))
        func notSilent() throws {
            let (status, output) = try Promtool.check(Array("# TYPE hits counter\nhits 1\n".utf8))
            #expect(output.contains("hits"))
            #expect(status != 0)
        }

        @Test(
            "promtool parses a page of hostile names, helps and values",
            .timeLimit(.minutes(1))
        )
        func promtoolHostile() throws {
            for escaping in [NameEscaping.underscores, .dots, .values] {
                let fixture = RegistryFixture()
                var filler = PageFiller(fixture, seed: 12)
                for _ in 0..<100 { try filler.addFamily() }
                let page = fixture.registry.exposition(ExpositionFormat(.text004, escaping: escaping))
                let (status, output) = try Promtool.check(page)
                #expect(status == 3, "\(output.prefix(1_000))")
                #expect(!output.contains("error while linting"))
            }
        }
    }
}

/// Runs `promtool check metrics` on a page in text 0.0.4.
enum Promtool {
    /// The exit status (0 without findings, 3 with lint findings) and the output.
    static func check(_ page: [UInt8]) throws -> (status: Int32, output: String) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("page-\(UUID()).prom")
        try Data(page).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["promtool", "check", "metrics"]
        process.standardInput = try FileHandle(forReadingFrom: file)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }
}
