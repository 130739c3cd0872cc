// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// Encodes a page as requests of OTLP (opentelemetry-proto, `ExportMetricsServiceRequest`).
///
/// Everything is cumulative. A series starts when the page says that it was created, which for what comes from the ledger
/// is the same before and after a kill. Names stay as they are on the page, so that a query finds the same name whichever
/// way a metric came.
package struct OTLPMetrics: Sendable {
    /// The size from which on the rest of a page goes into another request.
    private static let requestBytes = 4 << 20
    /// A native histogram is merged to fewer buckets until its populated ones lie within so many.
    private static let maximumBuckets = 1_024
    private static let cumulative = 2

    private let resource: ExportResource
    private let version: String

    package init(_ resource: ExportResource, version: String) {
        self.resource = resource
        self.version = version
    }

    /// A request with how many data points it has.
    package struct Request: Sendable, Equatable {
        package var bytes: [UInt8]
        package var points: Int
    }

    /// The requests of a page; none for an empty one.
    package func requests(_ page: MetricsPage) -> [Request] {
        var requests: [Request] = []
        var (metrics, points) = (ProtobufWriter(), 0)
        for family in page.families where !family.series.isEmpty {
            write(family, page.time, to: &metrics)
            points += family.series.count
            if metrics.bytes.count >= Self.requestBytes {
                requests.append(Request(bytes: request(metrics.take()), points: points))
                points = 0
            }
        }
        if points > 0 { requests.append(Request(bytes: request(metrics.take()), points: points)) }
        return requests
    }

    /// The envelope around encoded fields of `ScopeMetrics`.
    private func request(_ metrics: [UInt8]) -> [UInt8] {
        var writer = ProtobufWriter()
        writer.message(1, expecting: metrics.count) { resourceMetrics in
            resource.write(to: &resourceMetrics, field: 1)
            resourceMetrics.message(2, expecting: metrics.count) { scopeMetrics in
                scopeMetrics.scope(1, version: version)
                scopeMetrics.append(metrics)
            }
        }
        return writer.take()
    }

    private func write(_ family: MetricsPage.Family, _ time: UInt64, to metrics: inout ProtobufWriter) {
        metrics.message(2, expecting: 128) { metric in
            metric.text(1, family.name)
            metric.text(2, family.help)
            metric.text(3, Self.unit(family.unit))
            switch family.kind {
            case .gauge:
                metric.message(5, expecting: 128) { gauge in
                    for series in family.series { Self.write(series, started: false, time, to: &gauge) }
                }
            case .counter:
                metric.message(7, expecting: 128) { sum in
                    for series in family.series { Self.write(series, started: true, time, to: &sum) }
                    sum.integer(2, Self.cumulative)
                    sum.integer(3, 1)
                }
            case .histogram:
                let isExponential = family.series.contains { $0.histogram?.native != nil }
                metric.message(isExponential ? 10 : 9, expecting: 1_024) { histogram in
                    for series in family.series {
                        if isExponential {
                            Self.writeExponential(series, time, to: &histogram)
                        } else {
                            Self.writeExplicit(series, time, to: &histogram)
                        }
                    }
                    histogram.integer(2, Self.cumulative)
                }
            }
        }
    }

    /// The unit in UCUM, which OTLP wants.
    private static func unit(_ unit: String) -> String {
        switch unit {
        case "seconds": "s"
        case "bytes": "By"
        case "ratio": "1"
        default: unit
        }
    }

    /// A `NumberDataPoint`.
    private static func write(
        _ series: MetricsPage.Series,
        started: Bool,
        _ time: UInt64,
        to points: inout ProtobufWriter
    ) {
        points.message(1) { point in
            if started { point.fixed64(2, series.created) }
            point.fixed64(3, time)
            point.double(4, series.value)
            write(series.exemplars, field: 5, to: &point)
            for label in series.labels { point.attribute(7, label.name, label.value) }
        }
    }

    /// A `HistogramDataPoint`.
    private static func writeExplicit(_ series: MetricsPage.Series, _ time: UInt64, to points: inout ProtobufWriter) {
        let histogram = series.histogram ?? MetricsPage.Histogram()
        points.message(1, expecting: 128) { point in
            point.fixed64(2, series.created)
            point.fixed64(3, time)
            point.fixed64(4, histogram.count)
            point.double(5, histogram.sum)
            var below: UInt64 = 0
            let counts = histogram.buckets.map { bucket in
                defer { below = max(below, bucket.cumulativeCount) }
                return bucket.cumulativeCount - min(below, bucket.cumulativeCount)
            }
            point.packedFixed64(6, counts)
            point.packedFixed64(7, histogram.buckets.dropLast().map(\.upperBound.bitPattern))
            write(histogram.buckets.compactMap(\.exemplar), field: 8, to: &point)
            for label in series.labels { point.attribute(9, label.name, label.value) }
        }
    }

    /// An `ExponentialHistogramDataPoint`.
    private static func writeExponential(
        _ series: MetricsPage.Series,
        _ time: UInt64,
        to points: inout ProtobufWriter
    ) {
        let histogram = series.histogram ?? MetricsPage.Histogram()
        let native = histogram.native ?? MetricsPage.Native()
        var scale = native.schema
        var (positive, negative) = (DenseBuckets(native.positive), DenseBuckets(native.negative))
        while max(positive.length, negative.length) > maximumBuckets {
            (positive, negative) = (positive.halved, negative.halved)
            scale -= 1
        }
        points.message(1, expecting: 128) { point in
            for label in series.labels { point.attribute(1, label.name, label.value) }
            point.fixed64(2, series.created)
            point.fixed64(3, time)
            point.fixed64(4, histogram.count)
            point.double(5, histogram.sum)
            point.signed(6, Int64(scale))
            point.fixed64(7, native.zeroCount)
            positive.write(to: &point, field: 8)
            negative.write(to: &point, field: 9)
            let exemplars = series.exemplars.isEmpty ? histogram.buckets.compactMap(\.exemplar) : series.exemplars
            write(exemplars, field: 11, to: &point)
            if native.zeroThreshold != 0 { point.double(14, native.zeroThreshold) }
        }
    }

    private static func write(_ exemplars: [MetricsPage.Exemplar], field: Int, to point: inout ProtobufWriter) {
        for exemplar in exemplars {
            point.message(field) { message in
                message.fixed64(2, exemplar.time)
                message.double(3, exemplar.value)
                for label in exemplar.labels { message.attribute(7, label.name, label.value) }
            }
        }
    }
}

/// The `Buckets` of an exponential histogram: one after the other, the empty ones between included.
///
/// A bucket i of OTLP has its bound above i, one of Prometheus its bound at i: the indices differ by one.
private struct DenseBuckets {
    private var counts: [(index: Int, count: UInt64)]

    init(_ side: MetricsPage.Side) {
        counts = side.buckets.filter { $0.count > 0 }.map { ($0.index - 1, $0.count) }
    }

    var length: Int {
        guard let first = counts.first, let last = counts.last else { return 0 }
        return last.index - first.index + 1
    }

    /// The same at half the resolution.
    var halved: DenseBuckets {
        var coarse = self
        coarse.counts.removeAll()
        for (index, count) in counts {
            if let last = coarse.counts.last, last.index == index >> 1 {
                coarse.counts[coarse.counts.count - 1].count += count
            } else {
                coarse.counts.append((index >> 1, count))
            }
        }
        return coarse
    }

    func write(to point: inout ProtobufWriter, field: Int) {
        guard let first = counts.first else { return }
        var dense = [UInt64](repeating: 0, count: length)
        for (index, count) in counts { dense[index - first.index] = count }
        point.message(field, expecting: dense.count) { buckets in
            buckets.signed(1, Int64(first.index))
            buckets.packed(2, dense)
        }
    }
}
