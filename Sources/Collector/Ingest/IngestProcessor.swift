// SPDX-License-Identifier: Apache-2.0

internal import CycleIndex
internal import EventLedger
internal import LedgerState
internal import Logging
internal import MetricsRegistry
internal import PrefetchLifecycle
internal import TelemetryEvents

/// What happens on the ledger's writer thread: deduplication before a commit, counting after it, checkpoints between.
struct IngestProcessor: CommitProcessor {
    typealias Submission = IngestSubmission
    typealias Outcome = IngestOutcome

    /// The origin of a row that says that time has passed, with the verdicts on what it closes.
    static let tickOrigin = EventOrigin.tick.rawValue

    /// How often the folds are asked whether time alone closes a cycle or a run, in microseconds.
    private static let tickInterval: Int64 = 10_000_000
    /// The same while the ledger is short of room, in which each closed cycle leaves some.
    private static let hurriedTickInterval: Int64 = 1_000_000
    /// As much of the console's index waits at most for the next checkpoint; about, in bytes.
    private static let waitingIndexBytes = 256 << 10
    /// How often the ledger's room is measured, in microseconds.
    private static let roomInterval: Int64 = 100_000

    /// By how much an event may make the next checkpoint larger.
    static var stateBytesPerEvent: Int { LedgerProjection.checkpointBytesPerEvent }

    /// How many duplicates a stored batch left out, and the hashes of the events that it has.
    struct Preparation {
        var duplicates = 0
        var hashes = EventHashes()
    }

    private var projection: LedgerProjection
    private var checkpoints: CheckpointSchedule
    private var retention: LedgerRetention
    private var metrics: ProjectionMetrics
    private let onCommit: @Sendable (LedgerPosition) -> Void
    /// Nil where there is no console.
    private var console: ConsoleFeed.Writer?
    private var failures: FailureLog
    private var marks: MarkLog
    private let log: Logger
    /// Holds ticks up after leaps of the clock; nil where every time is believed.
    private var watch: ClockWatch?
    /// Microseconds of a clock that is never set.
    private let monotonic: @Sendable () -> Int64
    private var nextTickAt: Int64 = 0
    private var wantsTick = false
    /// The time that was believed for the tick which waits.
    private var tickAt: Int64?
    private var wantsStep = false
    private var roomAt: Int64 = 0
    private var isShortOfRoom = false
    /// The limits of the state that suit the disk.
    private var halvings = 0

    /// - Parameters:
    ///   - recovery: what the projection was recovered from.
    ///   - started: both clocks when the service began, so that a leap since then is noticed.
    init(
        _ projection: LedgerProjection,
        recovery: LedgerProjection.Recovery,
        retention: LedgerRetention,
        metrics: ProjectionMetrics,
        log: Logger,
        watch: ClockWatch? = nil,
        started: ClockReading? = nil,
        console: ConsoleFeed? = nil,
        monotonic: @escaping @Sendable () -> Int64 = { Int64(clamping: LedgerClock.system.monotonic() / 1_000) },
        onCommit: @escaping @Sendable (LedgerPosition) -> Void
    ) {
        self.projection = projection
        self.retention = retention
        self.metrics = metrics
        self.onCommit = onCommit
        self.log = log
        self.watch = watch
        self.console = console.map { ConsoleFeed.Writer($0) }
        self.monotonic = monotonic
        failures = FailureLog(log)
        marks = MarkLog(log)
        checkpoints = CheckpointSchedule()
        metrics.unreadableRecords.add(recovery.unreadableBatches)
        self.metrics.publish(projection)
        self.metrics.attach(self.projection.fold.takeObservations())
        self.console?.publish(&self.projection, at: monotonic())
        if let started { _ = lookAtClock(started.wall, started.monotonic) }
    }

    /// How far every source has been read.
    var sources: SourcePositions { projection.sources }

    static func cost(of submission: Submission) -> Int {
        switch submission {
        case .events(let decoded, _, _, let earlier): cost(of: decoded) + (earlier.map { cost(of: $0) } ?? 0)
        case .dryRun(let decoded, _, let earlier): cost(of: decoded) + (earlier.map { cost(of: $0) } ?? 0)
        case .reading(let decoded, _, _, let position): cost(of: decoded) + (position?.bytes.count ?? 0)
        case .tick, .limits: 64
        }
    }

    private static func cost(of decoded: DecodedEvents) -> Int {
        decoded.events.bytes.count + decoded.rejections.count * 16 + 512
    }

    mutating func prepare(_ submission: Submission, receivedAt: Int64) -> CommitDecision<Preparation, Outcome> {
        switch submission {
        case .tick: tickBatch(receivedAt)
        case .limits(let halvings):
            .append(LimitsRow.batch(halvings: halvings, receivedAt: receivedAt), Preparation())
        case .events(let decoded, let origin, let batch, let earlier):
            eventsBatch(
                decoded,
                origin,
                IngestReceipt(decoded.lines),
                batch,
                AcceptedEvents(decoded, earlier: earlier),
                receivedAt
            )
        case .dryRun(let decoded, let batch, let earlier):
            .answer(judge(AcceptedEvents(decoded, earlier: earlier), batch))
        case .reading(let decoded, let origin, let lines, let position):
            eventsBatch(decoded, origin, IngestReceipt(lines, position), nil, AcceptedEvents(decoded), receivedAt)
        }
    }

    /// A tick is a group of its own, so that what is judged here is what closes when the row is applied.
    ///
    /// Its time is the one that was believed; the clock may have leapt since.
    private mutating func tickBatch(_ now: Int64) -> CommitDecision<Preparation, Outcome> {
        let receivedAt = tickAt ?? now
        tickAt = nil
        let verdicts = projection.verdicts(closingAt: receivedAt)
        let tick = LedgerBatch(
            receivedAt: receivedAt,
            origin: Self.tickOrigin,
            count: UInt32(verdicts.count),
            receipt: [],
            events: verdicts.records
        )
        return .append(tick, Preparation())
    }

    private mutating func eventsBatch(
        _ decoded: DecodedEvents,
        _ origin: EventOrigin,
        _ receipt: IngestReceipt,
        _ batch: BatchIdentity?,
        _ accepted: AcceptedEvents,
        _ receivedAt: Int64
    ) -> CommitDecision<Preparation, Outcome> {
        var receipt = receipt
        receipt.unknownFields = UInt64(decoded.unknownFields)
        receipt.altered = decoded.altered
        receipt.rejected = decoded.rejectedByReason
        var accepted = accepted
        if let batch {
            if projection.fold.propose(batch.key) {
                _ = projection.fold.propose(batch.keyAndBody)
                receipt.batchIdentities = [batch.key, batch.keyAndBody]
            } else {
                guard projection.fold.isKnown(batch.keyAndBody) else { return .answer(.keyReused) }
                accepted.refuseAll()
            }
        }
        accepted.deduplicate(with: &projection.fold)
        receipt.duplicates = UInt64(accepted.duplicates)
        if accepted.count == 0, receipt.isEmpty { return .answer(.committed(accepted: 0, duplicates: 0)) }
        let row = LedgerBatch(
            receivedAt: receivedAt,
            origin: origin.rawValue,
            count: UInt32(accepted.count),
            receipt: receipt.encoded,
            events: accepted.bytes
        )
        return .append(row, Preparation(duplicates: accepted.duplicates, hashes: accepted.hashes))
    }

    /// The outcome that a batch would have; nothing of it is proposed or remembered.
    private func judge(_ events: AcceptedEvents, _ batch: BatchIdentity?) -> Outcome {
        var events = events
        if let batch, projection.fold.isKnown(batch.key) {
            guard projection.fold.isKnown(batch.keyAndBody) else { return .keyReused }
            events.refuseAll()
        }
        events.countDuplicates(of: projection.fold)
        return .committed(accepted: events.count, duplicates: events.duplicates)
    }

    mutating func commit(_ preparation: Preparation, of batch: LedgerBatch, at placement: CommitPlacement) -> Outcome {
        do throws(DamagedRowError) {
            try projection.apply(batch, preparation.hashes, at: placement.position)
        } catch {
            metrics.unreadableRecords.add()
        }
        console?.committed(batch, at: placement)
        return .committed(accepted: Int(batch.count), duplicates: preparation.duplicates)
    }

    mutating func applied(through position: LedgerPosition, now: Int64) {
        projection.fold.clearProposals()
        failures.recovered()
        // Before the page shows the events as pending, since it also says how long they have been.
        onCommit(position)
        metrics.publish(projection)
        metrics.attach(projection.fold.takeObservations())
    }

    mutating func groupAborted(_ error: LedgerError) {
        projection.fold.clearProposals()
        wantsTick = false
        failures.failed(error)
    }

    mutating func maintain(_ ledger: EventLedger, at position: LedgerPosition, now: Int64) {
        keepRoom(ledger, now: now)
        marks.look(at: ledger.markFailure)
        console?.publish(&projection, at: monotonic())
        if let index = projection.index, index.unsavedBytes >= Self.waitingIndexBytes {
            saveIndex(ledger, at: position, now: now)
        }
        let isHurried = isShortOfRoom && retention.isAhead(of: checkpoints.last)
        if let step = checkpoints.next(at: position, now: now, isHurried: isHurried) {
            _ = take(step, ledger, at: position, now: now)
        }
        let lifecycle = checkpoints.last
        do throws(LedgerError) {
            let hasRun = try retention.apply(
                ledger,
                lifecycle: lifecycle,
                isShort: isShortOfRoom,
                believed: watch == nil ? now : watch?.believedTime(monotonic: monotonic()),
                now: now
            )
            if hasRun {
                metrics.publish(projection)
            }
        } catch {
            metrics.retentionFailures.add()
        }
        wantsStep = checkpoints.wantsStep(at: position, now: now, isHurried: isHurried)
    }

    /// Holds back what the next checkpoint needs by now, and from time to time measures what is left.
    private mutating func keepRoom(_ ledger: EventLedger, now: Int64) {
        let index = projection.index?.unsavedBytes ?? 0
        let bytes = checkpoints.pendingBytes(state: projection.checkpointBytes) + index
        guard now >= roomAt || now < roomAt - 2 * Self.roomInterval else {
            return ledger.expectCheckpoint(of: bytes)
        }
        roomAt = now + Self.roomInterval
        do throws(LedgerError) {
            try ledger.keepRoom(checkpointBytes: bytes)
        } catch {
            metrics.retentionFailures.add()
        }
        guard let room = ledger.room else { return }
        isShortOfRoom = room.isShort
        let current = projection.fold.halvings
        // What other files hold of the disk may come and go; no duplicate is forgotten for it.
        let sparing = max(current, projection.sparingHalvings)
        halvings = max(room.stateHalvings, min(room.stateHalvings(from: current), sparing))
    }

    mutating func tick(now: Int64) -> Submission? {
        if halvings != projection.fold.halvings { return .limits(halvings: halvings) }
        guard now >= nextTickAt || now < nextTickAt - 2 * Self.tickInterval else { return nil }
        wantsTick = lookAtClock(now, monotonic()) && projection.isTickDue(at: now)
        nextTickAt = wantsTick ? now : now + (isShortOfRoom ? Self.hurriedTickInterval : Self.tickInterval)
        tickAt = wantsTick ? now : nil
        return wantsTick ? .tick : nil
    }

    /// Compares the system clock with the monotonic one.
    ///
    /// - Returns: whether the clock can be believed that it is that late.
    private mutating func lookAtClock(_ now: Int64, _ monotonic: Int64) -> Bool {
        let belief = watch?.look(now: now, monotonic: monotonic) ?? .believed
        metrics.clockDoubted.set(belief == .believed ? 0 : 1)
        switch belief {
        case .believed: return true
        case .doubted: return false
        case .leapt(let step):
            metrics.clockLeaps.add()
            log.warning(
                "the system clock leapt; no cycle closes until it has stood for 15 minutes, or is back where it had",
                metadata: ["seconds": "\(step / 1_000_000)"]
            )
            return false
        }
    }

    var hasPendingMaintenance: Bool { wantsStep || wantsTick }

    mutating func stopping(_ ledger: EventLedger, at position: LedgerPosition, now: Int64) {
        var attempts = 2
        while attempts > 0, let step = checkpoints.last(at: position) {
            if !take(step, ledger, at: position, now: now) { attempts -= 1 }
        }
        retention.savePosition(ledger, now: now)
    }

    /// Takes a step towards a checkpoint; false when the ledger could not.
    private mutating func take(
        _ step: CheckpointSchedule.Step,
        _ ledger: EventLedger,
        at position: LedgerPosition,
        now: Int64
    ) -> Bool {
        let name = LedgerProjection.name
        do throws(LedgerError) {
            switch step {
            case .tidy: checkpoints.tidied(isDone: try ledger.tidy(name))
            case .begin:
                // Before the state that it must not fall behind.
                saveIndex(ledger, at: position, now: now)
                checkpoints.began(projection.takeChanges(at: position))
            case .write(let part):
                try ledger.stage(part, of: name)
                checkpoints.wrote()
            case .commit(let position):
                try ledger.commitStage(of: name, at: position, now: now)
                checkpoints.committed(at: position, now: now)
            }
            return true
        } catch {
            checkpoints.failed(now: now)
            metrics.checkpointFailures.add()
            return false
        }
    }

    /// Saves the console's index as of the current position. What cannot be saved stays in memory; the ledger's own state
    /// does not wait for it.
    private mutating func saveIndex(_ ledger: EventLedger, at position: LedgerPosition, now: Int64) {
        guard projection.index != nil, !isShortOfRoom else { return }
        projection.updateIndex()
        guard let changes = projection.index?.changes else { return }
        do throws(LedgerError) {
            try ledger.checkpoint(projection: CycleIndex.name, at: position, changes: changes, now: now)
            projection.savedIndex()
        } catch {
            metrics.checkpointFailures.add()
        }
    }
}
