// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry
internal import PrefetchLifecycle
internal import TelemetryEvents

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
