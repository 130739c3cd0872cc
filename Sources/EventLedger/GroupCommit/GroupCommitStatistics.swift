// SPDX-License-Identifier: Apache-2.0

/// What the writer has done since it started, and what waits now.
public struct GroupCommitStatistics: Sendable, Equatable {
    /// Transactions that were committed.
    public internal(set) var commits: UInt64 = 0
    /// Groups that could not be stored.
    public internal(set) var failedGroups: UInt64 = 0
    /// Submissions that were stored or had nothing to store.
    public internal(set) var submissions: UInt64 = 0
    /// Submissions in groups that could not be stored, without ticks, and those refused after such a group.
    public internal(set) var failedSubmissions: UInt64 = 0
    /// Of those, the ones that failed for lack of space.
    public internal(set) var fullSubmissions: UInt64 = 0
    /// Submissions refused because the queue was full.
    public internal(set) var overloads: UInt64 = 0
    /// Submissions refused because commits took too long.
    public internal(set) var slowRefusals: UInt64 = 0
    /// Batches that were appended.
    public internal(set) var batches: UInt64 = 0
    /// Events that were appended.
    public internal(set) var events: UInt64 = 0
    /// Bytes of receipts and events that were appended.
    public internal(set) var bytes: UInt64 = 0
    /// The time that committed transactions took, in nanoseconds.
    public internal(set) var commitNanoseconds: UInt64 = 0
    /// Waiting submissions, including those being committed.
    public internal(set) var waitingSubmissions = 0
    /// The cost of those, in bytes.
    public internal(set) var waitingBytes = 0
    /// How often the writer has proven that it works: by a commit, by a call of ``GroupCommit/prove()``, or by an error
    /// that a restart would not mend (``LedgerError/isHindrance``).
    public internal(set) var proofs: UInt64 = 0
    /// Why the latest group or proof could not be stored; nil after one that was.
    public internal(set) var failure: LedgerError?
    /// How long the writer has been busy with its current turn, in nanoseconds; 0 while it sleeps.
    public internal(set) var busyNanoseconds: UInt64 = 0

    mutating func record(_ refusal: SubmissionError) {
        switch refusal {
        case .overloaded: overloads += 1
        case .slow: slowRefusals += 1
        case .failed(let error): recordFailed(1, error)
        case .stopped: break
        }
    }

    /// - Parameter submitted: how many of the group's submissions have a submitter; the others are ticks.
    mutating func record(_ report: CommitReport, submitted: Int) {
        if let error = report.error {
            failedGroups += 1
            recordFailed(submitted, error)
            recordAttempt(error)
            return
        }
        submissions += UInt64(report.submissions)
        guard report.batches > 0 else { return }
        recordAttempt(nil)
        commits += 1
        batches += UInt64(report.batches)
        events += report.events
        bytes += UInt64(report.bytes)
        commitNanoseconds += report.nanoseconds
    }

    private mutating func recordFailed(_ submissions: Int, _ error: LedgerError) {
        failedSubmissions += UInt64(submissions)
        if case .full = error { fullSubmissions += UInt64(submissions) }
    }

    /// Why the next group is likely to fail too; nil when the last one failed for its own content.
    var lastingFailure: LedgerError? {
        if case .refused? = failure { nil } else { failure }
    }

    /// Records an attempt to write.
    mutating func recordAttempt(_ error: LedgerError?) {
        failure = error
        if error?.isHindrance ?? true { proofs += 1 }
    }
}

/// The result of one group.
public struct CommitReport: Sendable, Equatable {
    /// How many submissions it had.
    public let submissions: Int
    /// How many batches were appended, or would have been.
    public let batches: Int
    /// How many events they carry.
    public let events: UInt64
    /// The bytes of their receipts and events.
    public let bytes: Int
    /// The time that the transaction took, in nanoseconds; 0 when there was nothing to append.
    public let nanoseconds: UInt64
    /// Why nothing was stored; nil when it was.
    public let error: LedgerError?
}
