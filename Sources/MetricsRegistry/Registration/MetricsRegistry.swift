// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The metrics of a process: instruments to count with, and the page that shows them.
///
/// Registering never fails in the caller's hands. Where a registration conflicts with an earlier one or with the rules
/// of Prometheus, the conflict is reported and counted, and the caller gets a detached instrument: it works, and is on
/// no page. Registering the same thing again gives the same instrument.
///
/// The registry has four metrics of its own: `metrics_registry_conflicts_total`,
/// `metrics_registry_ignored_values_total`, `metrics_registry_overflowed_lookups_total{family}` and, once
/// there is a collector, `metrics_registry_failed_collections_total{collector}`.
public final class MetricsRegistry: Sendable {
    /// The sizes past which the registry stops growing.
    public let limits: RegistryLimits

    let now: @Sendable () -> Int64
    let onConflict: @Sendable (RegistrationConflict) -> Void
    let catalog: Mutex<Catalog>
    let buffers = ScrapeBuffers()
    let own: OwnMetrics
    let stores = UpdateSequence()
    private let updateMemory = Mutex(MetricsUpdate.Memory())

    /// Makes a registry that holds only its own metrics.
    ///
    /// - Parameters:
    ///   - now: Microseconds since 1970; asked once for each new series, under a lock: it must not call the registry.
    ///   - limits: The sizes past which the registry stops growing.
    ///   - onConflict: Told of each registration that got a detached instrument, on the caller's thread.
    public init(
        now: @escaping @Sendable () -> Int64,
        limits: RegistryLimits = RegistryLimits(),
        onConflict: @escaping @Sendable (RegistrationConflict) -> Void = { _ in }
    ) {
        self.now = now
        self.limits = limits
        self.onConflict = onConflict
        own = OwnMetrics(now: now, limits: limits)
        var catalog = Catalog()
        for family in own.families { catalog.add(family) }
        self.catalog = Mutex(catalog)
    }

    /// Changes several metrics so that a page shows all of the changes or none.
    ///
    /// `body` says what to change; the changes are stored when it has returned. An update of a hundred counters takes some
    /// four microseconds. Neither a scrape nor another update waits for `body`, and storing never waits for a scrape. When `body`
    /// throws, nothing is changed. What it does to instruments directly shows at once.
    public func update<Result, Failure: Error>(
        _ body: (inout MetricsUpdate) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let memory = updateMemory.withLock { spare in
            defer { spare = MetricsUpdate.Memory() }
            return spare
        }
        var update = MetricsUpdate(in: memory)
        let result = try body(&update)
        if !update.isEmpty { stores.write { update.store() } }
        let spare = update.finish()
        updateMemory.withLock { $0 = spare }
        return result
    }

    /// The families on the page, in the order of their names.
    public var descriptors: [MetricDescriptor] {
        catalog.withLock { $0.ordered }.map(\.descriptor)
    }

    /// The registrations so far that got a detached instrument.
    public var conflictCount: UInt64 { own.conflicts.value }
}
