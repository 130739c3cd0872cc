// SPDX-License-Identifier: Apache-2.0

/// What is true of a cycle: the story knows which steps are of it, so that nothing has to be found out.
///
/// Steps that were lost on the way are not added.
struct CycleTruth: Sendable {
    private static let second: Int64 = 1_000_000

    /// A moment by the device's clock, and by the clock that the app plans by.
    struct Moment: Sendable {
        let told: Int64
        let planned: Int64
    }

    /// From one execution to the next.
    private struct Attempt {
        var executed: Moment?
        var success: Int64?
        var isUnchanged = false
        /// Whether the last call before the success was told to carry no ETag.
        var isUnconditional = false
        /// The failure that counts, and one that is to be retried.
        var failure: StoryStep.Reason?
        var retried: StoryStep.Reason?
        var completed: Int64?
        var expired = false
        var ttl: Int64?

        var contradictsItself: Bool { success != nil && failure != nil }
        var isFinished: Bool { success != nil || failure != nil || retried != nil || completed != nil }
    }

    let cycle: Int32
    let due: Int64
    private(set) var isTold = false
    /// The submissions that were told first and last, and the earliest begin.
    private(set) var scheduled: Moment?
    private(set) var lastScheduled: Int64?
    private var begin: Int64?
    private var minutes: Int64 = 5
    private var isCapped = false
    private(set) var persisted: Int64?
    var isPersisted: Bool { persisted != nil }
    private var attempts: [Attempt] = []
    private var ttl: Int64?
    private var cached: Moment?
    private var missing: Moment?
    private(set) var used: (time: Int64, age: Int64)?
    private(set) var delivered: Moment?
    private var missed: Int64?
    private var summary: (fetched: Bool, used: Bool)?
    private var differs = false
    private var scheduleHash: UInt64 = 0
    private var contentHash: UInt64 = 0
    private(set) var isScheduleIntact: Bool?
    private(set) var isContentIntact: Bool?
    /// When the task stopped waiting.
    private(set) var freed: Int64 = .max
    /// When all tasks were cancelled, after it was scheduled.
    private var cancelled: Int64?
    private var call: Bool?
    /// When the cache was cleared last before the content was used, and after it was cached.
    private var clearedBeforeUse: Int64?
    private var isCleared = false
    /// What its device told beside it.
    private var others: [BrokenRule] = []

    /// - Parameter cycle: its number, below -1 for results that name another time and belong to no other cycle.
    init(_ step: StoryStep, cycle: Int32) {
        self.cycle = cycle
        due = step.due + (cycle < 0 ? step.dueError : 0)
    }

    mutating func cancel(at time: Int64) { if scheduled != nil { cancelled = time } }

    /// Notes that the cache was cleared.
    mutating func clear(at time: Int64) {
        if used == nil { clearedBeforeUse = time }
        if cached != nil, missing == nil { isCleared = true }
    }

    /// Notes a rule that its device broke beside it; twice is once.
    mutating func breaks(_ rule: BrokenRule) { if !others.contains(rule) { others.append(rule) } }

    /// Takes a step, and says what it counts.
    ///
    /// - Parameter ahead: by how much the clock that the app plans by is ahead of the device's.
    mutating func take(_ step: StoryStep, ahead: Int64) -> PrefetchCounts {
        var counts = PrefetchCounts()
        let time = step.time
        let moment = Moment(told: time, planned: time + ahead)
        switch step.kind {
        case .fetchStarted: return counts
        case .called:
            call = step.flag
            return counts
        case .persisted:
            persisted = time
            return counts
        case .leadCapped:
            isCapped = true
            return counts
        case .submitted:
            if begin != step.begin { counts.scheduled = 1 }
            scheduled = scheduled ?? moment
            lastScheduled = time
            begin = step.begin
            minutes = Int64(step.minutes)
            scheduleHash = step.hash
        case .executed:
            counts.executed = 1
            attempts.append(Attempt(executed: moment))
            call = nil
            if step.hash != 0, scheduleHash != 0 {
                isScheduleIntact = (isScheduleIntact ?? true) && step.hash == scheduleHash
            }
            free(at: time)
        case .succeeded:
            takeSuccess(step, &counts)
            free(at: time)
        case .failed:
            if step.flag {
                change { $0.retried = step.reason }
            } else {
                fail(step.reason ?? .system, at: time, &counts)
            }
        case .tokenExpired: fail(.auth, at: time, &counts)
        case .expired:
            change { $0.expired = true }
            fail(.system, at: time, &counts)
        case .completed, .abandoned:
            change { $0.completed = $0.completed ?? time }
            if let reason = step.reason, !step.flag { fail(reason, at: time, &counts) }
            free(at: time)
        case .cached:
            cached = cached ?? moment
            if step.hash != 0 { contentHash = step.hash }
            if step.ttl > 0 { takeTimeToLive(Int64(step.ttl)) }
        case .contentMissing: missing = missing ?? moment
        case .used:
            counts.used = used == nil ? 1 : 0
            used = used ?? (time, step.amount)
            if step.hash != 0, contentHash != 0 {
                isContentIntact = (isContentIntact ?? true) && step.hash == contentHash
            }
            free(at: time)
        case .delivered:
            delivered = delivered ?? moment
            free(at: time)
        case .missed:
            missed = missed ?? time
            free(at: time)
        case .summed:
            summary = (step.flag, step.secondFlag)
            if step.flag, !hasToldSuccess { counts.success = 1 }
            if step.secondFlag, used == nil { counts.used = 1 }
        default: break
        }
        isTold = true
        return counts
    }

    private mutating func change(_ body: (inout Attempt) -> Void) {
        if attempts.isEmpty { attempts.append(Attempt()) }
        body(&attempts[attempts.count - 1])
    }

    private mutating func takeSuccess(_ step: StoryStep, _ counts: inout PrefetchCounts) {
        let isUnconditional = call == false
        change {
            if $0.success == nil { counts.success = 1 }
            $0.success = $0.success ?? step.time
            $0.isUnchanged = step.status == 304
            $0.isUnconditional = isUnconditional
            $0.ttl = Int64(step.ttl)
        }
        ttl = Int64(step.ttl)
        if step.dueError != 0, cycle >= 0 { differs = true }
    }

    private mutating func takeTimeToLive(_ told: Int64) {
        if let known = attempts.last?.ttl, known != told { breaks(.timeToLiveDiffers) }
        ttl = told
    }

    private mutating func free(at time: Int64) { if scheduled != nil { freed = min(freed, time) } }

    private mutating func fail(_ reason: StoryStep.Reason, at time: Int64, _ counts: inout PrefetchCounts) {
        free(at: time)
        guard attempts.last?.failure == nil else { return }
        change { $0.failure = reason }
        counts.failed(reason)
    }

    /// Whether its task still waited at a moment.
    func waits(at time: Int64, hasTimes: Bool) -> Bool {
        guard let scheduled, scheduled.told < time, freed > time else { return false }
        if let cancelled, cancelled <= time { return false }
        return !hasTimes || due > time
    }

    /// Its executions, by the device's clock.
    var lastExecuted: Int64? { attempts.last { $0.executed != nil }?.executed?.told }
    /// Whether it was executed later than a time, up to another one.
    func isExecuted(after time: Int64, through end: Int64) -> Bool {
        attempts.contains { $0.executed.map { $0.told > time && $0.told <= end } ?? false }
    }
    private var isExecuted: Bool { attempts.contains { $0.executed != nil } }
    private var hasToldSuccess: Bool { attempts.contains { $0.success != nil } }
    private var hasSucceeded: Bool { hasToldSuccess || summary?.fetched == true }
    private var hasFailed: Bool { attempts.contains { $0.failure != nil } }
    private var isCompleted: Bool { attempts.contains { $0.completed != nil } }
    private var isUsed: Bool { used != nil || summary?.used == true }

    private var hasBegun: Bool {
        !attempts.isEmpty || cached != nil || summary != nil || delivered != nil || missing != nil || used != nil
    }

    /// Whether the last attempt that came to an end failed.
    private var endsInFailure: Bool {
        guard let last = attempts.last(where: { $0.success != nil || $0.failure != nil }) else { return false }
        return last.failure != nil && summary?.fetched != true
    }

    /// Whether nothing of it ran until the window of its task was over.
    var isNeverRun: Bool { scheduled != nil && !isExecuted && !hasToldSuccess && !hasFailed }
    /// The end of the window of its task.
    var endOfWindow: Int64? { begin.map { $0 + 900 * Self.second } }
    /// Whether its task was cancelled before a moment.
    func isCancelled(before time: Int64) -> Bool { cancelled.map { $0 <= time } ?? false }
    /// Whether the app noticed the miss until a moment.
    func isMissTold(until time: Int64) -> Bool { missed.map { $0 <= time } ?? false }

    /// The end, once the device was heard of after the window of its task.
    func outcome(hasTimes: Bool) -> TrueOutcome {
        if isUsed { return .used }
        if delivered != nil, missing != nil { return .fallback }
        if endsInFailure, delivered == nil { return .failed }
        guard scheduled != nil, !hasBegun else { return .incomplete }
        if missed != nil { return .missed }
        return hasTimes && begin != nil && !isCancelledInTime ? .missed : .incomplete
    }

    /// Calls `body` with each rule that the cycle breaks.
    func eachBroken(hasTimes: Bool, isAndroid: Bool, _ body: (BrokenRule) -> Void) {
        others.forEach(body)
        if isExecuted {
            if scheduled == nil { body(.executedWithoutScheduled) }
        } else {
            if hasToldSuccess { body(.successWithoutExecuted) }
            if hasFailed { body(.failureWithoutExecuted) }
        }
        let unfinished = attempts.count { $0.executed != nil && !$0.isFinished }
        let isExcused = !hasToldSuccess && summary?.fetched == true && attempts.last?.isFinished == false
        if unfinished > (isExcused ? 1 : 0) { body(.taskNotCompleted) }
        if attempts.contains(where: \.contradictsItself) { body(.duplicateTerminal) }
        if let used, !hasSucceeded, scheduled.map({ used.time - used.age * Self.second >= $0.told }) ?? true {
            body(.usedWithoutSuccess)
        }
        if let used, let ttl, used.age > ttl { body(.staleContentUsed) }
        if attempts.contains(where: \.expired) { body(.expired) }
        if isScheduleIntact == false { body(.scheduleHashMismatch) }
        if isContentIntact == false { body(.contentHashMismatch) }
        if differs { body(.scheduleTimeDiffers) }
        if missed != nil || hasTimes && isWindowMissed { body(.missedWindow) }
        if let begin, !isCapped, abs(due - minutes * 60 * Self.second - begin) > Self.second { body(.leadDiffers) }
        let successes = attempts.filter { $0.success != nil }
        if successes.contains(where: \.isUnchanged), successes.allSatisfy(\.isUnconditional) {
            body(.notModifiedWithoutETag)
        }
        if hasTimes { eachLate(isAndroid: isAndroid, body) }
    }

    /// Whether its task was cancelled before its window was over.
    private var isCancelledInTime: Bool { endOfWindow.map(isCancelled) ?? (cancelled != nil) }

    private var isWindowMissed: Bool {
        guard let endOfWindow else { return false }
        guard let first = attempts.first(where: { $0.executed != nil })?.executed else { return !isCancelledInTime }
        return first.planned > endOfWindow
    }

    /// The rules about time.
    private func eachLate(isAndroid: Bool, _ body: (BrokenRule) -> Void) {
        if let scheduled, let begin, begin - scheduled.planned <= 59 * Self.second { body(.leadBelowMinimum) }
        if let last = attempts.last(where: { $0.executed != nil })?.executed, last.planned > due {
            body(.executedAfterNotification)
        }
        if let delivered {
            let drift = abs(delivered.planned - due)
            if isAndroid ? drift >= 60 * Self.second : drift > 180 * Self.second { body(.driftExceeded) }
            if let used, used.time - delivered.told > 60 * Self.second { body(.outOfOrder) }
        }
        let isTooLong = attempts.contains { attempt in
            guard let executed = attempt.executed, let completed = attempt.completed, !attempt.expired else {
                return false
            }
            return completed - executed.told > 30 * Self.second
        }
        if isTooLong { body(.ranTooLong) }
        if let cached, let missing, !isCleared, cached.told < missing.told,
            missing.planned - cached.planned <= (ttl ?? .max / 4) * Self.second
        {
            body(.cachedContentLost)
        }
        if let used, let clearedBeforeUse, used.time - (used.age - 1) * Self.second <= clearedBeforeUse,
            cached.map({ $0.told < clearedBeforeUse }) ?? true
        {
            body(.clearedContentUsed)
        }
    }
}
