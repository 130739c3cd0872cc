// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import MetricsRegistry
import PrefetchLifecycle
import TestSupport
import Testing

@testable import LifecycleMetrics

@Suite("The metrics of the lifecycle")
struct LifecyclePageTests {
    private static let families = LifecycleCounterFamily.ofPrefetch + LifecycleCounterFamily.ofDelivery
    private static let telemetry = LifecycleCounterFamily.ofTelemetry
    private static let histograms = LifecycleHistogramFamily.ofCycles + LifecycleHistogramFamily.ofReceiving

    @Test("are all there at 0 on the first page, each series of every closed set")
    func fromTheStart() async throws {
        let pipeline = try Pipeline(in: try TemporaryDirectory())
        let page = pipeline.page
        for family in Self.families + Self.telemetry {
            for member in family.members {
                let pairs = zip(family.labels, member.labelValues).map { #"\#($0)="\#($1)""# }
                let name = pairs.isEmpty ? family.name : "\(family.name){\(pairs.joined(separator: ","))}"
                #expect(page[name] == (member.isShownOnceUsed ? nil : 0), "\(name)")
            }
        }
        for family in Self.histograms {
            #expect(page["\(family.name)_count"] == 0 && page["\(family.name)_sum"] == 0, "\(family.name)")
            #expect(page[#"\#(family.name)_bucket{le="+Inf"}"#] == 0, "\(family.name)")
        }
        for name in page.names where name.contains("_timestamp_seconds") { #expect(page[name] == 0, "\(name)") }
        #expect(page.names.count { $0.contains("_timestamp_seconds") } == LifecycleStage.allCases.count)
        try await pipeline.close()
    }

    @Test("move from real events, through the ledger")
    func moves() async throws {
        let pipeline = try await Self.sample(in: try TemporaryDirectory())
        let page = pipeline.page
        for (name, value) in LifecycleSample.values.sorted(by: { $0.key < $1.key }) {
            #expect(page.number(name) == value, "\(name)")
        }
        for family in Self.families + Self.telemetry where !family.name.contains("_evicted_") {
            #expect(
                page.names.contains { $0.hasPrefix(family.name) && page[$0] ?? 0 > 0 },
                "\(family.name) stands still"
            )
        }
        for family in Self.histograms { #expect(page["\(family.name)_count"] ?? 0 > 0, "\(family.name) stands still") }
        try await pipeline.close()
    }

    @Test("go on over a restart, histograms and gauges included, from when the ledger was made")
    func restart() async throws {
        let directory = try TemporaryDirectory()
        let before = try await Self.sample(in: directory)
        let page = before.page
        let created = before.ledger.createdAt
        try await before.close()
        let after = try Pipeline(in: directory, clock: before.clock)
        #expect(after.page.difference(from: page) == [])
        for family in Self.histograms {
            let histogram = after.registry.histogram(family.name, help: "", buckets: family.measure.bounds)
            #expect(histogram.created == created && histogram.count > 0, "\(family.name)")
        }
        #expect(after.registry.counter("dnp_prefetch_expired_total", help: "").created == created)
        #expect(after.registry.conflictCount == 0)

        _ = try await after.submit([
            EventText.event("prefetch_executed", id: "later", second: 90_000),
            EventText.event("prefetch_success", id: "later", second: 90_001, #""duration_ms":500"#),
        ])
        #expect(after.page["dnp_prefetch_fetch_duration_seconds_count"] == 4)
        #expect(after.page.number("dnp_prefetch_fetch_duration_seconds_sum") == 36.5)
        #expect(after.page.number("dnp_prefetch_success_timestamp_seconds") == LifecycleSample.second(90_001))
        #expect(after.page.number("dnp_prefetch_failure_timestamp_seconds") == LifecycleSample.second(4_001))
        try await after.close()
    }

    @Test("give MetricLint nothing to say", arguments: [[], LifecycleLabel.allCases])
    func lint(labels: [LifecycleLabel]) {
        let registry = MetricsRegistry(now: { startOfTest }) { Issue.record("\($0)") }
        _ = LifecycleInstruments(registry, created: startOfTest, labels: labels, isReceiver: true)
        #expect(MetricLint.findings(in: registry.descriptors) == [])
    }

    @Test("tell of clocks and of arrival only where events are received")
    func replay() {
        let registry = MetricsRegistry(now: { startOfTest })
        _ = LifecycleInstruments(registry, created: startOfTest, isReceiver: false)
        let names = registry.descriptors.map(\.name)
        #expect(names.contains("dnp_prefetch_start_delay_seconds"))
        #expect(!names.contains("dnp_telemetry_clock_skew_seconds"))
        #expect(!names.contains("dnp_telemetry_arrival_lag_seconds"))
    }

    /// The page once the cycles of the sample are closed, with a ledger that was made a second before the first event.
    static func sample(in directory: TemporaryDirectory, labels: [LifecycleLabel] = []) async throws -> Pipeline {
        let clock = ManualClock()
        clock.advance(seconds: -1)
        let pipeline = try Pipeline(in: directory, clock: clock, labels: labels)
        clock.advance(seconds: 1)
        _ = try await pipeline.submit(LifecycleSample.events)
        clock.advance(seconds: LifecycleSample.closesAfter)
        try await pipeline.tick()
        return pipeline
    }
}
