// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import MetricsRegistry
import Testing

@Suite("Metrics of swift-metrics in each format")
struct SwiftMetricsFormatTests {
    private func page(_ format: ExpositionFormat, _ options: RegistryMetricsOptions = .init()) -> String {
        let fixture = RegistryFixture()
        let factory = RegistryMetricsFactory(fixture.registry, options: options)
        CoreMetrics.Counter(label: "hits", dimensions: [("b", "2"), ("http.route", "/")], factory: factory).increment()
        CoreMetrics.Counter(label: "hits", dimensions: [("a", "1")], factory: factory).increment(by: 2)
        Timer(label: "wait", dimensions: [("a", "1")], factory: factory).recordSeconds(3)
        let names = Set(fixture.registry.descriptors.map(\.name).filter { !$0.hasPrefix("metrics_registry_") })
        return text(fixture.registry.exposition(format, names: names))
    }

    @Test("OpenMetrics has each series with its own labels, its time of creation and its unit")
    func openMetrics() {
        let lines = page(.openMetrics).split(separator: "\n").map(String.init)
        for line in [
            "# TYPE hits counter", #"hits_total{a="1"} 2"#, #"hits_total{b="2",http_route="/"} 1"#,
            "# UNIT wait_seconds seconds", #"wait_seconds_count{a="1"} 1"#, "# EOF",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(lines.contains { $0.hasPrefix(#"hits_created{b="2",http_route="/"} "#) })
    }

    @Test("names in UTF-8 are quoted where the client can read them, and have underscores elsewhere")
    func unicode() {
        var options = RegistryMetricsOptions()
        options.keepsUTF8Names = true
        options.names["hits"] = "hits.seen_total"
        let quoted = page(ExpositionFormat(.text100, escaping: .allowUTF8), options)
        #expect(quoted.contains(#"{"hits.seen_total",b="2","http.route"="/"} 1"#))
        #expect(page(.text004, options).contains(#"hits_seen_total{b="2",http_route="/"} 1"#))
    }

    @Test("protobuf has the names and values of each series' own labels")
    func protobuf() {
        let bytes = page(.protobuf)
        for word in ["hits", "http_route", "wait_seconds"] { #expect(bytes.contains(word)) }
    }
}
