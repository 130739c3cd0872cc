// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// The time limits of the lifecycle's rules (docs/lifecycle.md, Violations).
///
/// The 15 minutes of grace before a cycle closes are `LifecycleLimits.closingGraceSeconds`.
enum LifecycleRules {
    /// `missedWindow`: a task must start within 15 minutes of its earliest begin, the delay that the system may take.
    static let startWindowMicroseconds: Int64 = 15 * 60 * 1_000_000
    /// `driftExceeded`: iOS tolerates 180 s between a delivery and its notification time.
    static let toleratedDriftMicroseconds: Int64 = 180 * 1_000_000
    /// `driftExceeded` on Android, whose alarms are exact: a minute for rounding and for doze.
    static let exactDriftMicroseconds: Int64 = 60 * 1_000_000

    /// Whether a drift of either direction is too large: more than what is tolerated, for an exact alarm from there on.
    static func isDrift(_ drift: Int64, beyond tolerated: Int64) -> Bool {
        abs(drift) > tolerated || tolerated == exactDriftMicroseconds && abs(drift) == tolerated
    }
    /// `leadBelowMinimum`: a task must be scheduled at least 60 s before its earliest begin.
    static let minimumLeadSeconds: Int64 = 60

    /// Whether a lead is too small: by a second or more, because logs print an earliest begin in whole seconds.
    static func isBelowMinimum(lead microseconds: Int64) -> Bool {
        microseconds <= minimumLeadSeconds * 1_000_000 - sameTimeMicroseconds
    }

    /// `scheduledWhileDenied`: lines of one submission are this near to each other.
    static let oneSubmissionMicroseconds: Int64 = 5 * 1_000_000

    /// `nextNotScheduled`: an executed task must be followed by another scheduling within 24 hours.
    static let nextTaskMicroseconds: Int64 = 24 * 3_600 * 1_000_000
    /// `missedNotRescheduled`, `notRescheduledAfterLaunch`: a launch must be followed by a reaction within 5 minutes.
    static let reactionMicroseconds: Int64 = 5 * 60 * 1_000_000
    /// Attempts: a result that is stamped so long before the first execution may be its own.
    static let wrongOrderMicroseconds: Int64 = 5 * 1_000_000
    /// `ranTooLong`: how long a task may run, after which iOS ends it: 30 s.
    static let longestRun: Int64 = 30 * 1_000_000
    /// `secondActiveTask`: today's and tomorrow's notification may wait at once on Android. So far apart their times are: a day,
    /// give or take half of one for a time that was changed.
    static let androidWindowMicroseconds: ClosedRange<Int64> = 12 * 3_600 * 1_000_000...36 * 3_600 * 1_000_000
    /// `pendingLimitExceeded`: the most pending notifications of an app on iOS.
    static let pendingLimit: Int64 = 64
    /// `leadDiffers`: the lead of a submission that tells none, in minutes.
    static let defaultLeadMinutes: Int64 = 5
    /// `leadDiffers`, `scheduleTimeDiffers`, `leadBelowMinimum`: times are the same to the second.
    static let sameTimeMicroseconds: Int64 = 1_000_000
    /// `scheduleTimeDiffers`: farther times are those of another pass.
    static let otherPassMicroseconds: Int64 = 12 * 3_600 * 1_000_000
    /// `outOfOrder`: content may be told to be used this long after the delivery.
    static let usedAfterDeliveryMicroseconds: Int64 = 60 * 1_000_000

    /// Whether a task begins this many minutes before its notification, to the second.
    static func isLead(_ minutes: Int64, from begin: Timestamp, to due: Timestamp) -> Bool {
        abs(due.microseconds - begin.microseconds - minutes * 60_000_000) <= sameTimeMicroseconds
    }
}

/// A rule of the lifecycle that a cycle can violate (docs/lifecycle.md, Violations).
///
/// Raw values are stored in checkpoints. They are never reused or renumbered.
public enum ViolationKind: UInt8, CaseIterable, Sendable {
    /// Executed, but no scheduling was seen.
    case executedWithoutScheduled = 0
    /// Succeeded, but no execution was seen.
    case successWithoutExecuted = 1
    /// Failed, but no execution was seen.
    case failureWithoutExecuted = 2
    /// Content was used, but no success was seen, and its age does not show that it is from an earlier cycle.
    case usedWithoutSuccess = 3
    /// One attempt ended in success and in failure, or failed for two reasons.
    case duplicateTerminal = 4
    /// Executed, but neither a result nor a completion was seen.
    case taskNotCompleted = 5
    /// The used content has another hash than the cached content.
    case contentHashMismatch = 6
    /// The executed schedule has another hash than the scheduled one.
    case scheduleHashMismatch = 7
    /// The content was older than its `ttl` when it was used.
    case staleContentUsed = 8
    /// Scheduled while a task for another time was still waiting.
    case secondActiveTask = 9
    /// Scheduled after notifications were denied, in the same cycle or in the installation, without a grant since.
    case scheduledWhileDenied = 10
    /// The earliest begin is less than 60 s after the scheduling, by a second or more.
    case leadBelowMinimum = 11
    /// Executed, nothing scheduled from its second on within 24 h, and the installation went on for longer.
    case nextNotScheduled = 12
    /// Not executed within 15 minutes of the earliest begin, or reported as missed.
    case missedWindow = 13
    /// Executed after the notification time.
    case executedAfterNotification = 14
    /// Delivered more than 180 s from the notification time, or reported so.
    case driftExceeded = 15
    /// The system ended the task.
    case expired = 16
    /// By the device's own stamps, a stage came before the stage that it needs.
    case outOfOrder = 17
    /// Scheduled and never persisted, by a device that tells of persisting.
    case scheduledNotPersisted = 18
    /// The earliest begin is not the notification time minus the lead that was told, and nothing capped it.
    case leadDiffers = 19
    /// A result names another notification time than its cycle has, and nothing was scheduled for it.
    case scheduleTimeDiffers = 20
    /// One content was told with two `ttl`.
    case ttlDiffers = 21
    /// More than 30 s from the execution to the completion, and nothing expired.
    case ranTooLong = 22
    /// Cached in this cycle, within its `ttl`, and missing at the notification.
    case cachedContentLost = 23
    /// Content was used after the cache was cleared, and nothing was fetched since.
    case clearedContentUsed = 24
    /// Answered with status 304 to a call that carried no ETag.
    case notModifiedWithoutETag = 25
    /// A launch found a task that never ran, and neither its miss nor another submission was told within 5 minutes.
    case missedNotRescheduled = 26
    /// A launch found no pending schedule while one lies ahead.
    case pendingScheduleLost = 27
    /// A launch found a pending schedule, and no task waited, ran or was scheduled within 5 minutes.
    case notRescheduledAfterLaunch = 28
    /// More notifications are pending than the system holds.
    case pendingLimitExceeded = 29
    /// The plugin's own schedule has a notification that was never scheduled.
    case scheduleMissing = 30
    /// The plugin's own schedule has a notification at another time.
    case scheduleMoved = 31
    /// A client counted more successes than executions, or more executions than schedulings.
    case countersOutOfPattern = 32

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
        case .outOfOrder: "out_of_order"
        case .scheduledNotPersisted: "scheduled_not_persisted"
        case .leadDiffers: "lead_differs"
        case .scheduleTimeDiffers: "schedule_time_differs"
        case .ttlDiffers: "ttl_differs"
        case .ranTooLong: "ran_too_long"
        case .cachedContentLost: "cached_content_lost"
        case .clearedContentUsed: "cleared_content_used"
        case .notModifiedWithoutETag: "not_modified_without_etag"
        case .missedNotRescheduled: "missed_not_rescheduled"
        case .pendingScheduleLost: "pending_schedule_lost"
        case .notRescheduledAfterLaunch: "not_rescheduled_after_launch"
        case .pendingLimitExceeded: "pending_limit_exceeded"
        case .scheduleMissing: "schedule_missing"
        case .scheduleMoved: "schedule_moved"
        case .countersOutOfPattern: "counters_out_of_pattern"
        }
    }

    /// Who is responsible.
    public var bucket: ViolationBucket {
        switch self {
        case .executedWithoutScheduled, .successWithoutExecuted, .failureWithoutExecuted, .usedWithoutSuccess,
            .duplicateTerminal, .taskNotCompleted, .contentHashMismatch, .scheduleHashMismatch, .staleContentUsed,
            .secondActiveTask, .scheduledWhileDenied, .outOfOrder, .scheduleTimeDiffers, .clearedContentUsed,
            .notModifiedWithoutETag, .pendingScheduleLost, .pendingLimitExceeded, .scheduleMissing, .scheduleMoved:
            .a
        case .leadBelowMinimum, .nextNotScheduled, .scheduledNotPersisted, .leadDiffers, .ttlDiffers, .ranTooLong,
            .cachedContentLost, .missedNotRescheduled, .notRescheduledAfterLaunch, .countersOutOfPattern:
            .b
        case .missedWindow, .executedAfterNotification, .driftExceeded, .expired: .c
        }
    }
}

/// A violation of a rule by a cycle.
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
    /// The rules that this event violates by itself, without any other event, in the order of `ViolationKind`.
    ///
    /// | kind | rule | when |
    /// | --- | --- | --- |
    /// | `prefetch_expired` | `expired` | always |
    /// | `prefetch_missed` | `missed_window` | always |
    /// | `notification_drift` | `drift_exceeded` | always |
    /// | `notification_delivered` | `drift_exceeded` | more than 180 s, or 60 s on Android, from its notification time |
    /// | `notification_delivered`, `prefetch_used_for_notification` | `stale_content_used` | age over ttl |
    /// | `prefetch_cycle_complete` | `stale_content_used` | age over ttl, unless the content was not used |
    /// | `prefetch_scheduled` | `lead_below_minimum` | earliest begin at most 59 s after it |
    /// | `prefetch_executed` | `executed_after_notification` | after its notification time |
    /// | `rolling_window` | `pending_limit_exceeded` | more pending than its limit |
    /// | any with `telemetry` | `counters_out_of_pattern` | more successes than executions, or executions than submissions |
    ///
    /// Deliveries and executions are timed by the receiver's clock, where `sentAt` gave the clock skew. The verdict on a
    /// cycle applies the same limits to all of its events. No rule about time applies to an assumed time.
    ///
    /// - Parameter bytes: the bytes that the event was read from.
    public func shownViolations(in bytes: Span<UInt8>) -> [ViolationKind] {
        var shown = shownByItself(in: bytes)
        if kind == .rollingWindow, exceedsPendingLimit(in: bytes) { shown.append(.pendingLimitExceeded) }
        if !clientCounters.isEmpty, hasCountersOutOfPattern(in: bytes) { shown.append(.countersOutOfPattern) }
        return shown
    }

    private func shownByItself(in bytes: Span<UInt8>) -> [ViolationKind] {
        switch kind {
        case .prefetchExpired: [.expired]
        case .prefetchMissed: [.missedWindow]
        case .notificationDrift: [.driftExceeded]
        case .notificationDelivered:
            (isStale ? [.staleContentUsed] : []) + (isDrifted(in: bytes) ? [.driftExceeded] : [])
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

    private func isDrifted(in bytes: Span<UInt8>) -> Bool {
        guard !isTimeAssumed, let due else { return false }
        let time = receiverTime.microseconds
        let milliseconds = time / 1_000 - (time % 1_000 < 0 ? 1 : 0)
        let drift = Int64(clamping: (milliseconds * 1_000 &- due.microseconds).magnitude)
        return LifecycleRules.isDrift(drift, beyond: LifecycleGroups.toleratedDrift(of: platform, in: bytes))
    }

    private var isLeadTooSmall: Bool {
        guard !isTimeAssumed, let earliestBeginDate else { return false }
        return LifecycleRules.isBelowMinimum(lead: earliestBeginDate.microseconds - timestamp.microseconds)
    }

    private var isExecutedLate: Bool {
        guard !isTimeAssumed, let due else { return false }
        let skew = Int64(Int16(bitPattern: Fact.skewDetail(of: self)))
        return timestamp.microseconds + skew * 1_000_000 > due.microseconds
    }
}

extension JSONWriter {
    /// The violations as elements of an array.
    package mutating func elements(_ violations: [CycleViolation]) {
        for each in violations { violation(each.kind.name, each.kind.bucket, each.detail) }
    }
}
