// SPDX-License-Identifier: Apache-2.0

extension MetricsRegistry {
    /// A gauge whose value `function` computes before each scrape copies values.
    ///
    /// A second function under the same name is a conflict: it is never called.
    public func gaugeFunction(
        _ name: String,
        help: String,
        unit: String? = nil,
        _ function: @escaping @Sendable () -> Double
    ) {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .gauge)
        let (family, wasAdded) = family(descriptor, of: Gauge.self, shape: .floatingPoint, isComputed: true)
        let gauge = family.member([])
        if wasAdded { onCollect { gauge.set(function()) } }
    }

    /// A counter whose total `function` computes before each scrape copies values. On the page it never falls, even
    /// where the function does.
    ///
    /// A second function under the same name is a conflict: it is never called.
    public func counterFunction(
        _ name: String,
        help: String,
        unit: String? = nil,
        _ function: @escaping @Sendable () -> Double
    ) {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .counter)
        let (family, wasAdded) = family(descriptor, of: FractionalCounter.self, shape: .floatingPoint, isComputed: true)
        let counter = family.member([])
        if wasAdded { onCollect { counter.raise(to: function()) } }
    }
}
