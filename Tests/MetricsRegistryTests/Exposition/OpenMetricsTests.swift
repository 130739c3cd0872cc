// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MetricsRegistry

@Suite("OpenMetrics")
struct OpenMetricsTests {
    private let fixture = RegistryFixture()
    private var registry: MetricsRegistry { fixture.registry }

    @Test("an OpenMetrics page with every kind of metric is as expected, byte for byte")
    func openMetricsGolden() throws {
        try PageOfEveryKind.fill(fixture)
        #expect(
            fixture.page(.openMetrics) == """
                # TYPE body_bytes histogram
                # UNIT body_bytes bytes
                # HELP body_bytes Bodies.
                body_bytes_bucket{way="in",le="0.5"} 0
                body_bytes_bucket{way="in",le="1000.0"} 1 # {id="a\\"b\\\\c\\nd",way="🦆"} 12 1700000001.25
                body_bytes_bucket{way="in",le="2.5e+06"} 1
                body_bytes_bucket{way="in",le="+Inf"} 2 # {} 1e+300 1700000002
                body_bytes_sum{way="in"} 1e+300
                body_bytes_count{way="in"} 2
                body_bytes_created{way="in"} 1700000000
                body_bytes_bucket{way="out",le="0.5"} 0
                body_bytes_bucket{way="out",le="1000.0"} 0
                body_bytes_bucket{way="out",le="2.5e+06"} 1
                body_bytes_bucket{way="out",le="+Inf"} 1
                body_bytes_sum{way="out"} 5000
                body_bytes_count{way="out"} 1
                body_bytes_created{way="out"} 1700000000
                # TYPE busy_seconds counter
                # UNIT busy_seconds seconds
                # HELP busy_seconds Time spent.
                busy_seconds_total 0.125
                busy_seconds_created 1600000000.000001
                # TYPE hits counter
                # HELP hits Requests \\"served\\" \\\\ and\\nlost.
                hits_total{method="GET",code="200"} 123456789012 # {id="7"} 1 1700000003.5
                hits_created{method="GET",code="200"} 1700000000
                hits_total{method="PUT",code="say \\"hi\\"\\n"} 7
                hits_created{method="PUT",code="say \\"hi\\"\\n"} 1700000000
                # TYPE http_requests counter
                # HELP http_requests A name of UTF-8.
                http_requests_total{gr__e="x"} 1
                http_requests_created{gr__e="x"} 1700000000
                # TYPE plain unknown
                plain 3
                # TYPE temperature_celsius gauge
                temperature_celsius -3.5
                # EOF

                """
        )
    }

    @Test("an OpenMetrics page without creation times has everything else")
    func openMetricsWithoutCreated() throws {
        try PageOfEveryKind.fill(fixture)
        var format = ExpositionFormat.openMetrics
        let all = fixture.page(format).split(separator: "\n")
        format.createdSamples = false
        #expect(fixture.page(format).split(separator: "\n") == all.filter { !$0.contains("_created") })
        #expect(fixture.page(.openMetrics).split(separator: "\n") == all)
    }

    @Test("a restored creation time is on the next OpenMetrics page")
    func openMetricsRestored() {
        let counter = registry.counter("a_total", help: "")
        #expect(fixture.page(.openMetrics).contains("a_created 1700000000\n"))
        counter.restore(to: 1, created: 1_234_500_000)
        #expect(fixture.page(.openMetrics).contains("a_created 1234.5\n"))
        counter.restore(to: 1, created: 0)
        #expect(!fixture.page(.openMetrics).contains("a_created"))
        counter.restore(to: 1, created: RegistryFixture.start)
        #expect(fixture.page(.openMetrics).contains("a_created 1700000000\n"))
    }

    @Test("OpenMetrics omits histogram sums that may fall and counters that are not numbers")
    func openMetricsForbidden() throws {
        let fell = registry.histogram("fell", help: "", buckets: [1])
        fell.observe(-5)
        let negative = registry.histogram("negative", help: "", buckets: [-1, 1])
        negative.observe(7)
        let endless = registry.histogram("endless", help: "", buckets: [])
        endless.observe(1e308)
        endless.observe(1e308)
        let full = registry.histogram("full", help: "", buckets: [1])
        try full.merge(counts: [.max, 7], sum: 1)
        let unknown = registry.counter("unknown_total", help: "", unit: "known")
        unknown.restore(to: 1, created: -1)
        unknown.add(.max)
        var format = ExpositionFormat.openMetrics
        format.createdSamples = false
        let expected = """
            # TYPE endless histogram
            endless_bucket{le="+Inf"} 2
            endless_sum 1.7976931348623157e+308
            endless_count 2
            # TYPE fell histogram
            fell_bucket{le="1.0"} 1
            fell_bucket{le="+Inf"} 1
            # TYPE full histogram
            full_bucket{le="1.0"} 18446744073709551615
            full_bucket{le="+Inf"} 18446744073709551615
            full_sum 1
            full_count 18446744073709551615
            # TYPE negative histogram
            negative_bucket{le="-1.0"} 0
            negative_bucket{le="1.0"} 0
            negative_bucket{le="+Inf"} 1
            # TYPE unknown counter
            unknown_total 18446744073709551615
            # EOF

            """
        #expect(fixture.page(format) == expected)
        #expect(!fixture.page(.openMetrics).contains("unknown_created"))
        _ = try PythonParser.openMetrics.read(registry.exposition(.openMetrics))
    }

    @Test("a counter without `_total` keeps its name in all formats and is unknown in OpenMetrics")
    func counterWithoutTotal() throws {
        let hits = registry.counter("hits", help: "Hits.", labels: ["path"])
        hits.with("/").add(3, exemplar: try Exemplar(labels: [("id", "7")], value: 1, timestamp: 5))
        registry.fractionalCounter("busy_seconds", help: "", unit: "seconds").add(0.5)
        registry.counter("_total", help: "").add()
        #expect(
            fixture.page(.openMetrics) == """
                # TYPE _total unknown
                _total 1
                # TYPE busy_seconds unknown
                # UNIT busy_seconds seconds
                busy_seconds 0.5
                # TYPE hits unknown
                # HELP hits Hits.
                hits{path="/"} 3
                # EOF

                """
        )
        #expect(fixture.page(.text100).contains("# TYPE hits counter\nhits{path=\"/\"} 3\n"))
        let families = try PythonParser.openMetrics.read(registry.exposition(.openMetrics, names: ["hits"]))
        #expect(families.map(\.type) == ["unknown"])
        #expect(families.flatMap(\.samples).map(\.name) == ["hits"])
    }

    @Test("a counter without `_total` conflicts only with its twin")
    func openMetricsNeighbours() {
        registry.counter("hits", help: "").add()
        registry.gauge("hits_created", help: "").set(1)
        #expect(fixture.conflicts.isEmpty)
        registry.counter("hits_total", help: "").add()
        #expect(fixture.conflicts.count == 1)
    }

    @Test("bucket bounds are written as OpenMetrics canonical numbers")
    func openMetricsBounds() {
        let texts: [(Double, String)] = [
            (0, "0.0"), (1, "1.0"), (-1, "-1.0"), (0.1, "0.1"), (100_000, "100000.0"), (1_000_000, "1e+06"),
            (2.5e6, "2.5e+06"), (0.0001, "0.0001"), (0.00001, "1e-05"), (.infinity, "+Inf"),
        ]
        for (bound, text) in texts { #expect(BucketBound.openMetricsText(bound) == text) }
    }

    @Test("OpenMetrics has UNIT only for names that end in it")
    func openMetricsUnits() {
        for (name, unit) in [
            ("a_bytes", "bytes"), ("b", "bytes"), ("c_bytes", "c_bytes"), ("d.bytes", "bytes"), ("e_", ""),
        ] {
            registry.gauge(name, help: "", unit: unit).set(1)
        }
        registry.fractionalCounter("f_seconds_total", help: "", unit: "seconds").add(1)
        registry.gauge("g_b c", help: "", unit: "b c").set(1)
        func units(_ format: ExpositionFormat) -> [Substring] {
            fixture.page(format).split(separator: "\n").filter { $0.hasPrefix("# UNIT") }
        }
        #expect(
            units(.openMetrics) == ["# UNIT a_bytes bytes", "# UNIT d_bytes bytes", "# UNIT f_seconds seconds"]
        )
        #expect(
            units(ExpositionFormat(.openMetrics, escaping: .allowUTF8))
                == ["# UNIT a_bytes bytes", "# UNIT f_seconds seconds"]
        )
    }

    @Test("the OpenMetrics page of an empty registry is only its EOF")
    func openMetricsEmpty() {
        #expect(fixture.page(.openMetrics) == "# EOF\n")
        #expect(text(registry.exposition(.openMetrics, names: [])) == "# EOF\n")
    }

    @Test("thousands of OpenMetrics series with some exemplars have complete lines")
    func openMetricsManySeries() throws {
        let hits = registry.counter("hits_total", help: "H.", labels: ["n"], maximumSeries: 2_000)
        for index in 0..<1_000 {
            let counter = hits.with("\(index)")
            if index.isMultiple(of: 3) {
                let value = String(repeating: "\"\n\\", count: 20)
                counter.add(1, exemplar: try Exemplar(labels: [("id", value)], value: 1, timestamp: 5))
            } else {
                counter.add(1)
            }
        }
        var format = ExpositionFormat.openMetrics
        format.createdSamples = false
        let lines = fixture.page(format).split(separator: "\n")
        #expect(lines.count == 1_003)
        let escaped = String(repeating: #"\"\n\\"#, count: 20)
        #expect(lines.filter { $0.hasSuffix(" 1 # {id=\"\(escaped)\"} 1 0.000005") }.count == 334)
        #expect(lines.filter { $0.hasSuffix("\"} 1") }.count == 666)
    }
}
