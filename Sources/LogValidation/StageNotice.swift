// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// A stage that a live input has just told.
package struct StageNotice: Sendable {
    /// The event in one line, for a person.
    package let line: String

    init?(_ event: Event, scheduleId: String?) {
        guard let word = event.kind.stageWord else { return nil }
        let time = event.isTimeAssumed ? "" : "\(event.timestamp)  "
        let cycle = scheduleId ?? event.scheduledFor.map { "notification at \($0)" }
        line = time + word + (cycle.map { "  \($0)" } ?? "")
    }
}

extension EventKind {
    /// What a stage is called while it is watched; nil for what is no stage.
    fileprivate var stageWord: String? {
        switch self {
        case .prefetchRegistered: "registered"
        case .prefetchScheduled: "scheduled"
        case .prefetchScheduleFailed: "not scheduled: the submission failed"
        case .prefetchExecuted: "executed"
        case .prefetchStarted: "started"
        case .prefetchSuccess: "success"
        case .prefetchFailure: "failure"
        case .prefetchExpired: "failure: the system ended the task"
        case .prefetchCompleted: "completed"
        case .contentCached: "cached"
        case .contentMissing: "no cached content"
        case .prefetchUsedForNotification: "used"
        case .notificationDelivered: "delivered"
        case .notificationDenied: "notifications denied"
        case .refreshStarted: "refresh started"
        case .refreshChecked: "refresh checked"
        case .refreshCompleted: "refresh completed"
        case .refreshExpired: "refresh expired: the system ended it"
        case .refreshSkipped: "refresh skipped"
        case .refreshScheduled: "refresh scheduled"
        case .refreshScheduleFailed: "refresh not scheduled: the submission failed"
        case .refreshNotificationSent: "refresh notified"
        case .refreshNotificationSkipped: "refresh did not notify"
        case .refreshNotificationFailed: "refresh could not notify"
        default: nil
        }
    }
}
