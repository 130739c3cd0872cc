// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrefetchLifecycle
import TelemetryEvents
import Testing

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
        #expect(try story.outcome() == .init(.fallback, counting: Self.onDemand.with(["error other": 1])))
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
        #expect(try story.outcome() == .init(.used, notes: [.missedWindow], counting: Self.used))
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

    @Test("DST Transition, in a log whose stamps name no zone")
    func daylightSavingWithoutZone() throws {
        let base = 1_741_514_400 - 1_763_185_260
        let story =
            Story.launch(base - 900) + Story.scheduling(base - 900, begins: base, due: base + 300)
            + Story.prefetch(base + 1, due: base + 300) + Story.shown(base + 301, due: base + 300, age: 298)
        let outcome = try story.outcome(timezone: "America/Los_Angeles") {
            $0.stamp(offset: $0.second < base ? -8 : -7, isZoned: false)
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
