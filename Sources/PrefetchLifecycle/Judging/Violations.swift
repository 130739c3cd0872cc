// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// A rule of the lifecycle that a cycle can break (SPEC 5.1).
///
/// Raw values are stored in checkpoints. They are never reused or renumbered.
public enum ViolationKind: UInt8, CaseIterable, Sendable {
    case executedWithoutScheduled = 0
    case successWithoutExecuted = 1
    case failureWithoutExecuted = 2
    case usedWithoutSuccess = 3
    case duplicateTerminal = 4
    case taskNotCompleted = 5
    case contentHashMismatch = 6
    case scheduleHashMismatch = 7
    case staleContentUsed = 8
    case secondActiveTask = 9
    case scheduledWhileDenied = 10
    case leadBelowMinimum = 11
    case nextNotScheduled = 12
    case missedWindow = 13
    case executedAfterNotification = 14
    case driftExceeded = 15
    case expired = 16

    /// The label value of `dnp_prefetch_sequence_violations_total`.
    public var name: StaticString {
        switch self {
        case .executedWithoutScheduled: "executed_without_scheduled"
        case .successWithoutExecuted: "success_without_executed"
        case .failureWithoutExecuted: "failure_without_executed"
        case .usedWithoutSuccess: "used_without_success"
        case .duplicateTerminal: "duplicate_terminal"
        case .taskNotCompleted: "task_not_completed"
        case .contentHashMismatch: "content_hash_mismatch"
        case .scheduleHashMismatch: "schedule_hash_mismatch"
        case .staleContentUsed: "stale_content_used"
        case .secondActiveTask: "second_active_task"
        case .scheduledWhileDenied: "scheduled_while_denied"
        case .leadBelowMinimum: "lead_below_minimum"
        case .nextNotScheduled: "next_not_scheduled"
        case .missedWindow: "missed_window"
        case .executedAfterNotification: "executed_after_notification"
        case .driftExceeded: "drift_exceeded"
        case .expired: "expired"
        }
    }

    /// Whose fault it is.
    public var bucket: ViolationBucket {
        switch self {
        case .executedWithoutScheduled, .successWithoutExecuted, .failureWithoutExecuted, .usedWithoutSuccess,
            .duplicateTerminal, .taskNotCompleted, .contentHashMismatch, .scheduleHashMismatch, .staleContentUsed,
            .secondActiveTask, .scheduledWhileDenied:
            .a
        case .leadBelowMinimum, .nextNotScheduled: .b
        case .missedWindow, .executedAfterNotification, .driftExceeded, .expired: .c
        }
    }
}

/// Whose fault a violation is, in the classification of the plugin's documents.
public enum ViolationBucket: String, CaseIterable, Sendable {
    /// Deterministic: a bug of the plugin.
    case a = "A"
    /// Logic.
    case b = "B"
    /// The operating system's own timing: a note, not a bug.
    case c = "C"
}

/// A rule that a cycle has broken.
public struct CycleViolation: Hashable, Sendable {
    /// The rule.
    public var kind: ViolationKind
    /// What happened, as a sentence with its figures.
    public var detail: String

    /// Makes a violation.
    public init(kind: ViolationKind, detail: String) {
        self.kind = kind
        self.detail = detail
    }
}

extension Event {
    /// The rules that this event shows to be broken without a look at any other, in the order of `ViolationKind`.
    ///
    /// | kind | rule | when |
    /// | --- | --- | --- |
    /// | `prefetch_expired` | `expired` | always |
    /// | `prefetch_missed` | `missed_window` | always |
    /// | `notification_drift` | `drift_exceeded` | always |
    /// | `notification_delivered` | `drift_exceeded` | more than 180 s before or after its notification time |
    /// | `notification_delivered`, `prefetch_used_for_notification` | `stale_content_used` | age over ttl |
    /// | `prefetch_cycle_complete` | `stale_content_used` | age over ttl, unless the content was not used |
    /// | `prefetch_scheduled` | `lead_below_minimum` | earliest begin less than 60 s after it |
    /// | `prefetch_executed` | `executed_after_notification` | after its notification time |
    ///
    /// The times of deliveries and executions are those of the receiver's clock, as far as the sender told its own. What
    /// a cycle is judged by is the same, with what its other events tell; where a time only orders an event, no rule
    /// about time is broken.
    public var shownViolations: [ViolationKind] {
        switch kind {
        case .prefetchExpired: [.expired]
        case .prefetchMissed: [.missedWindow]
        case .notificationDrift: [.driftExceeded]
        case .notificationDelivered:
            (isStale ? [.staleContentUsed] : []) + (isDrifted ? [.driftExceeded] : [])
        case .prefetchUsedForNotification: isStale ? [.staleContentUsed] : []
        case .prefetchCycleComplete: isStale && usedCached != false ? [.staleContentUsed] : []
        case .prefetchScheduled: isLeadTooSmall ? [.leadBelowMinimum] : []
        case .prefetchExecuted: isExecutedLate ? [.executedAfterNotification] : []
        default: []
        }
    }

    private var isStale: Bool {
        guard let age = ageAtDelivery, let ttl else { return false }
        return age > ttl
    }

    private var isDrifted: Bool {
        guard !isTimeAssumed, let due else { return false }
        let time = receiverTime.microseconds
        let milliseconds = time / 1_000 - (time % 1_000 < 0 ? 1 : 0)
        return (milliseconds * 1_000 &- due.microseconds).magnitude > Judgement.toleratedDrift
    }

    private var isLeadTooSmall: Bool {
        guard !isTimeAssumed, let earliestBeginDate else { return false }
        return earliestBeginDate.microseconds - timestamp.microseconds < Judgement.minimumLead * 1_000_000
    }

    private var isExecutedLate: Bool {
        guard !isTimeAssumed, let due else { return false }
        let skew = Int64(Int16(bitPattern: Fact.skewDetail(of: self)))
        return timestamp.microseconds + skew * 1_000_000 > due.microseconds
    }
}
