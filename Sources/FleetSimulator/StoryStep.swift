// SPDX-License-Identifier: Apache-2.0

/// Something that a device does and tells of: an event, or one to three lines of its log.
struct StoryStep: Sendable {
    enum Kind: UInt8, Sendable {
        case registered, launched, granted, denied, zoneChanged, cancelledAll, warped
        case submitted, leadCapped, submissionRefused, notificationScheduled, persisted, missed
        case executed, fetchStarted, called, succeeded, failed, tokenExpired, expired, completed, abandoned
        case cached, cacheFailed, storageUnavailable
        case contentMissing, used, delivered, summed
        case snapshot, rollingWindow, scheduleSnapshot, cacheCleared, identityChanged
        case runStarted, runChecked, runCompleted, runExpired, runSkipped, runScheduled, runRefused, runNotified
        case runNotNotified

        /// Whether it is of the background refresh.
        var isOfRefresh: Bool { rawValue >= Kind.runStarted.rawValue }

        /// Whether only events tell of it, and no line of the plugin.
        var isOfEventsAlone: Bool {
            rawValue >= Kind.snapshot.rawValue && rawValue <= Kind.identityChanged.rawValue
        }
    }

    /// Why a fetch failed.
    enum Reason: UInt8, Sendable, CaseIterable { case network, auth, system }

    /// The network of a run.
    enum Network: Int16, Sendable { case untold, wifi, cellular, none }

    var kind: Kind
    /// The stamp, in microseconds since 1970 by the device's clock.
    var time: Int64
    /// The number of the cycle, from 0; -1 for none.
    var cycle: Int32 = -1
    /// The notification time and the earliest begin, in microseconds since 1970.
    var due: Int64 = 0
    var begin: Int64 = 0
    /// By how much the notification time that it tells differs from that of its cycle.
    var dueError: Int64 = 0
    /// A duration in microseconds, an age in seconds, days, bytes, a cycle, or pending notifications, by the kind.
    var amount: Int64 = 0
    /// What the hash of the content, or of the schedule, is made of; 0 where none is told.
    var hash: UInt64 = 0
    /// In seconds; or the limit of pending notifications.
    var ttl: Int32 = 0
    var status: Int16 = 0
    var minutes: Int16 = 5
    var network = Network.untold
    var reason: Reason?
    /// What the kind is about: pending schedules, a success, a retry to come, a condition, an availability, a permission
    /// that the app asked for, a schedule that was moved.
    var flag = false
    /// A condition, the use of content, or a schedule that was never told.
    var secondFlag = false

    init(_ kind: Kind, _ time: Int64) {
        self.kind = kind
        self.time = time
    }
}
