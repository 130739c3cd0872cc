// SPDX-License-Identifier: Apache-2.0

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
