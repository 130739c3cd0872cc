// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MetricsRegistry

@Suite("Exposition")
struct ExpositionTests {
    private let fixture = RegistryFixture()
    private var registry: MetricsRegistry { fixture.registry }

    @Test("a default page with every kind of metric is as expected, byte for byte, sorted by name and label values")
    func expositionGolden() {
        let hits = registry.counter("hits_total", help: "Requests served.", labels: ["method", "code"])
        hits.with("PUT", "204").add(7)
        hits.with("GET", "500").add(1)
        hits.with("GET", "200").add(123_456_789_012)
        registry.fractionalCounter("busy_seconds_total", help: "Time spent.", unit: "seconds").add(0.125)
        registry.gauge("temperature_celsius", help: "").set(-3.5)
        let sizes = registry.histogram("body_bytes", help: "Bodies.", labels: ["way"], buckets: [1_000, 2_500_000])
        sizes.with("out").observe(5_000)
        sizes.with("in").observe(12)
        #expect(
            text(registry.exposition()) == """
                # HELP body_bytes Bodies.
                # TYPE body_bytes histogram
                body_bytes_bucket{way="in",le="1000"} 1
                body_bytes_bucket{way="in",le="2.5e+06"} 1
                body_bytes_bucket{way="in",le="+Inf"} 1
                body_bytes_sum{way="in"} 12
                body_bytes_count{way="in"} 1
                body_bytes_bucket{way="out",le="1000"} 0
                body_bytes_bucket{way="out",le="2.5e+06"} 1
                body_bytes_bucket{way="out",le="+Inf"} 1
                body_bytes_sum{way="out"} 5000
                body_bytes_count{way="out"} 1
                # HELP busy_seconds_total Time spent.
                # TYPE busy_seconds_total counter
                busy_seconds_total 0.125
                # HELP hits_total Requests served.
                # TYPE hits_total counter
                hits_total{method="GET",code="200"} 123456789012
                hits_total{method="GET",code="500"} 1
                hits_total{method="PUT",code="204"} 7
                # HELP metrics_registry_conflicts_total Registrations of metrics that conflicted with an earlier one \
                or with the rules of names.
                # TYPE metrics_registry_conflicts_total counter
                metrics_registry_conflicts_total 0
                # HELP metrics_registry_ignored_values_total Values ignored because they were infinite, \
                negative or not a number, and resets of counters.
                # TYPE metrics_registry_ignored_values_total counter
                metrics_registry_ignored_values_total 0
                # HELP metrics_registry_overflowed_lookups_total Look-ups of label values that went to the series \
                other, past a limit of the family.
                # TYPE metrics_registry_overflowed_lookups_total counter
                metrics_registry_overflowed_lookups_total{family="body_bytes"} 0
                metrics_registry_overflowed_lookups_total{family="hits_total"} 0
                # TYPE temperature_celsius gauge
                temperature_celsius -3.5

                """
        )
    }

    @Test("the order of a page does not depend on the order of registration")
    func stableOrder() {
        let names = (0..<40).map { "metric_\($0)" }
        let values = names + ["e\u{301}", "\u{E9}"]
        func page(_ names: [String], _ values: [String]) -> String {
            let fixture = RegistryFixture()
            for name in names {
                let family = fixture.registry.gauge(name, help: "G.", labels: ["n"])
                for value in values { family.with(value).set(Double(value.utf8.count)) }
            }
            return fixture.page()
        }
        #expect(Array(page(names, values).utf8) == Array(page(names.reversed(), values.reversed()).utf8))
    }

    @Test("a family without series is not on the page")
    func noSeries() {
        _ = registry.counter("hits_total", help: "Hits.", labels: ["code"])
        #expect(fixture.page() == "")
    }

    @Test("a series created after a scrape is in its sorted place on the next page")
    func laterSeries() {
        let family = registry.counter("hits_total", help: "Hits.", labels: ["code"])
        family.with("b").add(1)
        #expect(fixture.page().hasSuffix("counter\nhits_total{code=\"b\"} 1\n"))
        family.with("a").add(2)
        family.with("c").add(3)
        #expect(
            fixture.page().hasSuffix("hits_total{code=\"a\"} 2\nhits_total{code=\"b\"} 1\nhits_total{code=\"c\"} 3\n")
        )
    }

    @Test("a page with names shows only those families")
    func expositionNames() {
        registry.gauge("a", help: "A.").set(1)
        registry.gauge("b", help: "B.").set(2)
        #expect(text(registry.exposition(names: ["b", "unknown"])) == "# HELP b B.\n# TYPE b gauge\nb 2\n")
        #expect(registry.exposition(names: []).isEmpty)
    }

    @Test("a page written over a longer or shorter one is the same page")
    func reusedPage() {
        let family = registry.gauge("a", help: "A.", labels: ["n"])
        for index in 0..<200 { family.with("\(index)").set(Double(index) / 3) }
        let expected = registry.exposition()
        for length in [0, 1, expected.count - 1, expected.count, expected.count + 5_000] {
            var page = [UInt8](repeating: 0xFF, count: length)
            registry.exposition(into: &page)
            #expect(page == expected)
        }
        let borrowed = registry.withExposition { span in span.indices.map { span[$0] } }
        #expect(borrowed == expected)
        #expect(registry.withExposition(names: ["none"]) { $0.count } == 0)
        #expect(registry.withExposition { $0.count } == expected.count)
    }

    @Test("hostile label values are escaped and stay on their line", arguments: HostileText.all)
    func hostileLabels(hostile: HostileText) throws {
        registry.counter("hits_total", help: "Hits.", labels: ["v"]).with(hostile.text).add(5)
        let lines = fixture.page().utf8.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 3)
        #expect(Array(try #require(lines.last)) == Array("hits_total{v=\"\(hostile.escaped)\"} 5".utf8))
    }

    @Test("help texts escape backslashes and line feeds, and leave quotes alone")
    func hostileHelp() {
        registry.gauge("g", help: "a \"quoted\" \\ path\nand 🦆").set(1)
        #expect(fixture.page() == "# HELP g a \"quoted\" \\\\ path\\nand 🦆\n# TYPE g gauge\ng 1\n")
    }
}

/// A label value and its form in Prometheus text 0.0.4.
struct HostileText: Sendable, CustomTestStringConvertible {
    let text: String
    let escaped: String

    var testDescription: String { String(escaped.prefix(24)) }

    static let all = [
        HostileText(text: #"say "hi""#, escaped: #"say \"hi\""#),
        HostileText(text: "a\nb", escaped: #"a\nb"#),
        HostileText(text: #"C:\dir\"#, escaped: #"C:\\dir\\"#),
        HostileText(text: "\\\n\"", escaped: #"\\\n\""#),
        HostileText(text: "\"} 1\nfake_total 9", escaped: #"\"} 1\nfake_total 9"#),
        HostileText(text: "👩‍👩‍👧 é e\u{301}", escaped: "👩‍👩‍👧 é e\u{301}"),
        HostileText(text: "a\r\nb\u{0}\t", escaped: "a\r\\nb\u{0}\t"),
        HostileText(text: "", escaped: ""),
        HostileText(text: String(repeating: "\"", count: 10_240), escaped: String(repeating: #"\""#, count: 10_240)),
    ]
}
