// SPDX-License-Identifier: Apache-2.0

import Foundation
import MetricsRegistry
import Testing

@testable import Export

@Suite("requests of OTLP, read with the official definitions")
struct OTLPTests {
    static let metrics = OTLPMetrics(SamplePage.resource, version: "1.2.3")

    private func metric(_ name: String, _ request: JSONTree) -> JSONTree {
        request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].list.first { $0["name"].text == name }
            ?? JSONTree(nil)
    }

    private func attributes(_ tree: JSONTree) -> [String: String] {
        Dictionary(
            tree["attributes"].list.map { ($0["key"].text ?? "", $0["value"]["stringValue"].text ?? "") }
        ) { first, _ in first }
    }

    private func request() throws -> OTLPMetrics.Request {
        let requests = Self.metrics.requests(try SamplePage().page())
        #expect(requests.count == 1)
        return try #require(requests.first)
    }

    @Test("a counter is a monotonic cumulative sum that starts when its series was created")
    func countersAreCumulative() throws {
        let read = try ExportReader.metrics.read(try request().bytes)
        let sum = metric("failures_total", read)["sum"]
        #expect(sum["aggregationTemporality"].text == "AGGREGATION_TEMPORALITY_CUMULATIVE")
        #expect(sum["isMonotonic"].number == 1)
        let points = sum["dataPoints"].list
        #expect(points.map { attributes($0)["reason"] } == ["AUTH", "NETWORK"])
        #expect(points.map(\.["asDouble"].number) == [1, 3])
        for point in points {
            #expect(point["startTimeUnixNano"].text == "1763185000123456000")
            #expect(point["timeUnixNano"].text == "1763186000500000000")
        }
        let exemplar = points[0]["exemplars"][0]
        #expect(exemplar["asDouble"].number == 1)
        #expect(exemplar["timeUnixNano"].text == "1763185001123456000")
        #expect(exemplar["filteredAttributes"][0]["value"]["stringValue"].text == "s-1")
    }

    @Test("a gauge has no start, and keeps text and a value that is no number")
    func gaugesHaveNoStart() throws {
        let read = try ExportReader.metrics.read(try request().bytes)
        let waiting = metric("waiting", read)
        #expect(waiting["description"].text == "What waits, \"quoted\" and\nbroken.")
        #expect(waiting["gauge"]["dataPoints"][0]["asDouble"].number == -2.5)
        #expect(waiting["gauge"]["dataPoints"][0]["startTimeUnixNano"].isMissing)
        let ratio = metric("unknown_ratio", read)
        #expect(ratio["unit"].text == "1")
        #expect(ratio["gauge"]["dataPoints"][0]["asDouble"].number?.isNaN == true)
    }

    @Test("a histogram of fixed bounds counts each bucket by itself")
    func explicitHistograms() throws {
        let histogram = metric("delay_seconds", try ExportReader.metrics.read(try request().bytes))
        #expect(histogram["unit"].text == "s")
        let point = histogram["histogram"]["dataPoints"][0]
        #expect(point["explicitBounds"].list.map(\.number) == [0.5, 60, 900])
        #expect(point["bucketCounts"].list.map(\.text) == ["1", "2", "0", "1"])
        #expect(point["count"].text == "4")
        #expect(point["sum"].number == 932)
        #expect(point["startTimeUnixNano"].text == "1763185000123456000")
    }

    @Test("a native histogram is an exponential one whose buckets hold the same values")
    func exponentialHistograms() throws {
        let histogram = metric("drift_seconds", try ExportReader.metrics.read(try request().bytes))
        let point = histogram["exponentialHistogram"]["dataPoints"][0]
        #expect(point["count"].text == "6")
        // A scale of 0 has the bounds 2^i < value <= 2^(i+1).
        #expect(point["scale"].number == nil || point["scale"].number == 0)
        #expect(point["zeroCount"].text == "1")
        let offset = Int(point["positive"]["offset"].number ?? 0)
        let counts = point["positive"]["bucketCounts"].list.map { Int($0.number ?? -1) }
        var found: [Int: Int] = [:]
        for (place, count) in counts.enumerated() where count > 0 { found[offset + place] = count }
        #expect(found == [-1: 1, 1: 2, 9: 1])
        #expect(point["negative"]["bucketCounts"].list.map(\.text) == ["1"])
        #expect(Int(point["negative"]["offset"].number ?? 0) == 1)
    }

    @Test("a native histogram whose buckets lie far apart is sent at a coarser scale with every count")
    func wideHistogramsAreCoarser() throws {
        let registry = MetricsRegistry(now: { SamplePage.created })
        let wide = registry.histogram("wide", help: "Wide.", native: NativeBuckets(growthFactor: 1.001))
        for exponent in stride(from: -60.0, through: 60, by: 20) { wide.observe(Double.exp2(exponent)) }
        let page = try MetricsPage(registry.exposition(.protobuf), time: SamplePage.time)
        let request = try #require(Self.metrics.requests(page).first)
        let point = metric("wide", try ExportReader.metrics.read(request.bytes))["exponentialHistogram"]["dataPoints"][
            0
        ]
        let counts = point["positive"]["bucketCounts"].list.compactMap(\.number)
        #expect(counts.count <= 1_024)
        #expect(counts.reduce(0, +) == 7)
        let scale = point["scale"].number ?? 0
        let offset = point["positive"]["offset"].number ?? 0
        // The bucket of the smallest value, 2^-60, ends at it.
        #expect(Double.exp2((offset + 1) * Double.exp2(-scale)) >= Double.exp2(-60))
        #expect(Double.exp2(offset * Double.exp2(-scale)) < Double.exp2(-60))
    }

    @Test("the resource names the service and the operator's attributes")
    func resources() throws {
        let read = try ExportReader.metrics.read(try request().bytes)
        #expect(
            attributes(read["resourceMetrics"][0]["resource"]) == [
                "service.name": "dnp-telemetry", "service.namespace": "lab", "service.version": "1.2.3",
                "service.instance.id": "0123456789abcdef0123456789abcdef",
            ]
        )
    }

    @Test("the JSON form of metrics reads as the protobuf form does")
    func metricsInJSON() throws {
        let request = try request()
        let json = try #require(OTLPJSON.metrics(request.bytes))
        let text = String(decoding: json, as: UTF8.self)
        #expect(text.contains("\"aggregationTemporality\":2"))
        #expect(text.contains("\"timeUnixNano\":\"1763186000500000000\""))
        #expect(try ExportReader.metricsJSON.read(json) == (try ExportReader.metrics.read(request.bytes)))
    }

    /// What the examples of opentelemetry-proto (examples/metrics.json) hold, but cumulative, and a histogram with as many
    /// buckets as its bounds give.
    private static let examples = #"""
        [
          {"name": "my.counter", "unit": "1", "description": "a counter", "sum": {
            "aggregationTemporality": "AGGREGATION_TEMPORALITY_CUMULATIVE", "isMonotonic": true, "dataPoints": [
              {"asDouble": 5, "startTimeUnixNano": "1544712660300000000", "timeUnixNano": "1544712660300000000",
               "attributes": [{"key": "my.counter.attr", "value": {"stringValue": "some value"}}]}]}},
          {"name": "my.gauge", "unit": "1", "description": "a gauge", "gauge": {"dataPoints": [
              {"asDouble": 10, "timeUnixNano": "1544712660300000000",
               "attributes": [{"key": "my.gauge.attr", "value": {"stringValue": "some value"}}]}]}},
          {"name": "my.histogram", "unit": "1", "description": "a histogram", "histogram": {
            "aggregationTemporality": "AGGREGATION_TEMPORALITY_CUMULATIVE", "dataPoints": [
              {"startTimeUnixNano": "1544712660300000000", "timeUnixNano": "1544712660300000000", "count": "3",
               "sum": 3, "bucketCounts": ["1", "2"], "explicitBounds": [1],
               "attributes": [{"key": "my.histogram.attr", "value": {"stringValue": "some value"}}]}]}}
        ]
        """#

    @Test("the metrics of opentelemetry-proto's examples read back whole, in both forms")
    func examplesOfMetrics() throws {
        let time: UInt64 = 1_544_712_660_300_000_000
        func family(_ kind: MetricKind, _ name: String, _ change: (inout MetricsPage.Series) -> Void)
            -> MetricsPage.Family
        {
            var series = MetricsPage.Series(labels: [MetricsPage.Label("my.\(name).attr", "some value")])
            change(&series)
            return MetricsPage.Family(
                name: "my.\(name)",
                help: "a \(name)",
                unit: "ratio",
                kind: kind,
                series: [series]
            )
        }
        let page = MetricsPage(
            families: [
                family(.counter, "counter") { ($0.value, $0.created) = (5, time) },
                family(.gauge, "gauge") { $0.value = 10 },
                family(.histogram, "histogram") {
                    $0.created = time
                    $0.histogram = MetricsPage.Histogram(
                        count: 3,
                        sum: 3,
                        buckets: [
                            MetricsPage.Bucket(upperBound: 1, cumulativeCount: 1),
                            MetricsPage.Bucket(cumulativeCount: 3),
                        ]
                    )
                },
            ],
            time: time
        )
        let request = try #require(Self.metrics.requests(page).first)
        let read = try ExportReader.metrics.read(request.bytes)
        let expected = try JSONSerialization.jsonObject(with: Data(Self.examples.utf8))
        #expect(read["resourceMetrics"][0]["scopeMetrics"][0]["metrics"] == JSONTree(expected))
        let json = try #require(OTLPJSON.metrics(request.bytes))
        #expect(try ExportReader.metricsJSON.read(json) == read)
    }

    @Test("the record of opentelemetry-proto's example reads back, as far as this service has its like")
    func exampleOfLogs() throws {
        var logs = OTLPLogs(SamplePage.resource, version: "1")
        let time: Int64 = 1_544_712_660_300_000
        logs.append(time: time, observed: time, identity: { $0 += "life:1".utf8 }) { record in
            record.severity(ofPriority: 6)
            record.body { $0 += "Example log record".utf8 }
            record.attribute(Array("string.attribute".utf8), "some string")
            record.attribute(Array("array.attribute".utf8), all: ["many", "values"])
        }
        let finished = logs.finish()
        let read = try ExportReader.logs.read(try #require(finished))
        let expected = #"""
            {"timeUnixNano": "1544712660300000000", "observedTimeUnixNano": "1544712660300000000",
             "severityNumber": "SEVERITY_NUMBER_INFO", "severityText": "INFO",
             "body": {"stringValue": "Example log record"}, "attributes": [
               {"key": "string.attribute", "value": {"stringValue": "some string"}},
               {"key": "array.attribute", "value": {"arrayValue": {"values": [
                 {"stringValue": "many"}, {"stringValue": "values"}]}}},
               {"key": "log.record.uid", "value": {"stringValue": "life:1"}}]}
            """#
        #expect(
            read["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
                == JSONTree(try JSONSerialization.jsonObject(with: Data(expected.utf8)))
        )
    }

    @Test("a page of many families goes in several requests, with each series once")
    func largePagesAreSplit() throws {
        let registry = MetricsRegistry(now: { SamplePage.created })
        let long = String(repeating: "x", count: 900)
        for family in 0..<12 {
            let series = registry.counter("family_\(family)_total", help: "Large.", labels: ["label"])
            for number in 0..<500 { series.with("\(long)\(number)").add(1) }
        }
        let page = try MetricsPage(registry.exposition(.protobuf), time: SamplePage.time)
        let requests = Self.metrics.requests(page)
        #expect(requests.count > 1)
        #expect(requests.reduce(0) { $0 + $1.points } == page.seriesCount)
        for request in requests { #expect(request.bytes.count < 8 << 20) }
    }

    @Test("an empty page is no request")
    func emptyPages() {
        #expect(Self.metrics.requests(MetricsPage(time: 1)).isEmpty)
        var logs = OTLPLogs(SamplePage.resource, version: "1")
        #expect(logs.finish() == nil)
    }

    // MARK: Logs

    private func logs() -> OTLPLogs {
        var logs = OTLPLogs(SamplePage.resource, version: "1.2.3")
        for (number, priority) in [6, 4, 3].enumerated() {
            let body = Array("{\"event\":\"prefetch_failure\",\"note\":\"\\u0000 \u{e9}\u{1}\"}".utf8)
            logs.append(
                time: 1_763_185_000_000_001,
                observed: 1_763_185_009_000_002,
                identity: { $0 += "life:\(number + 1)".utf8 }
            ) { record in
                record.name("prefetch_failure")
                record.severity(ofPriority: priority)
                record.body { $0 += body }
                record.attribute(Array("DNP_REASON".utf8), "AUTH")
                record.attribute(Array("DNP_VIOLATION".utf8), all: ["a", "b"])
            }
        }
        return logs
    }

    @Test("a log record has its body, attributes, both times, severity and identity")
    func logRecords() throws {
        var logs = logs()
        #expect(logs.count == 3)
        let finished = logs.finish()
        let request = try #require(finished)
        #expect(logs.count == 0)
        let read = try ExportReader.logs.read(request)
        let records = read["resourceLogs"][0]["scopeLogs"][0]["logRecords"].list
        #expect(
            records.map(\.["severityNumber"].text) == [
                "SEVERITY_NUMBER_INFO", "SEVERITY_NUMBER_WARN", "SEVERITY_NUMBER_ERROR",
            ]
        )
        #expect(records.map(\.["severityText"].text) == ["INFO", "WARN", "ERROR"])
        #expect(records.map { attributes($0)["log.record.uid"] } == ["life:1", "life:2", "life:3"])
        let record = try #require(records.first)
        #expect(record["timeUnixNano"].text == "1763185000000001000")
        #expect(record["observedTimeUnixNano"].text == "1763185009000002000")
        #expect(record["eventName"].text == "prefetch_failure")
        #expect(
            record["body"]["stringValue"].text == "{\"event\":\"prefetch_failure\",\"note\":\"\\u0000 \u{e9}\u{1}\"}"
        )
        #expect(attributes(record)["DNP_REASON"] == "AUTH")
        let violations = record["attributes"].list.first { $0["key"].text == "DNP_VIOLATION" }
        #expect(violations?["value"]["arrayValue"]["values"].list.map(\.["stringValue"].text) == ["a", "b"])
    }

    @Test("the JSON form of logs reads as the protobuf form does")
    func logsInJSON() throws {
        var logs = logs()
        let finished = logs.finish()
        let request = try #require(finished)
        let json = try #require(OTLPJSON.logs(request))
        #expect(try ExportReader.logsJSON.read(json) == (try ExportReader.logs.read(request)))
    }

    @Test("bytes that are no request have no JSON form")
    func garbageHasNoJSON() {
        #expect(OTLPJSON.logs([0xFF, 0xFF, 0xFF]) == nil)
        #expect(OTLPJSON.metrics([0x7A, 0x01, 0x00]) == nil)
    }
}

extension Double {
    fileprivate static func exp2(_ exponent: Double) -> Double {
        let whole = exponent.rounded(.down)
        // Whole exponents and halves, quarters and so on of them are all that is needed here.
        var (value, rest, root) = (Double(sign: .plus, exponent: Int(whole), significand: 1), exponent - whole, 2.0)
        for _ in 0..<52 {
            root = root.squareRoot()
            rest *= 2
            if rest >= 1 {
                value *= root
                rest -= 1
            }
        }
        return value
    }
}
