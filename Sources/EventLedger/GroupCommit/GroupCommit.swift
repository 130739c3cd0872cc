// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The one writer of a ledger: a thread that commits everything that waits in one transaction.
///
/// Submitters wait without holding a thread. The queue has limits in submissions and in bytes and rejects at once when
/// they are reached. Between groups the thread sleeps; it wakes for work and, if asked to, at an interval. A submission
/// costs a continuation and its place in a reused array.
public final class GroupCommit<Processor: CommitProcessor & ~Copyable>: Sendable {
    /// The ledger that it writes to.
    public let ledger: EventLedger

    private let queue: CommitQueue<Processor>
    private let clock: LedgerClock
    private let thread: Mutex<WriterThread?>

    /// Starts the writer thread.
    /// - Parameters:
    ///   - ledger: an open ledger; the writer should be the only one to append to it.
    ///   - processor: what happens on the thread; it is given away for good.
    ///   - limits: how much may wait and how much is committed at once.
    ///   - clock: the times to stamp and measure with.
    ///   - tickInterval: the time between calls of ``CommitProcessor/tick(now:)``; nil for none.
    ///   - observe: called on the thread after each group; it should be quick.
    public init(
        ledger: EventLedger,
        processor: consuming sending Processor,
        limits: GroupCommitLimits = GroupCommitLimits(),
        clock: LedgerClock = .system,
        tickInterval: Duration? = nil,
        observe: (@Sendable (CommitReport) -> Void)? = nil
    ) throws(LedgerError) {
        let queue = CommitQueue<Processor>(limits: limits, clock: clock)
        let writer = CommitWriter(
            ledger: ledger,
            processor: processor,
            queue: queue,
            clock: clock,
            tickInterval: tickInterval.map { max($0.clampedNanoseconds, 1_000_000) },
            observe: observe
        )
        self.ledger = ledger
        self.queue = queue
        self.clock = clock
        thread = Mutex(try WriterThread(name: "ledger-writer") { writer.run() })
    }

    deinit {
        queue.requestStop(deadline: clock.monotonic())
        thread.withLock { $0?.detach() }
    }

    /// Hands in a submission and waits until it is durable.
    ///
    /// Cancelling the task doesn't take a submission back; the wait is as long as what waits before it takes.
    public func submit(_ submission: Processor.Submission) async throws(SubmissionError) -> Processor.Outcome {
        let cost = max(0, Processor.cost(of: submission))
        let answer = await withCheckedContinuation { (continuation: CheckedContinuation<_, Never>) in
            let entry = CommitQueue<Processor>.Entry(submission: submission, cost: cost, continuation: continuation)
            if let error = queue.enqueue(entry) { continuation.resume(returning: .failure(error)) }
        }
        return try answer.get()
    }

    /// Turns away a submission that has yet to be made where it would be refused whatever it holds, so that nobody works
    /// for nothing. While groups fail, one at a time is let through: that is how it becomes known that they no longer do.
    public func admit() throws(SubmissionError) {
        if let refusal = queue.refusal() { throw refusal }
    }

    /// Runs `body` on the writer thread between two groups, before what was submitted and is not yet in a group.
    ///
    /// It sees the processor as of the ledger's position. What it writes to the ledger (a checkpoint, a position,
    /// pruning) competes with no commit. A ``LedgerError`` that it throws comes back as ``SubmissionError/failed(_:)``.
    public func perform<R: Sendable>(
        _ body: @escaping @Sendable (inout Processor, EventLedger) throws(LedgerError) -> R
    ) async throws(SubmissionError) -> R {
        let answer = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<R, SubmissionError>, Never>) in
            let item = CommitQueue<Processor>.WorkItem(
                run: { (processor, ledger) in
                    do throws(LedgerError) {
                        continuation.resume(returning: .success(try body(&processor, ledger)))
                    } catch {
                        continuation.resume(returning: .failure(.failed(error)))
                    }
                },
                refuse: { continuation.resume(returning: .failure($0)) }
            )
            if let error = queue.enqueue(item) { item.refuse(error) }
        }
        return try answer.get()
    }

    /// Has the writer thread commit a transaction that changes nothing, for those who want to know whether it works.
    ///
    /// It returns when that is done, which is never while the thread hangs. ``GroupCommitStatistics/proofs`` and
    /// ``GroupCommitStatistics/failure`` tell of it.
    public func prove() async throws(SubmissionError) {
        let queue = queue
        try await perform { (_, ledger) throws(LedgerError) in
            do throws(LedgerError) {
                try ledger.touch()
                queue.recordAttempt(nil)
            } catch {
                queue.recordAttempt(error)
                throw error
            }
        }
    }

    /// Sets how many bytes may wait and how long a commit may take, in place of the limits it was made with.
    public func limit(waitingBytes: Int, commitTime: Duration?) {
        queue.limit(waitingBytes: waitingBytes, commitTime: commitTime)
    }

    /// What was done so far and what waits.
    public var statistics: GroupCommitStatistics {
        queue.statistics
    }

    /// True once ``stop(within:)`` was called.
    public var isStopping: Bool {
        queue.isStopping
    }

    /// Takes nothing new, commits what waits, runs ``CommitProcessor/stopping(_:at:now:)`` and ends the thread.
    ///
    /// Groups that have not begun by the deadline are abandoned: their submitters are told
    /// ``SubmissionError/stopped``. A transaction that has begun is waited for.
    /// - Returns: how many submissions were abandoned.
    @discardableResult
    public func stop(within deadline: Duration) async -> Int {
        queue.requestStop(deadline: clock.monotonic().addingSaturated(deadline.clampedNanoseconds))
        let abandoned = await withCheckedContinuation { queue.awaitFinish($0) }
        let ended = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        ended?.join()
        return abandoned
    }
}
