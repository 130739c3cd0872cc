// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

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
