// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry
internal import PrefetchLifecycle

/// Families of counters and histograms in a registry, with labels that tell groups of the fold's totals apart.
struct LifecycleFamilies: Sendable {
    /// How many combinations of platform and version the fold tells apart at most.
    private static let groups = 128

    private let counters: [(LifecycleCounterFamily, CounterFamily)]
    private let histograms: [HistogramFamily]
    private let counts: [@Sendable (LifecycleTotals) -> UInt64]
    /// Where in `LifecycleSeries` the counter or histogram of an observation is.
    private let places: [LifecycleObservation.Place: LifecycleSeries.Place]
    private let observed: [@Sendable (LifecycleTotals) -> TimeHistogram]

    /// - Parameter labels: the names of the labels that each family has besides its own.
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

    /// The instruments of some groups, with the values of the labels that these share.
    func series(_ values: [String], created: Int64) -> LifecycleSeries {
        LifecycleSeries(
            counters: counters.flatMap { family, counters in
                family.members.map { counters.with($0.labelValues + values, onceUsed: $0.isShownOnceUsed) }
            },
            histograms: histograms.map { $0.with(values) },
            created: created
        )
    }

    /// Where an observation was counted; nil where it is of another family.
    func place(of observation: LifecycleObservation) -> LifecycleSeries.Place? { places[observation.place] }

    /// What a group has counted, in the order of `LifecycleSeries`: a word for each counter, then for each histogram one
    /// for each bucket and one for the sum in microseconds.
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
