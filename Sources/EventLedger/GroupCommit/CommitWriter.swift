// SPDX-License-Identifier: Apache-2.0

/// The loop of the writer thread: work items, group after group, ticks, and the end.
final class CommitWriter<Processor: CommitProcessor & ~Copyable> {
    private typealias Entry = CommitQueue<Processor>.Entry

    /// What is left of a decision once its batch is in `batches`, in the same order.
    private enum Step {
        case append(Processor.Preparation)
        case answer(Processor.Outcome)
    }

    private let ledger: EventLedger
    private let queue: CommitQueue<Processor>
    private let clock: LedgerClock
    private let tickInterval: UInt64?
    private let observe: (@Sendable (CommitReport) -> Void)?
    private var processor: Processor

    private var tickAt: UInt64?
    private var backlog: [Entry?] = []
    private var cursor = 0
    private var group: [Entry] = []
    private var batches: [LedgerBatch] = []
    private var steps: [Step] = []
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
        tickAt = tickInterval.map { clock.monotonic() &+ $0 }
    }

    /// Runs until a stop is requested and everything that waited is committed or past the deadline.
    func run() {
        while takeTurn(mayWait: true) {}
    }

    /// Does what is due, at most one group; false when a requested stop is complete.
    ///
    /// - Parameter mayWait: whether to sleep until something is due; a simulation takes turns without.
    func takeTurn(mayWait: Bool) -> Bool {
        let mayWait = mayWait && !processor.hasPendingMaintenance
        let turn = queue.nextTurn(backlog: &backlog, tickAt: tickAt, mayWait: mayWait)
        for item in turn.work { item.run(&processor, ledger) }
        if turn.isTickDue, let tickInterval {
            tick()
            tickAt = clock.monotonic() &+ tickInterval
        }
        if turn.isPastDeadline, !backlog.isEmpty {
            abandonBacklog()
            return true
        }
        takeGroup()
        if !group.isEmpty {
            commitGroup()
        } else if turn.isStopping, turn.work.isEmpty {
            processor.stopping(ledger, at: ledger.position, now: clock.now())
            queue.finish()
            return false
        } else if !turn.isTickDue, processor.hasPendingMaintenance {
            maintain()
        }
        return true
    }

    /// Moves the next submissions of the backlog into the group, within the limits of one transaction.
    private func takeGroup() {
        guard cursor < backlog.count else { return }
        var bytes = 0
        let limit = min(queue.limits.groupBytes, ledger.groupBytes)
        while cursor < backlog.count, group.count < queue.limits.groupSubmissions, let entry = backlog[cursor] {
            guard group.isEmpty || bytes + entry.cost <= limit else { return }
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

    /// - Returns: whether the group was stored.
    @discardableResult
    private func commitGroup(for purpose: LedgerRoom.Purpose = .events) -> Bool {
        let now = clock.now()
        for entry in group {
            switch processor.prepare(entry.submission, receivedAt: now) {
            case .append(let batch, let preparation):
                batches.append(batch)
                steps.append(.append(preparation))
            case .answer(let outcome):
                steps.append(.answer(outcome))
            }
        }
        let start = ledger.position
        let began = clock.monotonic()
        do {
            let end = try ledger.append(batches, for: purpose, stateBytesPerEvent: Processor.stateBytesPerEvent)
            let elapsed = batches.isEmpty ? 0 : clock.monotonic() &- began
            applyGroup(from: start, now: now, report(nanoseconds: elapsed, error: nil))
            clearGroup()
            processor.maintain(ledger, at: end, now: now)
            return true
        } catch {
            abortGroup(error)
            finish(group[...], report(nanoseconds: clock.monotonic() &- began, error: error))
            for entry in group {
                entry.answer?(.failure(.failed(error)))
            }
            clearGroup()
            return false
        }
    }

    /// Applies the batches of the group in order, and answers their submitters in parts: those of the first one send on
    /// while the rest is applied.
    private func applyGroup(from start: LedgerPosition, now: Int64, _ report: CommitReport) {
        let part = UInt64(queue.limits.answeredEvents)
        var position = start
        var next = 0
        var answered = start.sequence
        for step in steps {
            switch step {
            case .append(let preparation):
                let placement = CommitPlacement(following: position, count: batches[next].count)
                outcomes.append(processor.commit(preparation, of: batches[next], at: placement))
                position = placement.position
                next += 1
            case .answer(let outcome):
                outcomes.append(outcome)
            }
            if position.sequence - answered >= part {
                answer(at: position, now: now, report)
                answered = position.sequence
            }
        }
        answer(at: position, now: now, report)
    }

    /// Publishes what is applied so far, and answers the submitters that have an outcome.
    private func answer(at position: LedgerPosition, now: Int64, _ report: CommitReport) {
        guard !outcomes.isEmpty else { return }
        processor.applied(through: position, now: now)
        finish(group.prefix(outcomes.count), report)
        for (entry, outcome) in zip(group, outcomes) { entry.answer?(.success(outcome)) }
        group.removeFirst(outcomes.count)
        outcomes.removeAll(keepingCapacity: true)
    }

    private func abortGroup(_ error: LedgerError) {
        for case .append(let preparation) in steps.reversed() { processor.abort(preparation) }
        processor.groupAborted(error)
    }

    /// Subtracts entries from what waits, and with the last ones of the group records its report.
    private func finish(_ entries: ArraySlice<Entry>, _ report: CommitReport) {
        var submitted = 0
        var cost = 0
        for entry in entries where entry.answer != nil {
            submitted += 1
            cost += entry.cost
        }
        let isLast = entries.count == group.count
        queue.finish(isLast ? report : nil, submitted: submitted, cost: cost)
        if isLast { observe?(report) }
    }

    private func report(nanoseconds: UInt64, error: LedgerError?) -> CommitReport {
        var events: UInt64 = 0
        var bytes = 0
        for batch in batches {
            events += UInt64(batch.count)
            bytes += batch.receipt.count + batch.events.count
        }
        return CommitReport(
            submissions: group.count,
            batches: batches.count,
            events: events,
            bytes: bytes,
            nanoseconds: nanoseconds,
            error: error
        )
    }

    private func clearGroup() {
        group.removeAll(keepingCapacity: true)
        batches.removeAll(keepingCapacity: true)
        steps.removeAll(keepingCapacity: true)
        outcomes.removeAll(keepingCapacity: true)
    }

    /// Commits a tick's submission as a group of its own, and maintains in any case.
    private func tick() {
        let now = clock.now()
        if let submission = processor.tick(now: now) {
            group.append(Entry(submission: submission, cost: 0, answer: nil))
            // Maintenance is what makes room for a tick that found none.
            if !commitGroup(for: .tick) { processor.maintain(ledger, at: ledger.position, now: now) }
        } else {
            processor.maintain(ledger, at: ledger.position, now: now)
        }
    }

    /// Continues the processor's maintenance while no submission waits.
    private func maintain() {
        if tickInterval == nil {
            processor.maintain(ledger, at: ledger.position, now: clock.now())
        } else {
            tick()
        }
    }

    private func abandonBacklog() {
        for case let entry? in backlog {
            queue.abandon(submitted: 1, cost: entry.cost)
            entry.answer?(.failure(.stopped))
        }
        backlog.removeAll()
        cursor = 0
    }
}
