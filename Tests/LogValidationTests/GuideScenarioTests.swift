// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrefetchLifecycle
import TelemetryEvents
import Testing

@testable import LogValidation

/// The edge cases of the guide's table, each with the outcome that the guide expects of the plugin.
@Suite("Edge case scenarios of the testing guide")
struct EdgeScenarioTests {
    typealias Story = GuideStory

    static let used: [String: UInt64] = [
        "scheduled": 1, "executed": 1, "success": 1, "used": 1, "delivered prefetched": 1,
    ]
    static let onDemand: [String: UInt64] = ["fallback": 1, "delivered on_demand": 1]

    @Test("Background Refresh Off: no task runs, the error is told, the notification fetches when it is due")
    func backgroundRefreshOff() throws {
        let story =
            Story.launch(0)
            + Story(
                lines: [Story.line(0, "fetch", "Scheduling prefetch for notification at \(Story.time(720))")],
                events: []
            )
            + Story.told(
                0,
                "fetch",
                #"Failed to schedule BGAppRefreshTask: Error Domain=BGTaskSchedulerErrorDomain Code=1 "(null)""#,
                "prefetch_schedule_failed",
                id: "a",
                #""error":"BGTaskSchedulerErrorDomain Code=1","scheduledFor":"\#(Story.time(720))""#
            ) + Story.notification(0, due: 720, id: "a") + Story.onDemand()
        #expect(
            try story.outcome() == .init(.fallback, counting: Self.onDemand.with(["error task_scheduling_failed": 1]))
        )
    }

    @Test("Background Refresh Off, told by the plugin's own code")
    func backgroundRefreshDisabled() throws {
        let story =
            Story.told(
                0,
                "fetch",
                "Failed to schedule BGAppRefreshTask: background_refresh_disabled",
                "prefetch_schedule_failed",
                #""error":"background_refresh_disabled""#
            ) + Story.notification(0, due: 720, id: "a") + Story.onDemand()
        let expected = Self.onDemand.with(["error background_refresh_disabled": 1])
        #expect(try story.outcome() == .init(.fallback, counting: expected))
    }

    @Test("Low Power Mode On, the task is skipped: the notification falls back")
    func lowPowerSkipped() throws {
        let story = Story.launch(0) + Story.scheduling() + Story.onDemand() + Story.launch(4_000)
        #expect(
            try story.outcome()
                == .init(.fallback, notes: [.missedWindow], counting: Self.onDemand.with(["scheduled": 1]))
        )
    }

    @Test("Low Power Mode On, the task runs late: the notification uses what is still valid")
    func lowPowerLate() throws {
        let story =
            Story.launch(0) + Story.scheduling(due: 3_600) + Story.prefetch(2_000, due: 3_600)
            + Story.shown(3_602, due: 3_600, age: 1_600)
        #expect(try story.outcome() == .init(.used, notes: [.missedWindow, .leadDiffers], counting: Self.used))
    }

    @Test("Low Power Mode On, the task runs after the notification: the notification has fallen back")
    func lowPowerTooLate() throws {
        let story = Story.launch(0) + Story.scheduling() + Story.onDemand() + Story.prefetch(1_000)
        #expect(
            try story.outcome()
                == .init(
                    .fallback,
                    notes: [.executedAfterNotification],
                    counting: Self.onDemand.with(["scheduled": 1, "executed": 1, "success": 1])
                )
        )
    }

    @Test("App Force-Quit: no task runs, the notification falls back, the next launch finds out")
    func forceQuit() throws {
        let story =
            Story.launch(0) + Story.scheduling() + Story.onDemand() + Story.launch(4_000, pending: true)
            + Story.told(
                4_001,
                "fetch",
                "BGTask missed window; rescheduling (notificationTime=\(Story.time(720)))",
                "prefetch_missed",
                id: "a"
            ) + Story.scheduling(4_002, begins: 86_820, due: 87_120, id: "b")
        #expect(
            try story.outcome()
                == .init(
                    .fallback,
                    .incomplete,
                    notes: [.missedWindow],
                    counting: Self.onDemand.with(["scheduled": 2, "missed window": 1])
                )
        )
    }

    @Test("Device Timezone Change: the task and the notification keep their UTC times")
    func timezoneChange() throws {
        let story =
            Story.launch(0) + Story.scheduling()
            + Story.told(
                200,
                "scheduler",
                "Timezone changed, but UTC schedule unchanged",
                "timezone_changed"
            ) + Story.prefetch(420) + Story.shown(720, age: 298)
        let expected = Story.Outcome(.used, counting: Self.used)
        #expect(try story.outcome() == expected)
        #expect(try story.outcome { $0.stamp(offset: $0.second < 200 ? -8 : 9) } == expected)
    }

    @Test("DST Transition: around the hour that is lost or told twice nothing fires twice or is missed")
    func daylightSaving() throws {
        for changesAt in [1_741_514_400, 1_762_074_000] {
            let base = changesAt - 1_763_185_260
            let story =
                Story.launch(base - 900) + Story.scheduling(base - 900, begins: base, due: base + 300)
                + Story.prefetch(base + 1, due: base + 300) + Story.shown(base + 301, due: base + 300, age: 298)
            let expected = Story.Outcome(.used, counting: Self.used)
            #expect(try story.outcome() == expected)
            let (before, after) = changesAt == 1_741_514_400 ? (-8, -7) : (-7, -8)
            #expect(try story.outcome { $0.stamp(offset: $0.second < base ? before : after) } == expected)
        }
    }

    @Test(
        "DST Transition, in a log whose stamps name no zone",
        // In spring; in autumn from the first pass of the hour into the second, and in the second alone.
        arguments: [(1_741_514_400, 0, -900), (1_762_074_000, 0, -900), (1_762_074_000, 2_880, -60)]
    )
    func daylightSavingWithoutZone(changesAt: Int, begins: Int, launched: Int) throws {
        let change = changesAt - 1_763_185_260
        let base = change + begins
        let story =
            Story.launch(base + launched) + Story.scheduling(base + launched, begins: base, due: base + 300)
            + Story.prefetch(base + 1, due: base + 300) + Story.shown(base + 301, due: base + 300, age: 298)
        let (before, after) = changesAt == 1_741_514_400 ? (-8, -7) : (-7, -8)
        let outcome = try story.outcome(timezone: "America/Los_Angeles") {
            $0.stamp(offset: $0.second < change ? before : after, isZoned: false)
        }
        #expect(outcome == .init(.used, counting: Self.used))
    }

    @Test("Multi-Day Scheduling: each day's content is prefetched on its day")
    func multiDay() throws {
        let day = 86_400
        let story =
            Story.launch(0) + Story.scheduling(id: "today")
            + Story.notification(1, due: 720 + day, id: "tomorrow")
            + Story.prefetch(540, id: "today")
            + Story.scheduling(543, begins: day + 420, due: day + 720, id: "tomorrow")
            + Story.shown(id: "today") + Story.prefetch(day + 540, due: day + 720, id: "tomorrow")
            + Story.shown(day + 722, due: day + 720, id: "tomorrow")
        #expect(try story.outcome() == .init(.used, .used, counting: Self.used.mapValues { $0 * 2 }))
    }

    @Test("Device Reboot: the schedule persists and is submitted again after it")
    func reboot() throws {
        let story =
            Story.launch(0) + Story.scheduling() + Story.launch(300, pending: true) + Story.scheduling(301)
            + Story.prefetch(540) + Story.shown()
        #expect(try story.outcome() == .init(.used, counting: Self.used))
    }

    @Test("Device Reboot, launched after the notification: it was still delivered")
    func lateLaunchAfterReboot() throws {
        let story = Story.launch(0) + Story.scheduling() + Story.onDemand() + Story.launch(5_000, pending: true)
        #expect(
            try story.outcome()
                == .init(.fallback, notes: [.missedWindow], counting: Self.onDemand.with(["scheduled": 1]))
        )
    }
}

extension [String: UInt64] {
    func with(_ others: [String: UInt64]) -> [String: UInt64] { merging(others) { $1 } }
}

extension PluginLine {
    /// Its stamp as a device writes it in a zone so many hours ahead of UTC.
    fileprivate func stamp(offset: Int, isZoned: Bool = true) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: offset * 3_600)
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss.SSSSSS" + (isZoned ? "Z" : "")
        return formatter.string(from: Date(timeIntervalSince1970: Double(time.microseconds) / 1e6))
    }
}

/// The failures that the guide injects, each with what the guide expects of the plugin.
@Suite("Negative paths of the testing guide")
struct NegativePathTests {
    typealias Story = GuideStory

    static let failed: [String: UInt64] = ["scheduled": 1, "executed": 1, "fallback": 1, "delivered on_demand": 1]
    static let start = Story.launch(0) + Story.scheduling() + Story.execution(540)

    static func failure(_ second: Int, _ message: String, _ members: String) -> GuideStory {
        Story.told(second, "fetch", message, "prefetch_failure", id: "a", members)
    }

    static let networkFailure = failure(
        543,
        "Fetch failed: error=NetworkError, willRetry=false",
        #""error":"NetworkError","willRetry":false"#
    )

    @Test("Network failure: the notification falls back")
    func networkFailure() throws {
        let story = Self.start + Self.networkFailure + Story.unsuccessful(543, "NETWORK") + Story.onDemand()
        #expect(try story.outcome() == .init(.fallback, counting: Self.failed.with(["failure NETWORK": 1])))
    }

    @Test("Network failure: content that an earlier day cached is used if it is valid")
    func networkFailureWithCache() throws {
        let story = Self.start + Self.networkFailure + Story.unsuccessful(543, "NETWORK") + Story.shown(age: 80_000)
        let expected: [String: UInt64] = [
            "scheduled": 1, "executed": 1, "failure NETWORK": 1, "used": 1, "delivered prefetched": 1,
        ]
        #expect(try story.outcome() == .init(.used, counting: expected))
    }

    @Test("Permission denied: nothing is scheduled, and the error is told")
    func permissionDenied() throws {
        let story =
            Story.launch(0)
            + Story.told(
                1,
                "plugin",
                "notifications_denied for scheduleDailyNotification",
                "notification_denied",
                #""error":"notifications_denied""#
            )
        #expect(try story.outcome() == .init(.empty, [], [], ["error notifications_denied": 1]))
    }

    @Test("Permission denied, and a task is scheduled all the same: a bug of the plugin")
    func scheduledAllTheSame() throws {
        let story =
            Story.launch(0)
            + Story.told(
                1,
                "plugin",
                "notifications_denied for scheduleDailyNotification",
                "notification_denied"
            ) + Story.scheduling(2)
        #expect(
            try story.outcome()
                == .init(
                    .incoherent,
                    [.incomplete],
                    [.scheduledWhileDenied],
                    ["scheduled": 1, "error notifications_denied": 1]
                )
        )
    }

    @Test("Storage unavailable: what was fetched is not kept, and the notification fetches again")
    func storageUnavailable() throws {
        let story =
            Self.start + Story.success(542)
            + Story.told(
                542,
                "storage",
                "Cache write failed: error=SQLiteError",
                "content_cache_failed",
                id: "a",
                #""error":"SQLiteError""#
            )
            + Story(
                lines: [Story.line(542, "fetch", "Storage unavailable, will fetch on-demand")],
                events: [Story.event("content_cache_failed", 542, id: "a", #""usedCached":false,"eventId":"2""#)]
            ) + Story.completion(543) + Story.onDemand()
        #expect(
            try story.outcome() == .init(.fallback, counting: Self.failed.with(["success": 1, "cache failures": 1]))
        )
    }

    @Test("JWT expiration: an AUTH failure, told in three lines, counts once")
    func expiredToken() throws {
        let story =
            Self.start
            + Self.failure(
                543,
                "Fetch failed: error=AuthError, httpStatus=401, willRetry=false",
                #""error":"AuthError","httpStatus":401,"willRetry":false"#
            ) + Self.failure(544, "JWT expired, authentication failed", #""error":"JWT expired""#)
            + Story.unsuccessful(545, "AUTH") + Story.onDemand()
        #expect(try story.outcome() == .init(.fallback, counting: Self.failed.with(["failure AUTH": 1])))
    }

    @Test("Timezone drift: the prefetch and the notification keep their UTC times")
    func timezoneDrift() throws {
        let story =
            Self.start + Story.success(542) + Story.cached(542) + Story.completion(543)
            + Story.told(
                600,
                "scheduler",
                "Timezone changed, but UTC schedule unchanged",
                "timezone_changed"
            ) + Story.shown()
        #expect(try story.outcome() == .init(.used, counting: EdgeScenarioTests.used))
    }

    @Test("Corrupted cache: the notification falls back, though the prefetch was successful")
    func corruptedCache() throws {
        let story = Story.launch(0) + Story.scheduling() + Story.prefetch(540) + Story.onDemand()
        let expected = Self.failed.with(["success": 1])
        #expect(try story.outcome() == .init(.fallback, notes: [.cachedContentLost], counting: expected))
    }

    @Test("BGTask execution failure: the task is marked complete, and the failure is the system's")
    func handlerFailure() throws {
        let story =
            Self.start
            + Story.told(
                543,
                "fetch",
                "Task marked complete (success=false) due to error",
                "prefetch_completed",
                id: "a",
                #""fetched":false,"reason":"SYSTEM""#
            ) + Story.onDemand()
        #expect(try story.outcome() == .init(.fallback, counting: Self.failed.with(["failure SYSTEM": 1])))
    }

    @Test("BGTask execution failure: the expiration handler is called, and completes the task")
    func handlerExpiration() throws {
        let story =
            Self.start
            + Story.told(570, "fetch", "Task expired", "prefetch_expired", id: "a")
            + Story.told(
                570,
                "fetch",
                "Task completionBlock (success=false)",
                "prefetch_completed",
                id: "a",
                #""fetched":false"#
            ) + Story.onDemand()
        let expected = Self.failed.with(["failure SYSTEM": 1, "expired": 1])
        #expect(try story.outcome() == .init(.fallback, notes: [.expired], counting: expected))
    }

    @Test("BGTask execution failure, and nobody completes the task: a bug of the plugin")
    func handlerLeft() throws {
        let story = Self.start + Story.onDemand()
        #expect(try story.outcome() == .init(.incoherent, [.fallback], [.taskNotCompleted], Self.failed))
    }

    @Test("Repeated scheduling calls: one task, however often it is told")
    func repeatedScheduling() throws {
        let story =
            Story.launch(0) + Story.scheduling(0) + Story.scheduling(1) + Story.scheduling(2) + Story.prefetch(540)
            + Story.shown()
        #expect(try story.outcome() == .init(.used, counting: EdgeScenarioTests.used))
    }

    @Test("Repeated scheduling calls for another time: a second active task is a bug of the plugin")
    func secondTask() throws {
        let story =
            Story.launch(0) + Story.scheduling(0) + Story.scheduling(1, begins: 1_020, due: 1_320, id: "b")
            + Story.prefetch(540) + Story.shown()
        let expected = EdgeScenarioTests.used.with(["scheduled": 2])
        #expect(try story.outcome() == .init(.incoherent, [.used, .incomplete], [.secondActiveTask], expected))
    }

    @Test("Permission revoked mid-run: nothing is delivered, and that is no bug")
    func permissionRevoked() throws {
        let story = Story.launch(0) + Story.scheduling() + Story.prefetch(540) + Story.launch(4_000)
        let expected: [String: UInt64] = ["scheduled": 1, "executed": 1, "success": 1]
        #expect(try story.outcome() == .init(.incomplete, counting: expected))
    }
}
