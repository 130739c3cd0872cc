// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import SystemPrimitives

/// The writer of a ledger: a thread that commits all waiting submissions in one transaction (group commit).
///
/// Submitters suspend and hold no thread. The queue is limited in submissions and in bytes and refuses at once when it is
/// full. The thread sleeps between groups; it wakes for work and, with a tick interval, at that interval. A submission
/// costs a continuation and a slot in a reused array.
public final class GroupCommit<Processor: CommitProcessor & ~Copyable>: Sendable {
    /// The ledger that it writes to.
    public let ledger: EventLedger

    private let queue: CommitQueue<Processor>
    private let clock: LedgerClock
    private let thread: Mutex<NamedThread?>

    /// Starts the writer thread.
    /// - Parameters:
    ///   - ledger: an open ledger; the writer should be the only one to append to it.
    ///   - processor: decides and applies on the thread, which owns it from now on.
    ///   - limits: the sizes of the queue and of a group.
    ///   - clock: stamps batches and measures commits.
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
        do throws(ErrorNumber) {
            thread = Mutex(try NamedThread(name: "ledger-writer") { writer.run() })
        } catch {
            throw LedgerError(error, doing: "start the thread ledger-writer")
        }
    }

    deinit {
        queue.requestStop(deadline: clock.monotonic())
        thread.withLock { $0?.detach() }
    }

    /// Submits and waits until the submission is durable.
    ///
    /// Cancelling the task does not withdraw the submission.
    public func submit(_ submission: Processor.Submission) async throws(SubmissionError) -> Processor.Outcome {
        let cost = max(0, Processor.cost(of: submission))
        let answer = await withCheckedContinuation { (continuation: CheckedContinuation<_, Never>) in
            let entry = CommitQueue<Processor>.Entry(submission: submission, cost: cost) {
                continuation.resume(returning: $0)
            }
            if let error = queue.enqueue(entry) { continuation.resume(returning: .failure(error)) }
        }
        return try answer.get()
    }

    /// Throws when any submission would be refused now, so that a caller need not build one in vain.
    ///
    /// While groups fail, it admits one submission at a time: that probe shows when they succeed again.
    public func admit() throws(SubmissionError) {
        if let refusal = queue.refuseAll() { throw refusal }
    }

    /// Runs `body` on the writer thread between two groups, ahead of submissions that are not yet in a group.
    ///
    /// It sees the processor as of the ledger's position. What it writes to the ledger (a checkpoint, a position,
    /// pruning) competes with no commit. A ``LedgerError`` that it throws becomes ``SubmissionError/failed(_:)``.
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

    /// Commits a transaction that changes nothing on the writer thread: a health check of the writer and the disk.
    ///
    /// It does not return while the thread hangs. ``GroupCommitStatistics/proofs`` and
    /// ``GroupCommitStatistics/failure`` show the result.
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

    /// Changes how many bytes may wait and how long a commit may take.
    public func limit(waitingBytes: Int, commitTime: Duration?) {
        queue.setLimits(waitingBytes: waitingBytes, commitTime: commitTime)
    }

    /// What the writer has done so far, and what waits now.
    public var statistics: GroupCommitStatistics {
        queue.statistics
    }

    /// True once ``stop(within:)`` was called.
    public var isStopping: Bool {
        queue.isStopping
    }

    /// Drains the queue: refuses new submissions, commits those that wait, calls
    /// ``CommitProcessor/stopping(_:at:now:)`` and ends the thread.
    ///
    /// Groups that have not begun by the deadline are abandoned: their submitters get ``SubmissionError/stopped``. It
    /// waits for a transaction that has begun.
    /// - Returns: how many submissions were abandoned.
    @discardableResult
    public func stop(within deadline: Duration) async -> Int {
        let (sum, overflow) = clock.monotonic().addingReportingOverflow(deadline.clampedNanoseconds)
        queue.requestStop(deadline: overflow ? .max : sum)
        let abandoned = await withCheckedContinuation { queue.awaitFinish($0) }
        let ended = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        ended?.join()
        return abandoned
    }
}

/// The sizes of the writer's queue and of a group.
public struct GroupCommitLimits: Sendable, Hashable {
    /// The maximum number of waiting submissions, including those being committed.
    public var waitingSubmissions: Int
    /// The maximum cost of waiting submissions, in bytes; one that alone exceeds it is admitted when nothing else waits.
    public var waitingBytes: Int
    /// How long a commit may take; while one takes longer, or the last one did, submissions are refused at once. Nil for
    /// no limit.
    public var commitTime: Duration?
    /// The maximum number of submissions in a transaction.
    public var groupSubmissions: Int
    /// The maximum cost of a transaction, in bytes, unless it has a single submission.
    public var groupBytes: Int
    /// The number of applied events of a group after which their submitters are answered; the others wait for the rest.
    public var answeredEvents: Int
    /// The maximum number of waiting calls of ``GroupCommit/perform(_:)``.
    public var waitingWork: Int

    /// Makes limits; the defaults are 4,096 submissions and 64 MiB waiting, no limit for a commit's time, 1,024
    /// submissions and 8 MiB in a transaction, answers after 1,000 events, and 256 calls.
    public init(
        waitingSubmissions: Int = 4096,
        waitingBytes: Int = 64 << 20,
        commitTime: Duration? = nil,
        groupSubmissions: Int = 1024,
        groupBytes: Int = 8 << 20,
        answeredEvents: Int = 1_000,
        waitingWork: Int = 256
    ) {
        self.waitingSubmissions = max(1, waitingSubmissions)
        self.waitingBytes = max(1, waitingBytes)
        self.commitTime = commitTime
        self.groupSubmissions = max(1, groupSubmissions)
        self.groupBytes = max(1, groupBytes)
        self.answeredEvents = max(1, answeredEvents)
        self.waitingWork = max(1, waitingWork)
    }
}

/// Why a submission was not stored.
public enum SubmissionError: Error, Sendable, Equatable {
    /// The queue is full. The hint is when it should have room again, without jitter.
    case overloaded(retryAfter: Duration)
    /// Commits take longer than they may. The hint is as above.
    case slow(retryAfter: Duration)
    /// The writer is stopping or has stopped.
    case stopped
    /// The ledger did not store the group that the submission was in.
    case failed(LedgerError)
}

extension SubmissionError: CustomStringConvertible {
    /// What happened and what to do about it.
    public var description: String {
        switch self {
        case .overloaded(let retryAfter): "too many submissions wait to be stored; try again in \(retryAfter)"
        case .slow(let retryAfter): "commits take longer than they may; try again in \(retryAfter)"
        case .stopped: "the ledger's writer has stopped; submit to a running service"
        case .failed(let error): error.description
        }
    }
}

/// The clocks that the writer stamps and measures with; tests inject their own.
public struct LedgerClock: Sendable {
    /// Microseconds since 1970 UTC.
    public var now: @Sendable () -> Int64
    /// Nanoseconds since an arbitrary moment, never set back.
    public var monotonic: @Sendable () -> UInt64

    /// Makes a clock of two closures.
    public init(now: @escaping @Sendable () -> Int64, monotonic: @escaping @Sendable () -> UInt64) {
        self.now = now
        self.monotonic = monotonic
    }

    /// The machine's clocks, CLOCK_REALTIME and CLOCK_MONOTONIC.
    public static let system = LedgerClock(
        now: { SystemClock.realtimeMicroseconds() },
        monotonic: { SystemClock.monotonicNanoseconds() }
    )
}
