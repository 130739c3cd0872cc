// SPDX-License-Identifier: Apache-2.0

extension MetricsRegistry {
    /// The counter of this name.
    ///
    /// - Parameters:
    ///   - name: The name on the page, by custom with `_total` at its end.
    ///   - help: One sentence on what is counted.
    ///   - unit: The base unit that the name ends in before `_total`, if it counts one.
    public func counter(_ name: String, help: String, unit: String? = nil) -> Counter {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .counter)
        return family(descriptor, of: Counter.self, shape: .wholeNumber).member([])
    }

    /// The counter of this name that counts in fractions, such as seconds.
    public func fractionalCounter(_ name: String, help: String, unit: String? = nil) -> FractionalCounter {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .counter)
        return family(descriptor, of: FractionalCounter.self, shape: .floatingPoint).member([])
    }

    /// The counters of this name, one for each combination of values of `labels`.
    ///
    /// - Parameter maximumSeries: The combinations after which look-ups of new ones go to the overflow series; the
    ///   registry's limit unless told.
    public func counter(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: [String],
        maximumSeries: Int? = nil
    ) -> CounterFamily {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .counter, labelNames: labels)
        let series = family(descriptor, of: Counter.self, shape: .wholeNumber, maximumSeries: maximumSeries)
        return CounterFamily(series, order: LabelOrder(caller: labels, family: series.descriptor.labelNames))
    }
}

extension MetricsRegistry {
    /// The counter of this name, for what several threads count all the time.
    ///
    /// A name is registered either so or as `counter(_:help:unit:)`; the second of the two is a conflict.
    public func stripedCounter(_ name: String, help: String, unit: String? = nil) -> StripedCounter {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .counter)
        return family(descriptor, of: StripedCounter.self, shape: .wholeNumber).member([])
    }

    /// The counters of this name, one for each combination of values of `labels`, for what several threads count all
    /// the time.
    ///
    /// - Parameter maximumSeries: The combinations after which look-ups of new ones go to the overflow series; the
    ///   registry's limit unless told. Each takes 128 bytes a CPU.
    public func stripedCounter(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: [String],
        maximumSeries: Int? = nil
    ) -> StripedCounterFamily {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .counter, labelNames: labels)
        let series = family(descriptor, of: StripedCounter.self, shape: .wholeNumber, maximumSeries: maximumSeries)
        return StripedCounterFamily(series, order: LabelOrder(caller: labels, family: series.descriptor.labelNames))
    }
}

extension MetricsRegistry {
    /// The gauge of this name.
    ///
    /// - Parameters:
    ///   - name: The name on the page.
    ///   - help: One sentence on what is measured.
    ///   - unit: The base unit that the name ends in, if it has one.
    public func gauge(_ name: String, help: String, unit: String? = nil) -> Gauge {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .gauge)
        return family(descriptor, of: Gauge.self, shape: .floatingPoint).member([])
    }

    /// The gauges of this name, one for each combination of values of `labels`.
    ///
    /// - Parameter maximumSeries: The combinations after which look-ups of new ones go to the overflow series; the
    ///   registry's limit unless told.
    public func gauge(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: [String],
        maximumSeries: Int? = nil
    ) -> GaugeFamily {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .gauge, labelNames: labels)
        let series = family(descriptor, of: Gauge.self, shape: .floatingPoint, maximumSeries: maximumSeries)
        return GaugeFamily(series, order: LabelOrder(caller: labels, family: series.descriptor.labelNames))
    }
}

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
