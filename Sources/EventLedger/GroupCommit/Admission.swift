// SPDX-License-Identifier: Apache-2.0

internal import SystemPrimitives

/// Admission control of the writer's queue, by what waits and by how long commits take, with a retry hint.
///
/// While commits are slow, it admits one submission at a time, and only when nothing else waits: that probe shows when
/// they are fast again. It admits none while the writer has been busy for longer than a commit may take.
struct Admission {
    /// What waits, including what is being committed.
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

    mutating func setLimits(waitingBytes: Int, commitTime: Duration?) {
        limits.waitingBytes = max(1, waitingBytes)
        self.commitTime = commitTime?.clampedNanoseconds
    }

    // MARK: Submitters

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

    /// The time until what waits should be committed at the present pace, 0.1 to 60 s.
    ///
    /// For a stuck writer it is at least the time that it has been busy, so that the hint grows.
    func retryAfter(waiting: Waiting, at now: UInt64) -> Duration {
        let groups = 1 + max(waiting.bytes / limits.groupBytes, waiting.submissions / limits.groupSubmissions)
        let drain = pace.nanoseconds(forGroups: groups)
        let expected = isStuck(at: now) ? max(drain, busyNanoseconds(at: now)) : drain
        return .milliseconds(min(max(expected / 1_000_000, 100), 60_000))
    }

    /// How long the writer has been busy with its current turn, in nanoseconds; 0 while it sleeps.
    func busyNanoseconds(at now: UInt64) -> UInt64 {
        guard let busySince, busySince < now else { return 0 }
        return now - busySince
    }

    private func isStuck(at now: UInt64) -> Bool {
        guard let commitTime else { return false }
        return busyNanoseconds(at: now) > commitTime
    }

    // MARK: Writer

    mutating func writerStarts(at now: UInt64) {
        busySince = now
    }

    mutating func writerSleeps() {
        busySince = nil
    }

    /// Records the time of a group, stored or not, since the writer started its turn.
    mutating func groupEnded(_ report: CommitReport, at now: UInt64) {
        guard report.batches > 0 else { return }
        lastCommit = report.nanoseconds
        pace.record(max(report.nanoseconds, busyNanoseconds(at: now)))
    }
}

/// The time of a group: the moving average with a weight of 1/8, or the last one where that is longer, because small
/// groups say little about large ones.
private struct DrainPace {
    private var average: UInt64 = 0
    private var last: UInt64 = 0

    mutating func record(_ nanoseconds: UInt64) {
        last = min(nanoseconds, UInt64.max >> 4)
        average = average == 0 ? last : (average * 7 + last) / 8
    }

    /// The nanoseconds that a number of groups should take; 0 before the first one.
    func nanoseconds(forGroups groups: Int) -> UInt64 {
        let (time, overflow) = max(average, last).multipliedReportingOverflow(by: UInt64(max(groups, 0)))
        return overflow ? .max : time
    }
}
