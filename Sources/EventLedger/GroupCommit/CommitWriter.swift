// SPDX-License-Identifier: Apache-2.0

/// The loop of the writer thread: work, group after group, ticks, and the end.
final class CommitWriter<Processor: CommitProcessor & ~Copyable> {
    private typealias Entry = CommitQueue<Processor>.Entry

    private let ledger: EventLedger
    private let queue: CommitQueue<Processor>
    private let clock: LedgerClock
    private let tickInterval: UInt64?
    private let observe: (@Sendable (CommitReport) -> Void)?
    private var processor: Processor

    private var backlog: [Entry?] = []
    private var cursor = 0
    private var group: [Entry] = []
    private var batches: [LedgerBatch] = []
    private var hasBatch: [Bool] = []
    private var outcomes: [Processor.Outcome] = []

    init(
        ledger: EventLedger,
        processor: consuming Processor,
        queue: CommitQueue<Processor>,
        clock: LedgerClock,
        tickInterval: UInt64?,
        observe: (@Sendable (CommitReport) -> Void)?
    ) {
        self.ledger = ledger
        self.processor = processor
        self.queue = queue
        self.clock = clock
        self.tickInterval = tickInterval
        self.observe = observe
    }

    /// Runs until a stop is requested and everything that waited is done or past the deadline.
    func run() {
        var tickAt = tickInterval.map { clock.monotonic() &+ $0 }
        while true {
            let turn = queue.nextTurn(backlog: &backlog, tickAt: tickAt, mayWait: !processor.wantsTurn)
            for item in turn.work { item.run(&processor, ledger) }
            if turn.isTickDue, let tickInterval {
                tick()
                tickAt = clock.monotonic() &+ tickInterval
            }
            if turn.isPastDeadline, !backlog.isEmpty {
                abandonBacklog()
                continue
            }
            takeGroup()
            if !group.isEmpty {
                commitGroup()
            } else if turn.isStopping, turn.work.isEmpty {
                break
            } else if !turn.isTickDue, processor.wantsTurn {
                takeTurn()
            }
        }
        processor.stopping(ledger, at: ledger.position, now: clock.now())
        queue.finish()
    }

    /// Moves the next submissions of the backlog into the group, within the limits of one transaction.
    private func takeGroup() {
        var bytes = 0
        while cursor < backlog.count, group.count < queue.limits.groupSubmissions, let entry = backlog[cursor] {
            guard group.isEmpty || bytes + entry.cost <= queue.limits.groupBytes else { return }
            bytes += entry.cost
            group.append(entry)
            backlog[cursor] = nil
            cursor += 1
        }
        if cursor == backlog.count {
            backlog.removeAll(keepingCapacity: true)
            cursor = 0
        }
    }

    private func commitGroup() {
        let now = clock.now()
        for entry in group {
            let batch = processor.prepare(entry.submission, receivedAt: now)
            hasBatch.append(batch != nil)
            if let batch { batches.append(batch) }
        }
        let start = ledger.position
        let began = clock.monotonic()
        do {
            let end = try ledger.append(batches)
            let elapsed = batches.isEmpty ? 0 : clock.monotonic() &- began
            applyGroup(from: start)
            processor.groupCommitted(at: end, now: now)
            report(nanoseconds: elapsed, error: nil)
            for (entry, outcome) in zip(group, outcomes) {
                entry.continuation?.resume(returning: .success(outcome))
            }
            clearGroup()
            processor.settled(ledger, at: end, now: now)
        } catch {
            processor.aborted(error)
            report(nanoseconds: clock.monotonic() &- began, error: error)
            for entry in group {
                entry.continuation?.resume(returning: .failure(.failed(error)))
            }
            clearGroup()
        }
    }

    private func applyGroup(from start: LedgerPosition) {
        var position = start
        var next = 0
        for (index, entry) in group.enumerated() {
            var placement: CommitPlacement?
            if hasBatch[index] {
                let found = CommitPlacement(following: position, count: batches[next].count)
                placement = found
                position = found.position
                next += 1
            }
            outcomes.append(processor.commit(entry.submission, at: placement))
        }
    }

    private func report(nanoseconds: UInt64, error: LedgerError?) {
        var events: UInt64 = 0
        var bytes = 0
        for batch in batches {
            events += UInt64(batch.count)
            bytes += batch.receipt.count + batch.events.count
        }
        var submitted = 0
        var cost = 0
        for entry in group where entry.continuation != nil {
            submitted += 1
            cost += entry.cost
        }
        let report = CommitReport(
            submissions: group.count,
            batches: batches.count,
            events: events,
            bytes: bytes,
            nanoseconds: nanoseconds,
            error: error
        )
        queue.finish(report, submitted: submitted, cost: cost)
        observe?(report)
    }

    private func clearGroup() {
        group.removeAll(keepingCapacity: true)
        batches.removeAll(keepingCapacity: true)
        hasBatch.removeAll(keepingCapacity: true)
        outcomes.removeAll(keepingCapacity: true)
    }

    /// A tick's submission is a group of its own; the time to settle comes with every tick.
    private func tick() {
        let now = clock.now()
        if let submission = processor.tick(now: now) {
            group.append(Entry(submission: submission, cost: 0, continuation: nil))
            commitGroup()
        } else {
            processor.settled(ledger, at: ledger.position, now: now)
        }
    }

    /// What the processor wants to go on with while nothing waits.
    private func takeTurn() {
        if tickInterval == nil {
            processor.settled(ledger, at: ledger.position, now: clock.now())
        } else {
            tick()
        }
    }

    private func abandonBacklog() {
        for case let entry? in backlog {
            queue.abandon(submitted: 1, cost: entry.cost)
            entry.continuation?.resume(returning: .failure(.stopped))
        }
        backlog.removeAll()
        cursor = 0
    }
}
