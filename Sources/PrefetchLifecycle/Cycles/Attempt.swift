// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The facts of one attempt: from an execution, or the first fact of the cycle, up to the next execution.
///
/// What comes before the first execution is of its attempt, unless `untoldAttempts()` says otherwise.
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

extension Span<UInt64> {
    /// 1 where the facts before the first execution are an attempt of their own, whose execution is not told; else 0.
    ///
    /// They are where they end something more than 5 s before that execution, and it ends the same itself. Of stamps that are
    /// nearer the order may be wrong. More facts never make one attempt of two, so that no count falls. O(facts) where
    /// something ends before the first execution.
    ///
    /// - Parameter new: a fact that is about to be added.
    func untoldAttempts(with new: Fact? = nil) -> Int {
        var late: AttemptEnds = []
        // The first that ends the fetch, and the first that ends the task, before the first execution.
        var early: (fetch: UInt64, task: UInt64) = (.max, .max)
        var (executed, next): (Fact?, Fact?)
        func add(_ ends: AttemptEnds, at value: UInt64) {
            if ends.contains(.fetch) { early.fetch = Swift.min(early.fetch, value) }
            if ends.contains(.task) { early.task = Swift.min(early.task, value) }
        }
        for index in indices {
            let fact = Fact(rawValue: self[index])
            if fact.stage == .executed {
                if executed == nil {
                    executed = fact
                } else if fact.value != executed?.value {
                    next = fact
                    break
                }
            } else if executed != nil {
                late.formUnion(AttemptEnds(fact))
            } else {
                add(AttemptEnds(fact), at: fact.value)
            }
        }
        guard let executed else { return 0 }
        if let new {
            if new < executed {
                add(AttemptEnds(new), at: new.value)
            } else if next.map({ new < $0 }) ?? true {
                late.formUnion(AttemptEnds(new))
            }
        }
        func isFar(_ value: UInt64) -> Bool {
            value < executed.value && executed.value - value > UInt64(LifecycleRules.wrongOrderMicroseconds)
        }
        return late.contains(.fetch) && isFar(early.fetch) || late.contains(.task) && isFar(early.task) ? 1 : 0
    }
}

/// What a fact ends in its attempt.
private struct AttemptEnds: OptionSet {
    let rawValue: UInt8

    /// The fetch, by its result or by a completion that tells of its failure.
    static let fetch = AttemptEnds(rawValue: 1)
    /// The task.
    static let task = AttemptEnds(rawValue: 2)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    @inline(__always)
    init(_ fact: Fact) {
        switch fact.stage {
        case .success, .failure: self = .fetch
        case .completed: self = fact.detail.contains(.unsuccessful) ? [.fetch, .task] : .task
        default: self = []
        }
    }
}
