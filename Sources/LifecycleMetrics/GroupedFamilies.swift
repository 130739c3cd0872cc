// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry
internal import PrefetchLifecycle
internal import TelemetryEvents

/// Families with a series for each combination of the chosen labels; groups of the fold with equal values share a
/// series.
///
/// The series of events without platform and version exists from the start.
struct GroupedFamilies: Sendable {
    private struct Group: Sendable {
        /// The index of its series.
        let series: Int
        /// The last values read of it.
        var words: [UInt64]
    }

    private let families: LifecycleFamilies
    private let labels: [LifecycleLabel]
    private let created: Int64
    private var series: [LifecycleSeries] = []
    private var placesOfSeries: [[String]: Int] = [:]
    /// The groups, by their index in the fold.
    private var groups: [Group] = []

    /// - Parameters:
    ///   - labels: the labels that distinguish groups; without any, all groups share one series.
    ///   - created: the begin of counting, in microseconds since 1970.
    init(
        _ registry: MetricsRegistry,
        counters: [LifecycleCounterFamily],
        histograms: [LifecycleHistogramFamily],
        labels: [LifecycleLabel],
        created: Int64
    ) {
        families = LifecycleFamilies(
            registry,
            counters: counters,
            histograms: histograms,
            labels: labels.map(\.rawValue)
        )
        self.labels = labels
        self.created = created
        _ = placeOfSeries(labels.map { $0.value(of: .unknown) })
    }

    /// Publishes the totals of a group.
    ///
    /// - Parameter place: the index of the group in the fold; new groups come in order.
    mutating func set(_ group: LifecycleGroup, at place: Int, in update: inout MetricsUpdate) {
        if place == groups.count {
            let series = placeOfSeries(labels.map { $0.value(of: group.name) })
            groups.append(Group(series: series, words: self.series[series].nothing))
        }
        let words = families.words(of: group.totals)
        series[groups[place].series].add(words, since: groups[place].words, in: &update)
        groups[place].words = words
    }

    /// Attaches an exemplar of an observation in a published group.
    func attach(_ observation: LifecycleObservation) {
        guard groups.indices.contains(observation.group), let place = families.place(of: observation),
            let exemplar = Exemplar(observation)
        else { return }
        series[groups[observation.group].series].attach(exemplar, at: place)
    }

    private mutating func placeOfSeries(_ values: [String]) -> Int {
        if let place = placesOfSeries[values] { return place }
        placesOfSeries[values] = series.count
        series.append(families.series(values, created: created))
        return series.count - 1
    }
}

/// Counter and histogram families in a registry, with labels that distinguish groups of the fold.
private struct LifecycleFamilies: Sendable {
    /// The maximum number of combinations of platform and version in the fold.
    private static let groups = 128

    private let counters: [(LifecycleCounterFamily, CounterFamily)]
    private let histograms: [HistogramFamily]
    private let counts: [@Sendable (LifecycleTotals) -> UInt64]
    /// The index in `LifecycleSeries` of the counter or histogram of an observation.
    private let places: [LifecycleObservation.Place: LifecycleSeries.Place]
    private let observed: [@Sendable (LifecycleTotals) -> TimeHistogram]

    /// - Parameter labels: label names to add to each family's own.
    init(
        _ registry: MetricsRegistry,
        counters: [LifecycleCounterFamily],
        histograms: [LifecycleHistogramFamily],
        labels: [String]
    ) {
        let groups = labels.isEmpty ? 1 : Self.groups
        self.counters = counters.map { family in
            let series = registry.counter(
                family.name,
                help: family.help,
                labels: family.labels + labels,
                maximumSeries: family.members.count * groups
            )
            return (family, series)
        }
        self.histograms = histograms.map { family in
            registry.histogram(
                family.name,
                help: family.help,
                unit: "seconds",
                labels: labels,
                buckets: family.measure.bounds,
                maximumSeries: groups
            )
        }
        let told = counters.flatMap(\.members).map(\.observed).enumerated().compactMap { place, observed in
            observed.map { ($0, LifecycleSeries.Place.counter(place)) }
        }
        let timed = histograms.enumerated().map { place, family in
            (LifecycleObservation.Place.time(family.measure), LifecycleSeries.Place.histogram(place))
        }
        places = Dictionary(told + timed) { first, _ in first }
        counts = counters.flatMap { $0.members.map(\.count) }
        observed = histograms.map(\.observed)
    }

    /// The instruments for one combination of label values.
    func series(_ values: [String], created: Int64) -> LifecycleSeries {
        LifecycleSeries(
            counters: counters.flatMap { family, counters in
                family.members.map { counters.with($0.labelValues + values, onceUsed: $0.isShownOnceUsed) }
            },
            histograms: histograms.map { $0.with(values) },
            created: created
        )
    }

    /// The place where an observation was counted; nil for another family.
    func place(of observation: LifecycleObservation) -> LifecycleSeries.Place? { places[observation.place] }

    /// The totals of a group as words, in the order that `LifecycleSeries` expects.
    func words(of totals: LifecycleTotals) -> [UInt64] {
        var words: [UInt64] = []
        words.reserveCapacity(256)
        for count in counts { words.append(count(totals)) }
        for observed in observed {
            let histogram = observed(totals)
            words.append(contentsOf: histogram.counts)
            words.append(histogram.microseconds)
        }
        return words
    }
}

/// The instruments of one series with their values, the sum of one or more groups.
///
/// The totals of a group come as words: one for each counter, then for each histogram one for each bucket and one for
/// the sum in microseconds.
private struct LifecycleSeries: Sendable {
    /// One of the instruments.
    enum Place: Sendable {
        case counter(Int)
        case histogram(Int)
    }

    private let counters: [Counter]
    private let histograms: [(histogram: Histogram, words: Range<Int>)]
    private let created: Int64
    private var sums: [UInt64]

    /// - Parameter created: the begin of counting, in microseconds since 1970.
    init(counters: [Counter], histograms: [Histogram], created: Int64) {
        self.counters = counters
        self.created = created
        var end = counters.count
        self.histograms = histograms.map { histogram in
            let start = end
            end += histogram.bounds.count + 2
            return (histogram, start..<end)
        }
        sums = [UInt64](repeating: 0, count: end)
        for counter in counters { counter.restore(to: 0, created: created) }
        let nothing = [UInt64](repeating: 0, count: end)
        for (histogram, range) in self.histograms {
            try? histogram.restore(counts: Array(nothing[range.dropLast()]), sum: 0, created: created)
        }
    }

    /// Adds the difference of a group's words since the last read.
    mutating func add(_ words: [UInt64], since earlier: [UInt64], in update: inout MetricsUpdate) {
        for place in counters.indices where words[place] != earlier[place] {
            sums[place] += words[place] - earlier[place]
            update.raise(counters[place], to: sums[place], created: created)
        }
        for (histogram, range) in histograms where words[range] != earlier[range] {
            for place in range { sums[place] &+= words[place] &- earlier[place] }
            let seconds = Double(sums[range.upperBound - 1]) / 1e6
            try? update.restore(histogram, counts: Array(sums[range.dropLast()]), sum: seconds, created: created)
        }
    }

    /// Attaches an exemplar at a place.
    func attach(_ exemplar: Exemplar, at place: Place) {
        switch place {
        case .counter(let place): counters[place].attach(exemplar)
        case .histogram(let place): histograms[place].histogram.attach(exemplar)
        }
    }

    /// Zero words.
    var nothing: [UInt64] { [UInt64](repeating: 0, count: sums.count) }
}

extension Exemplar {
    /// The name of the only label.
    private static let label = "schedule_id"

    /// An exemplar with the schedule's id and the time of counting; nil where the id exceeds the limit of OpenMetrics.
    fileprivate init?(_ observation: LifecycleObservation) {
        do throws(ExemplarError) {
            self = try Exemplar(
                labels: [(Self.label, observation.scheduleId)],
                value: observation.value,
                timestamp: observation.countedAt.microseconds
            )
        } catch {
            return nil
        }
    }
}
