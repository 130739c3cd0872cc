// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// Two stages of a cycle that its device stamped in the wrong order (docs/lifecycle.md, Order of stages).
///
/// An execution belongs to the submission that it follows, and a result to its attempt, so that nothing is held against an
/// attempt whose beginning was not told, against a task that was submitted again, or against another pass of the schedule.
struct CycleOrder {
    /// A stage in words, and the stage that it needs.
    typealias Pair = (early: StaticString, at: Timestamp, late: StaticString, needed: Timestamp)

    /// The facts from one execution to the next; those before the first execution are a run of their own.
    private struct Run {
        var executed: Int64?
        var firstResult: Int64?
        var lastResult: Int64?
        var isFailed = false
        /// Whether its last result is to be tried again.
        var isRetried = false
        var firstCompletion: Int64?
        var lastCompletion: Int64?
    }

    /// The first pair that is in the wrong order; nil where all are in order.
    private(set) var broken: Pair?

    private var runs = [Run()]
    private var submissions: [(time: Int64, begin: Int64?, isDated: Bool)] = []
    private var firstSuccess: Int64?
    private var missing: Int64?

    /// - Parameters:
    ///   - facts: the facts in event order.
    ///   - cycle: their cycle.
    init(_ facts: Span<UInt64>, of cycle: Cycle) {
        for index in facts.indices { add(Fact(rawValue: facts[index]), of: cycle) }
        judgeExecution()
        if let started = cycle.started.time(base: cycle.base)?.microseconds { judgeStart(started) }
        judgeCompletion()
        if let used = cycle.used.time(base: cycle.base)?.microseconds { judgeUse(used, of: cycle) }
    }

    private mutating func add(_ fact: Fact, of cycle: Cycle) {
        let time = fact.time(base: cycle.base).microseconds
        let last = runs.count - 1
        switch fact.stage {
        case .scheduled:
            let window = cycle.window.time(base: cycle.base)
            let begin = fact.begin.begin(at: fact.time(base: cycle.base), window: window, due: cycle.due)
            submissions.append((time, begin?.microseconds, !fact.isUndated))
        case .executed:
            if runs[last].executed != time { runs.append(Run(executed: time)) }
        case .success, .failure:
            guard !fact.detail.contains(.expired) || fact.stage == .success else { return }
            runs[last].firstResult = runs[last].firstResult ?? time
            runs[last].lastResult = time
            runs[last].isFailed = fact.stage == .failure
            runs[last].isRetried = fact.stage == .failure && fact.detail.contains(.willRetry)
            if fact.stage == .success { firstSuccess = firstSuccess ?? time }
        case .completed:
            runs[last].firstCompletion = runs[last].firstCompletion ?? time
            runs[last].lastCompletion = time
        case .contentMissing: missing = missing ?? time
        default: return
        }
    }

    private mutating func note(_ early: StaticString, _ time: Int64, before late: StaticString, _ needed: Int64) {
        guard broken == nil else { return }
        broken = (early, Timestamp(microseconds: time), late, Timestamp(microseconds: needed))
    }

    /// Whether two times are so near that they are of one pass, and no task was submitted between them.
    private func areOfOnePass(_ early: Int64, _ late: Int64) -> Bool {
        late - early <= Int64(CycleTable.ownMicroseconds) && !submissions.contains { $0.time > early && $0.time < late }
    }

    /// The execution against the submission before it, and the results before it that are its own.
    private mutating func judgeExecution() {
        guard runs.count > 1, let executed = runs[1].executed, let last = runs[runs.count - 1].executed else { return }
        if let first = submissions.first, first.time > last, first.time - executed <= Int64(CycleTable.ownMicroseconds)
        {
            let hasFailed = runs.contains { run in run.isFailed && run.lastResult.map { $0 <= first.time } ?? false }
            let isOfThisRun = first.begin.map { $0 <= executed } ?? (first.isDated && !hasFailed)
            if isOfThisRun { note("executed", executed, before: "the task was scheduled", first.time) }
        }
        guard runs.count == 2 else { return }
        if let result = runs[0].lastResult, !runs[0].isRetried, runs[1].firstResult == nil,
            areOfOnePass(result, executed)
        {
            note(
                runs[0].isFailed ? "the fetch failed" : "the fetch succeeded",
                result,
                before: "the task was executed",
                executed
            )
        }
        if let completed = runs[0].lastCompletion, runs[1].firstCompletion == nil, areOfOnePass(completed, executed) {
            note("the task was completed", completed, before: "it was executed", executed)
        }
    }

    /// The first start of a fetch, against the execution before it and the results of its run. A start is known to the
    /// millisecond.
    private mutating func judgeStart(_ started: Int64) {
        // Content that is missing is fetched on demand.
        if let missing, missing < started + 1_000 { return }
        func isBeforeStart(_ time: Int64) -> Bool { time < started }
        let place = runs.lastIndex { run in run.executed.map { $0 < started + 1_000 } ?? false }
        guard let place else {
            guard runs.count == 2, let executed = runs[1].executed, areOfOnePass(started, executed) else { return }
            let isOfEarlierRun = runs[0].lastResult.map { $0 >= started } ?? false && runs[1].firstResult != nil
            if !isOfEarlierRun { note("the fetch started", started, before: "the task was executed", executed) }
            return
        }
        guard let executed = runs[place].executed, let result = runs[place].lastResult, isBeforeStart(result),
            areOfOnePass(executed, started)
        else { return }
        note(
            runs[place].isFailed ? "the fetch failed" : "the fetch succeeded",
            result,
            before: "the fetch started",
            started
        )
    }

    /// The completions of each run against its results; one that follows them is the task's own.
    private mutating func judgeCompletion() {
        for run in runs {
            guard let completed = run.lastCompletion, let result = run.firstResult, completed < result,
                areOfOnePass(completed, result)
            else { continue }
            note(
                "the task was completed",
                completed,
                before: run.isFailed ? "the fetch failed" : "the fetch succeeded",
                result
            )
        }
    }

    /// The use of the content, to the millisecond, against its fetch and the delivery.
    private mutating func judgeUse(_ used: Int64, of cycle: Cycle) {
        let cached = cycle.cached.time(base: cycle.base)?.microseconds
        let success = firstSuccess.map { ($0 / 1_000) * 1_000 }
        if let fetched = cached ?? success, used < fetched, areOfOnePass(used, fetched),
            !isEarlierContent(used, success, cycle)
        {
            note("content was used", used, before: cached == nil ? "it was fetched" : "it was cached", fetched)
        }
        guard let delivered = cycle.delivered.time(base: cycle.base)?.microseconds,
            !cycle.details.contains(.isDeliverySkewed)
        else { return }
        if used - delivered > LifecycleRules.usedAfterDeliveryMicroseconds, areOfOnePass(delivered, used) {
            note("the notification was delivered", delivered, before: "its content was used", used)
        }
    }

    /// Whether the content that was used may be another than the one that was fetched later: of an earlier cycle, as its
    /// age shows, or of an earlier attempt.
    private func isEarlierContent(_ used: Int64, _ success: Int64?, _ cycle: Cycle) -> Bool {
        if let success, success <= used, cycle.age != nil || runs.count > 2 { return true }
        guard let age = cycle.age, let scheduled = submissions.first?.time else { return false }
        return used - age * 1_000_000 < scheduled
    }
}
