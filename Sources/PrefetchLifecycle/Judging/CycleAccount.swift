// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The facts of a whole cycle, summed up for its verdict.
struct CycleAccount {
    private(set) var attempts = 0
    private(set) var firstScheduled: Timestamp?
    private(set) var lastScheduled: Timestamp?
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
    /// The first failure that counts.
    private(set) var failure: Timestamp?
    /// The reason of the last failed attempt.
    private(set) var failureReason: FailureReason?
    /// Whether the last attempt with a result ended in failure.
    private(set) var endsInFailure = false
    /// The first success that only a summary tells, or the completion of an attempt whose failure was to be retried.
    private(set) var impliedSuccess: Timestamp?
    /// The results of the first attempt with two that exclude each other.
    private(set) var contradiction: (success: Timestamp?, failure: Timestamp?, reason: FailureReason?)?
    /// The first execution of an attempt without any result or completion.
    private(set) var unfinishedExecution: Timestamp?
    private(set) var expired: Timestamp?
    private(set) var missed: Timestamp?
    private(set) var denied: Timestamp?
    private(set) var summed: Timestamp?
    private(set) var asserted: Fact.Detail = []
    /// The smallest lead of a task, in seconds.
    private(set) var lead: Int64?
    /// The largest age of used content, in seconds.
    private(set) var age: Int64?
    private(set) var hashes: (scheduled: Bool, executed: Bool, cached: Bool, used: Bool) = (false, false, false, false)

    private var attempt = Attempt()
    private var successOfAttempt: Timestamp?
    private var failureOfAttempt: Timestamp?
    private var completionOfAttempt: Timestamp?
    private var endOfAttempt: Timestamp?
    /// The fetches whose events carry no duration, from execution to result, in microseconds.
    private(set) var durations: [Int64] = []

    /// - Parameters:
    ///   - facts: the facts in event order.
    ///   - base: the base of their times.
    ///   - window: the earliest begin of all submissions.
    ///   - used: the millisecond in which the content was used.
    init(_ facts: Span<UInt64>, base: Timestamp, window: Timestamp?, used: Timestamp?) {
        var unfinished: [Timestamp] = []
        for index in facts.indices {
            let fact = Fact(rawValue: facts[index])
            if let stage = fact.stage, !fact.hasTime {
                add(stage, fact.value)
                continue
            }
            let time = fact.time(base: base)
            switch fact.stage {
            case .scheduled:
                firstScheduled = firstScheduled ?? time
                lastScheduled = time
                submit(begin: fact.begin(at: time, window: window), at: time)
                if let factLead = fact.lead { lead = min(lead ?? factLead, factLead) }
            case .executed:
                if attempts > 0 { end(&unfinished) }
                firstExecuted = firstExecuted ?? time
                lastExecuted = time
                let started = Timestamp(microseconds: time.microseconds + fact.skew * 1_000_000)
                lastStarted = started
                start(at: started)
                attempts += 1
            case .success:
                attempt.addSuccess(fact)
                endOfAttempt = endOfAttempt ?? time
                successOfAttempt = successOfAttempt ?? time
                firstSuccess = firstSuccess ?? time
                if let used, time.microseconds < used.microseconds + 1_000 { usedSuccess = time }
            case .failure:
                attempt.addFailure(fact)
                failureOfAttempt = failureOfAttempt ?? time
                if !fact.detail.contains(.willRetry) { endOfAttempt = endOfAttempt ?? time }
                if fact.detail.contains(.expired) { expired = expired ?? time }
            case .completed:
                attempt.addCompletion(fact)
                completionOfAttempt = completionOfAttempt ?? time
                if fact.detail.contains(.unsuccessful) { failureOfAttempt = failureOfAttempt ?? time }
            case .summary:
                summed = summed ?? time
                asserted.formUnion(fact.detail)
            case .missed: missed = missed ?? time
            case .denied: denied = denied ?? time
            default: continue
            }
        }
        if asserted.contains(.fetched), firstSuccess == nil, impliedSuccess == nil {
            attempt.resolve()
            completionOfAttempt = completionOfAttempt ?? summed
        }
        end(&unfinished)
        if asserted.contains(.fetched), firstSuccess == nil, impliedSuccess == nil {
            impliedSuccess = summed
            _ = unfinished.popLast()
        }
        unfinishedExecution = unfinished.first
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

    private mutating func add(_ stage: Fact.Stage, _ value: UInt64) {
        switch stage {
        case .scheduleHashScheduled: hashes.scheduled = true
        case .scheduleHashExecuted: hashes.executed = true
        case .contentHashCached: hashes.cached = true
        case .contentHashUsed: hashes.used = true
        case .age: age = max(age ?? 0, Int64(value))
        default: return
        }
    }

    private mutating func end(_ unfinished: inout [Timestamp]) {
        defer {
            attempt = Attempt()
            successOfAttempt = nil
            failureOfAttempt = nil
            completionOfAttempt = nil
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
        if let reason {
            failureReason = reason
            failure = failure ?? failureOfAttempt
            endsInFailure = true
        } else if attempt.hasSuccess || attempt.isRetriedWithSuccess {
            endsInFailure = false
        }
    }
}

extension Timestamp {
    /// The end of the window in which a task that may begin at this time should be executed.
    var endOfWindow: Timestamp { Timestamp(microseconds: microseconds + LifecycleRules.startWindowMicroseconds) }
}

extension Fact {
    /// The earliest begin of a submission; nil where none is known.
    ///
    /// A fact keeps it in whole seconds, the cycle has the earliest of all submissions exactly.
    fileprivate func begin(at time: Timestamp, window: Timestamp?) -> Timestamp? {
        guard let lead, lead.magnitude < Self.largestLead else { return window }
        let begin = Timestamp(microseconds: time.microseconds + lead * 1_000_000)
        guard let window, window >= begin, window.microseconds - begin.microseconds < 1_000_000 else { return begin }
        return window
    }
}
