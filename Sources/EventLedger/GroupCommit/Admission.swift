// SPDX-License-Identifier: Apache-2.0

/// Whether more may wait, by what waits and by how long the writer takes; and when to come again if not.
///
/// While commits are slow, one submission at a time is let in where nothing else waits: that is how it becomes known that
/// they are fast again. None is let in while the writer has not come back for longer than a commit may take.
struct Admission {
    /// What waits, what is being committed included.
    struct Waiting {
        var submissions: Int
        var bytes: Int
    }

    private var limits: GroupCommitLimits
    private var commitTime: UInt64?
    private var busySince: UInt64?
    private var lastCommit: UInt64 = 0
    private var pace = DrainPace()

    init(_ limits: GroupCommitLimits) {
        self.limits = limits
        commitTime = limits.commitTime?.clampedNanoseconds
    }

    mutating func limit(waitingBytes: Int, commitTime: Duration?) {
        limits.waitingBytes = max(1, waitingBytes)
        self.commitTime = commitTime?.clampedNanoseconds
    }

    // MARK: The submitters

    /// Why a submission of the given cost may not wait, or nil.
    func refusal(of cost: Int, waiting: Waiting, at now: UInt64) -> SubmissionError? {
        if isStuck(at: now) { return .slow(retryAfter: retryAfter(waiting: waiting, at: now)) }
        guard waiting.submissions > 0 else { return nil }
        if let commitTime, lastCommit > commitTime {
            return .slow(retryAfter: retryAfter(waiting: waiting, at: now))
        }
        let (bytes, overflow) = waiting.bytes.addingReportingOverflow(cost)
        let hasRoom = waiting.submissions < limits.waitingSubmissions && !overflow && bytes <= limits.waitingBytes
        return hasRoom ? nil : .overloaded(retryAfter: retryAfter(waiting: waiting, at: now))
    }

    /// The time that what waits should take at the present pace, 0.1 to 60 s. Of a writer that has not come back nothing
    /// is known but how long that has been; the hint grows with it.
    func retryAfter(waiting: Waiting, at now: UInt64) -> Duration {
        let groups = 1 + max(waiting.bytes / limits.groupBytes, waiting.submissions / limits.groupSubmissions)
        let drain = pace.time(forGroups: groups)
        let expected = isStuck(at: now) ? max(drain, busyTime(at: now)) : drain
        return .milliseconds(min(max(expected / 1_000_000, 100), 60_000))
    }

    /// How long the writer has been at what it does, in nanoseconds; 0 while it rests.
    func busyTime(at now: UInt64) -> UInt64 {
        guard let busySince, busySince < now else { return 0 }
        return now - busySince
    }

    private func isStuck(at now: UInt64) -> Bool {
        guard let commitTime else { return false }
        return busyTime(at: now) > commitTime
    }

    // MARK: The writer

    mutating func begins(at now: UInt64) {
        busySince = now
    }

    mutating func rests() {
        busySince = nil
    }

    /// A group was stored or could not be; its time is that since the writer began.
    mutating func ended(_ report: CommitReport, at now: UInt64) {
        guard report.batches > 0 else { return }
        lastCommit = report.nanoseconds
        pace.drained(in: max(report.nanoseconds, busyTime(at: now)))
    }
}
