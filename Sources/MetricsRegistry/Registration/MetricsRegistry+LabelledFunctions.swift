// SPDX-License-Identifier: Apache-2.0

extension MetricsRegistry {
    /// Gauges whose label values and values `function` computes before each scrape copies values. Every page shows one
    /// outcome whole: a series that the function no longer gives is no longer there; while it throws, there are none.
    ///
    /// For how long a scrape waits for it, see `MetricsCollector`. A second function under the same name is a conflict: it
    /// is never called, until the first is unregistered.
    ///
    /// - Parameters:
    ///   - labels: The label names.
    ///   - maximumSeries: The combinations after which new ones are left out, and counted in
    ///     `metrics_registry_overflowed_lookups_total`; the registry's limit unless told.
    ///   - function: Gives the label values, in the order of `labels`, and the value of each series; of several for the
    ///     same labels the last counts.
    @discardableResult
    public func gaugeFunction(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: [String],
        maximumSeries: Int? = nil,
        _ function: @escaping @Sendable () throws -> [(labelValues: [String], value: Double)]
    ) -> MetricsCollector {
        collector(
            of: MetricDescriptor(name: name, help: help, unit: unit, kind: .gauge, labelNames: labels),
            maximumSeries: maximumSeries,
            function
        )
    }

    /// Counters whose label values and totals `function` computes before each scrape copies values. A total never falls
    /// on the page, even where the function's does; a series that the function no longer gives is no longer there, and
    /// begins anew when it comes again. Past `maximumSeries` new combinations are added up in the overflow series. What is
    /// no total (negative, infinite, not a number) is ignored and counted.
    ///
    /// Otherwise as `gaugeFunction(_:help:unit:labels:maximumSeries:_:)`.
    @discardableResult
    public func counterFunction(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: [String],
        maximumSeries: Int? = nil,
        _ function: @escaping @Sendable () throws -> [(labelValues: [String], value: Double)]
    ) -> MetricsCollector {
        collector(
            of: MetricDescriptor(name: name, help: help, unit: unit, kind: .counter, labelNames: labels),
            maximumSeries: maximumSeries,
            function
        )
    }

    private func collector(
        of descriptor: MetricDescriptor,
        maximumSeries: Int?,
        _ function: @escaping @Sendable () throws -> [(labelValues: [String], value: Double)]
    ) -> MetricsCollector {
        guard let family = computedFamily(descriptor, maximumSeries: maximumSeries) else {
            return .detached(descriptor.name)
        }
        let failures = own.failedCollections.member([descriptor.name])
        let runs = CollectorRuns {
            do {
                family.show(try function())
            } catch {
                failures.add()
                family.show([])
            }
        }
        return add(
            MetricsCollector(descriptor.name, .onQueue(runs)) { [weak self] in self?.remove($0, with: family) }
        )
    }
}
