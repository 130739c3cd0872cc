// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension MetricsRegistry {
    /// Runs `collect` before each scrape copies values, until the collector is unregistered; what it sets is on that
    /// scrape's page.
    ///
    /// Those of one scrape run in the order of registration on the scraping thread, those of several scrapes possibly at
    /// once. The scrape waits for them without a limit; what may take long or throw belongs in `collector(_:_:)`.
    ///
    /// - Returns: A collector called `onCollect`. As many collectors as families (`RegistryLimits.families`) are run; a
    ///   further one is a conflict.
    @discardableResult
    public func onCollect(_ collect: @escaping @Sendable () -> Void) -> MetricsCollector {
        add(MetricsCollector("onCollect", .onScrapingThread(collect)) { [weak self] in self?.remove($0) })
    }

    /// Runs `collect` for each scrape, before the scrape copies values, until the collector is unregistered.
    ///
    /// For what computes several metrics at once, may take long or may throw; for how long a scrape waits for it, see
    /// `MetricsCollector`. What is quick and always works is cheaper in `onCollect(_:)`.
    ///
    /// - Parameter name: What failures are counted under.
    @discardableResult
    public func collector(_ name: String, _ collect: @escaping @Sendable () throws -> Void) -> MetricsCollector {
        let failures = own.failedCollections.member([name])
        let runs = CollectorRuns {
            do { try collect() } catch { failures.add() }
        }
        return add(MetricsCollector(name, .onQueue(runs)) { [weak self] in self?.remove($0) })
    }

    /// Adds a collector; past as many as the registry may have families that is a conflict, and it never runs.
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
