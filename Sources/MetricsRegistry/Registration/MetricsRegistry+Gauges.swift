// SPDX-License-Identifier: Apache-2.0

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
