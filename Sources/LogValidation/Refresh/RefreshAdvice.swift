// SPDX-License-Identifier: Apache-2.0

internal import RefreshLifecycle
internal import TelemetryEvents

/// What to look at next after runs of the background refresh, as the app's testing guide advises.
enum RefreshAdvice {
    /// For a run: for each violation, then for what it did not do, each sentence once.
    static func of(_ run: JudgedRun) -> [String] {
        let closed = run.closed
        var advice = closed.violations.flatMap { of($0.kind) }
        switch closed.skipReason {
        case .notAuthenticated?: advice.append("Sign in before the refresh: without a user it is skipped.")
        case .noNetwork?: advice.append("Check the network of the device: without one the refresh is skipped.")
        case .tooRecent? where !run.followsSuccess: advice += rateLimit
        default: break
        }
        if closed.outcome == .failed {
            advice.append("Check the network, and that the API answers; look for the error of backgroundRefreshFailed.")
        }
        switch closed.notification {
        case .sent?: advice.append("If the notification did not appear: \(appearance)")
        case .failed?: advice.append("The notification could not be sent: \(appearance)")
        case .notAuthorized?: advice.append(permission)
        case .alreadyNotified?, nil: break
        }
        if closed.schedule == .failed { advice += registration }
        var told: Set<String> = []
        return advice.filter { told.insert($0).inserted }
    }

    /// For a rule that was broken.
    static func of(_ violation: RefreshViolationKind) -> [String] {
        switch violation {
        case .refreshedTooSoon:
            [
                "Check the rate limit: the time of the last refresh (com.aiq.lastBackgroundRefresh in UserDefaults) is "
                    + "written on success and read before the check. A test that removes it refreshes again at once."
            ]
        case .notifiedTooSoon, .availabilityWrong:
            ["Check the comparison with testCadenceDays: a test is available from 90 days after the last one on."]
        case .notifiedAgain:
            ["Check that the time of a notification is stored when it is sent, and read before the next one."]
        case .workedAfterSkip:
            ["Check that each fast-fail condition returns at once: before the API is called, and only once."]
        case .notNotified:
            ["Check what decides on the notification, and that it logs why none is sent.", permission]
        case .runNotEnded:
            ["Call setTaskCompleted on every path, also in the expiration handler, which runs after about 30 s."]
        case .nextNotScheduled:
            [
                "Schedule the next refresh in every run, also in one that is skipped, fails or expires.",
                "Look at the pending tasks in LLDB: BGTaskScheduler getPendingTaskRequestsWithCompletionHandler.",
            ]
        case .ranTooLong:
            ["Check how long the API takes: a refresh is to end within 20 s (maxExecutionTime)."]
        case .expired:
            [
                "The system ends a task after about 30 s: check what the refresh waited for, and that a delay for the test "
                    + "of expiration is gone."
            ]
        }
    }

    /// For a log in which no run is told, or a schedule fails outside of any.
    static func of(_ judgement: Judgement) -> [String] {
        guard judgement.toldApps.contains(.aiq) else { return [] }
        let refresh = judgement.refresh
        let isRefused = refresh.totals.schedules(.failed) > 0
        if refresh.closed > 0 {
            let isTold = refresh.omitted > 0 || refresh.listed.contains { $0.closed.schedule == .failed }
            return isRefused && !isTold ? registration : []
        }
        if refresh.events > 0 { return isRefused ? registration : notTriggered }
        if judgement.lines.read == 0 {
            return ["The input is empty: check the command that took the log, and the time that it covers."]
        }
        var advice = [
            "Check that the log has the lines with [BackgroundRefresh], in Console.app those of the process AIQ, the "
                + "subsystem com.aiq.app and the category BackgroundRefresh."
        ]
        if judgement.lines.unrecognised > 0 { advice.append("--explain lists the lines that no rule recognises.") }
        return advice + notTriggered
    }

    /// Background refresh not triggering.
    private static let notTriggered = [
        "No run is told: check that AppDelegate.didFinishLaunchingWithOptions calls registerBackgroundTask().",
        "Check that Info.plist has com.aiq.refresh in BGTaskSchedulerPermittedIdentifiers and processing in "
            + "UIBackgroundModes.",
        "Put the app in the background and start a run on a device: Xcode's Debug > Simulate Background Fetch, or "
            + "_simulateLaunchForTaskWithIdentifier in LLDB.",
    ]

    /// Notifications not appearing.
    private static let appearance =
        "allow notifications in Settings > AIQ > Notifications, with banners or alerts and not the badge alone, end Focus "
        + "and Do Not Disturb, and check notification.test.available.title and .body in Localizable.strings."
    private static let permission = "Check that Settings > AIQ > Notifications allows notifications."

    /// Rate limiting issues.
    private static let rateLimit = [
        "No refresh of the last 4 hours is told: wait 4 hours after the last one, or remove com.aiq.lastBackgroundRefresh "
            + "from UserDefaults in LLDB."
    ]

    /// Task registration fails.
    private static let registration = [
        "The schedule was refused: check that the identifier of BGAppRefreshTaskRequest is exactly that of Info.plist "
            + "(com.aiq.refresh).",
        "On a simulator the submission often fails: test on a device. BGTaskScheduler needs iOS 13.",
    ]
}
