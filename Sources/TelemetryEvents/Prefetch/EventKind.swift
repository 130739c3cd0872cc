// SPDX-License-Identifier: Apache-2.0

/// The kind of an event, from a closed vocabulary (docs/events.md).
///
/// Raw values are stored in the ledger. They are never reused or renumbered.
public enum EventKind: UInt8, CaseIterable, Sendable {
    case prefetchRegistered = 1
    case prefetchScheduled = 2
    case prefetchScheduleFailed = 3
    case prefetchExecuted = 4
    case prefetchStarted = 5
    case prefetchSuccess = 6
    case prefetchFailure = 7
    case prefetchExpired = 8
    case prefetchMissed = 9
    case prefetchCompleted = 10
    case contentCached = 11
    case contentCacheFailed = 12
    case contentMissing = 13
    case prefetchUsedForNotification = 14
    case notificationScheduled = 15
    case notificationDelivered = 16
    case notificationDenied = 17
    case notificationDrift = 18
    case timezoneChanged = 19
    case leadCapped = 20
    case prefetchCycleComplete = 21
    case pluginStarted = 22
    case telemetrySnapshot = 23
    case permissionGranted = 24
    case prefetchCancelled = 25
    case schedulePersisted = 26
    case pluginError = 27
    case apiCall = 28
    case timeWarped = 29
    case rollingWindow = 30
    case scheduleSnapshot = 31
    case identityChanged = 32
    case cacheCleared = 33
    case refreshStarted = 34
    case refreshChecked = 35
    case refreshCompleted = 36
    case refreshExpired = 37
    case refreshSkipped = 38
    case refreshScheduled = 39
    case refreshScheduleFailed = 40
    case refreshNotificationSent = 41
    case refreshNotificationSkipped = 42
    case refreshNotificationFailed = 43

    /// The name in JSON, in the journal and in labels.
    public var name: StaticString {
        switch self {
        case .prefetchRegistered: "prefetch_registered"
        case .prefetchScheduled: "prefetch_scheduled"
        case .prefetchScheduleFailed: "prefetch_schedule_failed"
        case .prefetchExecuted: "prefetch_executed"
        case .prefetchStarted: "prefetch_started"
        case .prefetchSuccess: "prefetch_success"
        case .prefetchFailure: "prefetch_failure"
        case .prefetchExpired: "prefetch_expired"
        case .prefetchMissed: "prefetch_missed"
        case .prefetchCompleted: "prefetch_completed"
        case .contentCached: "content_cached"
        case .contentCacheFailed: "content_cache_failed"
        case .contentMissing: "content_missing"
        case .prefetchUsedForNotification: "prefetch_used_for_notification"
        case .notificationScheduled: "notification_scheduled"
        case .notificationDelivered: "notification_delivered"
        case .notificationDenied: "notification_denied"
        case .notificationDrift: "notification_drift"
        case .timezoneChanged: "timezone_changed"
        case .leadCapped: "lead_capped"
        case .prefetchCycleComplete: "prefetch_cycle_complete"
        case .pluginStarted: "plugin_started"
        case .telemetrySnapshot: "telemetry_snapshot"
        case .permissionGranted: "permission_granted"
        case .prefetchCancelled: "prefetch_cancelled"
        case .schedulePersisted: "schedule_persisted"
        case .pluginError: "plugin_error"
        case .apiCall: "api_call"
        case .timeWarped: "time_warped"
        case .rollingWindow: "rolling_window"
        case .scheduleSnapshot: "schedule_snapshot"
        case .identityChanged: "identity_changed"
        case .cacheCleared: "cache_cleared"
        case .refreshStarted: "refresh_started"
        case .refreshChecked: "refresh_checked"
        case .refreshCompleted: "refresh_completed"
        case .refreshExpired: "refresh_expired"
        case .refreshSkipped: "refresh_skipped"
        case .refreshScheduled: "refresh_scheduled"
        case .refreshScheduleFailed: "refresh_schedule_failed"
        case .refreshNotificationSent: "refresh_notification_sent"
        case .refreshNotificationSkipped: "refresh_notification_skipped"
        case .refreshNotificationFailed: "refresh_notification_failed"
        }
    }

    /// Whether the event belongs to one cycle, so that it must have a schedule id or a notification time.
    public var belongsToCycle: Bool {
        switch self {
        case .prefetchRegistered, .prefetchScheduleFailed, .contentCacheFailed, .notificationDenied, .timezoneChanged,
            .leadCapped, .pluginStarted, .telemetrySnapshot, .permissionGranted, .prefetchCancelled, .pluginError,
            .apiCall, .timeWarped, .rollingWindow, .scheduleSnapshot, .identityChanged, .cacheCleared:
            false
        case .refreshStarted, .refreshChecked, .refreshCompleted, .refreshExpired, .refreshSkipped, .refreshScheduled,
            .refreshScheduleFailed, .refreshNotificationSent, .refreshNotificationSkipped, .refreshNotificationFailed:
            false
        default:
            true
        }
    }
}
