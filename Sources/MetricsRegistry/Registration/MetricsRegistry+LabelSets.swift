// SPDX-License-Identifier: Apache-2.0

extension MetricsRegistry {
    /// The family that is looked up by the program's own labels in front of the one that has the series.
    func labelSets<Labels: LabelCombination, Member: Instrument>(
        _ descriptor: MetricDescriptor,
        _ series: InstrumentFamily<Member>,
        maximumSeries: Int?
    ) -> LabelSetFamily<Labels, Member> {
        let order = LabelOrder(caller: descriptor.labelNames, family: series.descriptor.labelNames)
        let index = LabelIndex<Labels, Member>(
            maximumSeries: maximumSeries ?? limits.seriesPerFamily,
            removals: series.removals
        ) { labels in
            let values = order.arranged(labels.labelValues)
            let member = series.member(values)
            return (member, member.labelValues == values)
        }
        return LabelSetFamily(
            index,
            remove: { series.remove(order.arranged($0)) },
            removeAll: { series.removeAll() }
        )
    }
}

extension MetricsRegistry {
    /// The counters of this name, one for each combination of labels of that type.
    ///
    /// - Parameters:
    ///   - labels: The type that names the labels and has their values.
    ///   - maximumSeries: The combinations after which look-ups of new ones go to the overflow series; the registry's
    ///     limit unless told.
    public func counter<Labels: LabelSet>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: Labels.Type,
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<Labels, Counter> {
        counter(name, help, unit, Labels.labelNames, maximumSeries)
    }

    /// The counters of this name, one for each value of a label: an integer, a text, an enumeration.
    public func counter<Value: LabelValue>(
        _ name: String,
        help: String,
        unit: String? = nil,
        label: String,
        values: Value.Type,
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<LabelSingle<Value>, Counter> {
        counter(name, help, unit, [label], maximumSeries)
    }

    /// The counters of this name, one for each pair of values of two labels: integers, texts, enumerations.
    public func counter<First: LabelValue, Second: LabelValue>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: (String, String),
        values: (First.Type, Second.Type),
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<LabelPair<First, Second>, Counter> {
        counter(name, help, unit, [labels.0, labels.1], maximumSeries)
    }

    /// The striped counters of this name, one for each combination of labels of that type. Look them up by
    /// `with(_:_:)`.
    public func stripedCounter<Labels: LabelSet>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: Labels.Type,
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<Labels, StripedCounter> {
        let descriptor = MetricDescriptor(
            name: name,
            help: help,
            unit: unit,
            kind: .counter,
            labelNames: Labels.labelNames
        )
        let series = family(descriptor, of: StripedCounter.self, shape: .wholeNumber, maximumSeries: maximumSeries)
        return labelSets(descriptor, series, maximumSeries: maximumSeries)
    }

    private func counter<Labels: LabelCombination>(
        _ name: String,
        _ help: String,
        _ unit: String?,
        _ labelNames: [String],
        _ maximumSeries: Int?
    ) -> LabelSetFamily<Labels, Counter> {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .counter, labelNames: labelNames)
        let series = family(descriptor, of: Counter.self, shape: .wholeNumber, maximumSeries: maximumSeries)
        return labelSets(descriptor, series, maximumSeries: maximumSeries)
    }
}

extension MetricsRegistry {
    /// The gauges of this name, one for each combination of labels of that type.
    ///
    /// - Parameters:
    ///   - labels: The type that names the labels and has their values.
    ///   - maximumSeries: The combinations after which look-ups of new ones go to the overflow series; the registry's
    ///     limit unless told.
    public func gauge<Labels: LabelSet>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: Labels.Type,
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<Labels, Gauge> {
        gauge(name, help, unit, Labels.labelNames, maximumSeries)
    }

    /// The gauges of this name, one for each value of a label: an integer, a text, an enumeration.
    public func gauge<Value: LabelValue>(
        _ name: String,
        help: String,
        unit: String? = nil,
        label: String,
        values: Value.Type,
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<LabelSingle<Value>, Gauge> {
        gauge(name, help, unit, [label], maximumSeries)
    }

    /// The gauges of this name, one for each pair of values of two labels: integers, texts, enumerations.
    public func gauge<First: LabelValue, Second: LabelValue>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: (String, String),
        values: (First.Type, Second.Type),
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<LabelPair<First, Second>, Gauge> {
        gauge(name, help, unit, [labels.0, labels.1], maximumSeries)
    }

    private func gauge<Labels: LabelCombination>(
        _ name: String,
        _ help: String,
        _ unit: String?,
        _ labelNames: [String],
        _ maximumSeries: Int?
    ) -> LabelSetFamily<Labels, Gauge> {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .gauge, labelNames: labelNames)
        let series = family(descriptor, of: Gauge.self, shape: .floatingPoint, maximumSeries: maximumSeries)
        return labelSets(descriptor, series, maximumSeries: maximumSeries)
    }
}

extension MetricsRegistry {
    /// The histograms of this name, one for each combination of labels of that type.
    ///
    /// - Parameters:
    ///   - labels: The type that names the labels and has their values.
    ///   - buckets: The upper bounds, strictly rising; a bound belongs to its bucket. +Inf is added.
    ///   - native: The buckets of native histograms, beside those bounds or instead of any; up to 300 KiB a series.
    ///   - maximumSeries: The combinations after which look-ups of new ones go to the overflow series; the registry's
    ///     limit unless told.
    public func histogram<Labels: LabelSet>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: Labels.Type,
        buckets: [Double] = [],
        native: NativeBuckets? = nil,
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<Labels, Histogram> {
        histogram(name, help, unit, Labels.labelNames, buckets, native, maximumSeries)
    }

    /// The histograms of this name, one for each value of a label: an integer, a text, an enumeration.
    public func histogram<Value: LabelValue>(
        _ name: String,
        help: String,
        unit: String? = nil,
        label: String,
        values: Value.Type,
        buckets: [Double] = [],
        native: NativeBuckets? = nil,
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<LabelSingle<Value>, Histogram> {
        histogram(name, help, unit, [label], buckets, native, maximumSeries)
    }

    /// The histograms of this name, one for each pair of values of two labels: integers, texts, enumerations.
    public func histogram<First: LabelValue, Second: LabelValue>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: (String, String),
        values: (First.Type, Second.Type),
        buckets: [Double] = [],
        native: NativeBuckets? = nil,
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<LabelPair<First, Second>, Histogram> {
        histogram(name, help, unit, [labels.0, labels.1], buckets, native, maximumSeries)
    }

    private func histogram<Labels: LabelCombination>(
        _ name: String,
        _ help: String,
        _ unit: String?,
        _ labelNames: [String],
        _ buckets: [Double],
        _ native: NativeBuckets?,
        _ maximumSeries: Int?
    ) -> LabelSetFamily<Labels, Histogram> {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .histogram, labelNames: labelNames)
        let series = histograms(descriptor, buckets: buckets, native: native, maximumSeries: maximumSeries)
        return labelSets(descriptor, series, maximumSeries: maximumSeries)
    }
}
