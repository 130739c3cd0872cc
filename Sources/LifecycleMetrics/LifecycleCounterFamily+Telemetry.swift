// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle

extension LifecycleCounterFamily {
    /// How whole what is known of the lifecycle is.
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
