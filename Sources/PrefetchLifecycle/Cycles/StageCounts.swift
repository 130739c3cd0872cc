// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// How often each stage of one cycle counts, as its known facts tell it (SPEC 3.4, 5.1).
///
/// A pure function of the set of facts, so that the order of their arrival cannot matter. In an attempt each stage counts
/// once; what is scheduled after an execution belongs to the next one. A failure that may still turn out otherwise is
/// held back, as `Attempt.failure(hasEnded:isClosing:)` says.
struct StageCounts {
    private(set) var scheduled = 0
    private(set) var executed = 0
    private(set) var success = 0
    private(set) var used = 0
    private(set) var retries = 0
    /// Attempts that the system ended.
    private(set) var expired = 0
    /// Tasks that missed their window; told again before the next scheduling or execution it is the same one.
    private(set) var missed = 0
    /// By the raw value of `FailureReason`.
    private(set) var failures: InlineArray<4, Int> = [0, 0, 0, 0]
    /// Whether only a summary tells of the success, or of the use.
    private(set) var isSuccessImplied = false
    private(set) var isUseImplied = false

    var failureTotal: Int { failures[0] + failures[1] + failures[2] + failures[3] }

    /// Counts the facts of a cycle.
    ///
    /// - Parameters:
    ///   - facts: in their order.
    ///   - flags: what else is known of it. A summary of one that was closed before asserts what was most likely seen.
    ///   - isUsed: whether its content was used.
    ///   - isClosing: whether no more facts will come, so that nothing is held back.
    init(_ facts: Span<UInt64>, _ flags: Cycle.Flags, isUsed: Bool, isClosing: Bool) {
        var attempt = Attempt()
        var isScheduled = false
        var isMissed = false
        var asserted: Fact.Detail = []
        for index in 0..<facts.count {
            let fact = Fact(rawValue: facts[index])
            switch fact.stage {
            case .scheduled:
                isScheduled = true
                isMissed = false
            case .executed:
                if isScheduled { scheduled += 1 }
                isScheduled = false
                isMissed = false
                if executed > 0 {
                    end(attempt, hasEnded: true, isClosing: isClosing)
                    attempt = Attempt()
                }
                executed += 1
            case .success: attempt.addSuccess(fact)
            case .failure: attempt.addFailure(fact)
            case .completed: attempt.addCompletion(fact)
            case .summary: asserted.formUnion(fact.detail)
            case .missed:
                if !isMissed { missed += 1 }
                isMissed = true
            default: break
            }
        }
        if isScheduled { scheduled += 1 }
        end(attempt, hasEnded: isClosing, isClosing: isClosing)
        used = isUsed ? 1 : 0
        guard !flags.contains(.isReopened) else { return }
        if asserted.contains(.fetched), success == 0 {
            success = 1
            isSuccessImplied = true
        }
        if asserted.contains(.usedCached), used == 0 {
            used = 1
            isUseImplied = true
        }
    }

    private mutating func end(_ attempt: Attempt, hasEnded: Bool, isClosing: Bool) {
        if attempt.hasSuccess { success += 1 }
        if attempt.hasExpired { expired += 1 }
        retries += attempt.retries
        if let reason = attempt.failure(hasEnded: hasEnded, isClosing: isClosing) {
            failures[Int(reason.rawValue)] += 1
        }
    }
}

/// What the facts of one execution say: those from the first fact of the cycle, or from an execution on, to the next
/// execution (SPEC 3.4).
struct Attempt {
    private(set) var hasSuccess = false
    /// Whether the duration of its fetch was told.
    private(set) var isTimed = false
    /// How many failures were to be tried again.
    private(set) var retries = 0
    private(set) var isCompleted = false
    private(set) var isUnsuccessful = false
    private(set) var hasExpired = false
    private(set) var hasFinalFailure = false
    private(set) var hasRetriedFailure = false
    private var finalReason: FailureReason?
    private var retriedReason: FailureReason?
    private var completedReason: FailureReason?
    /// The reasons that contradict each other, by the bit of their raw value.
    private var tellingReasons: UInt8 = 0

    mutating func addSuccess(_ fact: Fact) {
        hasSuccess = true
        isTimed = isTimed || fact.detail.contains(.timed)
    }

    mutating func addFailure(_ fact: Fact) {
        isTimed = isTimed || fact.detail.contains(.timed)
        if fact.detail.contains(.willRetry) {
            hasRetriedFailure = true
            retries += 1
            retriedReason = retriedReason ?? fact.reason
        } else {
            hasFinalFailure = true
            finalReason = finalReason ?? fact.reason
            if fact.detail.contains(.expired) { hasExpired = true } else { tell(fact.reason) }
        }
    }

    mutating func addCompletion(_ fact: Fact) {
        isCompleted = true
        guard fact.detail.contains(.unsuccessful) else { return }
        isUnsuccessful = true
        completedReason = completedReason ?? fact.reason
        tell(fact.reason)
    }

    private mutating func tell(_ reason: FailureReason?) {
        guard let reason, reason != .other else { return }
        tellingReasons |= 1 << reason.rawValue
    }

    /// The one failure that the attempt counts, when nothing can take it back any more.
    ///
    /// | failures of the attempt | count |
    /// | --- | --- |
    /// | one with a reason that will not be retried, or an unsuccessful completion with one | at once, with that reason |
    /// | none with a known reason | once the attempt has ended, as `OTHER` |
    /// | only ones that will be retried | not at all with a success; else once the cycle closes |
    /// | only an unsuccessful completion without a reason | once the cycle closes, as `OTHER`; not with a success |
    func failure(hasEnded: Bool, isClosing: Bool) -> FailureReason? {
        if let finalReason { return finalReason }
        if hasFinalFailure {
            return completionReason ?? retriedReason ?? (hasEnded || isCompleted || isClosing ? .other : nil)
        }
        if let completionReason { return completionReason }
        guard !hasSuccess else { return nil }
        if hasRetriedFailure { return isClosing ? retriedReason ?? .other : nil }
        return isUnsuccessful && isClosing ? .other : nil
    }

    /// The completion's reason; where that says nothing, the one that was to be tried again.
    private var completionReason: FailureReason? {
        completedReason == .other ? retriedReason ?? .other : completedReason
    }

    /// Whether it has any result, so that its task was not just left.
    var hasResult: Bool { hasSuccess || hasFinalFailure || hasRetriedFailure || isCompleted }

    /// Whether it has two results that exclude each other. What follows from the end that the system put to the task is
    /// no result of its own.
    var contradictsItself: Bool {
        if hasSuccess, hasFinalFailure || isUnsuccessful { return true }
        return !hasExpired && tellingReasons.nonzeroBitCount > 1
    }
}
