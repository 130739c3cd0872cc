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

extension MetricsRegistry {
    /// Makes a registry that takes the time from the system's clock.
    ///
    /// - Parameters:
    ///   - limits: The sizes past which the registry stops growing.
    ///   - onConflict: Told of each registration that got a detached instrument, on the caller's thread.
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
    /// The family of that description: the registered one, a new one, or in a conflict a detached one.
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

    /// Reports a conflict, and gives a family that is on no page.
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
                    expected: "\(sort(of: registered)), as registered first",
                    found: "one of another sort",
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

    /// What a family has, for a person who registered its name as something else of the same kind.
    private func sort(of registered: any ExposedFamily) -> String {
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
    /// Replaces `page` by the metrics in `format`: families in the order of their names, series in the order of their
    /// label values.
    ///
    /// Collectors run first; then all values are copied as of one moment between two calls of `update(_:)`; then the page
    /// is written, over the bytes that `page` holds. The thread is blocked meanwhile; in an asynchronous function use
    /// `page(_:names:)`. A page that is used again is allocated again only where it grows.
    ///
    /// - Parameter names: The families to show; nil for all. Unknown names show nothing.
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

    /// Gives `body` the metrics in `format` in a buffer of the registry's; see `exposition(into:format:names:)`.
    /// Allocates nothing once such a page has been written before.
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
    /// The metrics in `format`, for who must not block a thread; see `exposition(into:format:names:)`.
    ///
    /// A scrape may wait for its collectors (`RegistryLimits.collectionMilliseconds`). It does so on a thread of its
    /// own, and none of Swift's concurrency is held up. A task that is cancelled gets its page all the same.
    public func page(_ format: ExpositionFormat = .text004, names: Set<String>? = nil) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            // A serial queue gets a thread beyond those that Dispatch shares with Swift's concurrency.
            DispatchQueue(label: "metrics-scrape").async {
                continuation.resume(returning: self.exposition(format, names: names))
            }
        }
    }
}

/// What a registry counts about itself.
struct OwnMetrics: Sendable {
    let conflicts: Counter
    let ignoredValues: Counter
    let overflowedLookups: InstrumentFamily<Counter>
    /// On the page once there is a collector.
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
