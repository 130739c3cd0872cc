// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MetricsRegistry

@Suite("Prometheus text")
struct TextPageTests {
    private let fixture = RegistryFixture()

    @Test("a Prometheus text page with every kind of metric is as expected in 0.0.4 and 1.0.0, byte for byte")
    func textPageGolden() throws {
        try PageOfEveryKind.fill(fixture)
        let expected = """
            # HELP body_bytes Bodies.
            # TYPE body_bytes histogram
            body_bytes_bucket{way="in",le="0.5"} 0
            body_bytes_bucket{way="in",le="1000"} 1
            body_bytes_bucket{way="in",le="2.5e+06"} 1
            body_bytes_bucket{way="in",le="+Inf"} 2
            body_bytes_sum{way="in"} 1e+300
            body_bytes_count{way="in"} 2
            body_bytes_bucket{way="out",le="0.5"} 0
            body_bytes_bucket{way="out",le="1000"} 0
            body_bytes_bucket{way="out",le="2.5e+06"} 1
            body_bytes_bucket{way="out",le="+Inf"} 1
            body_bytes_sum{way="out"} 5000
            body_bytes_count{way="out"} 1
            # HELP busy_seconds_total Time spent.
            # TYPE busy_seconds_total counter
            busy_seconds_total 0.125
            # HELP hits_total Requests "served" \\\\ and\\nlost.
            # TYPE hits_total counter
            hits_total{method="GET",code="200"} 123456789012
            hits_total{method="PUT",code="say \\"hi\\"\\n"} 7
            # HELP http_requests_total A name of UTF-8.
            # TYPE http_requests_total counter
            http_requests_total{gr__e="x"} 1
            # TYPE plain counter
            plain 3
            # TYPE temperature_celsius gauge
            temperature_celsius -3.5

            """
        #expect(fixture.page(.text004) == expected)
        #expect(fixture.page(.text100) == expected)
        #expect(fixture.page(ExpositionFormat(.text100, escaping: .underscores)) == expected)
    }

    @Test("each escaping shows names in its own way in Prometheus text and OpenMetrics")
    func textPageEscapings() {
        let registry = fixture.registry
        registry.counter("http.hits_total", help: "H.", labels: ["a.b", "c"]).with("x", "y").add()
        registry.gauge("a \"b\" \\", help: "G.").set(2)
        registry.histogram("größe", help: "", buckets: [1]).observe(1)
        var pages: [NameEscaping: (text: String, openMetrics: String)] = [:]
        for escaping in NameEscaping.allCases {
            var format = ExpositionFormat(.openMetrics, escaping: escaping)
            format.createdSamples = false
            pages[escaping] = (fixture.page(ExpositionFormat(.text100, escaping: escaping)), fixture.page(format))
        }
        #expect(
            pages[.allowUTF8]?.text == #"""
                # HELP "a \"b\" \\" G.
                # TYPE "a \"b\" \\" gauge
                {"a \"b\" \\"} 2
                # TYPE "größe" histogram
                {"größe_bucket",le="1"} 1
                {"größe_bucket",le="+Inf"} 1
                {"größe_sum"} 1
                {"größe_count"} 1
                # HELP "http.hits_total" H.
                # TYPE "http.hits_total" counter
                {"http.hits_total","a.b"="x",c="y"} 1

                """#
        )
        #expect(
            pages[.allowUTF8]?.openMetrics == #"""
                # TYPE "a \"b\" \\" gauge
                # HELP "a \"b\" \\" G.
                {"a \"b\" \\"} 2
                # TYPE "größe" histogram
                {"größe_bucket",le="1.0"} 1
                {"größe_bucket",le="+Inf"} 1
                {"größe_sum"} 1
                {"größe_count"} 1
                # TYPE "http.hits" counter
                # HELP "http.hits" H.
                {"http.hits_total","a.b"="x",c="y"} 1
                # EOF

                """#
        )
        #expect(
            pages[.dots]?.openMetrics == """
                # TYPE a____b______ gauge
                # HELP a____b______ G.
                a____b______ 2
                # TYPE gr____e histogram
                gr____e_bucket{le="1.0"} 1
                gr____e_bucket{le="+Inf"} 1
                gr____e_sum 1
                gr____e_count 1
                # TYPE http_dot_hits_ counter
                # HELP http_dot_hits_ H.
                http_dot_hits__total{a_dot_b="x",c="y"} 1
                # EOF

                """
        )
        #expect(
            pages[.values]?.text == """
                # HELP U__a_20__22_b_22__20__5c_ G.
                # TYPE U__a_20__22_b_22__20__5c_ gauge
                U__a_20__22_b_22__20__5c_ 2
                # TYPE U__gr_f6__df_e histogram
                U__gr_f6__df_e_bucket{le="1"} 1
                U__gr_f6__df_e_bucket{le="+Inf"} 1
                U__gr_f6__df_e_sum 1
                U__gr_f6__df_e_count 1
                # HELP U__http_2e_hits__total H.
                # TYPE U__http_2e_hits__total counter
                U__http_2e_hits__total{U__a_2e_b="x",c="y"} 1

                """
        )
        #expect(pages[.underscores]?.text.contains("http_hits_total{a_b=\"x\",c=\"y\"} 1\n") == true)
    }

    @Test("formats that look the same share a layout")
    func sharedLayouts() {
        for escaping in NameEscaping.allCases {
            for encoding in [ExpositionFormat.Encoding.text004, .text100] {
                var format = ExpositionFormat(encoding, escaping: escaping)
                format.createdSamples = false
                #expect(
                    format.layoutFormat(hasClassicNames: true) == ExpositionFormat(.text004, escaping: .underscores)
                )
                #expect(format.layoutFormat(hasClassicNames: false) == ExpositionFormat(.text004, escaping: escaping))
            }
        }
    }

    @Test("families with open labels share a layout as long as all names are classic")
    func sharedLayoutsOfOpenLabels() {
        var descriptor = MetricDescriptor(name: "hits_total", help: "", kind: .counter)
        descriptor.hasOpenLabels = true
        let family: InstrumentFamily<Counter> =
            fixture.registry.family(descriptor, of: Counter.self, shape: .wholeNumber)
        func isKept(_ format: ExpositionFormat) -> Bool {
            var scraped = ScrapedState()
            if case .kept = family.capture(format, into: &scraped).layout { return true }
            return false
        }
        for encoding in [ExpositionFormat.Encoding.text100, .openMetrics, .protobuf] {
            family.removeAll()
            let formats = NameEscaping.allCases.map { ExpositionFormat(encoding, escaping: $0) }
            family.member(["method", "GET"]).add()
            _ = fixture.page(formats[0])
            #expect(formats.allSatisfy(isKept))
            family.member(["http.method", "GET"]).add()
            for format in formats {
                #expect(!isKept(format))
                let page = fixture.page(format)
                #expect(isKept(format) && fixture.page(format) == page)
            }
            #expect(Set(formats.map(fixture.page)).count == 4)
        }
    }

    @Test("duplicate open labels and duplicate series appear once on a page")
    func openLabels() {
        var descriptor = MetricDescriptor(name: "hits_total", help: "", kind: .counter)
        descriptor.hasOpenLabels = true
        let series = [["a.b", "1", "c", "2"], ["a_b", "1", "c", "2"], ["a!b", "1", "a__b", "2"], []]
        func shown(_ escaping: NameEscaping) -> [String] {
            ShownSeries.all(descriptor, escaping, labelValues: series).map { series in
                "\(series.place)" + series.labels.map { ",\($0.name)=\($0.value)" }.joined()
            }
        }
        #expect(shown(.allowUTF8) == ["3", "2,a!b=1,a__b=2", "0,a.b=1,c=2", "1,a_b=1,c=2"])
        #expect(shown(.underscores) == ["3", "2,a__b=2,a_b=1", "0,a_b=1,c=2"])
        #expect(shown(.dots) == ["3", "2,a__b=1", "0,a_dot_b=1,c=2", "1,a_b=1,c=2"])
        let layout = TextLayout(
            descriptor,
            ExpositionFormat(.text004),
            shape: .wholeNumber,
            labelValues: series,
            created: [],
            hiddenUntilUsed: []
        )
        #expect(layout.seriesCount == 4 && layout.order.map(\.place) == [3, 2, 0])
    }
}

/// One metric of every kind, with everything that a format has to escape.
enum PageOfEveryKind {
    static func fill(_ fixture: RegistryFixture) throws {
        let registry = fixture.registry
        let hits = registry.counter(
            "hits_total",
            help: "Requests \"served\" \\ and\nlost.",
            labels: ["method", "code"]
        )
        hits.with("PUT", "say \"hi\"\n").add(7)
        hits.with("GET", "200").add(
            123_456_789_012,
            exemplar: try Exemplar(labels: [("id", "7")], value: 1, timestamp: 1_700_000_003_500_000)
        )
        let busy = registry.fractionalCounter("busy_seconds_total", help: "Time spent.", unit: "seconds")
        busy.restore(to: 0.125, created: 1_600_000_000_000_001)
        registry.counter("plain", help: "").add(3)
        registry.gauge("temperature_celsius", help: "").set(-3.5)
        let sizes = registry.histogram(
            "body_bytes",
            help: "Bodies.",
            unit: "bytes",
            labels: ["way"],
            buckets: [0.5, 1_000, 2_500_000]
        )
        sizes.with("out").observe(5_000)
        let labels = [("id", "a\"b\\c\nd"), ("way", "🦆")]
        sizes.with("in").observe(
            12,
            exemplar: try Exemplar(labels: labels, value: 12, timestamp: 1_700_000_001_250_000)
        )
        sizes.with("in").observe(
            1e300,
            exemplar: try Exemplar(labels: [], value: 1e300, timestamp: 1_700_000_002_000_000)
        )
        registry.counter("http.requests_total", help: "A name of UTF-8.", labels: ["größe"]).with("x").add()
    }
}
