// SPDX-License-Identifier: Apache-2.0

extension MetricsRegistry {
    /// A gauge whose value `function` computes before each scrape copies values, on the scraping thread.
    ///
    /// A second function under the same name is a conflict: it is never called, until the first is unregistered.
    @discardableResult
    public func gaugeFunction(
        _ name: String,
        help: String,
        unit: String? = nil,
        _ function: @escaping @Sendable () -> Double
    ) -> MetricsCollector {
        collector(of: MetricDescriptor(name: name, help: help, unit: unit, kind: .gauge), function)
    }

    /// A counter whose total `function` computes before each scrape copies values, on the scraping thread. On the page it
    /// never falls, even where the function does; what is no total (negative, infinite, not a number) is ignored and
    /// counted.
    ///
    /// A second function under the same name is a conflict: it is never called, until the first is unregistered.
    @discardableResult
    public func counterFunction(
        _ name: String,
        help: String,
        unit: String? = nil,
        _ function: @escaping @Sendable () -> Double
    ) -> MetricsCollector {
        collector(of: MetricDescriptor(name: name, help: help, unit: unit, kind: .counter), function)
    }

    private func collector(
        of descriptor: MetricDescriptor,
        _ function: @escaping @Sendable () -> Double
    ) -> MetricsCollector {
        guard let family = computedFamily(descriptor) else { return .detached(descriptor.name) }
        return add(
            MetricsCollector(descriptor.name, .onScrapingThread { family.show([([], function())]) }) { [weak self] in
                self?.remove($0, with: family)
            }
        )
    }
}
