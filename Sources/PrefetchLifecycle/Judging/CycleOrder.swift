// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// Two stages of a cycle that its device stamped in the wrong order (docs/judging.md, out_of_order).
///
/// An execution belongs to the submission that it follows, and a result to its attempt, so that nothing is held against a
/// task that was submitted again, or against another pass of the schedule.
struct CycleOrder {
    /// A stage in words, and the stage that it needs.
    typealias Pair = (early: StaticString, at: Timestamp, late: StaticString, needed: Timestamp)

    /// The facts from one execution to the next; those before the first execution are a run of their own.
    private struct Run {
        var executed: Int64?
        var firstResult: Int64?
        var lastResult: Int64?
        var isFailed = false
        /// Its last result in words.
        var result: StaticString = ""
        var firstCompletion: Int64?
        var lastCompletion: Int64?
    }

    /// The first pair that is in the wrong order; nil where all are in order.
    private(set) var broken: Pair?

    private let cycle: Cycle
    private let isContentOlder: Bool
    private let started: Int64?
    /// What comes before the first execution, the run of that one, and the latest run.
    private var unexecuted = Run()
    private var first = Run()
    private var latest = Run()
    private var executions = 0
    /// The latest run whose execution comes before the first start of a fetch.
    private var startedRun: Run?
    /// A run whose completion comes before its result.
    private var completedEarly: Run?
    private var failedAt: Int64?
    private var submission: (time: Int64, begin: Int64?, isDated: Bool)?
    private var firstSuccess: Int64?
    private var missing: Int64?

    /// - Parameters:
    ///   - facts: the facts in event order.
    ///   - cycle: their cycle.
    ///   - isContentOlder: whether the content that was used is that of an earlier cycle.
    init(_ facts: Span<UInt64>, of cycle: Cycle, isContentOlder: Bool) {
        self.cycle = cycle
        self.isContentOlder = isContentOlder
        started = cycle.started.time(base: cycle.base)?.microseconds
        for index in facts.indices { add(Fact(rawValue: facts[index]), facts) }
        endRun(facts)
        judgeExecution(facts)
        if let started { judgeStart(started, facts) }
        if let run = completedEarly, let completed = run.lastCompletion, let result = run.firstResult {
            note("the task was completed", completed, before: run.result, result)
        }
        if let used = cycle.used.time(base: cycle.base)?.microseconds { judgeUse(used, facts) }
    }

    private mutating func add(_ fact: Fact, _ facts: Span<UInt64>) {
        let time = fact.time(base: cycle.base).microseconds
        switch fact.stage {
        case .scheduled:
            guard submission == nil else { return }
            let window = cycle.window.time(base: cycle.base)
            let begin = fact.begin.begin(at: fact.time(base: cycle.base), window: window, due: cycle.due)
            submission = (time, begin?.microseconds, !fact.isUndated)
        case .executed:
            guard latest.executed != time else { return }
            endRun(facts)
            latest = Run(executed: time)
            executions += 1
        case .success, .failure:
            latest.firstResult = latest.firstResult ?? time
            latest.lastResult = time
            latest.isFailed = fact.stage == .failure
            latest.result =
                !latest.isFailed
                ? "the fetch succeeded" : fact.detail.contains(.expired) ? "the task expired" : "the fetch failed"
            if fact.stage == .success { firstSuccess = firstSuccess ?? time }
        case .completed:
            latest.firstCompletion = latest.firstCompletion ?? time
            latest.lastCompletion = time
        case .contentMissing: missing = missing ?? time
        default: return
        }
    }

    /// Notes what a run tells once no more facts of it come.
    private mutating func endRun(_ facts: Span<UInt64>) {
        if executions == 0 { unexecuted = latest }
        if executions == 1 { first = latest }
        if latest.isFailed { failedAt = failedAt ?? latest.lastResult }
        if let started, let executed = latest.executed, executed < started + 1_000 { startedRun = latest }
        guard completedEarly == nil, let completed = latest.lastCompletion, let result = latest.firstResult,
            completed < result, areOfOnePass(completed, result, facts)
        else { return }
        completedEarly = latest
    }

    private mutating func note(_ early: StaticString, _ time: Int64, before late: StaticString, _ needed: Int64) {
        guard broken == nil else { return }
        broken = (early, Timestamp(microseconds: time), late, Timestamp(microseconds: needed))
    }

    /// Whether two times are so near that they are of one pass, and no task was submitted between them.
    private func areOfOnePass(_ early: Int64, _ late: Int64, _ facts: Span<UInt64>) -> Bool {
        guard late - early <= Int64(CycleTable.ownMicroseconds) else { return false }
        for index in facts.indices {
            let fact = Fact(rawValue: facts[index])
            let time = fact.time(base: cycle.base).microseconds
            if fact.stage == .scheduled, time > early, time < late { return false }
        }
        return true
    }

    /// The execution against the submission before it, and the results before it that are its own.
    private mutating func judgeExecution(_ facts: Span<UInt64>) {
        guard let executed = first.executed, let last = latest.executed else { return }
        if let submission, submission.time > last, submission.time - executed <= Int64(CycleTable.ownMicroseconds) {
            let hasFailed = failedAt.map { $0 <= submission.time } ?? false
            let isBegun = submission.begin.map { $0 <= executed } ?? (submission.isDated && !hasFailed)
            if isBegun || endsOnly(behind: submission.time) {
                note("executed", executed, before: "the task was scheduled", submission.time)
            }
        }
        if let result = unexecuted.lastResult, areOfOnePass(result, executed, facts) {
            note(unexecuted.result, result, before: "the task was executed", executed)
        }
        if let completed = unexecuted.lastCompletion, areOfOnePass(completed, executed, facts) {
            note("the task was completed", completed, before: "it was executed", executed)
        }
    }

    /// Whether there is one execution, and all that it led to comes behind a submission, which it was therefore made for.
    private func endsOnly(behind submission: Int64) -> Bool {
        let results = [first.firstResult, first.firstCompletion].compactMap(\.self)
        return executions == 1 && unexecuted.firstResult == nil && !results.isEmpty
            && results.allSatisfy { $0 > submission }
    }

    /// The first start of a fetch, against the execution before it and the results of its run. A start is known to the
    /// millisecond.
    private mutating func judgeStart(_ started: Int64, _ facts: Span<UInt64>) {
        // Content that is missing is fetched on demand.
        if let missing, missing < started + 1_000 { return }
        guard let run = startedRun else {
            guard let executed = first.executed,
                areOfOnePass(started, executed, facts) || executions == 1 && isStartOf(executed, started)
            else { return }
            note("the fetch started", started, before: "the task was executed", executed)
            return
        }
        guard let executed = run.executed, areOfOnePass(executed, started, facts) else { return }
        if let result = run.lastResult, result < started {
            note(run.result, result, before: "the fetch started", started)
        }
        if let completed = run.lastCompletion, completed < started {
            note("the task was completed", completed, before: "the fetch started", started)
        }
    }

    /// Whether a start before the submission of the only execution is the start of that one, since it led to nothing else.
    private func isStartOf(_ executed: Int64, _ started: Int64) -> Bool {
        guard let submission, submission.time <= executed, executed - started <= Int64(CycleTable.ownMicroseconds)
        else {
            return false
        }
        return unexecuted.firstResult == nil && unexecuted.firstCompletion == nil && first.firstResult != nil
    }

    /// The use of the content, to the millisecond, against its fetch and the delivery.
    private mutating func judgeUse(_ used: Int64, _ facts: Span<UInt64>) {
        let cached = cycle.cached.time(base: cycle.base)?.microseconds
        let success = firstSuccess.map { ($0 / 1_000) * 1_000 }
        if let fetched = cached ?? success, used < fetched, areOfOnePass(used, fetched, facts),
            !isEarlierContent(used, success)
        {
            note("content was used", used, before: cached == nil ? "it was fetched" : "it was cached", fetched)
        }
        guard let delivered = cycle.delivered.time(base: cycle.base)?.microseconds,
            !cycle.details.contains(.isDeliverySkewed)
        else { return }
        if used - delivered > LifecycleRules.usedAfterDeliveryMicroseconds, areOfOnePass(delivered, used, facts) {
            note("the notification was delivered", delivered, before: "its content was used", used)
        }
    }

    /// Whether the content that was used may be another than the one that was fetched later: of an earlier cycle, or of an
    /// earlier attempt.
    private func isEarlierContent(_ used: Int64, _ success: Int64?) -> Bool {
        isContentOlder || executions > 1 && success.map { $0 <= used } ?? false
    }
}
