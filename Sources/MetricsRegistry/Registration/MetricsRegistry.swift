// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The metrics of a process: the instruments that count, and the page that exposes them.
///
/// Registering never fails. Where a registration conflicts with an earlier one or with the rules of Prometheus, the
/// conflict is reported and counted, and the caller gets a detached instrument, which works but is on no page.
/// Registering the same metric again returns the same instrument.
///
/// The registry has four metrics of its own: `metrics_registry_conflicts_total`,
/// `metrics_registry_ignored_values_total`, `metrics_registry_overflowed_lookups_total{family}` and, once there is a
/// collector, `metrics_registry_failed_collections_total{collector}`.
public final class MetricsRegistry: Sendable {
    /// The sizes beyond which the registry stops growing.
    public let limits: RegistryLimits

    private let now: @Sendable () -> Int64
    private let onConflict: @Sendable (RegistrationConflict) -> Void
    let catalog: Mutex<Catalog>
    private let buffers = ScrapeBufferPool()
    let own: OwnMetrics
    private let stores = UpdateSequence()
    private let updateMemory = Mutex(MetricsUpdate.Memory())

    /// Creates a registry that holds only its own metrics.
    ///
    /// - Parameters:
    ///   - now: Returns microseconds since 1970. Called once per new series, under a lock: it must not call the
    ///     registry.
    ///   - limits: The sizes beyond which the registry stops growing.
    ///   - onConflict: Called on the caller's thread for each registration that got a detached instrument.
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

    /// Changes several metrics atomically: a page shows all of the changes or none.
    ///
    /// `body` collects the changes, which are stored after it returns. An update of a hundred counters takes about
    /// four microseconds. Neither a scrape nor another update waits for `body`, and storing never waits for a scrape.
    /// If `body` throws, nothing is changed. Changes that `body` makes to instruments directly are visible at once.
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

    /// The families on the page, sorted by name.
    public var descriptors: [MetricDescriptor] {
        catalog.withLock { $0.ordered }.map(\.descriptor)
    }

    /// The number of registrations that got a detached instrument.
    public var conflictCount: UInt64 { own.conflicts.value }
}

extension MetricsRegistry {
    /// Creates a registry that uses the system clock.
    ///
    /// - Parameters:
    ///   - limits: The sizes beyond which the registry stops growing.
    ///   - onConflict: Called on the caller's thread for each registration that got a detached instrument.
    public convenience init(
        limits: RegistryLimits = RegistryLimits(),
        onConflict: @escaping @Sendable (RegistrationConflict) -> Void = { _ in }
    ) {
        self.init(now: Self.systemTime, limits: limits, onConflict: onConflict)
    }

    /// Microseconds since 1970.
    @Sendable
    private static func systemTime() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}

extension MetricsRegistry {
    /// The family for a descriptor: the registered one, a new one, or after a conflict a detached one.
    func family<Member: Instrument>(
        _ descriptor: MetricDescriptor,
        of type: Member.Type,
        shape: SampleShape,
        maximumSeries: Int? = nil
    ) -> InstrumentFamily<Member> {
        if let conflict = descriptor.conflict(limits: limits) {
            return detached(descriptor, shape: shape, after: conflict)
        }
        let outcome: Result<InstrumentFamily<Member>, RegistrationConflict> = catalog.withLock { catalog in
            if let registered = catalog.families[descriptor.name] {
                return existing(registered, for: descriptor, of: type, shape: shape)
            }
            if let conflict = catalog.conflict(adding: descriptor, limits: limits) {
                return .failure(conflict)
            }
            let overflowedLookups = own.overflowedLookups
            let family = InstrumentFamily<Member>(
                descriptor,
                shape: shape,
                rules: rules(
                    maximumSeries: maximumSeries,
                    overflowedLookups: descriptor.hasLabels ? overflowedLookups.member(descriptor.name) : nil
                )
            )
            catalog.add(family)
            return .success(family)
        }
        switch outcome {
        case .success(let family): return family
        case .failure(let conflict): return detached(descriptor, shape: shape, after: conflict)
        }
    }

    /// Reports a conflict and returns a family that is on no page.
    func detached<Member: Instrument>(
        _ descriptor: MetricDescriptor,
        shape: SampleShape,
        after conflict: RegistrationConflict
    ) -> InstrumentFamily<Member> {
        report(conflict)
        return InstrumentFamily(descriptor, shape: shape, rules: rules(maximumSeries: nil, overflowedLookups: nil))
    }

    func report(_ conflict: RegistrationConflict) {
        own.conflicts.add()
        onConflict(conflict)
    }

    private func existing<Member: Instrument>(
        _ registered: any ExposedFamily,
        for descriptor: MetricDescriptor,
        of type: Member.Type,
        shape: SampleShape
    ) -> Result<InstrumentFamily<Member>, RegistrationConflict> {
        if let conflict = descriptor.conflict(with: registered.descriptor) { return .failure(conflict) }
        if registered is ComputedFamily { return .failure(descriptor.repeatedFunction()) }
        guard let family = registered as? InstrumentFamily<Member> else {
            return .failure(
                descriptor.conflict(
                    .otherKind,
                    expected: "\(description(of: registered)), as registered first",
                    found: "another kind of instrument",
                    advice: "register the metric in the same way everywhere"
                )
            )
        }
        if case .histogram(let wanted) = shape, case .histogram(let bounds) = family.shape,
            let conflict = descriptor.conflict(wanted, with: bounds)
        {
            return .failure(conflict)
        }
        return .success(family)
    }

    /// Describes the registered instrument in a message about another kind of counter with the same name.
    private func description(of registered: any ExposedFamily) -> String {
        switch registered {
        case is InstrumentFamily<Counter>: "a plain counter of whole numbers"
        case is InstrumentFamily<StripedCounter>: "a striped counter"
        case is InstrumentFamily<FractionalCounter>: "a counter with fractions"
        default: "a \(registered.descriptor.kind.rawValue)"
        }
    }

    func rules(maximumSeries: Int?, overflowedLookups: Counter?) -> FamilyRules {
        FamilyRules(
            maximumSeries: max(maximumSeries ?? limits.seriesPerFamily, 1),
            maximumValueBytes: limits.labelValueBytes,
            maximumLabelBytes: limits.labelBytesPerFamily,
            maximumOpenLabels: limits.labels,
            maximumNameBytes: limits.nameBytes,
            now: now,
            overflowedLookups: overflowedLookups ?? Counter(InstrumentSeed(created: 0, shape: .wholeNumber)),
            ignoredValues: own.ignoredValues
        )
    }
}

extension MetricsRegistry {
    /// Replaces `page` with the metrics in `format`: families sorted by name, series sorted by label values.
    ///
    /// Collectors run first. Then all values are copied between two calls of `update(_:)`, and the page is written
    /// from the copy. This blocks the thread; asynchronous functions use `page(_:names:)`. A reused `page` is
    /// reallocated only when it grows.
    ///
    /// - Parameter names: The families to include; nil for all. Unknown names are ignored.
    public func exposition(
        into page: inout [UInt8],
        format: ExpositionFormat = .text004,
        names: Set<String>? = nil
    ) {
        buffers.borrow { buffer in
            capture(into: &buffer, format, names: names)
            buffer.render(format, over: &page)
        }
    }

    /// The metrics in `format`, by default Prometheus text 0.0.4; see `exposition(into:format:names:)`.
    public func exposition(_ format: ExpositionFormat = .text004, names: Set<String>? = nil) -> [UInt8] {
        var page: [UInt8] = []
        exposition(into: &page, format: format, names: names)
        return page
    }

    /// Passes the metrics in `format` to `body` in a buffer of the registry; see `exposition(into:format:names:)`.
    ///
    /// Allocates nothing once a page of this size has been written.
    public func withExposition<Result>(
        _ format: ExpositionFormat = .text004,
        names: Set<String>? = nil,
        _ body: (Span<UInt8>) -> Result
    ) -> Result {
        buffers.borrow { buffer in
            capture(into: &buffer, format, names: names)
            var page: [UInt8] = []
            swap(&page, &buffer.page)
            buffer.render(format, over: &page)
            buffer.page = page
            return body(buffer.page.span)
        }
    }

    private func capture(into buffer: inout ScrapeBuffer, _ format: ExpositionFormat, names: Set<String>?) {
        catalog.withLock { $0.collectors }.run(milliseconds: limits.collectionMilliseconds)
        let families = catalog.withLock { $0.ordered }
        stores.read { buffer.capture(families, format, names: names) }
    }
}

extension MetricsRegistry {
    /// The metrics in `format`, without blocking the calling thread; see `exposition(into:format:names:)`.
    ///
    /// A scrape may wait for its collectors (`RegistryLimits.collectionMilliseconds`). It does so on a thread of its
    /// own, outside the cooperative pool. A cancelled task still gets its page.
    public func page(_ format: ExpositionFormat = .text004, names: Set<String>? = nil) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            // A serial queue gets its own thread, outside the pool that Dispatch shares with Swift concurrency.
            DispatchQueue(label: "metrics-scrape").async {
                continuation.resume(returning: self.exposition(format, names: names))
            }
        }
    }
}

/// The metrics of the registry itself.
struct OwnMetrics: Sendable {
    let conflicts: Counter
    let ignoredValues: Counter
    let overflowedLookups: InstrumentFamily<Counter>
    /// On the page once there is a collector that can fail.
    let failedCollections: InstrumentFamily<Counter>
    let families: [InstrumentFamily<Counter>]

    init(now: @escaping @Sendable () -> Int64, limits: RegistryLimits) {
        func family(_ name: String, _ help: String, labels: [String] = []) -> InstrumentFamily<Counter> {
            InstrumentFamily(
                MetricDescriptor(name: name, help: help, kind: .counter, labelNames: labels),
                shape: .wholeNumber,
                rules: FamilyRules(
                    maximumSeries: limits.families,
                    maximumValueBytes: limits.nameBytes,
                    maximumLabelBytes: limits.families * limits.nameBytes,
                    now: now,
                    overflowedLookups: Counter(InstrumentSeed(created: now(), shape: .wholeNumber)),
                    ignoredValues: nil
                )
            )
        }
        let conflicts = family(
            "metrics_registry_conflicts_total",
            "Registrations of metrics that conflicted with an earlier one or with the rules of names."
        )
        let ignoredValues = family(
            "metrics_registry_ignored_values_total",
            "Values ignored because they were infinite, negative or not a number, and resets of counters."
        )
        overflowedLookups = family(
            "metrics_registry_overflowed_lookups_total",
            "Look-ups of label values that went to the series other, past a limit of the family.",
            labels: ["family"]
        )
        failedCollections = family(
            "metrics_registry_failed_collections_total",
            "Runs of collectors that ended in an error.",
            labels: ["collector"]
        )
        self.conflicts = conflicts.member([])
        self.ignoredValues = ignoredValues.member([])
        families = [conflicts, ignoredValues, overflowedLookups]
    }
}
