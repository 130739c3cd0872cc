// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import MetricsRegistry
import PrefetchLifecycle
import TestSupport
import Testing

@testable import LedgerState
@testable import LifecycleMetrics

@Suite("The metrics of the lifecycle")
struct LifecyclePageTests {
    private static let families = LifecycleCounterFamily.ofPrefetch + LifecycleCounterFamily.ofDelivery
    private static let telemetry = LifecycleCounterFamily.ofTelemetry
    private static let histograms = LifecycleHistogramFamily.ofCycles + LifecycleHistogramFamily.ofReceiving

    @Test("lifecycle metrics are all there at 0 on the first page, each series of every closed set")
    func lifecyclePageFromTheStart() async throws {
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

    @Test("lifecycle metrics move from real events, through the ledger")
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

    @Test("lifecycle metrics go on over a restart, histograms and gauges included, from when the ledger was made")
    func lifecyclePageRestart() async throws {
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

    @Test("lifecycle metrics give MetricLint nothing to say", arguments: [[], LifecycleLabel.allCases])
    func lint(labels: [LifecycleLabel]) {
        let registry = MetricsRegistry(now: { startOfTest }) { Issue.record("\($0)") }
        _ = LifecycleInstruments(registry, created: startOfTest, labels: labels, isReceiver: true)
        #expect(MetricLint.findings(in: registry.descriptors) == [])
    }

    @Test("lifecycle metrics tell of clocks and of arrival only where events are received")
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

@Suite("Labels for platform and app version")
struct LifecycleLabelTests {
    static let choices: [[LifecycleLabel]] = [[.platform], [.appVersion], [.platform, .appVersion]]

    /// Cycles of several platforms and versions, of some of which nothing is told.
    static func events(versions: Int) -> [String] {
        (0..<versions * 3).flatMap { index in
            let platform = ["iOS", "Android", "", "web"][index % 4]
            var app = platform.isEmpty ? "" : #","platform":"\#(platform)""#
            if index % 5 != 0 { app += #","appVersion":"1.\#(index % versions)""# }
            return [
                EventText.event("prefetch_scheduled", id: "c\(index)", #""reason":"x"\#(app)"#),
                EventText.event("prefetch_executed", id: "c\(index)", second: 5),
                EventText.event("prefetch_failure", id: "c\(index)", second: 6, #""reason":"OTHER"\#(app)"#),
                EventText.event("prefetch_success", id: "c\(index)", second: 8, #""duration_ms":\#(index)\#(app)"#),
            ]
        }
    }

    private static let ofRefresh = [
        "runs_total", "skipped_total", "schedules_total", "notifications_total", "checks_total", "violations_total",
        "duration_seconds", "days_since_test",
    ]

    /// What the labels may stand at.
    private static func isLabelled(_ name: String) -> Bool {
        let families =
            (LifecycleCounterFamily.ofPrefetch + LifecycleCounterFamily.ofDelivery).map(\.name)
            + LifecycleHistogramFamily.ofCycles.map(\.name) + ofRefresh.map { "aiq_background_refresh_\($0)" }
        return families.contains { name.hasPrefix($0) }
    }

    @Test(
        "labels for platform and app version give sums that are the page without them, and nothing else changes",
        arguments: choices,
        [3, 40]
    )
    func lifecycleLabelSums(labels: [LifecycleLabel], versions: Int) async throws {
        let events = Self.events(versions: versions) + LifecycleSample.events
        let pipelines = try [[], labels].map { try Pipeline(in: try TemporaryDirectory(), labels: $0) }
        for pipeline in pipelines {
            for start in stride(from: 0, to: events.count, by: 7) {
                pipeline.clock.advance(seconds: 10)
                _ = try await pipeline.submit(Array(events[start...].prefix(7)))
            }
            pipeline.clock.advance(seconds: LifecycleSample.closesAfter)
            try await pipeline.tick()
        }
        let (plain, labelled) = (pipelines[0].page, pipelines[1].page)
        let ignored = "metrics_registry_overflowed_lookups_total"
        let sums = labelled.summed(over: labels).filter { !$0.key.hasPrefix(ignored) }
        let expected = plain.summed(over: []).filter { !$0.key.hasPrefix(ignored) }
        #expect(Set(sums.keys).symmetricDifference(expected.keys).sorted() == [])
        for (name, value) in expected { #expect(abs((sums[name] ?? .nan) - value) < 1e-6, "\(name)") }
        for name in labelled.names where !name.hasPrefix(ignored) {
            let hasAll = labels.allSatisfy { name.contains("\($0.rawValue)=\"") }
            let hasAny = LifecycleLabel.allCases.contains { name.contains("\($0.rawValue)=\"") }
            #expect(Self.isLabelled(name) ? hasAll : !hasAny, "\(name)")
        }
        #expect(labelled.names.filter { $0.hasPrefix(ignored) }.allSatisfy { labelled[$0] == 0 })
        let fresh = try LedgerProjection.refolded(from: pipelines[1].ledger.reader)
        #expect(RegistryPage(of: fresh, labels: labels).difference(from: labelled) == [])
        for pipeline in pipelines { try await pipeline.close() }
    }

    @Test(
        "labels for platform and app version make only the series of unknown at first, and whole sets of series for what is told of"
    )
    func series() async throws {
        let pipeline = try Pipeline(in: try TemporaryDirectory(), labels: [.appVersion, .platform, .platform])
        func reasons(_ platform: String) -> [String] {
            pipeline.page.names.filter {
                $0.hasPrefix("dnp_prefetch_failure_total{") && $0.contains(#"platform="\#(platform)""#)
            }
        }
        #expect(reasons("unknown").count == 3)
        #expect(pipeline.page.names.count { $0.hasPrefix("dnp_prefetch_failure_total{") } == 3)
        _ = try await pipeline.submit([
            EventText.event("prefetch_scheduled", id: "a", #""platform":"iOS","appVersion":"2.1""#)
        ])
        #expect(reasons("ios").count == 3)
        #expect(pipeline.page[#"dnp_prefetch_scheduled_total{platform="ios",app_version="2.1"}"#] == 1)
        #expect(pipeline.page[#"dnp_prefetch_scheduled_total{platform="unknown",app_version="unknown"}"#] == 0)
        _ = try await pipeline.submit([
            EventText.event("prefetch_executed", id: "a", second: 1),
            EventText.event("prefetch_failure", id: "a", second: 2, #""reason":"OTHER""#),
            EventText.event("prefetch_completed", id: "a", second: 3),
        ])
        #expect(reasons("ios").count == 4)
        #expect(reasons("unknown").count == 3)
        #expect(pipeline.registry.conflictCount == 0)
        try await pipeline.close()
    }
}
