// SPDX-License-Identifier: Apache-2.0

/// What is true of a cycle: the story knows which steps are of it, so that nothing has to be found out.
///
/// A task runs at most once in a cycle. Steps that were lost on the way are not added.
struct CycleTruth: Sendable {
    private static let second: Int64 = 1_000_000

    let cycle: Int32
    let due: Int64
    private(set) var isTold = false
    /// The submission that was told first, and the earliest begin.
    private(set) var scheduled: Int64?
    private var begin: Int64?
    private(set) var executed: Int64?
    private var succeeded: Int64?
    private var ttl: Int64 = 0
    private var failure: (time: Int64, reason: StoryStep.Reason)?
    private var mayRetry = false
    private var completed: Int64?
    private var expired = false
    private var cached: Int64?
    private var missing: Int64?
    private(set) var used: (time: Int64, age: Int64)?
    private(set) var delivered: Int64?
    private var missed: Int64?
    private var summary: (fetched: Bool, used: Bool)?
    /// When the task stopped waiting.
    private(set) var freed: Int64 = .max
    /// When all tasks were cancelled, after it was scheduled.
    private var cancelled: Int64?

    init(_ step: StoryStep) {
        cycle = step.cycle
        due = step.due
    }

    mutating func cancel(at time: Int64) { if scheduled != nil { cancelled = time } }

    /// Takes a step, and says what it counts.
    mutating func take(_ step: StoryStep) -> PrefetchCounts {
        var counts = PrefetchCounts()
        let time = step.time
        switch step.kind {
        case .persisted, .fetchStarted, .leadCapped: return counts
        case .submitted:
            if begin != step.begin { counts.scheduled = 1 }
            scheduled = scheduled ?? time
            begin = step.begin
        case .executed:
            counts.executed = 1
            executed = time
            free(at: time)
        case .succeeded:
            counts.success = 1
            succeeded = time
            ttl = Int64(step.ttl)
            failure = nil
            free(at: time)
        case .failed:
            mayRetry = step.flag
            if !step.flag { fail(step.reason ?? .system, at: time, &counts) }
        case .tokenExpired: fail(.auth, at: time, &counts)
        case .expired:
            expired = true
            fail(.system, at: time, &counts)
        case .completed, .abandoned:
            completed = completed ?? time
            if let reason = step.reason, !step.flag { fail(reason, at: time, &counts) }
            free(at: time)
        case .cached: cached = cached ?? time
        case .contentMissing: missing = missing ?? time
        case .used:
            counts.used = used == nil ? 1 : 0
            used = used ?? (time, step.amount)
            free(at: time)
        case .delivered:
            delivered = delivered ?? time
            free(at: time)
        case .missed:
            missed = missed ?? time
            free(at: time)
        case .summed:
            summary = (step.flag, step.secondFlag)
            if step.flag, succeeded == nil { counts.success = 1 }
            if step.secondFlag, used == nil { counts.used = 1 }
        default: break
        }
        isTold = true
        return counts
    }

    private mutating func free(at time: Int64) { if scheduled != nil { freed = min(freed, time) } }

    private mutating func fail(_ reason: StoryStep.Reason, at time: Int64, _ counts: inout PrefetchCounts) {
        guard failure == nil else { return }
        failure = (time, reason)
        counts.failed(reason)
        free(at: time)
    }

    /// Whether its task still waited when that of another cycle was scheduled for another time.
    func waits(at time: Int64, hasTimes: Bool) -> Bool {
        guard let scheduled, scheduled < time, freed > time else { return false }
        if let cancelled, cancelled <= time { return false }
        return !hasTimes || due > time
    }

    private var isUsed: Bool { used != nil || summary?.used == true }
    private var hasSucceeded: Bool { succeeded != nil || summary?.fetched == true }

    private var hasBegun: Bool {
        executed != nil || succeeded != nil || failure != nil || completed != nil || cached != nil || summary != nil
            || delivered != nil || missing != nil || used != nil
    }

    /// The end, once the device was heard of after the window of its task.
    func outcome(hasTimes: Bool) -> TrueOutcome {
        if isUsed { return .used }
        if delivered != nil, missing != nil { return .fallback }
        if failure != nil, !hasSucceeded, delivered == nil { return .failed }
        guard scheduled != nil, !hasBegun else { return .incomplete }
        if missed != nil { return .missed }
        return hasTimes && begin != nil && cancelled == nil ? .missed : .incomplete
    }

    /// Calls `body` with each rule that the cycle breaks by itself.
    func eachBroken(hasTimes: Bool, isAndroid: Bool, _ body: (BrokenRule) -> Void) {
        if executed != nil {
            if scheduled == nil { body(.executedWithoutScheduled) }
            if !hasSucceeded, failure == nil, completed == nil { body(.taskNotCompleted) }
        } else {
            if succeeded != nil { body(.successWithoutExecuted) }
            if failure != nil { body(.failureWithoutExecuted) }
        }
        if let used, !hasSucceeded, scheduled.map({ used.time - used.age * Self.second >= $0 }) ?? true {
            body(.usedWithoutSuccess)
        }
        if let used, succeeded != nil, used.age > ttl { body(.staleContentUsed) }
        if expired { body(.expired) }
        let isLate = executed != nil && begin != nil && executed ?? 0 > (begin ?? 0) + 900 * Self.second
        let isMissed = executed == nil && begin != nil && cancelled == nil
        if missed != nil || hasTimes && (isLate || isMissed) { body(.missedWindow) }
        guard hasTimes else { return }
        if let scheduled, let begin, begin - scheduled < 60 * Self.second { body(.leadBelowMinimum) }
        if let executed, executed > due { body(.executedAfterNotification) }
        if let delivered {
            let drift = abs(delivered - due)
            if isAndroid ? drift >= 60 * Self.second : drift > 180 * Self.second { body(.driftExceeded) }
        }
        if let executed, let completed, !expired, completed - executed > 30 * Self.second { body(.ranTooLong) }
        if let cached, let missing, cached < missing, missing - cached <= ttl * Self.second { body(.cachedContentLost) }
    }
}
