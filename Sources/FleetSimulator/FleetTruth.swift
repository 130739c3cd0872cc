// SPDX-License-Identifier: Apache-2.0

/// A rule that a story may break, by the name that the product reports it with.
package enum BrokenRule: String, CaseIterable, Sendable {
    case executedWithoutScheduled = "executed_without_scheduled"
    case successWithoutExecuted = "success_without_executed"
    case failureWithoutExecuted = "failure_without_executed"
    case usedWithoutSuccess = "used_without_success"
    case taskNotCompleted = "task_not_completed"
    case staleContentUsed = "stale_content_used"
    case secondActiveTask = "second_active_task"
    case leadBelowMinimum = "lead_below_minimum"
    case nextNotScheduled = "next_not_scheduled"
    case missedWindow = "missed_window"
    case executedAfterNotification = "executed_after_notification"
    case driftExceeded = "drift_exceeded"
    case expired
    case ranTooLong = "ran_too_long"
    case cachedContentLost = "cached_content_lost"
    case pendingScheduleLost = "pending_schedule_lost"
    case duplicateTerminal = "duplicate_terminal"
    case contentHashMismatch = "content_hash_mismatch"
    case scheduleHashMismatch = "schedule_hash_mismatch"
    case scheduledWhileDenied = "scheduled_while_denied"
    case outOfOrder = "out_of_order"
    case scheduledNotPersisted = "scheduled_not_persisted"
    case leadDiffers = "lead_differs"
    case scheduleTimeDiffers = "schedule_time_differs"
    case timeToLiveDiffers = "ttl_differs"
    case clearedContentUsed = "cleared_content_used"
    case notModifiedWithoutETag = "not_modified_without_etag"
    case missedNotRescheduled = "missed_not_rescheduled"
    case notRescheduledAfterLaunch = "not_rescheduled_after_launch"
    case pendingLimitExceeded = "pending_limit_exceeded"
    case countersOutOfPattern = "counters_out_of_pattern"
    case scheduleMissing = "schedule_missing"
    case scheduleMoved = "schedule_moved"

    /// Whether only `validate` judges it, and no collector's page counts it.
    var isOfValidateAlone: Bool { self == .scheduleMissing || self == .scheduleMoved }

    /// The series that counts it.
    var series: String { "dnp_prefetch_sequence_violations_total{violation=\"\(rawValue)\"}" }
}

/// The end of a cycle, by the name that the product reports it with.
package enum TrueOutcome: String, CaseIterable, Sendable { case used, fallback, failed, missed, incomplete }

/// A rule of the second app that a story may break.
package enum BrokenRunRule: String, CaseIterable, Sendable {
    case refreshedTooSoon = "refreshed_too_soon"
    case runNotEnded = "run_not_ended"
    case ranTooLong = "ran_too_long"
    case expired
    case notifiedTooSoon = "notified_too_soon"
    case notifiedAgain = "notified_again"
    case availabilityWrong = "availability_wrong"
    case workedAfterSkip = "worked_after_skip"
    case notNotified = "not_notified"
    case nextNotScheduled = "next_not_scheduled"
}

/// The end of a run.
package enum TrueRunOutcome: String, CaseIterable, Sendable { case completed, failed, expired, skipped, incomplete }

/// What must be counted and judged of a fleet, or of a device of it.
package struct FleetTruth: Equatable, Sendable {
    package internal(set) var counts = PrefetchCounts()
    package internal(set) var outcomes = [Int64](repeating: 0, count: TrueOutcome.allCases.count)
    package internal(set) var violations = [Int64](repeating: 0, count: BrokenRule.allCases.count)
    package internal(set) var runs = [Int64](repeating: 0, count: TrueRunOutcome.allCases.count)
    package internal(set) var runViolations = [Int64](repeating: 0, count: BrokenRunRule.allCases.count)
    /// Cycles whose hashes could be compared: content and schedule, each equal and not.
    package internal(set) var checks = [Int64](repeating: 0, count: Self.checkNames.count)
    /// Events that were told, each once.
    package internal(set) var events: Int64 = 0

    private static let checkNames = [
        #"dnp_integrity_checks_total{check="content",result="match"}"#,
        #"dnp_integrity_checks_total{check="content",result="mismatch"}"#,
        #"dnp_integrity_checks_total{check="schedule",result="match"}"#,
        #"dnp_integrity_checks_total{check="schedule",result="mismatch"}"#,
    ]

    package init() {}

    package static func += (left: inout Self, right: Self) {
        left.counts += right.counts
        left.events += right.events
        for index in left.outcomes.indices { left.outcomes[index] += right.outcomes[index] }
        for index in left.violations.indices { left.violations[index] += right.violations[index] }
        for index in left.checks.indices { left.checks[index] += right.checks[index] }
        for index in left.runs.indices { left.runs[index] += right.runs[index] }
        for index in left.runViolations.indices { left.runViolations[index] += right.runViolations[index] }
    }

    package var cycles: Int64 { outcomes.reduce(0, +) }

    mutating func add(_ outcome: TrueOutcome) { Self.count(outcome, TrueOutcome.allCases, &outcomes) }
    mutating func add(_ rule: BrokenRule) { Self.count(rule, BrokenRule.allCases, &violations) }
    mutating func add(_ outcome: TrueRunOutcome) { Self.count(outcome, TrueRunOutcome.allCases, &runs) }
    mutating func add(_ rule: BrokenRunRule) { Self.count(rule, BrokenRunRule.allCases, &runViolations) }

    mutating func addCheck(ofContent isOfContent: Bool, isIntact: Bool) {
        checks[(isOfContent ? 0 : 2) + (isIntact ? 0 : 1)] += 1
    }

    private static func count<Value: Equatable>(_ value: Value, _ all: [Value], _ counts: inout [Int64]) {
        if let index = all.firstIndex(of: value) { counts[index] += 1 }
    }

    /// Each count by the series of the page: first what counts at once, then what counts as cycles and runs close.
    package var series: [(name: String, value: Int64)] {
        counts.series
            + zip(TrueOutcome.allCases, outcomes).map { ("dnp_prefetch_cycles_total{outcome=\"\($0.rawValue)\"}", $1) }
            + zip(BrokenRule.allCases, violations).map { ($0.series, $1) } + Array(zip(Self.checkNames, checks))
            + zip(TrueRunOutcome.allCases, runs).map {
                ("aiq_background_refresh_runs_total{outcome=\"\($0.rawValue)\"}", $1)
            }
            + zip(BrokenRunRule.allCases, runViolations).map {
                ("aiq_background_refresh_violations_total{violation=\"\($0.rawValue)\"}", $1)
            }
    }
}
