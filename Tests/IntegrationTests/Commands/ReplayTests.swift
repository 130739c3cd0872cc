// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("replay")
struct ReplayTests {
    @Test("replay prints the expected counters of every sample", arguments: Sample.all)
    func replaySamples(sample: Sample) async throws {
        let json = try await Command.telemetry("replay", "--format", "json", sample.path)
        #expect(json.status == .code(0))
        #expect(
            try JSONDecoder().decode(Sample.Expectation.Counters.self, from: json.output)
                == sample.expected.counters
        )
        let page = try await Command.telemetry("replay", sample.path)
        #expect(page.status == .code(0))
        #expect(page.error == "")
        let samples = page.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        let counters = sample.expected.counters
        #expect(samples.contains("dnp_prefetch_scheduled_total \(counters.dnp_prefetch_scheduled_total)"))
        #expect(samples.contains("dnp_prefetch_executed_total \(counters.dnp_prefetch_executed_total)"))
        #expect(samples.contains("dnp_prefetch_success_total \(counters.dnp_prefetch_success_total)"))
        for (reason, count) in counters.dnp_prefetch_failure_total {
            #expect(samples.contains("dnp_prefetch_failure_total{reason=\"\(reason)\"} \(count)"))
        }
        let used = counters.dnp_prefetch_used_for_notification_total
        #expect(samples.contains("dnp_prefetch_used_for_notification_total \(used)"))
    }

    @Test("replay prints what a scrape of the service shows of the same families")
    func replayEqualsScrape() async throws {
        let events = Sample.path("events/full-cycle.ndjson")
        let page = try await Command.telemetry("replay", events)
        let described = page.text.split(separator: "\n").filter { $0.hasPrefix("#") }
        #expect(!described.isEmpty)
        #expect(!page.text.contains("process_") && !page.text.contains("metrics_registry_"))
        try await withService { service in
            let client = await service.client
            _ = try await client.post(Array(contents(of: events)))
            let scrape = try await client.get("/metrics").text.split(separator: "\n")
            #expect(Set(described).subtracting(scrape) == [])
        }
    }

    @Test("promtool accepts what replay prints")
    func replayPassesPromtool() async throws {
        try MissingDependency.require(executable: "/usr/bin/promtool", package: "prometheus")
        for (app, remarks) in [("dnp", []), ("aiq", ["aiq_background_refresh_days_since_test"])] {
            let page = try await Command.telemetry("replay", "--app", app, Sample.path("logs/network-failure.log"))
            let check = try await Command.run(["/usr/bin/promtool", "check", "metrics"], input: page.text)
            // 3: it has remarks, here that days are no base unit.
            #expect(check.status == .code(remarks.isEmpty ? 0 : 3) && check.text == "")
            #expect(check.error.split(separator: "\n").map { $0.prefix { $0 != " " } } == remarks.map { $0[...] })
        }
    }

    @Test("replay ends with 2 when its input can't be read")
    func replayUnreadableInput() async throws {
        let command = try await Command.telemetry("replay", "/nowhere/device.log")
        #expect(command.status == .code(2))
        #expect(command.text == "")
        #expect(command.error == "Error: /nowhere/device.log: there is no such file\n")
    }
}
