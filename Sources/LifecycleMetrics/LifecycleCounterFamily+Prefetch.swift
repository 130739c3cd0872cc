// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

extension LifecycleCounterFamily {
    /// What prefetch tasks and their cycles came to.
    static let ofPrefetch: [LifecycleCounterFamily] = [
        .init("dnp_prefetch_scheduled_total", help: "Prefetch tasks that were scheduled.") { $0.scheduled },
        .init("dnp_prefetch_executed_total", help: "Prefetch tasks that the system executed.") { $0.executed },
        .init("dnp_prefetch_success_total", help: "Prefetch attempts that ended in success.") { $0.success },
        .init(
            "dnp_prefetch_failure_total",
            help: "Prefetch attempts that ended in failure, by reason.",
            label: "reason",
            of: FailureReason.allCases,
            onceUsed: .other,
            value: \.name,
            observed: { .failure($0) }
        ) { $0.failure($1) },
        .init("dnp_prefetch_used_for_notification_total", help: "Notifications that used prefetched content.") {
            $0.used
        },
        .init("dnp_prefetch_expired_total", help: "Prefetch attempts that the system ended before they were done.") {
            $0.expired
        },
        .init(
            "dnp_prefetch_missed_window_total",
            help: "Prefetch tasks that missed their window, as the plugin told."
        ) { $0.missedWindow },
        .init(
            "dnp_prefetch_fallback_total",
            help: "Cycles without cached content when it was needed, so that it had to be fetched on demand."
        ) { $0.fallbacks },
        .init(
            "dnp_prefetch_lead_capped_total",
            help: "Leads between prefetch and notification that the plugin raised to the minimum of 60 s."
        ) { $0.leadCapped },
        .init("dnp_prefetch_retries_total", help: "Failures that were tried again in the same prefetch attempt.") {
            $0.retries
        },
        .init(
            "dnp_prefetch_cycles_total",
            help: "Cycles that were closed, by their outcome.",
            label: "outcome",
            of: CycleOutcome.allCases,
            value: \.name
        ) { $0.cycles($1) },
        .init(
            "dnp_prefetch_sequence_violations_total",
            help: "Closed cycles that broke a rule of the lifecycle, by rule.",
            label: "violation",
            of: ViolationKind.allCases,
            value: \.name
        ) { $0.violations($1) },
    ]
}
