// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import LogInput
@testable import LogValidation

@Suite("Logs that begin or end inside a cycle")
struct CutLogTests {
    typealias Story = GuideStory

    static let whole = JudgedLog.lines(Story.launch(0) + Story.scheduling() + Story.prefetch(540) + Story.shown())

    private static func judge(_ excerpt: [String]) throws -> Judgement {
        try JudgedLog.judge(excerpt) { $0.isExcerpt = true }
    }

    @Test("a log that begins within a run is judged as it stands, unless it is told to be an excerpt")
    func judgedAsItStands() throws {
        let fired = try #require(Self.whole.firstIndex { $0.contains("handler invoked") })
        let run = Array(Self.whole[fired...])
        func broken(_ lines: [String]) throws -> [ViolationKind] {
            let judgement = try JudgedLog.judge(lines)
            #expect(judgement.cycles.map { $0.cut.contains(.beginning) } == [true])
            return judgement.cycles.flatMap(\.closed.violations).map(\.kind)
        }
        #expect(try broken(run) == [.executedWithoutScheduled])
        #expect(try broken(run.filter { $0.contains("Fetch success") }) == [.successWithoutExecuted])
        #expect(try broken(run.filter { $0.contains("Using cached content") }) == [.usedWithoutSuccess])
        #expect(try Self.judge(run).verdict(strict: true) == .coherent)
        let started = try #require(run.firstIndex { $0.contains("Starting fetch") })
        let stopped =
            run[...started] + ["2025-11-16T09:00:00Z [DNP-PLUGIN] Startup complete (hasPendingSchedules=false)"]
        #expect(try JudgedLog.judge(Array(stopped)).cycles.map(\.stop) == [.notFinished])
        #expect(try Self.judge(Array(stopped)).cycles.map(\.stop) == [nil])
    }

    @Test("an expiry before the execution is the line that shows it")
    func placeOfAnEarlyExpiry() throws {
        let lines =
            JudgedLog.lines(Story.scheduling()).filter { !$0.contains("Persisted") } + [
                "2025-11-15T05:49:57Z [DNP-FETCH] Task expired",
                "2025-11-15T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
            ]
        let cycle = try #require(JudgedLog.judge(lines).cycles.first)
        let index = try #require(cycle.closed.violations.firstIndex { $0.kind == .outOfOrder })
        #expect(cycle.place(ofViolation: index)?.line == lines.count - 1)
    }

    @Test("an excerpt that is cut anywhere is not accused of what the cut hides, and says that it is cut")
    func everyCut() throws {
        let fired = try #require(Self.whole.firstIndex { $0.contains("handler invoked") })
        let delivered = try #require(Self.whole.firstIndex { $0.contains("Notification delivered") })
        for first in fired...delivered {
            let judgement = try Self.judge(Array(Self.whole[first...]))
            #expect(judgement.verdict(strict: true) != .incoherent, "from \(Self.whole[first])")
            #expect(judgement.cycles.allSatisfy { $0.cut.contains(.beginning) }, "from \(Self.whole[first])")
        }
        let fetched = try #require(Self.whole.firstIndex { $0.contains("Fetch success") })
        for last in fired..<delivered {
            let judgement = try Self.judge(Array(Self.whole[...last]))
            let broken = judgement.cycles.flatMap(\.closed.violations).map(\.kind)
            #expect(broken == (last < fetched ? [.taskNotCompleted] : []), "to \(Self.whole[last])")
            #expect(judgement.cycles.first?.cut.names == ["end"], "to \(Self.whole[last])")
        }
    }

    @Test("a log that begins behind the fetch, with the scheduling of the next task, hides the fetch")
    func cutBehindTheFetch() throws {
        let lines = [
            "2025-11-15T05:50:03Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-16T05:53:00Z",
            "2025-11-15T05:50:03Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-16T05:48:00Z)",
            "2025-11-15T05:53:00Z [DNP-FETCH] Using cached content for notification at 2025-11-15T05:53:00Z",
            "2025-11-15T05:53:01Z [DNP-SCHEDULER] Notification delivered (id=n15, title=x)",
        ]
        let judgement = try Self.judge(lines)
        #expect(judgement.verdict() == .coherent && judgement.cycles.first?.cut.contains(.beginning) == true)
        let late = lines.map { $0.replacing("2025-11-15T05:50", with: "2025-11-15T05:20") }
        #expect(try Self.judge(late).verdict() == .incoherent)
    }

    @Test("a log that begins with a launch without schedules, or with a task of its own, hides no fetch")
    func notCutBehindTheFetch() throws {
        let delivery = [
            "2025-11-15T05:53:00Z [DNP-FETCH] Using cached content for notification at 2025-11-15T05:53:00Z",
            "2025-11-15T05:53:01Z [DNP-SCHEDULER] Notification delivered (id=n15, title=x)",
        ]
        func broken(_ first: String) throws -> [ViolationKind] {
            try Self.judge([first] + delivery).cycles.flatMap(\.closed.violations).map(\.kind)
        }
        let launch = "2025-11-15T05:50:00Z [DNP-PLUGIN] Startup complete (hasPendingSchedules=false)"
        #expect(try broken(launch) == [.usedWithoutSuccess])
        #expect(try broken(launch.replacing("false", with: "true")) == [])
        let other = "2025-11-15T05:30:00Z [DNP-FETCH] Prefetch scheduled (notificationTime=2025-11-15T05:52:00Z)"
        #expect(try broken(other).contains(.usedWithoutSuccess))
        #expect(try !broken(other.replacing("T05:52", with: "T15:52")).contains(.usedWithoutSuccess))
    }

    @Test("a log that begins within a task, at a call or at the scheduling of the next one, hides what came before")
    func cutWithinTask() throws {
        let call = "2025-11-15T05:50:02Z [DNP-FETCH] API call: GET /api/notifications (JWT present)"
        let next = [
            "2025-11-15T05:50:02Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-16T05:53:00Z",
            "2025-11-15T05:50:02Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-16T05:48:00Z)",
        ]
        let rest = [
            "2025-11-15T05:50:03Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400, scheduled_for=2025-11-15T05:53:00Z)",
            "2025-11-15T05:50:03Z [DNP-FETCH] Task completed (success=true)",
            "2025-11-15T05:53:02Z [DNP-FETCH] Using cached content for notification at 2025-11-15T05:53:00Z",
            "2025-11-15T05:53:02Z [DNP-SCHEDULER] Notification delivered (id=n15, title=x)",
        ]
        for first in [[call], next] {
            let judgement = try Self.judge(first + rest)
            #expect(judgement.verdict(strict: true) == .coherent, "\(judgement.text())")
        }
        let started = try #require(Self.whole.firstIndex { $0.contains("Starting fetch") })
        let bare = (Self.whole[...started] + [call]).map { String($0.drop { $0 != "[" }) }
        #expect(try Self.judge(bare).cycles.first?.cut.names == ["end"])
    }

    @Test(
        "a log that begins at the submission of the next task hides the fetch before it, with or without its delivery's time"
    )
    func cutAtTheSubmission() throws {
        let submission =
            "2025-11-15T05:50:02Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-16T05:48:00Z)"
        let planned = "2025-11-15T05:50:02Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-16T05:53:00Z"
        let rest = [
            "2025-11-15T05:50:03Z [DNP-FETCH] Task completed (success=true)",
            "2025-11-15T05:53:02Z [DNP-FETCH] Using cached content for notification at 2025-11-15T05:53:00Z",
            "2025-11-15T05:53:02Z [DNP-SCHEDULER] Notification delivered (id=n15, title=x)",
        ]
        let untimed = rest.map { $0.replacing(" at 2025-11-15T05:53:00Z", with: "") }
        for log in [[submission] + rest, [planned, submission] + rest, [planned, submission] + untimed] {
            let judgement = try Self.judge(log)
            #expect(judgement.verdict() == .coherent, "\(judgement.text())")
        }
    }

    @Test("a result at the head of a log hides no contradiction of the run behind it")
    func contradictionBehindTheHead() throws {
        let log = [
            "2025-11-15T05:49:00Z [DNP-FETCH] Task completed (success=true)",
            "2025-11-15T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
            "2025-11-15T05:50:01Z [DNP-FETCH] Starting fetch (notificationTime=2025-11-15T05:53:00Z)",
            "2025-11-15T05:50:03Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)",
            "2025-11-15T05:50:04Z [DNP-FETCH] Fetch failed (error=NetworkError, willRetry=false)",
        ]
        func broken(_ lines: [String]) throws -> [ViolationKind] {
            try Self.judge(lines).cycles.flatMap(\.closed.violations).map(\.kind)
        }
        #expect(try broken(log) == [.duplicateTerminal])
        #expect(try broken(Array(log[..<4])) == [])
        // A run that begins ten minutes behind the head is whole.
        let before = [log[1], log[2], log[3], "2025-11-15T05:50:05Z [DNP-FETCH] Task completed (success=true)"].map {
            $0.replacing("T05:5", with: "T05:3")
        }
        let late = [log[2], log[3], log[1].replacing("05:50:00Z", with: "05:50:09Z")]
        #expect(try broken(before + late).contains(.outOfOrder))
    }

    @Test("a log that shows a schedule from its first line on, and no submission, hides none")
    func missingSubmission() throws {
        let lines = JudgedLog.lines(Story.scheduling() + Story.prefetch(540) + Story.shown())
        let without = lines.filter { !$0.contains("BGAppRefreshTask scheduled") }
        try #require(without.count < lines.count)
        for first in 0..<(try #require(without.firstIndex { $0.contains("handler invoked") })) {
            let judgement = try Self.judge(Array(without[first...]))
            let broken = judgement.cycles.flatMap(\.closed.violations).map(\.kind)
            #expect(broken == [.executedWithoutScheduled], "from \(without[first])")
        }
    }

    @Test("what a log never shows is missing, however soon it ends")
    func endsSoon() throws {
        func broken(_ log: [String]) throws -> [ViolationKind] {
            try Self.judge(log).cycles.flatMap(\.closed.violations).map(\.kind)
        }
        let log = [
            "2025-11-15T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z",
            "2025-11-15T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)",
            "2025-11-15T05:41:00Z [DNP-STORAGE] Persisted schedule to DB (id=n1, type=DAILY, time=2025-11-15T05:53:00Z)",
            "2025-11-15T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
            "2025-11-15T05:50:01Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)",
            "2025-11-15T05:50:01Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-16T05:53:00Z",
            "2025-11-15T05:50:01Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-16T05:48:00Z)",
        ]
        #expect(try broken(log) == [.scheduledNotPersisted])
        #expect(try broken(Array(log[..<4])) == [.taskNotCompleted])
        #expect(try broken(Array(log[..<5])) == [])
        #expect(try broken(Array(log[..<3])) == [])
    }

    @Test("a run or a delivery without a name is of no cycle that lies a day away")
    func cyclesADayAway() throws {
        let fired = "BGTask handler invoked (id=com.timesafari.dailynotification.fetch)"
        let success = "Fetch success (status=200, bytes=1234, ttl=86400)"
        for log in [
            // What was not delivered yesterday is not delivered by today's lines.
            [
                "11T20:00:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-12T06:00:00Z",
                "11T20:00:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-12T05:55:00Z)",
                "12T05:58:13Z [DNP-FETCH] \(fired)",
                "12T05:58:16Z [DNP-FETCH] Fetch failed (error=NetworkError, willRetry=false)",
                "12T05:58:17Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-13T06:00:00Z",
                "12T05:58:17Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-13T05:55:00Z)",
                "12T06:00:05Z [DNP-FETCH] No cached content available, falling back to on-demand fetch",
                "13T05:57:10Z [DNP-FETCH] \(fired)",
                "13T05:57:13Z [DNP-FETCH] \(success)",
                "13T06:00:13Z [DNP-FETCH] Found cached content (age=180s, source=prefetch)",
            ],
            // A run that a line names before its delivery tells the time.
            [
                "12T06:00:26Z [DNP-SCHEDULER] Using cached content for notification at 2025-11-12T06:00:00Z",
                "12T06:00:26Z [DNP-SCHEDULER] Notification delivered (id=n1, title=Y)",
                "13T05:58:19Z [DNP-FETCH] \(fired)",
                "13T05:58:22Z [DNP-FETCH] \(success)",
                "13T05:58:22Z [DNP-FETCH] Cached content for scheduleId=n2",
                "13T06:00:15Z [DNP-FETCH] Using cached content for notification at 2025-11-13T06:00:00Z",
                "13T06:00:15Z [DNP-SCHEDULER] Notification delivered (id=n2, title=Y)",
            ],
            // A delivery whose planned time is unknown takes no run of the next day.
            [
                "13T06:00:26Z [DNP-SCHEDULER] Notification delivered (id=n2, title=Y)",
                "14T05:57:50Z [DNP-FETCH] \(fired)",
                "14T05:57:53Z [DNP-FETCH] \(success)",
                "14T06:00:59Z [DNP-FETCH] Using cached content for notification at 2025-11-14T06:00:00Z",
                "14T06:00:59Z [DNP-SCHEDULER] Notification delivered (id=n3, title=Y)",
            ],
        ] {
            let judgement = try Self.judge(log.map { "2025-11-\($0)" })
            #expect(judgement.verdict() == .coherent && judgement.cycles.count == 2, "\(judgement.text())")
            #expect(judgement.cycles.count { $0.closed.stages.used != nil && $0.closed.stages.success != nil } == 1)
        }
    }

    @Test("a run whose lines name an id takes no delivery of another notification of the day")
    func runOfAnotherNotification() throws {
        let log = [
            "2025-11-15T07:50:03Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)",
            "2025-11-15T07:50:03Z [DNP-FETCH] Cached content for scheduleId=morning",
            "2025-11-15T07:50:03Z [DNP-FETCH] Task completed (success=true)",
            "2025-11-15T17:53:02Z [DNP-FETCH] Using cached content for notification at 2025-11-15T17:53:00Z",
            "2025-11-15T17:53:02Z [DNP-SCHEDULER] Notification delivered (id=evening, title=x)",
        ]
        let cycles = try Self.judge(log).cycles
        #expect(cycles.count == 2)
        #expect(cycles.flatMap(\.closed.violations).map(\.kind) == [.usedWithoutSuccess])
    }

    @Test("a log that begins with a launch that knows of schedules hides the scheduling alone")
    func cutBehindTheScheduling() throws {
        let run = [
            "2025-11-15T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
            "2025-11-15T05:50:01Z [DNP-FETCH] Starting fetch (notificationTime=2025-11-15T05:53:00Z)",
            "2025-11-15T05:50:03Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)",
        ]
        let launch = "2025-11-15T05:40:00Z [DNP-PLUGIN] Startup complete (hasPendingSchedules=true)"
        let scheduling = [
            "2025-11-15T05:41:00Z [DNP-SCHEDULER] Scheduling notification for 2025-11-15T05:53:00Z",
            "2025-11-15T05:41:00Z [DNP-STORAGE] Persisted schedule to DB (id=n15, type=DAILY, time=2025-11-15T05:53:00Z)",
        ]
        func broken(_ lines: [String]) throws -> [ViolationKind] {
            try Self.judge(lines).cycles.flatMap(\.closed.violations).map(\.kind)
        }
        #expect(try broken([launch] + run) == [])
        #expect(try broken([launch] + run[2...]) == [.successWithoutExecuted])
        for head in [scheduling, [scheduling[1]]] {
            #expect(try broken(head + run) == [.executedWithoutScheduled], "\(head)")
        }
        let registered = launch.replacing(#/\[.*/#, with: "[DNP-FETCH] Registering BGTaskScheduler task (id=x)")
        #expect(try broken([registered, launch] + run) == [])
        #expect(try broken([registered] + run) == [.executedWithoutScheduled])
        let empty = launch.replacing("true", with: "false")
        #expect(try broken([registered, empty] + run) == [.executedWithoutScheduled])
        #expect(try broken([empty] + run) == [.executedWithoutScheduled])
        #expect(try broken([empty] + scheduling + run) == [.executedWithoutScheduled])
    }

    @Test(
        "a log that begins within a task, at what its handler persists of the next one or at a write, hides the fetch"
    )
    func cutBehindTheHandler() throws {
        let persisted = [
            "2025-11-15T05:50:00Z [DNP-STORAGE] Persisted schedule to DB (id=n16, type=DAILY, time=2025-11-16T05:53:00Z)",
            "2025-11-15T05:50:03Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)",
            "2025-11-15T05:53:00Z [DNP-FETCH] Using cached content for notification at 2025-11-15T05:53:00Z",
        ]
        let judged = try Self.judge(persisted)
        #expect(judged.verdict(strict: true) == .coherent && judged.cycles.count == 1, "\(judged.text())")
        let written = [
            "2025-11-15T05:57:00Z [DNP-STORAGE] Cache write failed: error=SQLITE_FULL",
            "2025-11-15T06:00:00Z [DNP-SCHEDULER] Preparing content for notification at 2025-11-15T06:00:00Z",
            "2025-11-15T06:00:00Z [DNP-SCHEDULER] Notification scheduled/delivered",
            "2025-11-16T05:56:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
            "2025-11-16T05:56:01Z [DNP-FETCH] Starting fetch (notificationTime=2025-11-16T06:00:00Z)",
            "2025-11-16T05:56:03Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)",
        ]
        #expect(try Self.judge(written).verdict(strict: true) == .coherent)
    }

    @Test("a result at the head of a log is of the notification that follows, and not of the next day's run")
    func resultAtTheHead() throws {
        let head = "2025-11-15T05:56:03Z [DNP-FETCH] Task completed (success=false, reason=AUTH)"
        let delivery = [
            "2025-11-15T06:00:00Z [DNP-SCHEDULER] Preparing content for notification at 2025-11-15T06:00:00Z",
            "2025-11-15T06:00:00Z [DNP-SCHEDULER] Notification scheduled/delivered",
        ]
        let next = [
            "2025-11-16T05:56:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
            "2025-11-16T05:56:01Z [DNP-FETCH] Starting fetch (notificationTime=2025-11-16T06:00:00Z)",
            "2025-11-16T05:56:03Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)",
            "2025-11-16T05:56:02Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)",
        ]
        for lines in [[head] + delivery + next, [head] + next] {
            let judged = try Self.judge(lines)
            #expect(judged.cycles.map(\.closed.failureReason) == [.auth, nil], "\(judged.text())")
            #expect(judged.verdict(strict: true) == .coherent)
        }
        let bare = ([head] + delivery + next).map { String($0.drop { $0 != "[" }) }
        #expect(try Self.judge(bare).cycles.map(\.closed.failureReason) == [.auth, nil])
    }

    @Test("a log that begins behind the first of two attempts does not hold its result against the second one")
    func cutBetweenAttempts() throws {
        let lines = [
            "2025-11-15T05:50:10Z [DNP-FETCH] Task completed (success=false, reason=NETWORK)",
            "2025-11-15T05:51:16Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
            "2025-11-15T05:51:16Z [DNP-FETCH] Starting fetch (scheduleId=d, notificationTime=2025-11-15T05:53:00Z)",
            "2025-11-15T05:51:18Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)",
        ]
        #expect(try Self.judge(lines).verdict(strict: true) == .coherent)
        #expect(try Self.judge(Array(lines.dropLast())).verdict(strict: true) == .coherent)
    }

    @Test("a log that begins within a run does not hold what came before it against a later execution")
    func cutBeforeAnotherRun() throws {
        func broken(_ lines: [String]) throws -> [ViolationKind] {
            try Self.judge(lines).cycles.flatMap(\.closed.violations).map(\.kind)
        }
        let again = [
            "2025-11-15T08:57:50Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
            "2025-11-15T08:57:51Z [DNP-FETCH] Starting fetch (notificationTime=2025-11-15T09:00:00Z)",
            "2025-11-15T08:57:53Z [DNP-FETCH] Task completed (success=false, reason=SYSTEM)",
            "2025-11-15T09:00:02Z [DNP-FETCH] Using cached content for notification at 2025-11-15T09:00:00Z",
        ]
        for head in ["Task completed (success=true)", "Cached content for scheduleId=daily-2"] {
            #expect(try broken(["2025-11-15T08:57:30Z [DNP-FETCH] \(head)"] + again) == [])
        }
        #expect(try broken(again) == [.usedWithoutSuccess], "the log begins with its execution")
        let started = [
            "2025-11-15T08:56:01Z [DNP-FETCH] Starting fetch (notificationTime=2025-11-15T09:00:00Z)",
            "2025-11-15T08:56:50Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
            "2025-11-15T08:56:53Z [DNP-FETCH] Fetch success (status=200)",
        ]
        #expect(try broken(started) == [])
        let scheduled = [
            "2025-11-15T08:40:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T09:00:00Z",
            "2025-11-15T08:40:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T08:55:00Z)",
        ]
        #expect(try broken(scheduled + started) == [.outOfOrder])
        let usedLate = [
            started[0], "2025-11-15T08:56:03Z [DNP-FETCH] Fetch success (status=200)",
            "2025-11-15T09:00:00Z [DNP-SCHEDULER] Notification delivered (id=n1)",
            "2025-11-15T09:02:00Z [DNP-FETCH] Using cached content for notification at 2025-11-15T09:00:00Z",
        ]
        #expect(try broken(usedLate) == [.outOfOrder], "both lines are in the log")
    }

    @Test("a device that travels may run a task two days after its scheduling, which a cut log does not show")
    func cutBeforeTravelling() throws {
        let lines = [
            "2025-11-14T05:50:10Z [DNP-FETCH] Task completed (success=true)",
            "2025-11-14T12:00:00Z [DNP-PLUGIN] Timezone changed, but UTC schedule unchanged",
            "2025-11-15T18:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
            "2025-11-15T18:50:01Z [DNP-FETCH] Starting fetch (notificationTime=2025-11-15T18:53:00Z)",
            "2025-11-15T18:50:03Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)",
        ]
        #expect(try Self.judge(lines).verdict() == .coherent)
        let atHome = lines.filter { !$0.contains("Timezone") }
        #expect(
            try Self.judge(atHome).cycles.flatMap(\.closed.violations).map(\.kind) == [.executedWithoutScheduled]
        )
    }

    @Test("the cut is told in text and JSON")
    func told() throws {
        let fired = try #require(Self.whole.firstIndex { $0.contains("handler invoked") })
        let judgement = try Self.judge(Array(Self.whole[fired...]))
        #expect(judgement.text().contains("the log begins inside this cycle"))
        let cycles = try #require(JudgedLog.object(judgement)["cycles"] as? [[String: Any]])
        #expect(cycles.first?["cut"] as? [String] == ["beginning"])
        #expect(try !String(decoding: Self.judge(Self.whole).json(), as: UTF8.self).contains("\"cut\""))
    }

    @Test("a log that shows the launch and then an execution that was not scheduled is accused of it")
    func notCut() throws {
        let lines = Self.whole.filter { !$0.contains("BGAppRefreshTask scheduled") }
        #expect(
            try Self.judge(lines).cycles.flatMap(\.closed.violations).map(\.kind) == [.executedWithoutScheduled]
        )
        let unfinished = JudgedLog.lines(NegativePathTests.start + Story.launch(5_000))
        #expect(try Self.judge(unfinished).cycles.flatMap(\.closed.violations).map(\.kind) == [.taskNotCompleted])
    }

    @Test("live input hands each stage on before the input ends")
    func live() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("live.log")
        try Files.write(Array((Self.whole.joined(separator: "\n") + "\n").utf8), to: path)
        var options = JudgementOptions(try LineFormat(timezone: "UTC"))
        let told = Told()
        options.observer = { told.add($0.line) }
        _ = try JudgementRun(options).judge([path])
        #expect(told.lines.map { $0.split(separator: " ")[1] }.contains("executed"))
        #expect(told.lines.last?.contains("delivered") == true)
    }

    @Test("a tar archive is named as such, packed or not")
    func tar() throws {
        let directory = try TemporaryDirectory()
        var block = [UInt8](repeating: 0, count: 1_024)
        block.replaceSubrange(0..<10, with: Array("device.log".utf8))
        block.replaceSubrange(257..<262, with: Array("ustar".utf8))
        let path = directory.file("logs.tar")
        try Files.write(block, to: path)
        #expect {
            try JudgementRun(JudgementOptions(LineFormat(timezone: "UTC"))).judge([path])
        } throws: { ($0 as? InputError)?.problem.contains("tar archive") == true }
    }
}

/// Lines that another thread tells.
private final class Told: @unchecked Sendable {
    private let lock = NSLock()
    private var told: [String] = []
    var lines: [String] { lock.withLock { told } }
    func add(_ line: String) { lock.withLock { told.append(line) } }
}

@Suite("Warped cycles in every output")
struct WarpedCycleTests {
    @Test("a cycle under a warped clock is told so in text, JSON, JUnit and the record of its run")
    func warped() throws {
        let cycle = JudgementSamples.cycle { $0.isTimeWarped = true }
        let judgement = JudgementSamples.judgement([cycle])
        #expect(judgement.text().contains(JudgedCycle.warpSentence))
        #expect(String(decoding: judgement.json(), as: UTF8.self).contains(#""timeWarped":true"#))
        #expect(judgement.junit().contains(JudgedCycle.warpSentence))
        let run = try #require(TestRun(judgement, .init()))
        #expect(run.markdown().contains(JudgedCycle.warpSentence))
        #expect(String(decoding: run.json(), as: UTF8.self).contains(#""timeWarped":true"#))
        #expect(!JudgementSamples.judgement([JudgementSamples.cycle()]).text().contains("time warp"))
    }
}
