// SPDX-License-Identifier: Apache-2.0

import CycleIndex
import LedgerState
import LifecycleMetrics
import Logging
import MetricsRegistry
import PrefetchLifecycle
import RefreshLifecycle
import Synchronization
import SystemPrimitives

@testable import Collector
@testable import EventLedger
@testable import TelemetryEvents

/// The clocks of a simulation, which move when they are told to.
final class SimulatedClock: Sendable {
    private struct Times {
        var monotonic: UInt64 = 1_000_000_000_000
        /// The wall time at the monotonic time 0, and by how much the clock was set wrong, in microseconds.
        var origin: Int64
        var leap: Int64 = 0
    }

    private let times: Mutex<Times>

    /// - Parameter start: the wall time, in microseconds since 1970.
    init(start: Int64) { times = Mutex(Times(origin: start - 1_000_000_000)) }

    var monotonic: UInt64 { times.withLock { $0.monotonic } }
    var now: Int64 { times.withLock { $0.origin + $0.leap + Int64($0.monotonic / 1_000) } }

    func advance(nanoseconds: UInt64) { times.withLock { $0.monotonic += nanoseconds } }
    var leap: Int64 { times.withLock { $0.leap } }
    func set(leap: Int64) { times.withLock { $0.leap = leap } }

    var ledgerClock: LedgerClock { LedgerClock(now: { self.now }, monotonic: { self.monotonic }) }
}

/// A process of the collector, without threads: ledger, writer, fold, retention, checkpoints and the journal's delivery.
///
/// It is assembled as ``ServicePipeline`` assembles the service; the parts take turns where the service has a thread each.
final class SimulatedCollector {
    let ledger: EventLedger
    let opening: LedgerOpening
    let registry: MetricsRegistry
    let recovery: LedgerProjection.Recovery
    /// What was recovered.
    let recovered: CountedState
    /// Nil where no journal is written.
    let progress: DeliveryProgress?
    private let queue: CommitQueue<WitnessedProcessor>
    private let writer: CommitWriter<WitnessedProcessor>
    private var delivery: SimulatedDelivery?
    private let signals = Signals()
    private let disk: SimulatedDisk
    private let clock: SimulatedClock

    /// What the writer tells the delivery, and the other way round.
    private final class Signals: Sendable {
        private let state = Mutex((hasMore: false, cursor: String?.none))

        var cursor: String? {
            get { state.withLock { $0.cursor } }
            set { state.withLock { $0.cursor = newValue } }
        }

        func wake() { state.withLock { $0.hasMore = true } }

        func takeWake() -> Bool {
            state.withLock { state in
                defer { state.hasMore = false }
                return state.hasMore
            }
        }
    }

    init(
        _ disk: SimulatedDisk,
        _ clock: SimulatedClock,
        _ swarm: SimulationSwarm,
        _ oracle: CollectorOracle,
        plant: PlantedFault?,
        random: inout SplitMix64
    ) throws {
        self.disk = disk
        self.clock = clock
        let log = Logger(label: "simulation") { label in
            let handler: any LogHandler =
                swarm.isVerbose ? StreamLogHandler.standardError(label: label) : SwiftLogNoOpLogHandler()
            return handler
        }
        let key = SimulatedFleet.identityKey
        let started = ClockReading(clock.ledgerClock)
        let (ledger, opening) = try EventLedger.open(
            directory: disk.directory,
            durability: swarm.durability,
            now: clock.now,
            limits: LedgerLimits(),
            disk: disk
        )
        let reader = ledger.reader
        let index = swarm.hasConsole ? try CycleIndex(reader) ?? CycleIndex(at: .start, since: clock.now) : nil
        let (projection, recovery) = try LedgerProjection.recover(
            from: reader,
            identityKey: key,
            limits: LifecycleLimits(),
            index: index,
            now: clock.now
        )
        try ledger.keepRoom(checkpointBytes: projection.checkpointBytes)
        let registry = MetricsRegistry(now: { clock.now })
        let progress =
            swarm.hasJournal
            ? try DeliveryProgress.resume(ledger, upTo: projection.position, clock: clock.ledgerClock) : nil
        (self.ledger, self.opening, self.registry, self.recovery) = (ledger, opening, registry, recovery)
        (recovered, self.progress) = (CountedState(projection), progress)
        if let progress {
            delivery = SimulatedDelivery(
                ledger,
                try LedgerReader(files: ledger.reader.files, limits: LedgerLimits()),
                progress,
                key: key,
                clock: clock.ledgerClock,
                log: log,
                plant: plant,
                random: &random
            )
        }
        let processor = IngestProcessor(
            projection,
            recovery: recovery,
            retention: LedgerRetention(journal: progress, keepSeconds: { swarm.keepSeconds }),
            metrics: ProjectionMetrics(registry, created: ledger.createdAt, journal: progress),
            log: log,
            watch: plant == .clockAlwaysBelieved ? nil : ClockWatch(lastRow: projection.lastRow),
            started: started,
            monotonic: { Int64(clock.monotonic / 1_000) }
        ) { [signals] position in
            progress?.committed(position.sequence)
            progress?.passed(cursor: signals.cursor)
            signals.wake()
        }
        queue = CommitQueue(
            limits: GroupCommitLimits(
                groupSubmissions: swarm.groupSubmissions,
                answeredEvents: swarm.answeredEvents
            ),
            clock: clock.ledgerClock
        )
        writer = CommitWriter(
            ledger: ledger,
            processor: WitnessedProcessor(processor, oracle, disk, plant),
            queue: queue,
            clock: clock.ledgerClock,
            tickInterval: 1_000_000_000,
            observe: nil
        )
    }

    // MARK: Turns

    /// Hands in a submission; `answer` is called in a later turn, and never where the process ends before.
    ///
    /// - Returns: whether it was admitted.
    func submit(
        _ submission: IngestSubmission,
        answer: @escaping @Sendable (Result<IngestOutcome, SubmissionError>) -> Void
    ) -> Bool {
        let witnessed = WitnessedProcessor.Submission(ingest: submission, answer: answer)
        let entry = CommitQueue<WitnessedProcessor>.Entry(
            submission: witnessed,
            cost: IngestProcessor.cost(of: submission),
            answer: answer
        )
        return queue.enqueue(entry) == nil
    }

    /// A turn of the writer.
    func turn() { _ = writer.takeTurn(mayWait: false) }

    /// Some turns of the journal's delivery.
    func deliver(_ journald: inout SimulatedJournald, turns: Int) {
        guard delivery != nil else { return }
        if signals.takeWake() { delivery?.wake() }
        for _ in 0..<turns {
            let wait = delivery?.turn(&journald, disk, now: clock.monotonic) ?? 0
            clock.advance(nanoseconds: min(wait, 20_000_000))
        }
        signals.cursor = delivery?.cursor
    }

    /// Whether the journal has all that the ledger has.
    var isDelivered: Bool { progress.map { $0.saved.position.sequence == ledger.position.sequence } ?? true }

    /// Stops as the service does, and closes the ledger.
    func stop() throws {
        queue.requestStop(deadline: .max)
        for _ in 0..<10_000 where writer.takeTurn(mayWait: false) == false { break }
        try ledger.close()
    }
}

/// What a projection has counted and what it holds, as of a position.
struct CountedState: Equatable {
    let position: LedgerPosition
    let accounts: IngestAccounts
    let totals: LifecycleTotals
    let runTotals: RefreshTotals
    let sizes: [String: Int]

    init(_ projection: LedgerProjection) {
        position = projection.position
        accounts = projection.accounts
        totals = projection.fold.totals
        runTotals = projection.refresh.totals
        sizes = [
            "open cycles": projection.fold.openCycles, "open runs": projection.refresh.openRuns,
            "remembered identities": projection.fold.rememberedIdentities, "halvings": projection.fold.halvings,
        ]
    }

    /// What differs, in words; nil where nothing does.
    func difference(from other: CountedState) -> String? {
        if position != other.position { return "it is true for \(position), not for \(other.position)" }
        if accounts != other.accounts { return "the accounts are \(accounts), not \(other.accounts)" }
        if totals != other.totals { return "the totals of cycles are \(totals), not \(other.totals)" }
        if runTotals != other.runTotals { return "the totals of runs are \(runTotals), not \(other.runTotals)" }
        return sizes == other.sizes ? nil : "it holds \(sizes), not \(other.sizes)"
    }
}

/// The processor of the service between a witness, which sees what is stored, and the faults that are planted.
struct WitnessedProcessor: CommitProcessor {
    typealias Outcome = IngestOutcome

    struct Submission: Sendable {
        let ingest: IngestSubmission
        let answer: @Sendable (Result<IngestOutcome, SubmissionError>) -> Void
    }

    struct Preparation {
        let inner: IngestProcessor.Preparation
        let batch: LedgerBatch
    }

    private var inner: IngestProcessor
    private let oracle: CollectorOracle
    private let disk: SimulatedDisk
    private let plant: PlantedFault?
    private var keys: Set<UInt64> = []

    init(_ inner: IngestProcessor, _ oracle: CollectorOracle, _ disk: SimulatedDisk, _ plant: PlantedFault?) {
        self.inner = inner
        self.oracle = oracle
        self.disk = disk
        self.plant = plant
    }

    static func cost(of submission: Submission) -> Int { IngestProcessor.cost(of: submission.ingest) }
    static var stateBytesPerEvent: Int { IngestProcessor.stateBytesPerEvent }

    mutating func prepare(_ submission: Submission, receivedAt: Int64) -> CommitDecision<Preparation, Outcome> {
        var ingest = submission.ingest
        if plant == .repeatedTakenAsNew { ingest = forgettingKey(of: ingest) }
        switch inner.prepare(ingest, receivedAt: receivedAt) {
        case .answer(let outcome): return .answer(outcome)
        case .append(let batch, let preparation):
            oracle.prepared(batch)
            if plant == .acknowledgedBeforeCommit, case .events = ingest {
                let duplicates = preparation.duplicates
                submission.answer(.success(.committed(accepted: Int(batch.count), duplicates: duplicates)))
            }
            return .append(batch, Preparation(inner: preparation, batch: batch))
        }
    }

    /// The same events under other identities and without a key, where the key is known.
    private mutating func forgettingKey(of ingest: IngestSubmission) -> IngestSubmission {
        guard case .events(var decoded, let origin, let identity?, _) = ingest, !keys.insert(identity.key).inserted
        else {
            return ingest
        }
        var hashes = EventHashes()
        for (identity, schedule) in zip(decoded.hashes.identities, decoded.hashes.schedules) {
            hashes.append((~identity, schedule))
        }
        decoded.hashes = hashes
        return .events(decoded, origin: origin, batch: nil)
    }

    mutating func commit(_ preparation: Preparation, of batch: LedgerBatch, at placement: CommitPlacement) -> Outcome {
        oracle.committed(batch, at: placement)
        return inner.commit(preparation.inner, of: batch, at: placement)
    }

    mutating func abort(_ preparation: Preparation) { inner.abort(preparation.inner) }

    mutating func applied(through position: LedgerPosition, now: Int64) {
        oracle.applied()
        inner.applied(through: position, now: now)
    }

    mutating func groupAborted(_ error: LedgerError) {
        oracle.groupAborted()
        inner.groupAborted(error)
    }

    mutating func maintain(_ ledger: EventLedger, at position: LedgerPosition, now: Int64) {
        inner.maintain(ledger, at: position, now: now)
        if plant == .unconfirmedDeleted { _ = try? ledger.prune(upTo: position, keepSince: .max) }
    }

    var hasPendingMaintenance: Bool { inner.hasPendingMaintenance }

    mutating func tick(now: Int64) -> Submission? {
        inner.tick(now: now).map { Submission(ingest: $0) { _ in } }
    }

    mutating func stopping(_ ledger: EventLedger, at position: LedgerPosition, now: Int64) {
        inner.stopping(ledger, at: position, now: now)
    }
}
