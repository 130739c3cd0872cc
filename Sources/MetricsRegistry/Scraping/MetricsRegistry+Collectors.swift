// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension MetricsRegistry {
    /// Runs `collect` on the scraping thread before each scrape copies values, until the collector is unregistered.
    ///
    /// Within a scrape these collectors run in order of registration; concurrent scrapes may run them concurrently.
    /// The scrape waits for them without a limit: what may be slow or throw belongs in `collector(_:_:)`.
    ///
    /// - Returns: A collector named `onCollect`. The number of collectors is limited by `RegistryLimits.families`;
    ///   another one is a conflict.
    @discardableResult
    public func onCollect(_ collect: @escaping @Sendable () -> Void) -> MetricsCollector {
        add(MetricsCollector("onCollect", .onScrapingThread(collect)) { [weak self] in self?.remove($0) })
    }

    /// Runs `collect` for each scrape, before the scrape copies values, until the collector is unregistered.
    ///
    /// Use it for what computes several metrics at once, may be slow or may throw; `MetricsCollector` says how long a
    /// scrape waits. Quick work that cannot fail is cheaper in `onCollect(_:)`.
    ///
    /// - Parameter name: The label under which failures are counted.
    @discardableResult
    public func collector(_ name: String, _ collect: @escaping @Sendable () throws -> Void) -> MetricsCollector {
        let failures = own.failedCollections.member([name])
        let runs = CollectorRuns {
            do { try collect() } catch { failures.add() }
        }
        return add(MetricsCollector(name, .onQueue(runs)) { [weak self] in self?.remove($0) })
    }

    /// Adds a collector. Beyond the limit that is a conflict, and the collector never runs.
    func add(_ collector: MetricsCollector) -> MetricsCollector {
        let isAdded = catalog.withLock { catalog in
            if catalog.collectors.count >= limits.families { return false }
            catalog.add(collector, failures: own.failedCollections)
            return true
        }
        if !isAdded {
            collector.unregister()
            report(collector.conflict(limit: limits.families))
        }
        return collector
    }

    func remove(_ collector: MetricsCollector, with family: ComputedFamily? = nil) {
        catalog.withLock { catalog in
            catalog.remove(collector)
            if let family { catalog.remove(family) }
        }
    }
}

extension MetricsCollector {
    fileprivate func conflict(limit: Int) -> RegistrationConflict {
        RegistrationConflict(
            name: name,
            reason: .limit,
            expected: "at most \(limit) collectors",
            found: "one more",
            advice: "unregister those that are no longer needed, or compute several metrics in one"
        )
    }
}

extension MetricsRegistry {
    /// A gauge whose value `function` computes on the scraping thread before each scrape copies values.
    ///
    /// A second function under the same name is a conflict and is not called until the first is unregistered.
    @discardableResult
    public func gaugeFunction(
        _ name: String,
        help: String,
        unit: String? = nil,
        _ function: @escaping @Sendable () -> Double
    ) -> MetricsCollector {
        collector(of: MetricDescriptor(name: name, help: help, unit: unit, kind: .gauge), function)
    }

    /// A counter whose total `function` computes on the scraping thread before each scrape copies values.
    ///
    /// The page never shows a lower total than before, even if the function returns one. Negative, infinite and NaN
    /// totals are ignored and counted. A second function under the same name is a conflict and is not called until the
    /// first is unregistered.
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

extension MetricsRegistry {
    /// Gauges whose label values and values `function` computes before each scrape copies values.
    ///
    /// A page shows one result completely: series that the function no longer returns disappear, and while it throws
    /// there are none. `MetricsCollector` says how long a scrape waits. A second function under the same name is a
    /// conflict and is not called until the first is unregistered.
    ///
    /// - Parameters:
    ///   - labels: The label names.
    ///   - maximumSeries: The number of combinations after which new ones are omitted and counted in
    ///     `metrics_registry_overflowed_lookups_total`; by default the registry's limit.
    ///   - function: Returns the label values, in the order of `labels`, and the value of each series; of duplicates
    ///     the last counts.
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

    /// Counters whose label values and totals `function` computes before each scrape copies values.
    ///
    /// The page never shows a lower total than before, even if the function returns one; a series that disappears and
    /// returns starts again. Beyond `maximumSeries` new combinations are summed in the overflow series. Negative,
    /// infinite and NaN totals are ignored and counted.
    ///
    /// Otherwise like `gaugeFunction(_:help:unit:labels:maximumSeries:_:)`.
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

extension MetricsRegistry {
    /// Adds a family whose series a function computes; nil after a conflict, which is reported.
    func computedFamily(_ descriptor: MetricDescriptor, maximumSeries: Int? = nil) -> ComputedFamily? {
        let conflict = descriptor.conflict(limits: limits)
        let outcome: Result<ComputedFamily, RegistrationConflict> = catalog.withLock { catalog in
            if let conflict { return .failure(conflict) }
            if let registered = catalog.families[descriptor.name] {
                return .failure(descriptor.conflict(with: registered.descriptor) ?? descriptor.repeatedFunction())
            }
            if let conflict = catalog.conflict(adding: descriptor, limits: limits) { return .failure(conflict) }
            let overflowedLookups = descriptor.hasLabels ? own.overflowedLookups.member(descriptor.name) : nil
            let family = ComputedFamily(
                descriptor,
                rules: rules(maximumSeries: maximumSeries, overflowedLookups: overflowedLookups)
            )
            catalog.add(family)
            return .success(family)
        }
        switch outcome {
        case .success(let family): return family
        case .failure(let conflict):
            report(conflict)
            return nil
        }
    }
}

extension MetricDescriptor {
    /// The conflict of a computed metric that is registered twice, or is already registered as an instrument.
    func repeatedFunction() -> RegistrationConflict {
        conflict(
            .repeatedFunction,
            expected: "one registration of a metric that a function computes",
            found: "a second one",
            advice: "register it in one place, or set a gauge in onCollect"
        )
    }
}
