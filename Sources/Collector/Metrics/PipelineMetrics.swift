// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import MetricsRegistry
internal import PrefetchLifecycle
internal import TelemetryEvents

/// The families that are functions of the ledger, so that they go on after every restart (SPEC 4.3, 4.5, 6).
///
/// `publish(_:)` sets all of them as of one position in one update, which no scrape sees half of.
struct PipelineMetrics: Sendable {
    private enum Stage: String, CaseIterable {
        case success
        case used
    }

    private let registry: MetricsRegistry
    private let created: Int64
    private let scheduled: Counter
    private let executed: Counter
    private let success: Counter
    private let failure: CaseFamily<FailureReason, Counter>
    private let used: Counter
    private let implied: CaseFamily<Stage, Counter>
    private let openCycles: Gauge
    private let evictedCycles: Counter
    private let identities: Gauge
    private let identityBytes: Gauge
    private let evictedIdentities: Counter
    private let received: CounterFamily
    private let accepted: Counter
    private let duplicates: Counter
    private let rejected: CaseFamily<RejectionReason, Counter>
    private let unknownFields: Counter
    private let sequence: Gauge
    private let journal: JournalSums?

    /// Deletions of what is no longer needed that failed.
    let retentionFailures: Counter
    /// Checkpoints that could not be saved.
    let checkpointFailures: Counter
    /// Batches whose records could not be read.
    let unreadableRecords: Counter

    /// - Parameters:
    ///   - registry: where the families stand.
    ///   - created: when the ledger was made, in microseconds since 1970.
    ///   - journal: how far the journal has come, where there is one.
    init(_ registry: MetricsRegistry, created: Int64, journal: JournalProgress?) {
        self.journal = journal.map { JournalSums(registry, $0) }
        self.registry = registry
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
        openCycles = registry.gauge("dnp_prefetch_open_cycles", help: "Cycles that are not closed yet.")
        evictedCycles = registry.counter(
            "dnp_telemetry_evicted_cycles_total",
            help: "Cycles that were closed early because too many were open."
        )
        identities = registry.gauge(
            "dnp_telemetry_remembered_identities",
            help: "Identities of events and batches by which a duplicate is known."
        )
        identityBytes = registry.gauge(
            "dnp_telemetry_remembered_identities_bytes",
            help: "Memory that the remembered identities take.",
            unit: "bytes"
        )
        evictedIdentities = registry.counter(
            "dnp_telemetry_evicted_identities_total",
            help: "Identities that were forgotten early because too many were remembered."
        )
        received = registry.counter(
            "dnp_telemetry_events_received_total",
            help: "Events received, by source and format; the sum of accepted, duplicate and rejected ones.",
            labels: ["source", "format"]
        )
        accepted = registry.counter("dnp_telemetry_events_accepted_total", help: "Events committed to the ledger.")
        duplicates = registry.counter(
            "dnp_telemetry_events_duplicate_total",
            help: "Events that had been accepted before."
        )
        rejected = registry.counter(
            "dnp_telemetry_events_rejected_total",
            help: "Events that were refused, by reason.",
            label: "reason",
            of: RejectionReason.self,
            value: { "\($0.name)" }
        )
        unknownFields = registry.counter(
            "dnp_telemetry_unknown_fields_total",
            help: "Fields of events that were dropped because the vocabulary does not know them."
        )
        sequence = registry.gauge(
            "dnp_telemetry_ledger_sequence",
            help: "The position in the ledger that this page is true for: the number of the last event."
        )
        retentionFailures = registry.counter(
            "dnp_telemetry_retention_failures_total",
            help: "Deletions of old batches from the ledger that failed."
        )
        checkpointFailures = registry.counter(
            "dnp_telemetry_checkpoint_failures_total",
            help: "Checkpoints of the projections that could not be saved."
        )
        unreadableRecords = registry.counter(
            "dnp_telemetry_unreadable_batches_total",
            help: "Batches of the ledger whose records could not be read."
        )
    }

    func publish(_ projection: LedgerProjection) {
        registry.update { set(projection) }
    }

    private func set(_ projection: LedgerProjection) {
        let totals = projection.fold.totals
        let accounts = projection.accounts
        scheduled.restore(to: totals.scheduled, created: created)
        executed.restore(to: totals.executed, created: created)
        success.restore(to: totals.success, created: created)
        for reason in FailureReason.allCases { failure[reason].restore(to: totals.failure(reason), created: created) }
        used.restore(to: totals.used, created: created)
        implied[.success].restore(to: totals.impliedSuccess, created: created)
        implied[.used].restore(to: totals.impliedUsed, created: created)
        openCycles.set(projection.fold.openCycles)
        evictedCycles.restore(to: totals.evictedCycles, created: created)
        identities.set(projection.fold.rememberedIdentities)
        identityBytes.set(projection.fold.identityBytes)
        evictedIdentities.restore(to: totals.evictedIdentities, created: created)
        for source in EventSource.allCases {
            for format in EventFormat.allCases {
                let count = accounts.received[EventOrigin(source, format).rawValue] ?? 0
                received.with(source.name, format.name).restore(to: count, created: created)
            }
        }
        accepted.restore(to: accounts.accepted, created: created)
        duplicates.restore(to: accounts.duplicates, created: created)
        for reason in RejectionReason.allCases {
            rejected[reason].restore(to: accounts.rejected[Int(reason.rawValue)], created: created)
        }
        unknownFields.restore(to: accounts.unknownFields, created: created)
        sequence.set(projection.position.sequence)
        journal?.set(accepted: accounts.accepted, created: created)
    }
}
