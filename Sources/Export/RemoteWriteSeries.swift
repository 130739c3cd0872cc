// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// A series as remote write sends it: all of its labels, and one sample.
package struct RemoteWriteSeries: Sendable, Equatable {
    /// The value of a sample.
    package enum Value: Sendable, Equatable {
        case number(Double)
        case native(MetricsPage.Histogram)
    }

    /// Sorted by the bytes of their names, each name once, none empty.
    package var labels: [MetricsPage.Label]
    package var value: Value
    /// When counting began, in milliseconds since 1970; 0 for a gauge, and where it is unknown.
    package var start: Int64
    package var exemplars: [MetricsPage.Exemplar] = []
    /// The index of its family on the page.
    package var family: Int

    /// The value after which a series has ended (Prometheus, `model/value`, `StaleNaN`).
    package static let staleMarker = Double(bitPattern: 0x7FF0_0000_0000_0002)

    /// Whether a version of the protocol has such a series: 1.0 has no native histograms ("Out of Scope"), whose fixed
    /// buckets stand beside them.
    package func isKnown(to version: RemoteWrite.Version) -> Bool {
        if case .native = value, version == .v1 { false } else { true }
    }

    /// The marker that ends this series, of the same type.
    package var ended: RemoteWriteSeries {
        var ended = self
        ended.exemplars = []
        ended.start = 0
        switch value {
        case .number: ended.value = .number(Self.staleMarker)
        case .native:
            var histogram = MetricsPage.Histogram()
            histogram.sum = Self.staleMarker
            histogram.native = MetricsPage.Native()
            ended.value = .native(histogram)
        }
        return ended
    }
}

extension MetricsPage {
    /// The page as series, with the labels that a Prometheus would give them when it scrapes.
    ///
    /// A histogram becomes the series `_bucket`, `_sum` and `_count` where it has fixed buckets, and one native histogram
    /// where it has native ones.
    package func remoteWriteSeries(of resource: ExportResource) -> [RemoteWriteSeries] {
        let target = resource.targetLabels
        var all: [RemoteWriteSeries] = []
        for (index, family) in families.enumerated() {
            for series in family.series {
                let made = SeriesMaker(family: index, target: target, series: series)
                guard let histogram = series.histogram else {
                    all.append(
                        made.make(
                            family.name,
                            .number(series.value),
                            exemplars: series.exemplars,
                            isCounting: family.kind == .counter
                        )
                    )
                    continue
                }
                made.append(histogram, named: family.name, to: &all)
            }
        }
        return all
    }
}

private struct SeriesMaker {
    let family: Int
    let target: [MetricsPage.Label]
    let series: MetricsPage.Series

    func make(
        _ name: String,
        _ value: RemoteWriteSeries.Value,
        _ extra: MetricsPage.Label? = nil,
        exemplars: [MetricsPage.Exemplar] = [],
        isCounting: Bool = true
    ) -> RemoteWriteSeries {
        var labels = [MetricsPage.Label("__name__", name)] + series.labels
        if let extra { labels.append(extra) }
        // A label of the page wins over one of the target, which Prometheus calls honor_labels.
        for label in target where !labels.contains(where: { $0.name == label.name }) { labels.append(label) }
        labels.removeAll { $0.value.isEmpty }
        labels.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return RemoteWriteSeries(
            labels: labels,
            value: value,
            start: isCounting ? Int64(series.created / 1_000_000) : 0,
            exemplars: exemplars,
            family: family
        )
    }

    func append(_ histogram: MetricsPage.Histogram, named name: String, to all: inout [RemoteWriteSeries]) {
        for bucket in histogram.buckets {
            let bound = MetricsPage.Label("le", BucketBound.openMetricsText(bucket.upperBound))
            let exemplars = bucket.exemplar.map { [$0] } ?? []
            let value = RemoteWriteSeries.Value.number(Double(bucket.cumulativeCount))
            all.append(make(name + "_bucket", value, bound, exemplars: exemplars))
        }
        if !histogram.buckets.isEmpty {
            all.append(make(name + "_sum", .number(histogram.sum)))
            all.append(make(name + "_count", .number(Double(histogram.count))))
        }
        if histogram.native != nil { all.append(make(name, .native(histogram), exemplars: series.exemplars)) }
    }
}
