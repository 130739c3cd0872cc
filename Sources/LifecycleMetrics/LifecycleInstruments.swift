// SPDX-License-Identifier: Apache-2.0

package import MetricsRegistry
package import PrefetchLifecycle
internal import TelemetryEvents

/// The families that are functions of the fold's totals alone, alike in the service and in `replay` (SPEC 6).
///
/// They are set after every commit: only what has changed is read, and instruments are looked up once.
package struct LifecycleInstruments: Sendable {
    private var cycles: GroupedFamilies
    private var telemetry: GroupedFamilies
    private let latest: LatestEvents
    private let openCycles: Gauge
    /// By the place of the group in the fold.
    private var revisions: [UInt64] = []

    /// - Parameters:
    ///   - registry: where the families stand.
    ///   - created: when counting began, in microseconds since 1970.
    ///   - labels: what the families of the lifecycle are told apart by, besides their own labels.
    ///   - isReceiver: whether events come when they are sent, so that clocks and arrival can be told of.
    package init(_ registry: MetricsRegistry, created: Int64, labels: [LifecycleLabel] = [], isReceiver: Bool) {
        cycles = GroupedFamilies(
            registry,
            counters: LifecycleCounterFamily.ofPrefetch + LifecycleCounterFamily.ofDelivery,
            histograms: LifecycleHistogramFamily.ofCycles,
            labels: LifecycleLabel.each(of: labels),
            created: created
        )
        telemetry = GroupedFamilies(
            registry,
            counters: LifecycleCounterFamily.ofTelemetry,
            histograms: isReceiver ? LifecycleHistogramFamily.ofReceiving : [],
            labels: [],
            created: created
        )
        latest = LatestEvents(registry)
        openCycles = registry.gauge("dnp_prefetch_open_cycles", help: "Cycles that are not closed yet.")
    }

    /// Sets all of them.
    ///
    /// - Parameters:
    ///   - groups: the groups of one fold, which are never fewer than before.
    ///   - open: how many cycles are open.
    package mutating func set(_ groups: [LifecycleGroup], openCycles open: Int, in update: inout MetricsUpdate) {
        for place in groups.indices {
            let isNew = place >= revisions.count
            guard isNew || revisions[place] != groups[place].revision else { continue }
            cycles.set(groups[place], at: place, in: &update)
            telemetry.set(groups[place], at: place, in: &update)
            latest.raise(to: groups[place].totals, in: &update)
            if isNew { revisions.append(0) }
            revisions[place] = groups[place].revision
        }
        update.set(openCycles, to: open)
    }

    /// Shows which schedules were counted last, where that is shown.
    package func attach(_ observations: [LifecycleObservation]) {
        for observation in observations { cycles.attach(observation) }
    }
}

/// A label that the families of the lifecycle may have besides their own (SPEC 6).
package enum LifecycleLabel: String, CaseIterable, Sendable {
    /// The platform of the app: `ios`, `android`, `other` or `unknown`.
    case platform
    /// The version of the app: the first 30 that are told, `other` or `unknown`.
    case appVersion = "app_version"

    /// Each of some labels once, in their own order.
    package static func each(of labels: [LifecycleLabel]) -> [LifecycleLabel] {
        allCases.filter(labels.contains)
    }

    /// What a group has for it.
    package func value(of group: LifecycleGroup) -> String {
        switch self {
        case .platform: group.platform
        case .appVersion: group.appVersion
        }
    }
}

/// When the latest event of each stage happened, so that an alert can tell when there was none for long.
struct LatestEvents: Sendable {
    private let gauges: [(stage: LifecycleStage, gauge: Gauge)]

    init(_ registry: MetricsRegistry) {
        gauges = LifecycleStage.allCases.map { stage in
            let (name, event) = stage.latestEvent
            let gauge = registry.gauge(
                "\(name)_timestamp_seconds",
                help: "When \(event) last, by the event's own time, in seconds since 1970; 0 while there was none.",
                unit: "seconds"
            )
            return (stage, gauge)
        }
    }

    /// Sets those that a group has later ones of.
    func raise(to totals: LifecycleTotals, in update: inout MetricsUpdate) {
        for (stage, gauge) in gauges {
            guard let time = totals.latest(stage) else { continue }
            update.raise(gauge, to: Double(time.microseconds) / 1e6)
        }
    }
}

extension LifecycleStage {
    /// The name of what happened, and what happened, in the words of the gauge.
    fileprivate var latestEvent: (name: String, event: String) {
        switch self {
        case .scheduled: ("dnp_prefetch_scheduled", "a prefetch task was scheduled")
        case .executed: ("dnp_prefetch_executed", "a prefetch task was executed")
        case .success: ("dnp_prefetch_success", "a prefetch attempt succeeded")
        case .failure: ("dnp_prefetch_failure", "a prefetch attempt failed")
        case .used: ("dnp_prefetch_used_for_notification", "a notification used prefetched content")
        case .delivered: ("dnp_notification_delivered", "a notification was delivered")
        }
    }
}
