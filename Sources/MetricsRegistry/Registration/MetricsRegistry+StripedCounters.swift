// SPDX-License-Identifier: Apache-2.0

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
