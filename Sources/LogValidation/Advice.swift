// SPDX-License-Identifier: Apache-2.0

package import PrefetchLifecycle
internal import TelemetryEvents

/// What to look at next, as the plugin's testing guide advises.
package enum Advice {
    /// For a cycle: for each violation, then for the stage at which it stopped, each sentence once.
    static func of(_ cycle: JudgedCycle) -> [String] {
        var advice: [String] = []
        for violation in cycle.closed.violations { advice += of(violation.kind) }
        if let stop = cycle.stop { advice += of(stop, cycle) }
        if let zone = cycle.zoneAdvice { advice.insert(zone, at: 0) }
        var told: Set<String> = []
        return advice.filter { told.insert($0).inserted }
    }

    static func of(_ stop: CycleStop, _ cycle: JudgedCycle) -> [String] {
        switch stop {
        case .notSubmitted:
            [
                "Check that BGTaskScheduler accepted the task, and look for its errors in the log.",
                "earliestBeginDate must lie at least 1 minute ahead.",
                simulator,
            ]
        case .submissionFailed: refusal
        case .notExecuted:
            [
                "On a device check that \(backgroundRefresh).",
                "A force-quit app gets no background task until it is opened again; Low Power Mode and an empty "
                    + "battery delay it.",
                identifiers,
                simulator,
            ] + (cycle.isRegistered ? [] : [registration])
        case .notFetched:
            [
                "Check how the handler resolves the next notification, and look for errors of that.",
                "Check that the schedule is in the plugin's database.",
            ]
        case .notFinished, .failed: fetch(cycle.closed.failureReason)
        case .notCached:
            ["Check the storage: the write of the cache failed, so the content has to be fetched again when it is due."]
        case .notFound:
            [
                "Check that the prefetch ran before the notification was due, and that its cache was written.",
                "Check the reading of the cache, its keys, and whether the content's ttl had run out.",
                "Check that the on-demand fetch worked.",
            ]
        case .notDelivered:
            [
                "Check that notifications are permitted, and were not revoked after the scheduling.",
                "Look for errors while the notification was built, and for its request among the pending ones.",
            ]
        }
    }

    private static func fetch(_ reason: FailureReason?) -> [String] {
        switch reason {
        case .network:
            ["Check the network of the device, and that the API's address is right and answers."]
        case .auth:
            ["Check the token: an expired or wrong JWT is answered with 401 or 403."]
        case .system:
            [
                "Look for what ended the task: its time (about 30 s), storage, a permission, or an exception in the "
                    + "handler."
            ]
        case .other, nil:
            [
                "Check the network of the device, and that the API's address is right and answers.",
                "Check the token (JWT), and look for HTTP status codes in the log.",
            ]
        }
    }

    /// For a rule that was broken.
    package static func of(_ violation: ViolationKind) -> [String] {
        switch violation {
        case .executedWithoutScheduled:
            ["Check that every submission is logged, and that the log begins before the scheduling."]
        case .successWithoutExecuted, .failureWithoutExecuted:
            ["Check that the handler logs when it is invoked, and that nothing fetches outside of the background task."]
        case .usedWithoutSuccess:
            ["Check the key under which the cache is read, and that a success is logged on every path."]
        case .duplicateTerminal:
            ["Check the guard that completes the task once; the expiration handler runs beside the fetch."]
        case .taskNotCompleted:
            ["Call setTaskCompleted on every path, also after an exception and on expiration."]
        case .contentHashMismatch:
            ["Check the cache: its keys, concurrent writes, and errors of the storage in the log."]
        case .scheduleHashMismatch:
            ["Check that a change of time, lead or id cancels the waiting task."]
        case .staleContentUsed:
            ["Check the validation of the ttl at delivery; stale content must be thrown away and fetched again."]
        case .secondActiveTask:
            ["Cancel the waiting task before another one is submitted: one active task."]
        case .scheduledWhileDenied:
            ["Check the permission before scheduling, and return notifications_denied."]
        case .leadBelowMinimum:
            ["Check that the lead is capped at 60 s, and that the cap is logged."]
        case .nextNotScheduled:
            [
                "Schedule the next task first thing in the handler.",
                "Check that the schedule is in the plugin's database.",
            ]
        case .missedWindow:
            [
                "The system may run a task 15 minutes late or never. On iOS check that \(backgroundRefresh), Low Power Mode, "
                    + "and that the app was not force-quit; on Android its battery optimisation. Single ones are no bug.",
                "Check that the notification fell back to an on-demand fetch.",
            ]
        case .executedAfterNotification:
            ["The system ran the task too late; a longer lead helps. It is no bug of the plugin."]
        case .driftExceeded:
            ["Whole hours point at the time zone or daylight saving time; else it is the system's own timing."]
        case .expired:
            ["Check how long the fetch takes: the system ends a task after about 30 s."]
        case .outOfOrder:
            [
                "Follow the cycle's lines from the scheduling on: a step is told before one that it needs. Check which thread "
                    + "logs it, and that it is logged when it happens."
            ]
        case .scheduledNotPersisted:
            [
                "Check the write of the schedule to the database, that the storage is initialized, and its errors in the "
                    + "log: a schedule that is not persisted is lost at the next launch."
            ]
        case .leadDiffers:
            ["Check the computation: earliestBeginDate is notificationTime minus the lead, unless the lead is capped."]
        case .scheduleTimeDiffers:
            ["Hold scheduled_for of the API's answer against the notificationTime of the schedule."]
        case .ttlDiffers:
            ["Hold the ttl of the API's answer against the one that is cached: one content has one ttl."]
        case .ranTooLong:
            ["Check the expiration handler: the system ends a task after about 30 s, and this one went on."]
        case .cachedContentLost:
            [
                "Check that the write of the cache succeeded and that the reading uses the same key; no ttl had run out.",
                "Check what empties the cache.",
            ]
        case .clearedContentUsed:
            ["Check that clearing the cache for a new identity clears all of it, also what is in memory."]
        case .notModifiedWithoutETag:
            ["Check the request: a 304 answers an ETag, and none was sent."]
        case .missedNotRescheduled:
            ["At the launch, compare earliestBeginDate with the clock and submit a missed task again."]
        case .pendingScheduleLost:
            ["Check the database after a launch or reboot: a schedule lies ahead, and the plugin says that none waits."]
        case .notRescheduledAfterLaunch:
            ["After a launch with hasPendingSchedules=true submit the task again; a reboot drops it."]
        case .pendingLimitExceeded:
            ["Check the rolling window: iOS keeps 64 pending notifications and drops the others."]
        case .scheduleMissing:
            ["Check where the schedule came from: it is in the plugin's database, and the log has no scheduling of it."]
        case .scheduleMoved:
            ["Check what changed the schedule's time after it was scheduled, and that the waiting task was cancelled."]
        case .countersOutOfPattern:
            ["Check where the app counts: scheduled, executed and success rise in this order."]
        }
    }

    /// For a log without a cycle.
    static func ofEmptyLog(_ judgement: Judgement, _ logs: [DeviceLog]) -> [String] {
        var advice: [String] = []
        let lines = judgement.lines
        let kinds = logs.reduce(into: EventKinds()) { $0.formUnion($1.kinds) }
        if lines.read == 0 {
            advice.append("The input is empty: check the command that took the log, and the time that it covers.")
        } else if judgement.events == 0 {
            advice.append(
                "Check that the log has the lines with [DNP-FETCH], [DNP-SCHEDULER], [DNP-PLUGIN] and [DNP-STORAGE], and "
                    + "covers the time of the test; `log show` needs --info --debug."
            )
            if lines.unrecognised > 0 { advice.append("--explain lists the plugin's lines that no rule recognises.") }
        }
        if kinds.contains(.notificationDenied) {
            advice.append("Notifications are denied: grant them in the Settings before scheduling.")
        }
        if kinds.contains(.prefetchScheduleFailed) {
            advice += refusal
        } else if kinds.contains(.prefetchRegistered), !kinds.contains(.pluginStarted) {
            advice.append(
                "Registered, and no startup: check the plugin's initialization in the AppDelegate and its Capacitor "
                    + "registration."
            )
        } else if kinds.contains(.pluginStarted), !kinds.contains(.prefetchRegistered) {
            advice.append(registration)
        }
        if judgement.events > 0, advice.isEmpty {
            advice.append("Schedule a notification: the log tells of the launch and of no scheduling.")
        }
        return advice
    }

    /// Where the stamps of a log seem to be in another zone than the one they were read in.
    static func ofZone(shiftedHours hours: Int64, at time: Timestamp, _ zone: ZoneOffsets) -> String {
        let offset = (time.microseconds - zone.utcMicroseconds(wall: time.microseconds)) / 1_000_000 + hours * 3_600
        let minutes = offset.magnitude / 60
        let name = (offset < 0 ? "-" : "+") + padded(minutes / 60) + ":" + padded(minutes % 60)
        return "The delivery is \(hours.magnitude) h \(hours < 0 ? "before" : "after") its time, a whole-hour shift: "
            + "if the stamps name no zone, try --timezone \(name)."
    }

    private static func padded(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static let refusal = [
        "BGTaskSchedulerErrorDomain Code=1 (notPermitted) is expected on a simulator and no bug: fire the task with "
            + "Xcode's Debug > Simulate Background Fetch, after which executed_without_scheduled is none either, or test on a "
            + "device.",
        "On a device check that \(backgroundRefresh).", identifiers,
    ]
    private static let backgroundRefresh = "Background App Refresh is on in the Settings of the app"
    private static let identifiers =
        "Check that BGTaskSchedulerPermittedIdentifiers in Info.plist has the task's identifier exactly as the code has it."
    private static let simulator =
        "On a simulator no task runs by itself: use Xcode's Debug > Simulate Background Fetch."
    private static let registration =
        "No registration is told: check BGTaskSchedulerPermittedIdentifiers in Info.plist, and that the task is registered "
        + "before the app finishes launching."
}
