// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What a device tells of, by its name: the scenarios of the testing guides and some more.
package enum FleetScenario: String, CaseIterable, Sendable {
    case everyday
    case healthy
    case backgroundRefreshOff = "background-refresh-off"
    case lowPower = "low-power"
    case forceQuit = "force-quit"
    case timezoneChange = "timezone-change"
    case dst
    case multiDay = "multi-day"
    case reboot
    case networkFailure = "network-failure"
    case permissionDenied = "permission-denied"
    case storageUnavailable = "storage-unavailable"
    case jwtExpiration = "jwt-expiration"
    case timezoneDrift = "timezone-drift"
    case corruptedCache = "corrupted-cache"
    case executionFailure = "bgtask-execution-failure"
    case repeatedScheduling = "repeated-scheduling"
    case permissionRevoked = "permission-revoked"
    case expiry
    case retry
    case forceReschedule = "force-reschedule"
    case leadCapped = "lead-capped"
    case reinstall
    case attempts
    case timeWarp = "time-warp"
    case stateIntegrity = "state-integrity"
    case notModified = "not-modified"
    case permissionReturned = "permission-returned"
    case clearedCache = "cleared-cache"
    case rollingWindow = "rolling-window"
    case scheduleSnapshot = "schedule-snapshot"
    case pluginBugs = "plugin-bugs"
    case bothApps = "both-apps"
    case refreshEveryday = "refresh-everyday"
    case refreshBugs = "refresh-bugs"
    case refreshCadence = "refresh-cadence"
    case refreshAuthorization = "refresh-authorization"
    case refreshDeduplication = "refresh-deduplication"
    case refreshFastFail = "refresh-fast-fail"
    case refreshExpiration = "refresh-expiration"

    package var name: String { rawValue }

    /// The scenario that an unknown name may have meant.
    package static func nearest(to name: String) -> String? {
        NearestName.of(name.lowercased(), in: allCases.map(\.name))
    }

    /// Whether it is of the background refresh alone.
    package var isOfRefresh: Bool { rawValue.hasPrefix("refresh-") }

    /// Whether its devices have the plugin, and whether they have the background refresh.
    var hasPrefetch: Bool { !isOfRefresh }
    var hasRefresh: Bool { isOfRefresh || self == .bothApps }

    /// Whether `validate --scenario` knows it by this name.
    package var isOfGuide: Bool {
        switch self {
        case .everyday, .healthy, .expiry, .retry, .forceReschedule, .leadCapped, .reinstall, .attempts, .timeWarp,
            .stateIntegrity, .notModified, .permissionReturned, .clearedCache, .rollingWindow, .scheduleSnapshot,
            .pluginBugs, .bothApps, .refreshEveryday, .refreshBugs:
            false
        default: true
        }
    }

    /// The days that it takes to tell all of it.
    package var fewestDays: Int {
        switch self {
        case .multiDay, .refreshCadence: 2
        default: 1
        }
    }

    /// What happens, in a line.
    package var summary: String {
        switch self {
        case .everyday: "the mixture of all that happens to phones"
        case .healthy: "each task runs in its window, and each notification shows what it fetched"
        case .backgroundRefreshOff: "the system refuses each task, and notifications fetch when they are due"
        case .lowPower: "tasks are skipped or late under Low Power Mode"
        case .forceQuit: "no task runs, and the next launch finds out"
        case .timezoneChange: "the device travels between the scheduling and the task"
        case .dst: "devices in zones with daylight saving time"
        case .multiDay: "each day's content is prefetched on its day"
        case .reboot: "the device restarts before its task, which is submitted again"
        case .networkFailure: "each fetch fails for the network"
        case .permissionDenied: "notifications are denied, and nothing is scheduled"
        case .storageUnavailable: "what was fetched cannot be cached"
        case .jwtExpiration: "each fetch is refused with 401"
        case .timezoneDrift: "the device travels between the task and the notification"
        case .corruptedCache: "cached content is gone when it is needed"
        case .executionFailure: "the handler ends with an error, or expires"
        case .repeatedScheduling: "the same schedule is asked for several times"
        case .permissionRevoked: "content is fetched, and nothing is delivered"
        case .expiry: "the system ends each task after 2 to 30 s"
        case .retry: "fetches fail, and their retries succeed"
        case .forceReschedule: "all tasks are cancelled and scheduled again"
        case .leadCapped: "the first notification is minutes away, and its lead is capped"
        case .reinstall: "the app is installed anew, and its counters begin at 0"
        case .attempts: "the system starts each task several times, until a fetch succeeds"
        case .timeWarp: "on the last days a test moves the clock of the app, and planned times with it"
        case .stateIntegrity: "hashes of contents and schedules, some of which differ"
        case .notModified: "answers of 304, on the last days to calls without an ETag, too"
        case .permissionReturned: "on the last days a task is scheduled in spite of a denial, before it is withdrawn"
        case .clearedCache: "on the last days the cache is cleared, and its content used or missing"
        case .rollingWindow: "how many notifications are pending, on the last days more than may be"
        case .scheduleSnapshot: "what the plugin has stored, on the last day not all as it was told"
        case .pluginBugs: "on each of the last days the plugin breaks another rule"
        case .bothApps: "everyday life of both apps on one device"
        case .refreshEveryday: "the background refresh with all that happens to it"
        case .refreshBugs: "the app breaks another rule in each run"
        case .refreshCadence: "checks 0, 30, 89, 90 and 100 days after the last test"
        case .refreshAuthorization: "notifications are not authorised, and then are"
        case .refreshDeduplication: "the user is notified once"
        case .refreshFastFail: "refreshes that are skipped, for each reason"
        case .refreshExpiration: "refreshes that the system ends"
        }
    }
}
