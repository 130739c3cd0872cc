// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import MetricsRegistry
import PrefetchLifecycle
import TestSupport
import Testing

@testable import LedgerState
@testable import LifecycleMetrics

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

    /// What the labels may stand at.
    private static func isLabelled(_ name: String) -> Bool {
        let families =
            (LifecycleCounterFamily.ofPrefetch + LifecycleCounterFamily.ofDelivery).map(\.name)
            + LifecycleHistogramFamily.ofCycles.map(\.name)
        return families.contains { name.hasPrefix($0) }
    }

    @Test("give sums that are the page without them, and nothing else changes", arguments: choices, [3, 40])
    func sums(labels: [LifecycleLabel], versions: Int) async throws {
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

    @Test("make only the series of unknown at first, and whole sets of series for what is told of")
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
