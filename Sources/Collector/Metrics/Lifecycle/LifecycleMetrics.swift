// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry
internal import PrefetchLifecycle
internal import TelemetryEvents

/// The families that are functions of the fold's totals alone, alike in the service and in `replay` (SPEC 6).
struct LifecycleMetrics: Sendable {
    private enum Stage: String, CaseIterable {
        case success
        case used
    }

    private let created: Int64
    private let scheduled: Counter
    private let executed: Counter
    private let success: Counter
    private let failure: CaseFamily<FailureReason, Counter>
    private let used: Counter
    private let implied: CaseFamily<Stage, Counter>
    private let cycles: CaseFamily<CycleOutcome, Counter>
    private let violations: CaseFamily<ViolationKind, Counter>
    private let openCycles: Gauge
    private let evictedCycles: Counter

    /// - Parameters:
    ///   - registry: where the families stand.
    ///   - created: when counting began, in microseconds since 1970.
    init(_ registry: MetricsRegistry, created: Int64) {
        self.created = created
        scheduled = registry.counter("dnp_prefetch_scheduled_total", help: "Prefetch tasks that were scheduled.")
        executed = registry.counter("dnp_prefetch_executed_total", help: "Prefetch tasks that the system executed.")
        success = registry.counter("dnp_prefetch_success_total", help: "Prefetch attempts that ended in success.")
        failure = registry.counter(
            "dnp_prefetch_failure_total",
            help: "Prefetch attempts that ended in failure, by reason.",
            label: "reason",
            of: FailureReason.self,
            onceUsed: [.other],
            value: { "\($0.name)" }
        )
        used = registry.counter(
            "dnp_prefetch_used_for_notification_total",
            help: "Notifications that used prefetched content."
        )
        implied = registry.counter(
            "dnp_telemetry_implied_stages_total",
            help: "Stages that only the summary of a cycle told of.",
            label: "stage",
            of: Stage.self
        )
        cycles = registry.counter(
            "dnp_prefetch_cycles_total",
            help: "Cycles that were closed, by their outcome.",
            label: "outcome",
            of: CycleOutcome.self,
            value: { "\($0.name)" }
        )
        violations = registry.counter(
            "dnp_prefetch_sequence_violations_total",
            help: "Closed cycles that broke a rule of the lifecycle, by rule.",
            label: "violation",
            of: ViolationKind.self,
            value: { "\($0.name)" }
        )
        openCycles = registry.gauge("dnp_prefetch_open_cycles", help: "Cycles that are not closed yet.")
        evictedCycles = registry.counter(
            "dnp_telemetry_evicted_cycles_total",
            help: "Cycles that were closed early: too many were open, or they could not take another event."
        )
    }

    /// Sets all of them; called inside an update of the registry.
    func set(_ totals: LifecycleTotals, openCycles open: Int) {
        scheduled.restore(to: totals.scheduled, created: created)
        executed.restore(to: totals.executed, created: created)
        success.restore(to: totals.success, created: created)
        for reason in FailureReason.allCases { failure[reason].restore(to: totals.failure(reason), created: created) }
        used.restore(to: totals.used, created: created)
        implied[.success].restore(to: totals.impliedSuccess, created: created)
        implied[.used].restore(to: totals.impliedUsed, created: created)
        for outcome in CycleOutcome.allCases { cycles[outcome].restore(to: totals.cycles(outcome), created: created) }
        for kind in ViolationKind.allCases { violations[kind].restore(to: totals.violations(kind), created: created) }
        openCycles.set(open)
        evictedCycles.restore(to: totals.evictedCycles, created: created)
    }
}
