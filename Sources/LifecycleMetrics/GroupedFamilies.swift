// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry
internal import PrefetchLifecycle

/// Families whose series are told apart by what the groups of the fold's totals have for the chosen labels; groups that
/// agree in all of them are one series. That of events which name neither platform nor version is there from the start.
struct GroupedFamilies: Sendable {
    private struct Group: Sendable {
        /// Where its series is.
        let series: Int
        /// What was last read of it.
        var words: [UInt64]
    }

    private let families: LifecycleFamilies
    private let labels: [LifecycleLabel]
    private let created: Int64
    private var series: [LifecycleSeries] = []
    private var placesOfSeries: [[String]: Int] = [:]
    /// By the place of the group in the fold.
    private var groups: [Group] = []

    /// - Parameters:
    ///   - labels: those that tell groups apart; none makes all of them one.
    ///   - created: when counting began, in microseconds since 1970.
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

    /// Shows what a group has counted.
    ///
    /// - Parameter place: the place of the group in the fold; new ones come in their order.
    mutating func set(_ group: LifecycleGroup, at place: Int, in update: inout MetricsUpdate) {
        if place == groups.count {
            let series = placeOfSeries(labels.map { $0.value(of: group) })
            groups.append(Group(series: series, words: self.series[series].nothing))
        }
        let words = families.words(of: group.totals)
        series[groups[place].series].add(words, since: groups[place].words, in: &update)
        groups[place].words = words
    }

    /// Shows which schedule was counted last, of an observation in a group that has been shown.
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
