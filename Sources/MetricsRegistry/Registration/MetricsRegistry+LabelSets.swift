// SPDX-License-Identifier: Apache-2.0

/// Families that are looked up by typed labels: a ``LabelSet``, one value, or a pair of values.
extension MetricsRegistry {
    /// The counters with this name, one for each combination of labels of this type.
    ///
    /// - Parameters:
    ///   - labels: The type that names the labels and has their values.
    ///   - maximumSeries: The number of combinations after which lookups of new ones go to the overflow series; by
    ///     default the registry's limit.
    public func counter<Labels: LabelSet>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: Labels.Type,
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<Labels, Counter> {
        labelSets(name, help, unit, Labels.labelNames, maximumSeries, counters)
    }

    /// The counters with this name, one for each value of a label: an integer, a text, an enumeration.
    public func counter<Value: LabelValue>(
        _ name: String,
        help: String,
        unit: String? = nil,
        label: String,
        values: Value.Type,
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<LabelSingle<Value>, Counter> {
        labelSets(name, help, unit, [label], maximumSeries, counters)
    }

    /// The counters with this name, one for each pair of values of two labels: integers, texts, enumerations.
    public func counter<First: LabelValue, Second: LabelValue>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: (String, String),
        values: (First.Type, Second.Type),
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<LabelPair<First, Second>, Counter> {
        labelSets(name, help, unit, [labels.0, labels.1], maximumSeries, counters)
    }

    /// The striped counters with this name, one for each combination of labels of this type.
    ///
    /// Look them up with `with(_:_:)`, which counts no reference.
    public func stripedCounter<Labels: LabelSet>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: Labels.Type,
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<Labels, StripedCounter> {
        labelSets(name, help, unit, Labels.labelNames, maximumSeries, stripedCounters)
    }

    /// The gauges with this name, one for each combination of labels of this type.
    ///
    /// - Parameters:
    ///   - labels: The type that names the labels and has their values.
    ///   - maximumSeries: The number of combinations after which lookups of new ones go to the overflow series; by
    ///     default the registry's limit.
    public func gauge<Labels: LabelSet>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: Labels.Type,
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<Labels, Gauge> {
        labelSets(name, help, unit, Labels.labelNames, maximumSeries, gauges)
    }

    /// The gauges with this name, one for each value of a label: an integer, a text, an enumeration.
    public func gauge<Value: LabelValue>(
        _ name: String,
        help: String,
        unit: String? = nil,
        label: String,
        values: Value.Type,
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<LabelSingle<Value>, Gauge> {
        labelSets(name, help, unit, [label], maximumSeries, gauges)
    }

    /// The gauges with this name, one for each pair of values of two labels: integers, texts, enumerations.
    public func gauge<First: LabelValue, Second: LabelValue>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: (String, String),
        values: (First.Type, Second.Type),
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<LabelPair<First, Second>, Gauge> {
        labelSets(name, help, unit, [labels.0, labels.1], maximumSeries, gauges)
    }

    /// The histograms with this name, one for each combination of labels of this type.
    ///
    /// - Parameters:
    ///   - labels: The type that names the labels and has their values.
    ///   - buckets: The upper bounds, strictly increasing and inclusive. +Inf is added.
    ///   - native: The buckets of native histograms, beside those bounds or instead of any; up to 300 KiB a series.
    ///   - maximumSeries: The number of combinations after which lookups of new ones go to the overflow series; by
    ///     default the registry's limit.
    public func histogram<Labels: LabelSet>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: Labels.Type,
        buckets: [Double] = [],
        native: NativeBuckets? = nil,
        maximumSeries: Int? = nil
    ) -> LabelSetFamily<Labels, Histogram> {
        labelSets(name, help, unit, Labels.labelNames, maximumSeries) {
            histograms($0, buckets: buckets, native: native, $1)
        }
    }

    /// The histograms with this name, one for each value of a label: an integer, a text, an enumeration.
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
        labelSets(name, help, unit, [label], maximumSeries) {
            histograms($0, buckets: buckets, native: native, $1)
        }
    }

    /// The histograms with this name, one for each pair of values of two labels: integers, texts, enumerations.
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
        labelSets(name, help, unit, [labels.0, labels.1], maximumSeries) {
            histograms($0, buckets: buckets, native: native, $1)
        }
    }

    /// Registers the family and puts an index of typed labels in front of it.
    private func labelSets<Labels: LabelCombination, Member: Instrument>(
        _ name: String,
        _ help: String,
        _ unit: String?,
        _ labelNames: [String],
        _ maximumSeries: Int?,
        _ register: (MetricDescriptor, _ maximumSeries: Int?) -> InstrumentFamily<Member>
    ) -> LabelSetFamily<Labels, Member> {
        let descriptor = MetricDescriptor(
            name: name,
            help: help,
            unit: unit,
            kind: Member.kind,
            labelNames: labelNames
        )
        let series = register(descriptor, maximumSeries)
        let order = LabelOrder(caller: labelNames, family: series.descriptor.labelNames)
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
