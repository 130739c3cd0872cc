// SPDX-License-Identifier: Apache-2.0

import Foundation
import MetricsRegistry
import RuntimeMetrics
import Testing

extension OneAtATime {
    @Suite("promtool on runtime metrics")
    struct RuntimePromtoolTests {
        /// Needs `promtool` (Debian: package prometheus); without it the test fails.
        @Test("promtool accepts the runtime metrics", .timeLimit(.minutes(1)))
        func runtimePromtoolSilent() throws {
            let page = RuntimePage()
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("page-\(UUID()).prom")
            try Data(page.registry.exposition()).write(to: file)
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
            #expect(String(decoding: said, as: UTF8.self) == "")
            #expect(process.terminationStatus == 0)
            #expect(MetricLint.findings(in: page.registry.descriptors) == [])
        }

        @Test("every process family has a value after the first scrape")
        func runtimePromtoolValues() {
            let page = RuntimePage()
            _ = page.registry.exposition()
            for descriptor in page.registry.descriptors where descriptor.name.hasPrefix("process_") {
                // In a network namespace of its own, nothing has been sent yet.
                let least: Double = descriptor.name.hasPrefix("process_network_") ? 0 : 1e-9
                #expect(page(descriptor.name) >= least, "\(descriptor.name)")
            }
        }
    }
}

/// A registry with both collectors, and its page.
struct RuntimePage {
    let registry = MetricsRegistry(now: { 1_700_000_000_000_000 })

    init() {
        ProcessCollector.add(to: registry)
        SwiftRuntimeCollector.add(to: registry)
    }

    /// The value of a sample on a new page; NaN if there is none.
    func callAsFunction(_ sample: String) -> Double {
        let page = String(decoding: registry.exposition(), as: UTF8.self)
        for line in page.split(separator: "\n") where line.hasPrefix(sample + " ") {
            return Double(line.dropFirst(sample.utf8.count + 1)) ?? .nan
        }
        return .nan
    }
}
