// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import MetricsRegistry
import Testing

@Suite("swift-metrics dimensions")
struct SwiftMetricsDimensionTests {
    private func count(_ dimensions: [(String, String)], by amount: Int = 1, _ factory: RegistryMetricsFactory) {
        CoreMetrics.Counter(label: "hits", dimensions: dimensions, factory: factory).increment(by: amount)
    }

    @Test("each swift-metrics series has its own labels, sorted by name")
    func swiftMetricsDimensionDifferences() {
        let fixture = RegistryFixture()
        let factory = RegistryMetricsFactory(fixture.registry)
        count([], by: 1, factory)
        count([("route", "/"), ("method", "GET")], by: 2, factory)
        count([("method", "GET"), ("route", "/")], by: 3, factory)
        count([("method", "GET")], by: 4, factory)
        #expect(
            fixture.page() == """
                # HELP hits_total A total that a library keeps through swift-metrics.
                # TYPE hits_total counter
                hits_total 1
                hits_total{method="GET"} 4
                hits_total{method="GET",route="/"} 5

                """
        )
    }

    @Test(
        "dimension names are mapped to legal label names",
        arguments: [
            ("http.route", "http_route"), ("größe", "gr__e"), ("9lives", "_9lives"), ("", "_"), ("__name__", "_name__"),
            ("a:b", "a_b"), ("le", "exported_le"), ("quantile", "exported_quantile"), ("a b\n\"c\"", "a_b__c_"),
            ("👩‍👩‍👧", "_"), ("__", "_"),
        ]
    )
    func swiftMetricsDimensionNames(given: String, legal: String) {
        let fixture = RegistryFixture()
        count([(given, "x")], RegistryMetricsFactory(fixture.registry))
        #expect(fixture.samples()[#"hits_total{\#(legal)="x"}"#] == "1")
    }

    @Test("of repeated dimension names the last value counts, also if two names become one")
    func repeated() {
        let fixture = RegistryFixture()
        let factory = RegistryMetricsFactory(fixture.registry)
        count([("a", "1"), ("b", "x"), ("a", "2")], factory)
        count([("a.b", "1"), ("a_b", "2")], factory)
        let samples = fixture.samples()
        #expect(samples[#"hits_total{a="2",b="x"}"#] == "1")
        #expect(samples[#"hits_total{a_b="2"}"#] == "1")
    }

    @Test("a dimension without a value is omitted, so that no page shows a series twice")
    func swiftMetricsDimensionEmpty() {
        let fixture = RegistryFixture()
        let factory = RegistryMetricsFactory(fixture.registry)
        count([], factory)
        count([("a", "")], factory)
        count([("a", "1"), ("a", ""), ("b", "2")], factory)
        let samples = fixture.samples()
        #expect(samples["hits_total"] == "2")
        #expect(samples[#"hits_total{b="2"}"#] == "1")
    }

    @Test("UTF-8 dimension names are kept, except those that a page would show under one name")
    func unicodeNames() {
        let fixture = RegistryFixture()
        var options = RegistryMetricsOptions()
        options.keepsUTF8Names = true
        let factory = RegistryMetricsFactory(fixture.registry, options: options)
        let dimensions = [("größe.x", "1"), ("a.b", "2"), ("a_b", "3"), ("c:d", "4"), ("__e", "5"), ("le", "6")]
        CoreMetrics.Counter(label: "hb.requests", dimensions: dimensions, factory: factory).increment()
        CoreMetrics.Counter(label: "a\nb", factory: factory).increment()
        #expect(fixture.registry.descriptors.map(\.name).contains("hb.requests_total"))
        #expect(fixture.registry.descriptors.map(\.name).contains("a_b_total"))
        #expect(fixture.conflicts == [])
    }

    @Test("dimension values are escaped")
    func hostileValues() {
        let fixture = RegistryFixture()
        count([("path", "\"\\\n")], RegistryMetricsFactory(fixture.registry))
        #expect(fixture.samples()[#"hits_total{path="\"\\\n"}"#] == "1")
    }

    @Test("swift-metrics lookups beyond the limits go to the overflow series and are counted")
    func swiftMetricsDimensionOverflow() {
        var limits = RegistryLimits()
        limits.seriesPerFamily = 3
        limits.labels = 2
        limits.labelValueBytes = 10
        limits.nameBytes = 64
        let fixture = RegistryFixture(limits: limits)
        let factory = RegistryMetricsFactory(fixture.registry)
        for index in 0..<100 { count([("id", "\(index)")], factory) }
        count([("id", "0")], factory)
        count([("a", "1"), ("b", "2"), ("c", "3")], factory)
        count([("a", "12345678901")], factory)
        count([(String(repeating: "n", count: 65), "1")], factory)
        let samples = fixture.samples()
        #expect(samples[#"hits_total{id="0"}"#] == "2")
        #expect(samples[#"hits_total{id="2"}"#] == "1")
        #expect(samples[#"hits_total{id="3"}"#] == nil)
        #expect(samples[#"hits_total{overflow="true"}"#] == "100")
        #expect(samples[#"metrics_registry_overflowed_lookups_total{family="hits_total"}"#] == "100")
    }

    @Test("more swift-metrics series than the cache holds are still found")
    func swiftMetricsDimensionManySeries() {
        var limits = RegistryLimits()
        limits.seriesPerFamily = 30_000
        let fixture = RegistryFixture(limits: limits)
        let factory = RegistryMetricsFactory(fixture.registry)
        for _ in 0..<2 {
            for index in 0..<30_000 { count([("id", "\(index)")], factory) }
        }
        let samples = fixture.samples()
        #expect((0..<30_000).allSatisfy { samples[#"hits_total{id="\#($0)"}"#] == "2" })
        #expect(samples[#"metrics_registry_overflowed_lookups_total{family="hits_total"}"#] == "0")
    }

    @Test("an unbounded number of swift-metrics labels neither grows nor reports without bound")
    func labelsWithoutEnd() {
        var limits = RegistryLimits()
        limits.families = 20
        let fixture = RegistryFixture(limits: limits)
        let factory = RegistryMetricsFactory(fixture.registry)
        for index in 0..<1_000 {
            CoreMetrics.Counter(label: "label\(index)", factory: factory).increment()
        }
        #expect(fixture.samples()["label0_total"] == "1")
        #expect(fixture.registry.descriptors.count == 20)
        #expect(fixture.conflicts.count < 25)
    }

    @Test("creating and counting swift-metrics instruments from eight tasks loses nothing", .timeLimit(.minutes(1)))
    func swiftMetricsDimensionConcurrency() async {
        let fixture = RegistryFixture()
        let factory = RegistryMetricsFactory(fixture.registry)
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<2_000 {
                        count([("key", "\(round % 50)"), ("half", "\(task % 2)")], factory)
                        Timer(label: "wait", dimensions: [("key", "\(round % 7)")], factory: factory)
                            .recordNanoseconds(1_000_000_000)
                        if round % 100 == 0 {
                            let own = Meter(label: "own", dimensions: [("task", "\(task)")], factory: factory)
                            own.set(round)
                            own.destroy()
                        }
                    }
                }
            }
        }
        let samples = fixture.samples()
        for key in 0..<50 {
            #expect(samples[#"hits_total{half="0",key="\#(key)"}"#] == "160")
            #expect(samples[#"hits_total{half="1",key="\#(key)"}"#] == "160")
        }
        let waits = (0..<7).compactMap { samples[#"wait_seconds_count{key="\#($0)"}"#].flatMap(Int.init) }
        #expect(waits.reduce(0, +) == 16_000)
        #expect(!samples.keys.contains { $0.hasPrefix("own") })
    }
}
