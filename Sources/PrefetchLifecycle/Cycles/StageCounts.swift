// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// How often each stage of one cycle counts, given its known facts (docs/lifecycle.md, Attempts).
///
/// A pure function of the set of facts, so the order of arrival cannot matter. Each stage counts once in an attempt; a
/// scheduling counts once for each earliest begin. A failure that may still be revoked waits, as
/// `Attempt.failure(hasEnded:isClosing:)` says.
struct StageCounts {
    private(set) var scheduled = 0
    private(set) var executed = 0
    private(set) var success = 0
    private(set) var used = 0
    private(set) var retries = 0
    /// Attempts ended by the system.
    private(set) var expired = 0
    /// Tasks that missed their window; a repeat before the next scheduling or execution is the same miss.
    private(set) var missed = 0
    /// Indexed by the raw value of `FailureReason`.
    private(set) var failures: InlineArray<4, Int> = [0, 0, 0, 0]
    /// Whether only a summary asserts the success.
    private(set) var isSuccessImplied = false
    /// Whether only a summary asserts the use.
    private(set) var isUseImplied = false

    var failureTotal: Int { failures[0] + failures[1] + failures[2] + failures[3] }

    /// Counts the facts of a cycle.
    ///
    /// - Parameters:
    ///   - facts: the facts in event order.
    ///   - flags: the flags of the cycle. The summary of a reopened cycle asserts nothing: its stages were most likely seen.
    ///   - isUsed: whether its content was used.
    ///   - isClosing: whether no more facts will come, so that nothing waits.
    ///   - droppedRetries: the retries among facts that are no longer kept.
    init(_ facts: Span<UInt64>, _ flags: Cycle.Flags, isUsed: Bool, isClosing: Bool, droppedRetries: Int = 0) {
        var attempt = Attempt()
        var submissions = Submissions()
        var executedAt: UInt64?
        var isMissed = false
        var asserted: Fact.Detail = []
        var isSubmissionFailed = false
        for index in 0..<facts.count {
            let fact = Fact(rawValue: facts[index])
            switch fact.stage {
            case .scheduled:
                submissions.add(fact.begin)
                isMissed = false
            case .executed:
                guard fact.value != executedAt else { continue }
                executedAt = fact.value
                submissions.endStretch()
                isMissed = false
                if executed > 0 {
                    end(attempt, hasEnded: true, isClosing: isClosing)
                    attempt = Attempt()
                }
                executed += 1
            case .summary: asserted.formUnion(fact.detail)
            case .scheduleFailed: isSubmissionFailed = true
            case .missed:
                if !isMissed { missed += 1 }
                isMissed = true
            default: attempt.add(fact)
            }
        }
        submissions.endStretch()
        scheduled = submissions.count
        retries += droppedRetries
        let isReopened = flags.contains(.isReopened)
        if asserted.contains(.fetched), success == 0, !isReopened { attempt.resolve() }
        end(attempt, hasEnded: isClosing, isClosing: isClosing)
        used = isUsed ? 1 : 0
        let isAsserted = asserted.contains(.fetched) && !isReopened
        if isClosing, isSubmissionFailed, executed + success + failureTotal == 0, !isAsserted {
            failures[Int(FailureReason.system.rawValue)] = 1
        }
        guard !isReopened else { return }
        if asserted.contains(.fetched), success == 0 {
            success = 1
            isSuccessImplied = true
        }
        if asserted.contains(.usedCached), used == 0 {
            used = 1
            isUseImplied = true
        }
    }

    /// The count at an index of `StageTally`.
    subscript(place: Int) -> Int {
        switch place {
        case 0: scheduled
        case 1: executed
        case 2: success
        case 3: used
        default: failures[place - StageTally.failures]
        }
    }

    /// Drops the counts of stages that wait.
    mutating func drop(_ waiting: WaitingStages) {
        if waiting.contains(.scheduled) { scheduled = 0 }
        if waiting.contains(.executed) { executed = 0 }
        if waiting.contains(.success) { success = 0 }
        if waiting.contains(.used) { used = 0 }
        if waiting.contains(.failure) { failures = [0, 0, 0, 0] }
        if waiting.contains(.retries) { retries = 0 }
        if waiting.contains(.expired) { expired = 0 }
        if waiting.contains(.missed) { missed = 0 }
    }

    private mutating func end(_ attempt: Attempt, hasEnded: Bool, isClosing: Bool) {
        if attempt.hasSuccess {
            success += 1
        } else if attempt.isRetriedWithSuccess, isClosing || !attempt.isCompleted {
            // A completion may be that of a later attempt, whose execution has not arrived yet.
            success += 1
            isSuccessImplied = success == 1 && !attempt.isCompleted
        }
        if attempt.hasExpired { expired += 1 }
        retries += attempt.retries
        if let reason = attempt.failure(hasEnded: hasEnded, isClosing: isClosing) {
            failures[Int(reason.rawValue)] += 1
        }
    }
}

/// The submissions of a task: each earliest begin is one, however often and in how many forms it is told. Where none is
/// told, what lies between two executions is one.
private struct Submissions {
    /// More begins of one cycle are not told apart any more, and count each time.
    private static let limit = 16

    private var begins: InlineArray<16, UInt16> = .init(repeating: 0)
    private var distinct = 0
    private var withoutBegin = 0
    private var isWithoutBegin = false

    /// The larger one, because a form without a begin may be another form of a submission with one. So it never falls
    /// when more is known.
    var count: Int { max(distinct, withoutBegin) }

    @inline(__always)
    mutating func add(_ begin: SubmittedBegin) {
        if begin.isKnown { add(key: begin.key) } else { isWithoutBegin = true }
    }

    private mutating func add(key: UInt16) {
        for index in 0..<min(distinct, Self.limit) where begins[index] == key { return }
        if distinct < Self.limit { begins[distinct] = key }
        distinct += 1
    }

    /// Ends what lies before an execution.
    @inline(__always)
    mutating func endStretch() {
        if isWithoutBegin { withoutBegin += 1 }
        isWithoutBegin = false
    }
}

/// The facts of one attempt: from an execution, or the first fact of the cycle, up to the next execution.
struct Attempt {
    private(set) var hasSuccess = false
    /// Whether an event carried the duration of its fetch.
    private(set) var isTimed = false
    /// Failures with a retry announced.
    private(set) var retries = 0
    private(set) var isCompleted = false
    private(set) var isUnsuccessful = false
    /// The same by the times of its events alone: not for a completion behind a failure that will be retried.
    private var isUnsuccessfulForGood = false
    private(set) var hasExpired = false
    private(set) var hasFinalFailure = false
    private(set) var hasRetriedFailure = false
    /// Whether a retry was announced that arrived when a failure of the attempt was counted already.
    private var hasLaterRetry = false
    /// Whether it failed for good, by the times of its events alone: not for what a line behind a retried failure tells.
    private var hasFailedForGood = false
    /// Whether a summary says that its content was fetched.
    private var isResolved = false
    /// Whether its last completion says nothing of a failure.
    private var isCompletedPlainly = false
    /// The reason that was counted when it arrived.
    private var countedReason: FailureReason?
    /// The reason of the first final failure or unsuccessful completion that names one.
    private var finalReason: FailureReason?
    /// The same of those that arrived when another reason, or none, was counted already.
    private var laterReason: FailureReason?
    private var isCountedAsUnknown = false
    /// Whether a final failure or an unsuccessful completion names no reason, or `OTHER`.
    private var hasUnknownResult = false
    private var retriedReason: FailureReason?
    /// The first reason that a line behind a retried failure names, which is that of a failure for good that follows.
    private var restatedReason: FailureReason?
    /// Whether an unsuccessful completion named the reason `OTHER`.
    private var isCompletedForOther = false
    /// The reasons named by its failures, by the bit of their raw value; more than one contradict each other.
    private var namedReasons: UInt8 = 0

    /// Whether a line is marked as the one whose reason was counted.
    var hasCountedReason: Bool { countedReason != nil }
    /// Whether a failure names the reason that counts.
    var namesReason: Bool { countedReason != nil || finalReason != nil || isCompletedForOther }

    /// Adds a fact; ignores what says nothing about the result.
    @inline(__always)
    mutating func add(_ fact: Fact) {
        switch fact.stage {
        case .success: addSuccess(fact)
        case .failure: addFailure(fact)
        case .completed: addCompletion(fact)
        default: break
        }
    }

    private mutating func addSuccess(_ fact: Fact) {
        hasSuccess = true
        isTimed = isTimed || fact.isTimed
    }

    private mutating func addFailure(_ fact: Fact) {
        isTimed = isTimed || fact.isTimed
        if fact.detail.contains(.counted) { countedReason = countedReason ?? fact.reason ?? .other }
        if fact.detail.contains(.willRetry) {
            retries += 1
            if fact.hasArrivedLater { hasLaterRetry = true } else { hasRetriedFailure = true }
            retriedReason = retriedReason ?? fact.reason
            return
        }
        let isFinal = !fact.detail.isDisjoint(with: [.willNotRetry, .expired])
        if isFinal || retries == 0 || hasFailedForGood {
            hasFailedForGood = true
            if !fact.detail.contains(.expired), let reason = fact.reason, reason != .other {
                namedReasons |= 1 << reason.rawValue
            }
        }
        if !isFinal, hasRetriedFailure, !hasFinalFailure { return restate(fact) }
        hasFinalFailure = true
        hasExpired = hasExpired || fact.detail.contains(.expired)
        take(fact)
    }

    /// Takes another line of the failure that will be retried, as `JWT expired` is behind `Fetch failed`: it does not say
    /// itself whether there is a retry.
    private mutating func restate(_ fact: Fact) {
        retriedReason = retriedReason ?? fact.reason
        if !fact.hasArrivedLater { restatedReason = restatedReason ?? fact.reason }
    }

    private mutating func take(_ fact: Fact) {
        guard let reason = fact.reason else {
            hasUnknownResult = true
            return
        }
        if !fact.hasArrivedLater {
            finalReason = finalReason ?? restatedReason ?? reason
        } else {
            laterReason = laterReason ?? reason
            if fact.detail.contains(.arrivedAfterUnknown) { isCountedAsUnknown = true }
        }
    }

    /// Adds a completion; an unsuccessful one tells of the same failure as the lines before it, so its reason counts only
    /// where none of them names one, and a retry that succeeds takes it back with them.
    private mutating func addCompletion(_ fact: Fact) {
        isCompleted = true
        isCompletedPlainly = !fact.detail.contains(.unsuccessful)
        guard !isCompletedPlainly else { return }
        if fact.detail.contains(.counted) { countedReason = countedReason ?? fact.reason ?? .other }
        if retries == 0 || hasFailedForGood || hasSuccess { isUnsuccessfulForGood = true }
        if hasRetriedFailure, !hasFinalFailure, !hasSuccess { return restate(fact) }
        isUnsuccessful = true
        if fact.reason == .other {
            isCompletedForOther = isCompletedForOther || !fact.hasArrivedLater
            hasUnknownResult = true
        } else {
            take(fact)
        }
    }

    /// Takes from a summary that its content was fetched.
    mutating func resolve() { isResolved = true }

    /// Whether its retry succeeded, as only a completion or a summary says; whatever arrived first.
    var isRetriedWithSuccess: Bool {
        retries > 0 && !hasFailedForGood && !hasSuccess && !isUnsuccessfulForGood && (isResolved || isCompletedPlainly)
    }

    /// The one failure that the attempt counts, once no later fact can revoke it.
    ///
    /// | failures of the attempt | count |
    /// | --- | --- |
    /// | one with a reason that will not be retried, or an unsuccessful completion with one | at once, with that reason |
    /// | none with a known reason | once the attempt has ended, as `OTHER` |
    /// | only ones that will be retried, with the lines behind them | not at all with a success; else once the cycle closes |
    /// | only an unsuccessful completion without a reason | once the cycle closes, as `OTHER`; not with a success |
    ///
    /// Of two reasons the first by event time counts, and where one of them was counted when the other arrived, that one. A
    /// failure for good has its own reason, or that of a line before it that did not announce the retry itself.
    func failure(hasEnded: Bool, isClosing: Bool) -> FailureReason? {
        if let reason = countedReason ?? finalReason { return reason }
        if isCompletedForOther { return .other }
        if let laterReason { return isCountedAsUnknown && hasUnknownResult ? .other : laterReason }
        if hasFinalFailure {
            // Only the end of the cycle shows that no execution between the two makes them failures of two attempts.
            if hasRetriedFailure { return isClosing ? retriedReason ?? .other : nil }
            return hasEnded || isCompleted || isClosing ? .other : nil
        }
        guard !hasSuccess, !isRetriedWithSuccess else { return nil }
        if hasRetriedFailure || hasLaterRetry { return isClosing ? retriedReason ?? .other : nil }
        return isUnsuccessful && isClosing ? .other : nil
    }

    /// Whether it has any result or completion.
    var hasResult: Bool { hasSuccess || hasFinalFailure || hasRetriedFailure || hasLaterRetry || isCompleted }

    /// Whether it has two results that exclude each other, whatever arrived first. An expiry explains any failure that
    /// follows from it.
    var contradictsItself: Bool {
        if hasSuccess, hasFailedForGood || isUnsuccessfulForGood { return true }
        return !hasExpired && namedReasons.nonzeroBitCount > 1
    }
}
