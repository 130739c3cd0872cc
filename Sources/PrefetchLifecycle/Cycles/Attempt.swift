// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

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
