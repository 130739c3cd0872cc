// SPDX-License-Identifier: Apache-2.0

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
