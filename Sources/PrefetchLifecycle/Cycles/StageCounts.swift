// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// How often each stage of one cycle counts, as its known facts tell it (SPEC 3.4, 5.1).
///
/// A pure function of the set of facts, so that the order of their arrival cannot matter. An attempt reaches from one
/// execution to the next; in it each stage counts once. A failure that may still turn out otherwise is held back:
///
/// | failures of the attempt | count |
/// | --- | --- |
/// | one with a reason that will not be retried | at once, with that reason |
/// | none with a known reason | once the attempt has ended, as `OTHER` |
/// | only ones that will be retried | not at all with a success; else once the task is unsuccessful or the cycle closes |
struct StageCounts {
    var scheduled = 0
    var executed = 0
    var success = 0
    var used = 0
    /// By the raw value of `FailureReason`.
    var failures: InlineArray<4, Int> = [0, 0, 0, 0]
    /// Whether only a summary tells of the success, or of the use.
    var isSuccessImplied = false
    var isUseImplied = false

    var failureTotal: Int { failures[0] + failures[1] + failures[2] + failures[3] }

    /// Counts the facts of a cycle.
    ///
    /// - Parameters:
    ///   - facts: in their order.
    ///   - isClosing: whether no more facts will come, so that nothing is held back.
    init(_ facts: Span<UInt64>, isClosing: Bool) {
        var attempt = Attempt()
        var isSuccessAsserted = false
        var isUseAsserted = false
        for index in 0..<facts.count {
            let fact = Fact(rawValue: facts[index])
            switch fact.stage {
            case .scheduled: attempt.isScheduled = true
            case .executed:
                end(attempt, hasEnded: true, isClosing: isClosing)
                attempt = Attempt()
                executed += 1
            case .success: attempt.hasSuccess = true
            case .failure: attempt.add(fact.detail)
            case .completed:
                attempt.isCompleted = true
                if fact.detail.contains(.unsuccessful) { attempt.isUnsuccessful = true }
            case .used: used = 1
            case .summary:
                if fact.detail.contains(.fetched) { isSuccessAsserted = true }
                if fact.detail.contains(.usedCached) { isUseAsserted = true }
            case nil: break
            }
        }
        end(attempt, hasEnded: attempt.isCompleted || isClosing, isClosing: isClosing)
        if isSuccessAsserted, success == 0 {
            success = 1
            isSuccessImplied = true
        }
        if isUseAsserted, used == 0 {
            used = 1
            isUseImplied = true
        }
    }

    private mutating func end(_ attempt: Attempt, hasEnded: Bool, isClosing: Bool) {
        if attempt.isScheduled { scheduled += 1 }
        if attempt.hasSuccess { success += 1 }
        if let reason = attempt.finalReason {
            failures[Int(reason.rawValue)] += 1
        } else if attempt.hasFinalFailure {
            if let reason = attempt.retriedReason {
                failures[Int(reason.rawValue)] += 1
            } else if hasEnded {
                failures[Int(FailureReason.other.rawValue)] += 1
            }
        } else if attempt.hasRetriedFailure, !attempt.hasSuccess, attempt.isUnsuccessful || isClosing {
            failures[Int((attempt.retriedReason ?? .other).rawValue)] += 1
        }
    }
}

/// What the facts between two executions say.
private struct Attempt {
    var isScheduled = false
    var hasSuccess = false
    var isCompleted = false
    var isUnsuccessful = false
    var hasFinalFailure = false
    var hasRetriedFailure = false
    var finalReason: FailureReason?
    var retriedReason: FailureReason?

    mutating func add(_ detail: Fact.Detail) {
        let reason =
            detail.contains(.reasonKnown)
            ? FailureReason(rawValue: detail.intersection(.reasonMask).rawValue) : nil
        if detail.contains(.willRetry) {
            hasRetriedFailure = true
            retriedReason = retriedReason ?? reason
        } else {
            hasFinalFailure = true
            finalReason = finalReason ?? reason
        }
    }
}
