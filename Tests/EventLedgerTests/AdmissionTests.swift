// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EventLedger

@Suite("Admission to the ledger writer's queue")
struct AdmissionTests {
    static let second: UInt64 = 1_000_000_000
    static let nothing = Admission.Waiting(submissions: 0, bytes: 0)
    static let one = Admission.Waiting(submissions: 1, bytes: 1_000)

    /// A group of one batch that was committed, or could not be.
    static func report(seconds: Double, error: LedgerError? = nil, batches: Int = 1) -> CommitReport {
        CommitReport(
            submissions: 1,
            batches: batches,
            events: 1,
            bytes: 1,
            nanoseconds: UInt64(seconds * 1e9),
            error: error
        )
    }

    static func make(commitTime: Duration? = .seconds(5)) -> Admission {
        Admission(GroupCommitLimits(waitingSubmissions: 3, waitingBytes: 10_000, commitTime: commitTime))
    }

    /// Commits a group from `start` on.
    static func commit(
        _ admission: inout Admission,
        at start: UInt64,
        seconds: Double,
        error: LedgerError? = nil
    ) -> UInt64 {
        let end = start + UInt64(seconds * 1e9)
        admission.writerStarts(at: start)
        admission.groupEnded(report(seconds: seconds, error: error), at: end)
        admission.writerSleeps()
        return end
    }

    @Test("the queue admits what fits by number and by bytes, and anything while it is empty")
    func room() {
        let admission = Self.make()
        #expect(admission.refusal(of: 1_000_000, waiting: Self.nothing, at: 0) == nil)
        #expect(admission.refusal(of: 9_000, waiting: Self.one, at: 0) == nil)
        let overloaded = SubmissionError.overloaded(retryAfter: .milliseconds(100))
        #expect(admission.refusal(of: 9_001, waiting: Self.one, at: 0) == overloaded)
        #expect(admission.refusal(of: .max, waiting: Self.one, at: 0) == overloaded)
        #expect(admission.refusal(of: 1, waiting: .init(submissions: 3, bytes: 3), at: 0) == overloaded)
    }

    @Test("a changed limit applies from the next submission on")
    func changed() {
        var admission = Self.make()
        admission.setLimits(waitingBytes: 1_500, commitTime: nil)
        #expect(admission.refusal(of: 500, waiting: Self.one, at: 0) == nil)
        #expect(admission.refusal(of: 501, waiting: Self.one, at: 0) != nil)
        admission.writerStarts(at: 0)
        #expect(admission.refusal(of: 1, waiting: Self.nothing, at: 1_000 * Self.second) == nil)
    }

    @Test("the queue refuses everything while the writer is busy for longer than a commit may take")
    func stuck() {
        var admission = Self.make()
        admission.writerStarts(at: 10 * Self.second)
        #expect(admission.refusal(of: 1, waiting: Self.one, at: 15 * Self.second) == nil)
        #expect(
            admission.refusal(of: 1, waiting: Self.nothing, at: 16 * Self.second) == .slow(retryAfter: .seconds(6))
        )
        #expect(
            admission.refusal(of: 1, waiting: Self.one, at: 40 * Self.second) == .slow(retryAfter: .seconds(30))
        )
        #expect(
            admission.refusal(of: 1, waiting: Self.one, at: 4_000 * Self.second) == .slow(retryAfter: .seconds(60))
        )
        admission.writerSleeps()
        #expect(admission.refusal(of: 1, waiting: Self.one, at: 4_000 * Self.second) == nil)
    }

    @Test("after a slow commit the queue admits one submission at a time until a commit is fast again")
    func slow() {
        var admission = Self.make()
        var now = Self.commit(&admission, at: 0, seconds: 5.5)
        #expect(admission.refusal(of: 1, waiting: Self.nothing, at: now) == nil)
        #expect(admission.refusal(of: 1, waiting: Self.one, at: now) == .slow(retryAfter: .milliseconds(5_500)))
        now = Self.commit(&admission, at: now, seconds: 0.5)
        #expect(admission.refusal(of: 1, waiting: Self.one, at: now) == nil)
    }

    @Test("a commit that fails slowly counts as slow, one that fails fast does not, and an empty one changes nothing")
    func failures() {
        var admission = Self.make()
        var now = Self.commit(&admission, at: 0, seconds: 5.5, error: .busy(detail: ""))
        #expect(admission.refusal(of: 1, waiting: Self.one, at: now) != nil)
        admission.groupEnded(Self.report(seconds: 0, batches: 0), at: now)
        #expect(admission.refusal(of: 1, waiting: Self.one, at: now) != nil)
        now = Self.commit(&admission, at: now, seconds: 0.001, error: .full(detail: ""))
        #expect(admission.refusal(of: 1, waiting: Self.one, at: now) == nil)
    }

    @Test("without a time limit no commit counts as slow")
    func unlimited() {
        var admission = Self.make(commitTime: nil)
        let now = Self.commit(&admission, at: 0, seconds: 500)
        admission.writerStarts(at: now)
        #expect(admission.refusal(of: 1, waiting: Self.one, at: now + 500 * Self.second) == nil)
    }

    @Test("the retry hint is the time of the waiting groups at the recent pace, and at least that of the last one")
    func hint() {
        var admission = Admission(GroupCommitLimits(groupSubmissions: 10, groupBytes: 1_000))
        var now: UInt64 = 0
        for _ in 0..<50 { now = Self.commit(&admission, at: now, seconds: 0.2) }
        #expect(admission.retryAfter(waiting: .init(submissions: 9, bytes: 0), at: now) == .milliseconds(200))
        #expect(admission.retryAfter(waiting: .init(submissions: 95, bytes: 0), at: now) == .seconds(2))
        #expect(admission.retryAfter(waiting: .init(submissions: 9, bytes: 4_500), at: now) == .seconds(1))
        #expect(admission.retryAfter(waiting: .init(submissions: 1_000_000, bytes: 0), at: now) == .seconds(60))
        now = Self.commit(&admission, at: now, seconds: 2)
        #expect(admission.retryAfter(waiting: .init(submissions: 9, bytes: 0), at: now) == .seconds(2))
    }
}
