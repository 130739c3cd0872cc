// SPDX-License-Identifier: Apache-2.0

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
