// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
package import LifecycleMetrics
package import MetricsRegistry
package import PrefetchLifecycle
internal import RefreshLifecycle
internal import Synchronization
package import TelemetryEvents

/// The metrics that are functions of the ledger, so that they continue after every restart (docs/metrics.md).
///
/// `publish(_:)` sets all of them as of one position in one atomic update.
package struct ProjectionMetrics: Sendable {
    private let registry: MetricsRegistry
    private let created: Int64
    private var lifecycle: LifecycleInstruments
    /// Nil where the background refresh is off.
    private var refresh: RefreshInstruments?
    private let identities: Gauge
    private let identityBytes: Gauge
    private let received: [(origin: UInt16, counter: Counter)]
    private let accepted: Counter
    private let duplicates: Counter
    private let rejected: CaseFamily<RejectionReason, Counter>
    private let effects: CaseFamily<AcceptedEffect, Counter>
    private let increments: CaseFamily<IncrementCause, Counter>
    private let unknownFields: Counter
    private let altered: CaseFamily<ShapedField, Counter>
    private let lines: CaseFamily<LineResult, Counter>
    private let sequence: Gauge
    private let journal: JournalSums?

    /// Failed deletions of old batches.
    package let retentionFailures: Counter
    /// Failed checkpoints.
    package let checkpointFailures: Counter
    /// Leaps of the system clock.
    package let clockLeaps: Counter
    /// Whether the system clock is doubted after a leap.
    package let clockDoubted: Gauge
    /// Batches of which events or receipt could not be read.
    package let unreadableRecords: Counter

    /// - Parameters:
    ///   - created: the creation time of the ledger, in microseconds since 1970.
    ///   - journal: the journal's progress; nil without a journal.
    ///   - labels: labels to add to the lifecycle's families.
    ///   - apps: the apps whose events are taken; the families of the others are not on the page.
    package init(
        _ registry: MetricsRegistry,
        created: Int64,
        journal: DeliveryProgress?,
        labels: [LifecycleLabel] = [],
        apps: Set<App> = Set(App.allCases)
    ) {
        self.journal = journal.map { JournalSums(registry, $0) }
        self.registry = registry
        self.created = created
        lifecycle = LifecycleInstruments(registry, created: created, labels: labels, isReceiver: true)
        refresh = apps.contains(.aiq) ? RefreshInstruments(registry, created: created, labels: labels) : nil
        identities = registry.gauge(
            "dnp_telemetry_remembered_identities",
            help: "Identities of events and batches by which a duplicate is known."
        )
        identityBytes = registry.gauge(
            "dnp_telemetry_remembered_identities_bytes",
            help: "Memory that the remembered identities take.",
            unit: "bytes"
        )
        let received = registry.counter(
            "dnp_telemetry_events_received_total",
            help: "Events received, by source and format; the sum of accepted, duplicate and rejected ones.",
            labels: ["source", "format"]
        )
        self.received = EventOrigin.allCases.map {
            ($0.rawValue, received.with($0.source.name, $0.format.name))
        }
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
        effects = registry.counter(
            "dnp_telemetry_accepted_effects_total",
            help: "Events accepted, by what they did to the counters of the lifecycle; together all of them.",
            label: "effect",
            of: AcceptedEffect.self,
            value: { "\($0.name)" }
        )
        increments = registry.counter(
            "dnp_telemetry_lifecycle_increments_total",
            help: "By how much the counters of the lifecycle grew that events count in, by what made them grow.",
            label: "cause",
            of: IncrementCause.self,
            value: { "\($0.name)" }
        )
        unknownFields = registry.counter(
            "dnp_telemetry_unknown_fields_total",
            help: "Fields of events that were dropped because the vocabulary does not know them."
        )
        altered = registry.counter(
            "dnp_telemetry_altered_texts_total",
            help: "Texts of events without the shape of their field: ids became pseudonyms, others were dropped.",
            label: "field",
            of: ShapedField.self,
            value: { "\($0.name)" }
        )
        lines = registry.counter(
            "dnp_telemetry_log_lines_total",
            help: "Lines of logs, by what became of them.",
            label: "result",
            of: LineResult.self,
            value: { "\($0)" }
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
        clockLeaps = registry.counter(
            "dnp_telemetry_clock_leaps_total",
            help: "Leaps of the system clock, and starts at a time that does not follow the ledger's last."
        )
        clockDoubted = registry.gauge(
            "dnp_telemetry_clock_doubted",
            help: "1 while the system clock has leapt and not stood for 15 minutes since, so that no cycle closes."
        )
        unreadableRecords = registry.counter(
            "dnp_telemetry_unreadable_batches_total",
            help: "Batches of the ledger whose records could not be read."
        )
    }

    package mutating func publish(_ projection: LedgerProjection) {
        guard let journal else { return registry.update { set(projection, in: &$0) } }
        journal.alone { registry.update { set(projection, in: &$0) } }
    }

    /// Attaches exemplars of the last observations, after their projection was published.
    package func attach(_ observations: [LifecycleObservation]) {
        lifecycle.attach(observations)
    }

    private mutating func set(_ projection: LedgerProjection, in update: inout MetricsUpdate) {
        let accounts = projection.accounts
        let groups = projection.fold.totalsByGroup
        let fold = projection.fold
        lifecycle.set(groups, openCycles: fold.openCycles, pending: fold.pendingNotifications, in: &update)
        refresh?.set(projection.refresh, in: &update)
        update.set(identities, to: projection.fold.rememberedIdentities)
        update.set(identityBytes, to: projection.fold.identityBytes)
        for (origin, counter) in received {
            update.raise(counter, to: accounts.received[origin] ?? 0, created: created)
        }
        update.raise(accepted, to: accounts.accepted, created: created)
        update.raise(duplicates, to: accounts.duplicates, created: created)
        for reason in RejectionReason.allCases {
            update.raise(rejected[reason], to: accounts.rejected[Int(reason.rawValue)], created: created)
        }
        for effect in AcceptedEffect.allCases {
            update.raise(effects[effect], to: accounts.effects[Int(effect.rawValue)], created: created)
        }
        for cause in IncrementCause.allCases {
            update.raise(increments[cause], to: accounts.increments[cause.rawValue], created: created)
        }
        update.raise(unknownFields, to: accounts.unknownFields, created: created)
        for field in ShapedField.allCases {
            update.raise(altered[field], to: accounts.altered[field], created: created)
        }
        for result in LineResult.allCases {
            update.raise(lines[result], to: accounts.lines[result.rawValue], created: created)
        }
        update.set(sequence, to: projection.position.sequence)
        // An event that was accepted and is not counted was in a batch that is damaged or missing.
        let sequence = projection.position.sequence
        let lost = sequence - min(accounts.accepted, sequence)
        journal?.set(accepted: accounts.accepted, lost: lost, created: created, in: &update)
    }
}

/// The journal's metrics, set in the same update as the accounts: in every scrape `accepted = confirmed + skipped + pending`
/// holds, and the lag is above 0 just where something is pending.
///
/// Only what is saved in the ledger counts as confirmed, so that the counter does not decrease after a kill.
private final class JournalSums: Sendable {
    private let registry: MetricsRegistry
    private let progress: DeliveryProgress
    private let confirmed: Counter
    private let skipped: Counter
    private let pending: Gauge
    private let lag: Gauge
    /// Since when the oldest event that the page shows as pending has waited; ``nothing`` where none is pending.
    private let shownSince = Atomic(JournalSums.nothing)
    /// Held during each update, so that none shows the lag of another one's events.
    private let updates = Mutex<Void>(())

    private static let nothing = Int64.min

    init(_ registry: MetricsRegistry, _ progress: DeliveryProgress) {
        self.registry = registry
        self.progress = progress
        confirmed = registry.counter(
            "dnp_telemetry_journal_entries_confirmed_total",
            help: "Events that were read back from the journal."
        )
        skipped = registry.counter(
            "dnp_telemetry_journal_entries_skipped_total",
            help: "Events that left the ledger while no journal was written."
        )
        pending = registry.gauge(
            "dnp_telemetry_journal_pending_entries",
            help: "Events in the ledger that are not confirmed in the journal yet."
        )
        lag = registry.gauge(
            "dnp_telemetry_journal_lag_seconds",
            help: "Age of the oldest event that is not confirmed in the journal.",
            unit: "seconds"
        )
        registry.onCollect { [weak self] in self?.refreshLag() }
    }

    /// Runs an update with no other one beside it.
    func alone(_ update: () -> Void) { updates.withLock { _ in update() } }

    /// Lets the lag grow until a scrape, also while nothing is committed.
    private func refreshLag() {
        alone {
            let seconds = lagSeconds(since: shownSince.load(ordering: .relaxed))
            registry.update { $0.set(lag, to: seconds) }
        }
    }

    private func lagSeconds(since: Int64) -> Double {
        since == Self.nothing ? 0 : Double(progress.age(since: since)) / 1e6
    }

    /// Call it in ``alone(_:)``.
    ///
    /// - Parameter lost: how many numbers the ledger gave to events that it has lost since; `accepted` lacks them.
    func set(accepted: UInt64, lost: UInt64, created: Int64, in update: inout MetricsUpdate) {
        let (saved, since) = progress.waiting
        let passedLost = min(lost, saved.skipped, saved.position.sequence)
        let done = min(saved.position.sequence - passedLost, accepted)
        let passed = min(saved.skipped - passedLost, done)
        update.raise(confirmed, to: done - passed, created: created)
        update.raise(skipped, to: passed, created: created)
        update.set(pending, to: accepted - done)
        let shown = done == accepted ? Self.nothing : since ?? progress.now
        shownSince.store(shown, ordering: .relaxed)
        update.set(lag, to: lagSeconds(since: shown))
    }
}
