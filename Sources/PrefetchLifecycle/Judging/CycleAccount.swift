// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The facts of a whole cycle, summed up for its verdict.
struct CycleAccount {
    private(set) var attempts = 0
    private(set) var firstScheduled: Timestamp?
    private(set) var lastScheduled: Timestamp?
    /// The earliest begin of the first submission that tells one.
    private(set) var firstBegin: Timestamp?
    private(set) var firstExecuted: Timestamp?
    private(set) var lastExecuted: Timestamp?
    /// The first execution of each submission, by the receiver's clock, minus the submission's earliest begin: the first
    /// one, and the first later than the window.
    private(set) var startDelay: Int64?
    private(set) var lateStart: (started: Timestamp, begin: Timestamp)?
    /// The earliest begin of the last submission that no execution follows, and of the first whose window was over when
    /// the next one came.
    private(set) var waitingBegin: Timestamp?
    private(set) var skippedBegin: Timestamp?
    /// The earliest begin of the last submission that was executed; told again, it is not another one.
    private var executedBegin: Timestamp?
    /// The last execution by the receiver's clock.
    private(set) var lastStarted: Timestamp?
    private(set) var firstSuccess: Timestamp?
    /// The last success before the content was used.
    private(set) var usedSuccess: Timestamp?
    /// The first failure that counts, and its reason.
    private(set) var failure: Timestamp?
    private(set) var failureReason: FailureReason?
    /// Whether the last attempt with a result ended in failure.
    private(set) var endsInFailure = false
    /// The first success that only a summary tells, or the completion of an attempt whose failure was to be retried.
    private(set) var impliedSuccess: Timestamp?
    /// The results of the first attempt with two that exclude each other.
    private(set) var contradiction: (success: Timestamp?, failure: Timestamp?, reason: FailureReason?)?
    /// The first attempt that took longer than the system gives it, from its execution to its completion, and was not
    /// expired.
    private(set) var longRun: (executed: Timestamp, completed: Timestamp)?
    /// The first execution of an attempt without any result or completion.
    private(set) var unfinishedExecution: Timestamp?
    private(set) var expired: Timestamp?
    private(set) var missed: Timestamp?
    /// The first summary that asserts the success, and the first that asserts the use.
    private var fetchSummary: Timestamp?
    private var useSummary: Fact?
    /// Whether something later than a scheduling was seen.
    private(set) var hasBegun = false
    private(set) var asserted: Fact.Detail = []
    /// The smallest lead of a task, in microseconds.
    private(set) var lead: Int64?
    /// Whether each hash is equal to the nearest one before it that it is held against; nil where none is.
    private(set) var scheduleHashMatches: Bool?
    private(set) var contentHashMatches: Bool?
    /// The hash of the content that was used last.
    private(set) var usedHash: UInt16?
    /// The nearest `ttl` before the content was used, in seconds.
    private(set) var ttl: Int64?

    /// The first submission that failed on a device, and whether it is the failure of the cycle.
    private var submissionFailed: Timestamp?
    private(set) var isFailedSubmission = false
    private var scheduledHash: UInt16?
    private var cachedHash: UInt16?
    private var executedAt: UInt64?

    private var attempt = Attempt()
    private var successOfAttempt: Timestamp?
    private var failureOfAttempt: Timestamp?
    private var completionOfAttempt: Timestamp?
    /// The same without what a summary tells.
    private var toldCompletion: Timestamp?
    private var endOfAttempt: Timestamp?
    /// The fetches whose events carry no duration, from execution to result, in microseconds.
    private(set) var durations: [Int64] = []

    /// - Parameters:
    ///   - facts: the facts in event order.
    ///   - cycle: their cycle.
    init(_ facts: Span<UInt64>, of cycle: Cycle) {
        let base = cycle.base
        let window = cycle.window.time(base: base)
        // The end of the millisecond in which the content was used.
        let used = cycle.used.time(base: base).map { $0.microseconds + 1_000 } ?? .max
        var unfinished: [Timestamp] = []
        var untold = 0
        for index in facts.indices {
            let fact = Fact(rawValue: facts[index])
            let time = fact.time(base: base)
            let isBeforeUse = used < .max ? time.microseconds < used : fact.value <= useSummary?.value ?? .max
            if isBeforeUse, let told = fact.ttl { ttl = told }
            hasBegun = hasBegun || fact.isLaterThanScheduling
            switch fact.stage {
            case .scheduled:
                firstScheduled = firstScheduled ?? time
                lastScheduled = time
                let begin = fact.begin.begin(at: time, window: window, due: cycle.due) ?? window
                firstBegin = firstBegin ?? begin
                submit(begin: begin, at: time)
                if fact.begin.lead(at: time) != nil, let begin, facts.isFirst(index) {
                    lead = min(lead ?? .max, begin.microseconds - time.microseconds)
                }
            case .executed:
                guard fact.value != executedAt else { continue }
                executedAt = fact.value
                if attempts == 0, attempt.hasResult { untold = facts.untoldAttempts() }
                if attempts + untold > 0 { end(&unfinished) }
                firstExecuted = firstExecuted ?? time
                lastExecuted = time
                let started = Timestamp(microseconds: time.microseconds + fact.skew * 1_000_000)
                lastStarted = started
                start(at: started)
                attempts += 1
            case .success:
                attempt.add(fact)
                endOfAttempt = endOfAttempt ?? time
                successOfAttempt = successOfAttempt ?? time
                firstSuccess = firstSuccess ?? time
                if time.microseconds < used { usedSuccess = time }
            case .failure:
                attempt.add(fact)
                failureOfAttempt = failureOfAttempt ?? time
                if !fact.detail.contains(.willRetry) { endOfAttempt = endOfAttempt ?? time }
                if fact.detail.contains(.expired) { expired = expired ?? time }
            case .completed:
                attempt.add(fact)
                completionOfAttempt = completionOfAttempt ?? time
                toldCompletion = toldCompletion ?? time
                if fact.detail.contains(.unsuccessful) { failureOfAttempt = failureOfAttempt ?? time }
            case .scheduleFailed: submissionFailed = submissionFailed ?? time
            case .summary:
                if fact.detail.contains(.fetched) { fetchSummary = fetchSummary ?? time }
                if fact.detail.contains(.usedCached) { useSummary = useSummary ?? fact }
                asserted.formUnion(fact.detail)
            case .missed: missed = missed ?? time
            case .scheduleHashScheduled: scheduledHash = fact.detail.rawValue
            case .scheduleHashExecuted: Self.compare(fact, with: scheduledHash, &scheduleHashMatches)
            case .contentHashCached: cachedHash = fact.detail.rawValue
            case .contentHashUsed:
                // What is fetched on demand is other content.
                if cycle.flags.contains(.contentMissing), !cycle.used.isKnown { continue }
                usedHash = fact.detail.rawValue
                Self.compare(fact, with: cachedHash, &contentHashMatches)
            default: continue
            }
        }
        if asserted.contains(.fetched), firstSuccess == nil, impliedSuccess == nil {
            attempt.resolve()
            completionOfAttempt = completionOfAttempt ?? fetchSummary
        }
        end(&unfinished)
        if asserted.contains(.fetched), firstSuccess == nil, impliedSuccess == nil {
            impliedSuccess = fetchSummary
            _ = unfinished.popLast()
        }
        unfinishedExecution = unfinished.first
        let hasResult = (firstSuccess ?? impliedSuccess ?? failure) != nil
        if let submissionFailed, attempts == 0, !hasResult {
            (failure, failureReason) = (submissionFailed, .system)
            endsInFailure = true
            isFailedSubmission = true
        }
    }

    /// When the content of the cycle was used, also where only a summary tells it.
    func used(of cycle: Cycle) -> Timestamp? {
        cycle.used.time(base: cycle.base) ?? useSummary?.time(base: cycle.base)
    }

    /// Holds a hash against the latest one before it; a match does not excuse a mismatch.
    private static func compare(_ fact: Fact, with other: UInt16?, _ matches: inout Bool?) {
        guard let other else { return }
        matches = (matches ?? true) && fact.detail.rawValue == other
    }

    /// Judges the window of the submission that waits, and takes the next one.
    private mutating func submit(begin: Timestamp?, at time: Timestamp) {
        guard let begin, begin != executedBegin else { return }
        if let waitingBegin, waitingBegin.endOfWindow < time { skippedBegin = skippedBegin ?? waitingBegin }
        waitingBegin = begin
    }

    /// Holds an execution against the submission that waits.
    private mutating func start(at started: Timestamp) {
        guard let begin = waitingBegin else { return }
        waitingBegin = nil
        executedBegin = begin
        startDelay = startDelay ?? started.microseconds - begin.microseconds
        if lateStart == nil, started > begin.endOfWindow { lateStart = (started, begin) }
    }

    private mutating func noteRun() {
        guard longRun == nil, let lastExecuted, let toldCompletion, !attempt.hasExpired else { return }
        let length = toldCompletion.microseconds - lastExecuted.microseconds
        guard length > LifecycleRules.longestRun, length < Int64(CycleTable.ownMicroseconds) else { return }
        longRun = (lastExecuted, toldCompletion)
    }

    private mutating func end(_ unfinished: inout [Timestamp]) {
        defer {
            attempt = Attempt()
            successOfAttempt = nil
            failureOfAttempt = nil
            completionOfAttempt = nil
            toldCompletion = nil
            endOfAttempt = nil
        }
        if attempt.isRetriedWithSuccess { impliedSuccess = impliedSuccess ?? completionOfAttempt }
        let reason = attempt.failure(hasEnded: true, isClosing: true)
        if contradiction == nil, attempt.contradictsItself {
            contradiction = (successOfAttempt, failureOfAttempt, reason)
        }
        if let lastExecuted, !attempt.hasResult { unfinished.append(lastExecuted) }
        if let lastExecuted, let endOfAttempt, endOfAttempt >= lastExecuted, !attempt.isTimed {
            durations.append(endOfAttempt.microseconds - lastExecuted.microseconds)
        }
        noteRun()
        if let reason, failureReason == nil { (failure, failureReason) = (failureOfAttempt, reason) }
        // A failure that was counted before its retry arrived is counted, and its attempt succeeded all the same.
        let hasSucceeded = attempt.isRetriedWithSuccess || attempt.hasSuccess && !attempt.contradictsItself
        if reason != nil, !hasSucceeded {
            endsInFailure = true
        } else if hasSucceeded || attempt.hasSuccess {
            endsInFailure = false
        }
    }
}

extension Timestamp {
    /// The end of the window in which a task that may begin at this time should be executed.
    var endOfWindow: Timestamp { Timestamp(microseconds: microseconds + LifecycleRules.startWindowMicroseconds) }
}

extension Span<UInt64> {
    /// Whether a submission was told shortly before, in the same or another form.
    func repeatsSubmission(_ place: Int) -> Bool {
        let fact = Fact(rawValue: self[place])
        for index in 0..<place {
            let other = Fact(rawValue: self[index])
            guard other.stage == .scheduled,
                fact.value &- other.value <= UInt64(LifecycleRules.oneSubmissionMicroseconds)
            else { continue }
            if other.begin.key == fact.begin.key || !other.begin.isKnown || !fact.begin.isKnown { return true }
        }
        return false
    }

    /// Whether a submission is told for the first time; told again, its lead is not another one.
    fileprivate func isFirst(_ place: Int) -> Bool {
        let key = Fact(rawValue: self[place]).begin.key
        for index in 0..<place {
            let fact = Fact(rawValue: self[index])
            if fact.stage == .scheduled, fact.begin.isKnown, fact.begin.key == key { return false }
        }
        return true
    }
}

extension Fact {
    /// Whether it tells of what comes behind the scheduling of a task that runs, or of its notification.
    fileprivate var isLaterThanScheduling: Bool {
        switch stage {
        case .scheduled, .scheduleHashScheduled, .missed, .denied, .granted, .ttl, .lead, .scheduleFailed, .told: false
        default: true
        }
    }
}
