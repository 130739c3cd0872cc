// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle

/// The description of a histogram family over the fold's totals, in seconds.
struct LifecycleHistogramFamily: Sendable {
    let name: String
    let help: String
    let measure: TimeHistogram.Measure
    let observed: @Sendable (LifecycleTotals) -> TimeHistogram

    init(
        _ name: String,
        help: String,
        of measure: TimeHistogram.Measure,
        observed: @escaping @Sendable (LifecycleTotals) -> TimeHistogram
    ) {
        self.name = name
        self.help = help
        self.measure = measure
        self.observed = observed
    }
}

extension LifecycleHistogramFamily {
    /// The times of cycles.
    static let ofCycles: [LifecycleHistogramFamily] = [
        .init(
            "dnp_prefetch_fetch_duration_seconds",
            help: "How long fetches took, in seconds, as told or else from the execution to the result.",
            of: .fetchDuration
        ) { $0.fetchDuration },
        .init(
            "dnp_prefetch_start_delay_seconds",
            help: "Time from the earliest begin of prefetch tasks to their execution, in seconds.",
            of: .startDelay
        ) { $0.startDelay },
        .init(
            "dnp_prefetch_content_age_seconds",
            help: "How old prefetched content was when a notification used it, in seconds.",
            of: .contentAge
        ) { $0.contentAge },
        .init(
            "dnp_notification_drift_seconds",
            help: "How far from their time notifications were delivered, early or late, in seconds.",
            of: .drift
        ) { $0.drift },
    ]

    /// The times between senders and the receiver.
    static let ofReceiving: [LifecycleHistogramFamily] = [
        .init(
            "dnp_telemetry_clock_skew_seconds",
            help: "How far the clocks of senders were from ours, fast or slow, in seconds.",
            of: .clockSkew
        ) { $0.clockSkew },
        .init(
            "dnp_telemetry_arrival_lag_seconds",
            help: "Time from events to their arrival, in seconds, corrected for the clock skew where it is known.",
            of: .arrivalLag
        ) { $0.arrivalLag },
    ]
}
