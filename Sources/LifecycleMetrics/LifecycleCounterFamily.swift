// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// The description of a counter family over the fold's totals: name, help, labels, and how to read each series.
struct LifecycleCounterFamily: Sendable {
    /// One series: its label values, and how to read its count.
    struct Member: Sendable {
        let labelValues: [String]
        /// Whether it is omitted from the exposition while 0.
        let isShownOnceUsed: Bool
        /// The fold's observations that give its exemplars, if any.
        var observed: LifecycleObservation.Place?
        let count: @Sendable (LifecycleTotals) -> UInt64
    }

    let name: String
    let help: String
    let labels: [String]
    let members: [Member]

    /// A family without labels.
    init(_ name: String, help: String, count: @escaping @Sendable (LifecycleTotals) -> UInt64) {
        self.name = name
        self.help = help
        labels = []
        members = [Member(labelValues: [], isShownOnceUsed: false, count: count)]
    }

    /// A family with a label of a closed set of values.
    ///
    /// - Parameters:
    ///   - cases: the closed set.
    ///   - onceUsed: the case that is omitted from the exposition while 0.
    ///   - value: the label value of a case.
    ///   - observed: the fold's observations that give the exemplars of a case.
    init<Case: Equatable & Sendable>(
        _ name: String,
        help: String,
        label: String,
        of cases: [Case],
        onceUsed: Case? = nil,
        value: (Case) -> StaticString,
        observed: (Case) -> LifecycleObservation.Place? = { _ in nil },
        count: @escaping @Sendable (LifecycleTotals, Case) -> UInt64
    ) {
        self.name = name
        self.help = help
        labels = [label]
        members = cases.map { member in
            Member(
                labelValues: ["\(value(member))"],
                isShownOnceUsed: member == onceUsed,
                observed: observed(member)
            ) { count($0, member) }
        }
    }

    /// A family of the results of checks.
    init(
        _ name: String,
        help: String,
        checks count: @escaping @Sendable (LifecycleTotals, IntegrityCheck, IntegrityResult) -> UInt64
    ) {
        self.name = name
        self.help = help
        labels = ["check", "result"]
        members = IntegrityCheck.allCases.flatMap { check in
            IntegrityResult.allCases.map { result in
                Member(labelValues: ["\(check.name)", "\(result.name)"], isShownOnceUsed: false) {
                    count($0, check, result)
                }
            }
        }
    }
}

extension LifecycleCounterFamily {
    /// Prefetch tasks and their cycles.
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
            "dnp_prefetch_fallback_cause_total",
            help: "Closed cycles whose content had to be fetched on demand, by what is known of the cause.",
            label: "cause",
            of: FallbackCause.allCases,
            value: \.name
        ) { $0.fallbacks($1) },
        .init(
            "dnp_prefetch_not_modified_total",
            help: "Fetches that succeeded with status 304, because the content was the same."
        ) { $0.notModified },
        .init(
            "dnp_prefetch_api_calls_total",
            help: "Calls of the content's server, by whether they carried an ETag.",
            label: "conditional",
            of: [true, false],
            value: { $0 ? "true" : "false" }
        ) { $0.apiCalls(isConditional: $1) },
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

extension LifecycleCounterFamily {
    /// Notifications, their content, and errors of the plugin.
    static let ofDelivery: [LifecycleCounterFamily] = [
        .init(
            "dnp_notification_delivered_total",
            help: "Notifications that were delivered, by what they showed; none where nothing tells of their content.",
            label: "content",
            of: DeliveredContent.allCases,
            value: \.name
        ) { $0.delivered($1) },
        .init(
            "dnp_notification_drift_exceeded_total",
            help: "Notifications that were delivered more than 180 s, on Android 60 s, from their time."
        ) { $0.driftExceeded },
        .init("dnp_content_cache_failures_total", help: "Writes of content to the cache that failed.") {
            $0.cacheFailures
        },
        .init(
            "dnp_plugin_errors_total",
            help: "Errors of the plugin, by their code.",
            label: "code",
            of: PluginErrorCode.allCases,
            value: \.name
        ) { $0.pluginErrors($1) },
        .init(
            "dnp_integrity_checks_total",
            help: "Closed cycles whose hashes of content or schedule were compared, by result; MD5 finds corruption, "
                + "not tampering."
        ) { $0.checks($1, $2) },
    ]
}

extension LifecycleCounterFamily {
    /// The completeness of the telemetry.
    static let ofTelemetry: [LifecycleCounterFamily] = [
        .init(
            "dnp_telemetry_implied_stages_total",
            help: "Stages that only the summary of a cycle told of.",
            label: "stage",
            of: [LifecycleStage.success, .used],
            value: \.name
        ) { $1 == .success ? $0.impliedSuccess : $0.impliedUsed },
        .init(
            "dnp_telemetry_recovered_events_total",
            help: "Events that were lost on the way and are counted from the clients' own counters, by stage.",
            label: "stage",
            of: LifecycleStage.recoverable,
            value: \.name
        ) { $0.recovered($1) },
        .init(
            "dnp_telemetry_client_snapshots_total",
            help: "Cumulative counters that clients sent, by what became of them.",
            label: "result",
            of: SnapshotResult.allCases,
            value: \.name
        ) { $0.snapshots($1) },
        .init(
            "dnp_telemetry_integrity_unchecked_total",
            help: "Closed cycles that used content or executed a schedule without telling the hashes to check it, by "
                + "check.",
            label: "check",
            of: IntegrityCheck.allCases,
            value: \.name
        ) { $0.unchecked($1) },
        .init(
            "dnp_telemetry_evicted_cycles_total",
            help: "Cycles that were closed early: too many were open, or they could not take another event."
        ) { $0.evictedCycles },
        .init(
            "dnp_telemetry_evicted_installations_total",
            help: "Installations that were forgotten because too many were remembered."
        ) { $0.evictedInstallations },
        .init(
            "dnp_telemetry_evicted_identities_total",
            help: "Identities that were forgotten early because too many were remembered."
        ) { $0.evictedIdentities },
    ]
}
