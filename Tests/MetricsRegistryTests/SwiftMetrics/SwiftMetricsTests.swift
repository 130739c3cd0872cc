// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import MetricsRegistry
import Testing

@Suite("swift-metrics")
struct SwiftMetricsTests {
    private let fixture = RegistryFixture()

    private func factory(_ options: RegistryMetricsOptions = RegistryMetricsOptions()) -> RegistryMetricsFactory {
        RegistryMetricsFactory(fixture.registry, options: options)
    }

    @Test("the name of a swift-metrics counter ends in one _total")
    func swiftMetricsCounters() {
        let factory = factory()
        CoreMetrics.Counter(label: "hb.requests", factory: factory).increment(by: 2)
        CoreMetrics.Counter(label: "hb.requests", factory: factory).increment()
        CoreMetrics.Counter(label: "seen_total", factory: factory).increment(by: Int64.max)
        #expect(
            fixture.page() == """
                # HELP hb_requests_total A total that a library keeps through swift-metrics.
                # TYPE hb_requests_total counter
                hb_requests_total 3
                # HELP seen_total A total that a library keeps through swift-metrics.
                # TYPE seen_total counter
                seen_total 9223372036854775807

                """
        )
    }

    @Test("a swift-metrics floating-point counter keeps fractions")
    func swiftMetricsFractions() {
        let counter = FloatingPointCounter(label: "busy.seconds", factory: factory())
        counter.increment(by: 0.25)
        counter.increment(by: 0.5)
        #expect(fixture.samples()["busy_seconds_total"] == "0.75")
    }

    @Test("meters, gauges and non-aggregating recorders with the same label are one gauge")
    func swiftMetricsGauges() {
        let factory = factory()
        let meter = Meter(label: "queue", factory: factory)
        meter.set(5)
        meter.increment(by: 2.5)
        meter.decrement()
        #expect(fixture.samples()["queue"] == "6.5")
        CoreMetrics.Gauge(label: "queue", factory: factory).record(1.5)
        #expect(fixture.samples()["queue"] == "1.5")
        Recorder(label: "queue", aggregate: false, factory: factory).record(7)
        #expect(fixture.samples()["queue"] == "7")
        #expect(fixture.conflicts == [])
    }

    @Test("an aggregating recorder is a histogram with its configured bounds")
    func swiftMetricsRecorders() {
        var options = RegistryMetricsOptions()
        options.buckets["rows"] = [10, 20]
        let factory = factory(options)
        let rows = Recorder(label: "rows", factory: factory)
        rows.record(10)
        rows.record(20.5)
        Recorder(label: "sizes", factory: factory).record(3)
        let samples = fixture.samples()
        #expect(samples[#"rows_bucket{le="10"}"#] == "1")
        #expect(samples[#"rows_bucket{le="20"}"#] == "1")
        #expect(samples[#"rows_bucket{le="+Inf"}"#] == "2")
        #expect(samples["rows_sum"] == "30.5")
        #expect(samples[#"sizes_bucket{le="2.5"}"#] == "0")
        #expect(samples[#"sizes_bucket{le="5"}"#] == "1")
    }

    @Test("a timer is a histogram in seconds, whatever its display unit")
    func swiftMetricsTimers() {
        let factory = factory()
        let timer = Timer(label: "http.server.request.duration", preferredDisplayUnit: .milliseconds, factory: factory)
        timer.recordMilliseconds(20)
        timer.recordSeconds(3)
        Timer(label: "wait_seconds", factory: factory).recordNanoseconds(1)
        let samples = fixture.samples()
        #expect(samples[#"http_server_request_duration_seconds_bucket{le="0.025"}"#] == "1")
        #expect(samples["http_server_request_duration_seconds_sum"] == "3.02")
        #expect(samples["http_server_request_duration_seconds_count"] == "2")
        #expect(samples["wait_seconds_sum"] == "1e-09")
    }

    @Test("swift-metrics values that a page cannot show are ignored and counted")
    func swiftMetricsIgnored() {
        let factory = factory()
        let counter = CoreMetrics.Counter(label: "hits", factory: factory)
        counter.increment(by: 4)
        counter.increment(by: -1)
        counter.reset()
        let fraction = FloatingPointCounter(label: "busy", factory: factory)
        fraction.increment(by: 1.5)
        fraction.increment(by: -1)
        fraction.increment(by: Double.nan)
        fraction.reset()
        let meter = Meter(label: "level", factory: factory)
        meter.increment(by: Double.infinity)
        Timer(label: "wait", factory: factory).recordNanoseconds(-5)
        Recorder(label: "size", factory: factory).record(Double.nan)
        let samples = fixture.samples()
        #expect(samples["hits_total"] == "4")
        #expect(samples["busy_total"] == "1.5")
        #expect(samples["level"] == "0")
        #expect(samples["wait_seconds_count"] == "0")
        #expect(samples["size_count"] == "0")
        #expect(samples["metrics_registry_ignored_values_total"] == "8")
    }

    @Test("a swift-metrics label in use for another kind gets a detached instrument and is reported once")
    func swiftMetricsConflicts() {
        let factory = factory()
        CoreMetrics.Counter(label: "requests_total", factory: factory).increment()
        for index in 0..<10 {
            let gauge = Meter(label: "requests.total", dimensions: [("index", "\(index)")], factory: factory)
            gauge.set(3)
            FloatingPointCounter(label: "requests_total", factory: factory).increment(by: 0.5)
        }
        #expect(fixture.samples()["requests_total"] == "1")
        #expect(fixture.conflicts.map(\.reason) == [.otherKind, .otherKind])
        #expect(fixture.registry.conflictCount == 2)
    }

    @Test("a name registered with fixed labels is not taken over by swift-metrics")
    func fixedLabels() {
        let own = fixture.registry.counter("jobs_total", help: "Jobs.", labels: ["queue"])
        own.with("a").add()
        CoreMetrics.Counter(label: "jobs", dimensions: [("queue", "a")], factory: factory()).increment()
        #expect(fixture.samples()[#"jobs_total{queue="a"}"#] == "1")
        #expect(fixture.conflicts.map(\.reason) == [.otherLabels])
    }

    @Test("swift-metrics bounds that do not increase are a conflict")
    func wrongBounds() {
        var options = RegistryMetricsOptions()
        options.buckets["wait"] = [2, 1]
        Timer(label: "wait", factory: factory(options)).recordSeconds(1)
        #expect(fixture.conflicts.map(\.reason) == [.unorderedBuckets])
    }

    @Test("names, help texts and ignored labels come from the swift-metrics options")
    func swiftMetricsOptions() {
        var options = RegistryMetricsOptions()
        options.names["hb.requests"] = "http_requests_total"
        options.help["hb.requests"] = "Requests."
        options.ignored = ["hb.request.errors"]
        let factory = factory(options)
        CoreMetrics.Counter(label: "hb.requests", factory: factory).increment()
        CoreMetrics.Counter(label: "hb.request.errors", factory: factory).increment()
        Timer(label: "hb.request.errors", factory: factory).recordSeconds(1)
        #expect(
            fixture.page() == """
                # HELP http_requests_total Requests.
                # TYPE http_requests_total counter
                http_requests_total 1

                """
        )
    }

    @Test("instruments created through the bootstrapped factory reach the registry", .timeLimit(.minutes(1)))
    func taskLocal() async {
        await withMetricsFactory(factory()) {
            CoreMetrics.Counter(label: "hits").increment()
            await withTaskGroup { group in
                group.addTask { CoreMetrics.Counter(label: "hits").increment() }
            }
        }
        #expect(fixture.samples()["hits_total"] == "2")
    }
}

@Suite("swift-metrics formats")
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

    @Test("OpenMetrics shows swift-metrics series with their own labels, creation times and units")
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

    @Test("UTF-8 names of swift-metrics are quoted for capable clients and escaped for others")
    func swiftMetricsFormatUnicode() {
        var options = RegistryMetricsOptions()
        options.keepsUTF8Names = true
        options.names["hits"] = "hits.seen_total"
        let quoted = page(ExpositionFormat(.text100, escaping: .allowUTF8), options)
        #expect(quoted.contains(#"{"hits.seen_total",b="2","http.route"="/"} 1"#))
        #expect(page(.text004, options).contains(#"hits_seen_total{b="2",http_route="/"} 1"#))
    }

    @Test("protobuf shows the labels of each swift-metrics series")
    func protobuf() {
        let bytes = page(.protobuf)
        for word in ["hits", "http_route", "wait_seconds"] { #expect(bytes.contains(word)) }
    }
}
