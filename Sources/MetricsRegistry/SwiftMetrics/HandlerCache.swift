// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Finds handlers by label and dimensions as a library passes them, neither mapped to legal names nor sorted.
///
/// A series may be found by several orders of its dimensions. An entry has two possible slots; if both are taken, the
/// older entry is evicted, and cached again when it is next used. After a removal of a series of the family, each
/// entry is revalidated once.
private final class HandlerCache<Handler: RegistryHandler>: Sendable {
    private static var parts: Int { 16 }
    private static var slotsPerPart: Int { 1_024 }

    private final class Entry: Sendable {
        let hash: UInt64
        let label: String
        let dimensions: [(String, String)]
        let handler: Handler
        /// The number of removals in the family when the handler was last seen on the page.
        private let generation: Atomic<Int>

        init(_ handler: Handler, generation: Int, hash: UInt64, label: String, dimensions: [(String, String)]) {
            self.hash = hash
            self.handler = handler
            self.generation = Atomic(generation)
            self.label = label
            self.dimensions = dimensions
        }

        func matches(_ label: String, _ dimensions: [(String, String)]) -> Bool {
            guard label == self.label, dimensions.count == self.dimensions.count else { return false }
            for index in dimensions.indices where dimensions[index] != self.dimensions[index] { return false }
            return true
        }

        /// Whether the handler's series is still on the page, checked again after a removal in the family.
        func revalidate() -> Bool {
            let now = handler.family.generation
            if generation.load(ordering: .relaxed) == now { return true }
            guard handler.isOnPage else { return false }
            generation.store(now, ordering: .relaxed)
            return true
        }
    }

    private final class Part: Sendable {
        private let places = Mutex<[Entry?]>([])

        func entry(_ hash: UInt64) -> Entry? {
            let place = Int(truncatingIfNeeded: hash) & (HandlerCache.slotsPerPart - 1)
            return places.withLock { places in
                if places.isEmpty { return nil }
                if let entry = places[place], entry.hash == hash { return entry }
                if let entry = places[place ^ 1], entry.hash == hash { return entry }
                return nil
            }
        }

        func keep(_ entry: Entry) {
            let place = Int(truncatingIfNeeded: entry.hash) & (HandlerCache.slotsPerPart - 1)
            places.withLock { places in
                if places.isEmpty { places = Array(repeating: nil, count: HandlerCache.slotsPerPart) }
                if let earlier = places[place], earlier.hash != entry.hash { places[place ^ 1] = earlier }
                places[place] = entry
            }
        }
    }

    private let seed = UInt64.random(in: 0...UInt64.max)
    private let all: [Part]

    init() {
        all = (0..<Self.parts).map { _ in Part() }
    }

    func hash(_ label: String, _ dimensions: [(String, String)]) -> UInt64 {
        var hash = LabelHash(seed: seed)
        hash.combine(label)
        for (name, value) in dimensions {
            hash.combine(name)
            hash.combine(value)
        }
        return hash.value
    }

    func handler(_ hash: UInt64, _ label: String, _ dimensions: [(String, String)]) -> Handler? {
        guard let entry = part(hash).entry(hash), entry.matches(label, dimensions), entry.revalidate() else {
            return nil
        }
        return entry.handler
    }

    func keep(_ handler: Handler, generation: Int, _ hash: UInt64, _ label: String, _ dimensions: [(String, String)]) {
        part(hash).keep(Entry(handler, generation: generation, hash: hash, label: label, dimensions: dimensions))
    }

    private func part(_ hash: UInt64) -> Part {
        all[Int(truncatingIfNeeded: hash >> 60) & (Self.parts - 1)]
    }
}

/// The handlers of one kind: looked up by label and dimensions, created on demand.
final class HandlerStore<Handler: RegistryHandler>: Sendable {
    private let registry: MetricsRegistry
    private let options: RegistryMetricsOptions
    private let cache = HandlerCache<Handler>()
    private let families = Mutex<[String: HandlerFamily<Handler.Member>]>([:])

    init(_ registry: MetricsRegistry, _ options: RegistryMetricsOptions) {
        self.registry = registry
        self.options = options
    }

    func handler(_ label: String, _ dimensions: [(String, String)]) -> Handler {
        let hash = cache.hash(label, dimensions)
        return cache.handler(hash, label, dimensions) ?? make(label, dimensions, hash: hash)
    }

    /// Handlers of the overflow series are not cached, so that unbounded values do not evict those in use.
    private func make(_ label: String, _ dimensions: [(String, String)], hash: UInt64) -> Handler {
        let family = family(label)
        let generation = family.generation
        let labels = options.naming.labels(dimensions)
        let handler = Handler(HandlerSeries(member: family.instruments.member(labels), family: family))
        if handler.member.labelValues == labels {
            cache.keep(handler, generation: generation, hash, label, dimensions)
        }
        return handler
    }

    private func family(_ label: String) -> HandlerFamily<Handler.Member> {
        let (known, isFull) = families.withLock { ($0[label], $0.count >= registry.limits.families) }
        if let known { return known }
        // Beyond the limit all labels share one detached family, so that neither families nor reports grow without
        // bound.
        if isFull && !label.isEmpty { return family("") }
        let fresh = HandlerFamily(
            Handler.instruments(of: label, in: registry, options),
            ignoredValues: registry.own.ignoredValues
        )
        return families.withLock { families in
            if let earlier = families[label] { return earlier }
            families[label] = fresh
            return fresh
        }
    }
}

/// The family that the handlers of one label write to.
final class HandlerFamily<Member: Instrument>: Sendable {
    let instruments: InstrumentFamily<Member>
    /// Counts ignored values.
    let ignoredValues: Counter

    init(_ instruments: InstrumentFamily<Member>, ignoredValues: Counter) {
        self.instruments = instruments
        self.ignoredValues = ignoredValues
    }

    /// The number of removals: handlers looked up before may be stale.
    var generation: Int { instruments.generation }
}

/// The series that a handler writes to.
struct HandlerSeries<Member: Instrument>: Sendable {
    let member: Member
    let family: HandlerFamily<Member>
}
