// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Finds handlers by label and dimensions as a library gives them, neither made legal nor sorted.
///
/// The same series may be found by several orders of its dimensions. An entry has two places that it may be in; where
/// both are taken, the older of the two goes, and comes back by itself if it is still in use. When a series of the family
/// has been removed, each entry is looked after once.
final class ReportCache<Handler: Report>: Sendable {
    private static var parts: Int { 16 }
    private static var placesPerPart: Int { 1_024 }

    private final class Entry: Sendable {
        let hash: UInt64
        let label: String
        let dimensions: [(String, String)]
        let handler: Handler
        /// How often series of the family had been removed when the handler's was last seen on the page.
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
            return isOnPage
        }

        private var isOnPage: Bool {
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
            let place = Int(truncatingIfNeeded: hash) & (ReportCache.placesPerPart - 1)
            return places.withLock { places in
                if places.isEmpty { return nil }
                if let entry = places[place], entry.hash == hash { return entry }
                if let entry = places[place ^ 1], entry.hash == hash { return entry }
                return nil
            }
        }

        func keep(_ entry: Entry) {
            let place = Int(truncatingIfNeeded: entry.hash) & (ReportCache.placesPerPart - 1)
            places.withLock { places in
                if places.isEmpty { places = Array(repeating: nil, count: ReportCache.placesPerPart) }
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
        guard let entry = part(hash).entry(hash), entry.matches(label, dimensions) else { return nil }
        return entry.handler
    }

    func keep(_ handler: Handler, generation: Int, _ hash: UInt64, _ label: String, _ dimensions: [(String, String)]) {
        part(hash).keep(Entry(handler, generation: generation, hash: hash, label: label, dimensions: dimensions))
    }

    private func part(_ hash: UInt64) -> Part {
        all[Int(truncatingIfNeeded: hash >> 60) & (Self.parts - 1)]
    }
}

/// The handlers of one sort: found by label and dimensions, made where there is none yet.
final class Reports<Handler: Report>: Sendable {
    private let registry: MetricsRegistry
    private let options: RegistryMetricsOptions
    private let cache = ReportCache<Handler>()
    private let families = Mutex<[String: ReportedFamily<Handler.Member>]>([:])

    init(_ registry: MetricsRegistry, _ options: RegistryMetricsOptions) {
        self.registry = registry
        self.options = options
    }

    func handler(_ label: String, _ dimensions: [(String, String)]) -> Handler {
        let hash = cache.hash(label, dimensions)
        return cache.handler(hash, label, dimensions) ?? make(label, dimensions, hash: hash)
    }

    /// What goes to the overflow series isn't kept, so that foreign values don't push out what is looked up again.
    private func make(_ label: String, _ dimensions: [(String, String)], hash: UInt64) -> Handler {
        let family = family(label)
        let generation = family.generation
        let labels = ReportedLabels.flat(dimensions, options.naming)
        let handler = Handler(ReportedSeries(member: family.series.member(labels), family: family))
        if handler.member.labelValues == labels {
            cache.keep(handler, generation: generation, hash, label, dimensions)
        }
        return handler
    }

    private func family(_ label: String) -> ReportedFamily<Handler.Member> {
        let (known, isFull) = families.withLock { ($0[label], $0.count >= registry.limits.families) }
        if let known { return known }
        // Past the limit all labels share one detached family, so that they neither grow nor report without end.
        if isFull && !label.isEmpty { return family("") }
        let fresh = ReportedFamily(
            Handler.series(of: label, in: registry, options),
            ignoredValues: registry.own.ignoredValues
        )
        return families.withLock { families in
            if let earlier = families[label] { return earlier }
            families[label] = fresh
            return fresh
        }
    }
}

/// The family that the reports of one label write to.
final class ReportedFamily<Member: Instrument>: Sendable {
    let series: InstrumentFamily<Member>
    /// Where what can't be taken is counted.
    let ignoredValues: Counter

    init(_ series: InstrumentFamily<Member>, ignoredValues: Counter) {
        self.series = series
        self.ignoredValues = ignoredValues
    }

    /// How often series were removed: what was looked up before may be gone.
    var generation: Int { series.generation }
}

/// The series that a report writes to.
struct ReportedSeries<Member: Instrument>: Sendable {
    let member: Member
    let family: ReportedFamily<Member>
}
