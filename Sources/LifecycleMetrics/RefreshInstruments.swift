// SPDX-License-Identifier: Apache-2.0

package import MetricsRegistry
package import RefreshLifecycle
internal import TelemetryEvents

/// The metrics of the background refresh as functions of its fold's totals (docs/second-app.md, Metrics).
package struct RefreshInstruments: Sendable {
    private typealias Count = @Sendable (RefreshTotals) -> UInt64

    private var counters: [(counter: Counter, count: Count)] = []
    private let durations: Histogram
    private let days: Histogram
    private let openRuns: Gauge
    private let created: Int64

    /// - Parameter created: the begin of counting, in microseconds since 1970.
    package init(_ registry: MetricsRegistry, created: Int64) {
        self.created = created
        durations = Self.histogram(
            "duration_seconds",
            "How long runs took, in seconds.",
            "seconds",
            .duration,
            registry
        )
        days = Self.histogram(
            "days_since_test",
            "Days since the last test, as checks of runs told.",
            nil,
            .daysSinceTest,
            registry
        )
        openRuns = registry.gauge("aiq_background_refresh_open_runs", help: "Runs whose outcome is not counted yet.")
        add(
            "runs_total",
            "Runs by outcome.",
            "outcome",
            RunOutcome.allCases.map { outcome in
                ("\(outcome.name)", { $0.runs(outcome) })
            },
            to: registry
        )
        let reasons = RefreshSkipReason.allCases.filter { $0.kind == .refreshSkipped }
        add(
            "skipped_total",
            "Skipped runs by reason.",
            "reason",
            reasons.map { reason in
                ("\(reason.name)", { $0.skipped(reason) })
            },
            to: registry
        )
        add(
            "schedules_total",
            "Requests to schedule the next run, by result.",
            "result",
            RefreshSchedule.allCases.map {
                result in ("\(result.name)", { $0.schedules(result) })
            },
            to: registry
        )
        add(
            "notifications_total",
            "Notifications of an available test, by what became of them.",
            "result",
            RefreshNotification.allCases.map { result in ("\(result.name)", { $0.notifications(result) }) },
            to: registry
        )
        add(
            "checks_total",
            "Checks, by whether a test was available.",
            "available",
            [false, true].map { isAvailable in
                ("\(isAvailable)", { $0.checks(isAvailable: isAvailable) })
            },
            to: registry
        )
        add(
            "violations_total",
            "Violated rules of closed runs.",
            "violation",
            RefreshViolationKind.allCases.map { kind in
                ("\(kind.name)", { $0.violations(kind) })
            },
            to: registry
        )
        for member in counters { member.counter.restore(to: 0, created: created) }
        for histogram in [durations, days] {
            let nothing = [UInt64](repeating: 0, count: histogram.bounds.count + 1)
            try? histogram.restore(counts: nothing, sum: 0, created: created)
        }
    }

    /// Publishes the totals of one fold.
    package func set(_ totals: RefreshTotals, openRuns open: Int, in update: inout MetricsUpdate) {
        for member in counters { update.raise(member.counter, to: member.count(totals), created: created) }
        for (histogram, told) in [(durations, totals.duration), (days, totals.daysSinceTest)] {
            try? update.restore(histogram, counts: told.counts, sum: told.total, created: created)
        }
        update.set(openRuns, to: open)
    }

    private mutating func add(
        _ name: String,
        _ help: String,
        _ label: String,
        _ members: [(value: String, count: Count)],
        to registry: MetricsRegistry
    ) {
        let family = registry.counter(
            "aiq_background_refresh_\(name)",
            help: help,
            labels: [label],
            maximumSeries: members.count
        )
        counters += members.map { (family.with([$0.value]), $0.count) }
    }

    private static func histogram(
        _ name: String,
        _ help: String,
        _ unit: String?,
        _ measure: RefreshHistogram.Measure,
        _ registry: MetricsRegistry
    ) -> Histogram {
        registry.histogram("aiq_background_refresh_\(name)", help: help, unit: unit, buckets: measure.bounds)
    }
}
