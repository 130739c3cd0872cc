// SPDX-License-Identifier: Apache-2.0

/// What waits for the writer thread, and how that is told; shared by the submitters and the writer.
final class CommitQueue<Processor: CommitProcessor & ~Copyable>: @unchecked Sendable {
    typealias Answer = Result<Processor.Outcome, SubmissionError>
    typealias Work = @Sendable (inout Processor, EventLedger) -> Void

    struct Entry {
        let submission: Processor.Submission
        let cost: Int
        let continuation: CheckedContinuation<Answer, Never>?
    }

    /// Something to run on the writer thread, and what to do should it be refused.
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
    private var groupNanoseconds: UInt64 = 0
    private var isWriterAsleep = false
    private var stopDeadline: UInt64?
    private var hasFinished = false
    private var abandoned = 0
    private var stopWaiters: [CheckedContinuation<Int, Never>] = []

    init(limits: GroupCommitLimits, clock: LedgerClock) {
        self.limits = limits
        self.clock = clock
    }

    var statistics: GroupCommitStatistics {
        monitor.withLock { counts }
    }

    var isStopping: Bool {
        monitor.withLock { stopDeadline != nil }
    }

    // MARK: Submitters

    /// Puts an entry in line, or says why not.
    func enqueue(_ entry: Entry) -> SubmissionError? {
        monitor.withLock {
            guard stopDeadline == nil else { return .stopped }
            guard counts.waitingSubmissions == 0 || hasRoom(for: entry) else {
                counts.overloads += 1
                return .overloaded(retryAfter: retryHint)
            }
            counts.waitingSubmissions += 1
            counts.waitingBytes += entry.cost
            incoming.append(entry)
            wakeWriter()
            return nil
        }
    }

    func enqueue(_ item: WorkItem) -> SubmissionError? {
        monitor.withLock {
            guard stopDeadline == nil else { return .stopped }
            guard work.count < limits.waitingWork else { return .overloaded(retryAfter: retryHint) }
            work.append(item)
            wakeWriter()
            return nil
        }
    }

    /// Asks the writer to end; the earliest deadline counts.
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

    private func hasRoom(for entry: Entry) -> Bool {
        counts.waitingSubmissions < limits.waitingSubmissions
            && counts.waitingBytes + entry.cost <= limits.waitingBytes
    }

    private func wakeWriter() {
        if isWriterAsleep { monitor.signal() }
    }

    /// The time that what waits should take: the groups of it at the pace of the latest ones, 0.1 to 30 s.
    private var retryHint: Duration {
        let groups = UInt64(
            1
                + max(
                    counts.waitingBytes / limits.groupBytes,
                    counts.waitingSubmissions / limits.groupSubmissions
                )
        )
        let (nanoseconds, overflow) = groupNanoseconds.multipliedReportingOverflow(by: groups)
        let milliseconds = overflow ? 30_000 : nanoseconds / 1_000_000
        return .milliseconds(min(max(milliseconds, 100), 30_000))
    }

    // MARK: The writer

    /// Waits until there is something to do, unless it may not; moves what waits into `backlog` if that is empty.
    func nextTurn(backlog: inout [Entry?], tickAt: UInt64?, mayWait: Bool) -> Turn {
        monitor.withLock {
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
                if hasFound || !mayWait { return turn }
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

    /// Takes a finished group off the account.
    func finish(_ report: CommitReport, submitted: Int, cost: Int) {
        monitor.withLock {
            counts.record(report)
            counts.waitingSubmissions -= submitted
            counts.waitingBytes -= cost
            if report.nanoseconds > 0 {
                groupNanoseconds =
                    groupNanoseconds == 0 ? report.nanoseconds : (groupNanoseconds * 7 + report.nanoseconds) / 8
            }
        }
    }

    /// Takes entries that will not be committed off the account.
    func abandon(submitted: Int, cost: Int) {
        monitor.withLock {
            counts.waitingSubmissions -= submitted
            counts.waitingBytes -= cost
            abandoned += submitted
        }
    }

    /// Tells everyone who waits for the end.
    func finish() {
        let (waiters, result) = monitor.withLock {
            hasFinished = true
            defer { stopWaiters = [] }
            return (stopWaiters, abandoned)
        }
        for waiter in waiters { waiter.resume(returning: result) }
    }
}
