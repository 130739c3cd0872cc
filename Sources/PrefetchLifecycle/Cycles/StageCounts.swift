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
