// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The metrics of a process: instruments to count with, and the page that shows them.
///
/// Registering never fails in the caller's hands. Where a registration conflicts with an earlier one or with the rules
/// of Prometheus, the conflict is reported and counted, and the caller gets a detached instrument: it works, and is on
/// no page. Registering the same thing again gives the same instrument.
///
/// The registry has three metrics of its own: `metrics_registry_conflicts_total`,
/// `metrics_registry_ignored_values_total` and `metrics_registry_overflowed_lookups_total{family}`.
public final class MetricsRegistry: Sendable {
    /// The sizes past which the registry stops growing.
    public let limits: RegistryLimits

    let now: @Sendable () -> Int64
    let onConflict: @Sendable (RegistrationConflict) -> Void
    let catalog: Mutex<Catalog>
    let buffers = ScrapeBuffers()
    let own: OwnMetrics
    private let updates = Mutex<Void>(())

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

    /// Runs `body` while no scrape copies values, so that a page shows all of what it adds or nothing.
    ///
    /// For a writer that adds a whole batch's tally: `body` should do no more than that. It must neither call `update`
    /// again nor ask for an exposition, both of which would wait for it.
    public func update<Result, Failure: Error>(
        _ body: () throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try updates.withLock { _ throws(Failure) in try body() }
    }

    /// Runs `collector` before each scrape copies values; what it sets is on that scrape's page. Collectors run in
    /// the order of registration on the scraping thread, those of several scrapes possibly at once.
    public func onCollect(_ collector: @escaping @Sendable () -> Void) {
        catalog.withLock { $0.add(collector: collector) }
    }

    /// The families on the page, in the order of their names.
    public var descriptors: [MetricDescriptor] {
        catalog.withLock { $0.ordered }.map(\.descriptor)
    }

    /// The registrations so far that got a detached instrument.
    public var conflictCount: UInt64 { own.conflicts.value }
}
