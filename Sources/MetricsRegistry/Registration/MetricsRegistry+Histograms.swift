// SPDX-License-Identifier: Apache-2.0

extension MetricsRegistry {
    /// The histogram of this name.
    ///
    /// - Parameters:
    ///   - name: The name on the page, without `_bucket`, `_sum` or `_count`.
    ///   - help: One sentence on what is observed.
    ///   - unit: The base unit that the name ends in, if it has one.
    ///   - buckets: The upper bounds, strictly rising; a bound belongs to its bucket. +Inf is added.
    ///   - native: The buckets of a native histogram, beside those bounds or instead of any. They are on protobuf pages;
    ///     text pages show the bounds.
    public func histogram(
        _ name: String,
        help: String,
        unit: String? = nil,
        buckets: [Double] = [],
        native: NativeBuckets? = nil
    ) -> Histogram {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .histogram)
        return histograms(descriptor, buckets: buckets, native: native, maximumSeries: nil).member([])
    }

    /// The histograms of this name, one for each combination of values of `labels`.
    ///
    /// - Parameters:
    ///   - buckets: The upper bounds, strictly rising; a bound belongs to its bucket. +Inf is added.
    ///   - native: The buckets of native histograms, beside those bounds or instead of any; up to 300 KiB a series.
    ///   - maximumSeries: The combinations after which look-ups of new ones go to the overflow series; the registry's
    ///     limit unless told.
    public func histogram(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: [String],
        buckets: [Double] = [],
        native: NativeBuckets? = nil,
        maximumSeries: Int? = nil
    ) -> HistogramFamily {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .histogram, labelNames: labels)
        let series = histograms(descriptor, buckets: buckets, native: native, maximumSeries: maximumSeries)
        return HistogramFamily(series, order: LabelOrder(caller: labels, family: series.descriptor.labelNames))
    }

    func histograms(
        _ descriptor: MetricDescriptor,
        buckets: [Double],
        native: NativeBuckets? = nil,
        maximumSeries: Int?
    ) -> InstrumentFamily<Histogram> {
        guard buckets.count <= limits.buckets else {
            let conflict = descriptor.conflict(
                .limit,
                expected: "at most \(limits.buckets) bounds",
                found: "\(buckets.count)",
                advice: "use fewer, further apart"
            )
            return detached(descriptor, shape: .histogram(.none), after: conflict)
        }
        guard let bounds = HistogramBounds(buckets, native: native) else {
            let conflict = descriptor.conflict(
                .unorderedBuckets,
                expected: "finite bounds that rise strictly",
                found: "\(buckets)",
                advice: "sort the bounds and remove what comes twice"
            )
            return detached(descriptor, shape: .histogram(.none), after: conflict)
        }
        return family(descriptor, of: Histogram.self, shape: .histogram(bounds), maximumSeries: maximumSeries)
    }
}
