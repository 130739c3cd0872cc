// SPDX-License-Identifier: Apache-2.0

/// The submissions and work items that wait for the writer thread; shared by the submitters and the writer.
final class CommitQueue<Processor: CommitProcessor & ~Copyable>: @unchecked Sendable {
    typealias Answer = Result<Processor.Outcome, SubmissionError>
    typealias Work = @Sendable (inout Processor, EventLedger) -> Void

    struct Entry {
        let submission: Processor.Submission
        let cost: Int
        /// Nil for a tick, which no one waits for.
        let answer: (@Sendable (Answer) -> Void)?
    }

    /// A closure to run on the writer thread, and what to call instead when it is refused.
    struct WorkItem {
        let run: Work
        let refuse: @Sendable (SubmissionError) -> Void
    }

    /// What the writer is to do next.
    struct Turn {
        var work: [WorkItem] = []
        var isTickDue = false
        var isStopping = false
        var isPastDeadline = false
    }

    let limits: GroupCommitLimits
    private let clock: LedgerClock
    private let monitor = Monitor()
    private var incoming: [Entry?] = []
    private var work: [WorkItem] = []
    private var counts = GroupCommitStatistics()
    private var admission: Admission
    private var isWriterAsleep = false
    private var stopDeadline: UInt64?
    private var hasFinished = false
    private var abandoned = 0
    private var stopWaiters: [CheckedContinuation<Int, Never>] = []

    init(limits: GroupCommitLimits, clock: LedgerClock) {
        self.limits = limits
        admission = Admission(limits)
        self.clock = clock
    }

    var statistics: GroupCommitStatistics {
        monitor.withLock {
            var counts = counts
            counts.busyNanoseconds = admission.busyNanoseconds(at: clock.monotonic())
            return counts
        }
    }

    /// Changes the limits, from the next submission on.
    func setLimits(waitingBytes: Int, commitTime: Duration?) {
        monitor.withLock { admission.setLimits(waitingBytes: waitingBytes, commitTime: commitTime) }
    }

    var isStopping: Bool {
        monitor.withLock { stopDeadline != nil }
    }

    // MARK: Submitters

    /// Appends an entry, or returns why it is refused.
    func enqueue(_ entry: Entry) -> SubmissionError? {
        monitor.withLock {
            guard stopDeadline == nil else { return .stopped }
            if let refusal = admission.refusal(of: entry.cost, waiting: waiting, at: clock.monotonic()) {
                counts.record(refusal)
                return refusal
            }
            counts.waitingSubmissions += 1
            counts.waitingBytes += entry.cost
            incoming.append(entry)
            wakeWriter()
            return nil
        }
    }

    /// Why any submission would be refused now, or nil; counted like the refusal of an entry.
    func refuseAll() -> SubmissionError? {
        monitor.withLock {
            guard stopDeadline == nil else { return .stopped }
            let refusal =
                admission.refusal(of: 1, waiting: waiting, at: clock.monotonic())
                ?? (counts.waitingSubmissions > 0 ? counts.lastingFailure.map { .failed($0) } : nil)
            if let refusal { counts.record(refusal) }
            return refusal
        }
    }

    func enqueue(_ item: WorkItem) -> SubmissionError? {
        monitor.withLock {
            guard stopDeadline == nil else { return .stopped }
            guard work.count < limits.waitingWork else {
                return .overloaded(retryAfter: admission.retryAfter(waiting: waiting, at: clock.monotonic()))
            }
            work.append(item)
            wakeWriter()
            return nil
        }
    }

    /// Asks the writer to end; the earliest deadline applies.
    func requestStop(deadline: UInt64) {
        monitor.withLock {
            stopDeadline = min(stopDeadline ?? deadline, deadline)
            wakeWriter()
        }
    }

    /// Resumes the continuation with the number of abandoned submissions once the writer has ended.
    func awaitFinish(_ continuation: CheckedContinuation<Int, Never>) {
        let result: Int? = monitor.withLock {
            if hasFinished { return abandoned }
            stopWaiters.append(continuation)
            return nil
        }
        if let result { continuation.resume(returning: result) }
    }

    private var waiting: Admission.Waiting {
        Admission.Waiting(submissions: counts.waitingSubmissions, bytes: counts.waitingBytes)
    }

    private func wakeWriter() {
        if isWriterAsleep { monitor.signal() }
    }

    // MARK: The writer

    /// Waits, if it may, until there is something to do; moves waiting entries into an empty `backlog`.
    func nextTurn(backlog: inout [Entry?], tickAt: UInt64?, mayWait: Bool) -> Turn {
        monitor.withLock {
            admission.writerSleeps()
            while true {
                let now = clock.monotonic()
                var turn = Turn()
                turn.isTickDue = tickAt.map { $0 <= now } ?? false
                if let stopDeadline {
                    turn.isStopping = true
                    turn.isPastDeadline = stopDeadline <= now
                }
                if backlog.isEmpty, !incoming.isEmpty { swap(&backlog, &incoming) }
                if !work.isEmpty { swap(&turn.work, &work) }
                let hasFound = !backlog.isEmpty || !turn.work.isEmpty || turn.isTickDue || turn.isStopping
                if hasFound || !mayWait {
                    admission.writerStarts(at: now)
                    return turn
                }
                isWriterAsleep = true
                if let tickAt {
                    monitor.wait(nanoseconds: tickAt - now)
                } else {
                    monitor.wait()
                }
                isWriterAsleep = false
            }
        }
    }

    /// Subtracts submissions of a group from what waits, before they are answered.
    ///
    /// - Parameter report: of the group, with its last submissions; nil before.
    func finish(_ report: CommitReport?, submitted: Int, cost: Int) {
        monitor.withLock {
            counts.waitingSubmissions -= submitted
            counts.waitingBytes -= cost
            guard let report else { return }
            counts.record(report, submitted: submitted)
            admission.groupEnded(report, at: clock.monotonic())
        }
    }

    /// Records an attempt to write beside the groups.
    func recordAttempt(_ error: LedgerError?) {
        monitor.withLock { counts.recordAttempt(error) }
    }

    /// Subtracts entries that will not be committed from what waits.
    func abandon(submitted: Int, cost: Int) {
        monitor.withLock {
            counts.waitingSubmissions -= submitted
            counts.waitingBytes -= cost
            abandoned += submitted
        }
    }

    /// Resumes everyone who waits for the end.
    func finish() {
        let (waiters, result) = monitor.withLock {
            hasFinished = true
            defer { stopWaiters = [] }
            return (stopWaiters, abandoned)
        }
        for waiter in waiters { waiter.resume(returning: result) }
    }
}
