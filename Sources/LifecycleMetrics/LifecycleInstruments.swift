// SPDX-License-Identifier: Apache-2.0

package import MetricsRegistry
package import PrefetchLifecycle
internal import TelemetryEvents

/// The metrics that are functions of the fold's totals, shared by the service and `replay` (docs/metrics.md).
///
/// They are set after every commit: only changed groups are read, and instruments are looked up once.
package struct LifecycleInstruments: Sendable {
    private var cycles: GroupedFamilies
    private var telemetry: GroupedFamilies
    private let latest: LatestEvents
    private let openCycles: Gauge
    private let pending: (notifications: Gauge, limit: Gauge, nearLimit: Gauge)
    /// The last published revision of each group of the fold.
    private var revisions: [UInt64] = []

    /// - Parameters:
    ///   - created: the begin of counting, in microseconds since 1970.
    ///   - labels: labels to add to the families' own.
    ///   - isReceiver: whether events arrive live, so that clock skew and arrival lag are meaningful.
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
        pending = (
            registry.gauge(
                "dnp_notification_pending",
                help: "Pending notifications, summed up over the installations that told theirs within 48 hours."
            ),
            registry.gauge(
                "dnp_notification_pending_limit",
                help: "How many notifications may be pending, summed up over the same installations."
            ),
            registry.gauge(
                "dnp_notification_pending_near_limit",
                help: "Installations with at least 90 % of the notifications that may be pending."
            )
        )
    }

    /// Publishes the totals.
    ///
    /// - Parameters:
    ///   - groups: the groups of one fold; their number never decreases.
    ///   - open: the number of open cycles.
    ///   - told: what the apps told of their pending notifications.
    package mutating func set(
        _ groups: [LifecycleGroup],
        openCycles open: Int,
        pending told: PendingNotifications,
        in update: inout MetricsUpdate
    ) {
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
        update.set(pending.notifications, to: Int(clamping: told.pending))
        update.set(pending.limit, to: Int(clamping: told.limit))
        update.set(pending.nearLimit, to: Int(clamping: told.nearLimit))
    }

    /// Attaches exemplars of the last observations.
    package func attach(_ observations: [LifecycleObservation]) {
        for observation in observations { cycles.attach(observation) }
    }
}

/// An optional label of the lifecycle's families.
package enum LifecycleLabel: String, CaseIterable, Sendable {
    /// The platform of the app: `ios`, `android`, `other` or `unknown`.
    case platform
    /// The version of the app: one of the first 30 seen, `other` or `unknown`.
    case appVersion = "app_version"

    /// The labels without duplicates, in the order of declaration.
    static func each(of labels: [LifecycleLabel]) -> [LifecycleLabel] {
        allCases.filter(labels.contains)
    }

    /// The value for a group.
    func value(of group: EventGroup) -> String {
        switch self {
        case .platform: group.platform
        case .appVersion: group.appVersion
        }
    }
}

/// The time of the latest event of each stage, for alerts on missing events.
private struct LatestEvents: Sendable {
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

    /// Raises the gauges to a group's later times.
    func raise(to totals: LifecycleTotals, in update: inout MetricsUpdate) {
        for (stage, gauge) in gauges {
            guard let time = totals.latest(stage) else { continue }
            update.raise(gauge, to: Double(time.microseconds) / 1e6)
        }
    }
}

extension LifecycleStage {
    /// The prefix of the gauge's name, and the event in its help text.
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
