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
