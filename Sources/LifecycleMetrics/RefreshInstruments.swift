// SPDX-License-Identifier: Apache-2.0

internal import LifecycleState
package import MetricsRegistry
package import RefreshLifecycle
internal import TelemetryEvents

/// The metrics of the background refresh as functions of its fold's totals (docs/second-app.md, Metrics).
///
/// With labels there is a series for each combination of their values; groups of the fold with equal values share one.
package struct RefreshInstruments: Sendable {
    /// The maximum number of combinations of platform and version in the fold.
    private static let groupLimit = 128

    private let counters: [RefreshCounterFamily]
    private let families: [CounterFamily]
    private let durations: HistogramFamily
    private let days: HistogramFamily
    private let openRuns: Gauge
    private let evictedRuns: Counter
    private let evictedInstallations: Counter
    private let labels: [LifecycleLabel]
    private let created: Int64
    private var series: [[String]: RefreshSeries] = [:]
    /// The fold's revision that is published.
    private var revision: UInt64?

    /// - Parameters:
    ///   - created: the begin of counting, in microseconds since 1970.
    ///   - labels: labels to add to the families' own.
    package init(_ registry: MetricsRegistry, created: Int64, labels: [LifecycleLabel] = []) {
        self.created = created
        self.labels = LifecycleLabel.each(of: labels)
        let names = self.labels.map(\.rawValue)
        let groups = names.isEmpty ? 1 : Self.groupLimit
        durations = registry.histogram(
            "aiq_background_refresh_duration_seconds",
            help: "How long runs took, in seconds.",
            unit: "seconds",
            labels: names,
            buckets: RefreshHistogram.Measure.duration.bounds,
            maximumSeries: groups
        )
        days = registry.histogram(
            "aiq_background_refresh_days_since_test",
            help: "Days since the last test, as checks of runs told.",
            labels: names,
            buckets: RefreshHistogram.Measure.daysSinceTest.bounds,
            maximumSeries: groups
        )
        openRuns = registry.gauge("aiq_background_refresh_open_runs", help: "Runs whose outcome is not counted yet.")
        evictedRuns = registry.counter(
            "aiq_background_refresh_evicted_runs_total",
            help: "Runs that were closed early: too much was open."
        )
        evictedInstallations = registry.counter(
            "aiq_background_refresh_evicted_installations_total",
            help: "Installations that were forgotten: there were too many."
        )
        counters = RefreshCounterFamily.all
        families = counters.map { family in
            registry.counter(
                "aiq_background_refresh_\(family.name)",
                help: family.help,
                labels: [family.label] + names,
                maximumSeries: family.members.count * groups
            )
        }
        let unknown = self.labels.map { $0.value(of: .unknown) }
        series[unknown] = makeSeries(unknown)
        for counter in [evictedRuns, evictedInstallations] { counter.restore(to: 0, created: created) }
    }

    /// Publishes what a fold has counted.
    package mutating func set(_ fold: RefreshFold, in update: inout MetricsUpdate) {
        update.set(openRuns, to: fold.openRuns)
        guard revision != fold.revision else { return }
        revision = fold.revision
        set(fold.groups, in: &update)
    }

    /// Publishes the totals of groups.
    package mutating func set(_ groups: [RefreshGroup], in update: inout MetricsUpdate) {
        var sums: [[String]: RefreshTotals] = [:]
        for group in groups {
            sums[labels.map { $0.value(of: group.name) }, default: RefreshTotals()].add(group.totals)
        }
        for (values, totals) in sums {
            let series = series[values] ?? makeSeries(values)
            self.series[values] = series
            series.set(totals, created: created, in: &update)
        }
        // The first group has those of all.
        guard let totals = groups.first?.totals else { return }
        update.raise(evictedRuns, to: totals.evictedRuns, created: created)
        update.raise(evictedInstallations, to: totals.evictedInstallations, created: created)
    }

    /// The instruments for one combination of label values, all at 0.
    private func makeSeries(_ values: [String]) -> RefreshSeries {
        let members = zip(counters, families).flatMap { family, counters in
            family.members.map { (counters.with([$0.value] + values), $0.count) }
        }
        let series = RefreshSeries(counters: members, durations: durations.with(values), days: days.with(values))
        for (counter, _) in members { counter.restore(to: 0, created: created) }
        for histogram in [series.durations, series.days] {
            let nothing = [UInt64](repeating: 0, count: histogram.bounds.count + 1)
            try? histogram.restore(counts: nothing, sum: 0, created: created)
        }
        return series
    }
}

/// The instruments for one combination of label values.
private struct RefreshSeries: Sendable {
    let counters: [(counter: Counter, count: RefreshCounterFamily.Count)]
    let durations: Histogram
    let days: Histogram

    func set(_ totals: RefreshTotals, created: Int64, in update: inout MetricsUpdate) {
        for member in counters { update.raise(member.counter, to: member.count(totals), created: created) }
        for (histogram, told) in [(durations, totals.duration), (days, totals.daysSinceTest)] {
            try? update.restore(histogram, counts: told.counts, sum: told.total, created: created)
        }
    }
}

/// A counter family of the background refresh: a member for each value of its label.
private struct RefreshCounterFamily: Sendable {
    typealias Count = @Sendable (RefreshTotals) -> UInt64

    /// The name behind the prefix that all share.
    let name: String
    let help: String
    let label: String
    let members: [(value: String, count: Count)]

    static let all = [
        RefreshCounterFamily(
            name: "runs_total",
            help: "Runs by outcome.",
            label: "outcome",
            members: RunOutcome.allCases.map { outcome in ("\(outcome.name)", { $0.runs(outcome) }) }
        ),
        RefreshCounterFamily(
            name: "skipped_total",
            help: "Skipped runs by reason.",
            label: "reason",
            members: RefreshSkipReason.allCases.filter { $0.kind == .refreshSkipped }.map { reason in
                ("\(reason.name)", { $0.skipped(reason) })
            }
        ),
        RefreshCounterFamily(
            name: "schedules_total",
            help: "Requests to schedule the next run, by result.",
            label: "result",
            members: RefreshSchedule.allCases.map { result in ("\(result.name)", { $0.schedules(result) }) }
        ),
        RefreshCounterFamily(
            name: "notifications_total",
            help: "Notifications of an available test, by what became of them.",
            label: "result",
            members: RefreshNotification.allCases.map { result in ("\(result.name)", { $0.notifications(result) }) }
        ),
        RefreshCounterFamily(
            name: "checks_total",
            help: "Checks, by whether a test was available.",
            label: "available",
            members: [false, true].map { isAvailable in
                ("\(isAvailable)", { $0.checks(isAvailable: isAvailable) })
            }
        ),
        RefreshCounterFamily(
            name: "violations_total",
            help: "Violated rules of closed runs.",
            label: "violation",
            members: RefreshViolationKind.allCases.map { kind in ("\(kind.name)", { $0.violations(kind) }) }
        ),
    ]
}
