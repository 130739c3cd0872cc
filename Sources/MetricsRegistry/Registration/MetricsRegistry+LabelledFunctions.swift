// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension MetricsRegistry {
    /// Gauges whose label values and values `function` computes before each scrape copies values. A series that it no
    /// longer gives is no longer on the page; while it throws, there are none.
    ///
    /// For how long a scrape waits for it, see `MetricsCollector`. A second function under the same name is a conflict: it
    /// is never called, until the first is unregistered.
    ///
    /// - Parameters:
    ///   - labels: The label names.
    ///   - maximumSeries: The combinations after which new ones go to the overflow series; the registry's limit unless
    ///     told.
    ///   - function: Gives the label values, in the order of `labels`, and the value of each series.
    @discardableResult
    public func gaugeFunction(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: [String],
        maximumSeries: Int? = nil,
        _ function: @escaping @Sendable () throws -> [(labelValues: [String], value: Double)]
    ) -> MetricsCollector {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .gauge, labelNames: labels)
        let (family, wasAdded) = family(
            descriptor,
            of: Gauge.self,
            shape: .floatingPoint,
            isComputed: true,
            maximumSeries: maximumSeries
        )
        let series = ComputedSeries(family) { update, gauge, value in update.set(gauge, to: value) }
        return collector(of: family, wasAdded, series, function)
    }

    /// Counters whose label values and totals `function` computes before each scrape copies values. A total never falls
    /// on the page, even where the function's does; a series that the function no longer gives is no longer there, and
    /// begins anew when it comes again.
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
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .counter, labelNames: labels)
        let (family, wasAdded) = family(
            descriptor,
            of: FractionalCounter.self,
            shape: .floatingPoint,
            isComputed: true,
            maximumSeries: maximumSeries
        )
        let series = ComputedSeries(family) { update, counter, value in update.raise(counter, to: value) }
        return collector(of: family, wasAdded, series, function)
    }

    /// Runs `collect` for each scrape, before the scrape copies values, until the collector is unregistered.
    ///
    /// For what computes several metrics at once, may take long or may throw; for how long a scrape waits for it, see
    /// `MetricsCollector`. What is quick and always works is cheaper in `onCollect(_:)`.
    ///
    /// - Parameter name: What failures are counted under.
    @discardableResult
    public func collector(_ name: String, _ collect: @escaping @Sendable () throws -> Void) -> MetricsCollector {
        let collector = MetricsCollector(
            name,
            failures: own.failedCollections.member([name]),
            remove: { [weak self] in self?.remove($0) },
            collect: collect
        )
        catalog.withLock { $0.add(collector: collector, failures: own.failedCollections) }
        return collector
    }

    private func collector<Member: Instrument>(
        of family: InstrumentFamily<Member>,
        _ wasAdded: Bool,
        _ series: ComputedSeries<Member>,
        _ function: @escaping @Sendable () throws -> [(labelValues: [String], value: Double)]
    ) -> MetricsCollector {
        let name = family.descriptor.name
        guard wasAdded else {
            let failures = Counter(InstrumentSeed(created: now(), shape: .wholeNumber))
            return MetricsCollector(name, failures: failures, remove: { _ in }, collect: {})
        }
        let collector = MetricsCollector(
            name,
            failures: own.failedCollections.member([name]),
            remove: { [weak self] in self?.remove($0, with: family) },
            collect: { [weak self] in
                guard let self else { return }
                do {
                    series.show(try function(), in: self)
                } catch {
                    series.show([], in: self)
                    throw error
                }
            }
        )
        catalog.withLock { $0.add(collector: collector, failures: own.failedCollections) }
        return collector
    }

    private func remove(_ collector: MetricsCollector, with family: (any ExposedFamily)? = nil) {
        catalog.withLock { catalog in
            catalog.remove(collector)
            if let family { catalog.remove(family) }
        }
    }
}
