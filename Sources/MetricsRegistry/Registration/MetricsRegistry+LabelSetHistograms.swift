// SPDX-License-Identifier: Apache-2.0

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
