// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// How often each stage of one cycle counts, given its known facts (docs/lifecycle.md, Concepts).
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
        var attempts = 0
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
                if attempts == 0, attempt.hasResult { attempts = facts.untoldAttempts() }
                if attempts > 0 {
                    end(attempt, hasEnded: true, isClosing: isClosing)
                    attempt = Attempt()
                }
                attempts += 1
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
