// SPDX-License-Identifier: Apache-2.0

extension MetricsRegistry {
    /// The counter with this name.
    ///
    /// - Parameters:
    ///   - name: The name on the page; by convention it ends in `_total`.
    ///   - help: One sentence on what is counted.
    ///   - unit: The base unit that the name ends in before `_total`, if it counts one.
    public func counter(_ name: String, help: String, unit: String? = nil) -> Counter {
        counters(MetricDescriptor(name: name, help: help, unit: unit, kind: .counter)).member([])
    }

    /// The counters with this name, one for each combination of values of `labels`.
    ///
    /// - Parameter maximumSeries: The number of combinations after which lookups of new ones go to the overflow series;
    ///   by default the registry's limit.
    public func counter(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: [String],
        maximumSeries: Int? = nil
    ) -> CounterFamily {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .counter, labelNames: labels)
        let series = counters(descriptor, maximumSeries)
        return CounterFamily(series, order: LabelOrder(caller: labels, family: series.descriptor.labelNames))
    }

    /// The counter with this name that counts in fractions, such as seconds.
    public func fractionalCounter(_ name: String, help: String, unit: String? = nil) -> FractionalCounter {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .counter)
        return fractionalCounters(descriptor).member([])
    }

    /// The counter with this name, for values that several threads count all the time.
    ///
    /// A name is registered either here or with `counter(_:help:unit:)`; the second of the two is a conflict.
    public func stripedCounter(_ name: String, help: String, unit: String? = nil) -> StripedCounter {
        stripedCounters(MetricDescriptor(name: name, help: help, unit: unit, kind: .counter)).member([])
    }

    /// The striped counters with this name, one for each combination of values of `labels`.
    ///
    /// - Parameter maximumSeries: The number of combinations after which lookups of new ones go to the overflow series;
    ///   by default the registry's limit. Each series takes 128 bytes per CPU.
    public func stripedCounter(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: [String],
        maximumSeries: Int? = nil
    ) -> StripedCounterFamily {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .counter, labelNames: labels)
        let series = stripedCounters(descriptor, maximumSeries)
        return StripedCounterFamily(series, order: LabelOrder(caller: labels, family: series.descriptor.labelNames))
    }

    /// The gauge with this name.
    ///
    /// - Parameters:
    ///   - name: The name on the page.
    ///   - help: One sentence on what is measured.
    ///   - unit: The base unit that the name ends in, if it has one.
    public func gauge(_ name: String, help: String, unit: String? = nil) -> Gauge {
        gauges(MetricDescriptor(name: name, help: help, unit: unit, kind: .gauge)).member([])
    }

    /// The gauges with this name, one for each combination of values of `labels`.
    ///
    /// - Parameter maximumSeries: The number of combinations after which lookups of new ones go to the overflow series;
    ///   by default the registry's limit.
    public func gauge(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: [String],
        maximumSeries: Int? = nil
    ) -> GaugeFamily {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .gauge, labelNames: labels)
        let series = gauges(descriptor, maximumSeries)
        return GaugeFamily(series, order: LabelOrder(caller: labels, family: series.descriptor.labelNames))
    }

    /// The histogram with this name.
    ///
    /// - Parameters:
    ///   - name: The name on the page, without `_bucket`, `_sum` or `_count`.
    ///   - help: One sentence on what is observed.
    ///   - unit: The base unit that the name ends in, if it has one.
    ///   - buckets: The upper bounds, strictly increasing and inclusive. +Inf is added.
    ///   - native: The buckets of a native histogram, beside those bounds or instead of any. Protobuf pages show them;
    ///     text pages show the bounds.
    public func histogram(
        _ name: String,
        help: String,
        unit: String? = nil,
        buckets: [Double] = [],
        native: NativeBuckets? = nil
    ) -> Histogram {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .histogram)
        return histograms(descriptor, buckets: buckets, native: native).member([])
    }

    /// The histograms with this name, one for each combination of values of `labels`.
    ///
    /// - Parameters:
    ///   - buckets: The upper bounds, strictly increasing and inclusive. +Inf is added.
    ///   - native: The buckets of native histograms, beside those bounds or instead of any; up to 300 KiB a series.
    ///   - maximumSeries: The number of combinations after which lookups of new ones go to the overflow series; by
    ///     default the registry's limit.
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
        let series = histograms(descriptor, buckets: buckets, native: native, maximumSeries)
        return HistogramFamily(series, order: LabelOrder(caller: labels, family: series.descriptor.labelNames))
    }
}

/// The series of each kind of instrument, whichever way their labels are looked up.
extension MetricsRegistry {
    func counters(_ descriptor: MetricDescriptor, _ maximumSeries: Int? = nil) -> InstrumentFamily<Counter> {
        family(descriptor, of: Counter.self, shape: .wholeNumber, maximumSeries: maximumSeries)
    }

    func fractionalCounters(_ descriptor: MetricDescriptor) -> InstrumentFamily<FractionalCounter> {
        family(descriptor, of: FractionalCounter.self, shape: .floatingPoint)
    }

    func stripedCounters(
        _ descriptor: MetricDescriptor,
        _ maximumSeries: Int? = nil
    ) -> InstrumentFamily<StripedCounter> {
        family(descriptor, of: StripedCounter.self, shape: .wholeNumber, maximumSeries: maximumSeries)
    }

    func gauges(_ descriptor: MetricDescriptor, _ maximumSeries: Int? = nil) -> InstrumentFamily<Gauge> {
        family(descriptor, of: Gauge.self, shape: .floatingPoint, maximumSeries: maximumSeries)
    }

    func histograms(
        _ descriptor: MetricDescriptor,
        buckets: [Double],
        native: NativeBuckets?,
        _ maximumSeries: Int? = nil
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
                expected: "finite bounds that increase strictly",
                found: "\(buckets)",
                advice: "sort the bounds and remove duplicates"
            )
            return detached(descriptor, shape: .histogram(.none), after: conflict)
        }
        return family(descriptor, of: Histogram.self, shape: .histogram(bounds), maximumSeries: maximumSeries)
    }
}
