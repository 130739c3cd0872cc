// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrefetchLifecycle
import RefreshLifecycle
import TelemetryEvents
import Testing

@testable import LogValidation

@Suite("Logs without stamps")
struct BareLogTests {
    @Test("content that is missing or of an earlier cycle is no fault where the times only order the lines")
    func oneMoment() throws {
        func scheduled(_ day: String) -> [String] {
            [
                "[DNP-FETCH] Scheduling prefetch for notification at \(day)T05:53:00Z",
                "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=\(day)T05:48:00Z)",
            ]
        }
        let shown = [
            "[DNP-FETCH] No cached content available, falling back to on-demand fetch",
            "[DNP-SCHEDULER] Notification delivered (id=a, title=x)",
        ]
        let undone = try JudgedLog.judge(scheduled("2025-11-15") + shown + scheduled("2025-11-16"))
        #expect(undone.verdict() == .coherent, "\(undone.text())")
        let failed = [
            "[DNP-FETCH] BGTask handler invoked (id=x)",
            "[DNP-FETCH] Fetch failed (error=NetworkError, httpStatus=0, willRetry=false)",
            "[DNP-FETCH] Found cached content (age=40000s, source=prefetch)",
            "[DNP-FETCH] Using cached content for notification at 2025-11-15T05:53:00Z", shown[1],
        ]
        let reused = try JudgedLog.judge(scheduled("2025-11-15") + failed)
        #expect(reused.verdict() == .coherent, "\(reused.text())")
        let own = failed.map { $0.replacing("40000s", with: "180s") }
        #expect(try JudgedLog.judge(scheduled("2025-11-15") + own).verdict() == .incoherent)
    }

    @Test("an entry of the journal is of the program that its command names, where it has no identifier")
    func journalEntryByCommand() throws {
        func page(_ field: String) throws -> String {
            let entry =
                #"{"MESSAGE":"Background refresh task started","__REALTIME_TIMESTAMP":"1763185680000000",\#(field),"_PID":"42"}"#
            return String(decoding: try JudgedLog.judge([entry]).exposition(), as: UTF8.self)
        }
        let started = #"aiq_background_refresh_runs_total{outcome="incomplete"} "#
        #expect(try page(#""_COMM":"AIQ""#).contains(started + "1"))
        #expect(try page(#""_COMM":"AIQ","SYSLOG_IDENTIFIER":"other""#).contains(started + "0"))
    }

    @Test("each begin of a task in a log without stamps is a submission of its own")
    func submissionsWithoutStamps() throws {
        let lines = [
            "[DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z",
            "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)",
            "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:49:00Z)",
            "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:49:00Z)",
        ]
        #expect(try JudgedLog.judge(lines).totals.scheduled == 2)
    }

    @Test(
        "a line behind the delivery is of the cycle that was delivered, in a log without stamps, too",
        arguments: [
            "Using cached content MD5=0123456789abcdef0123456789abcdef",
            "Found cached content (age=180s, source=prefetch)",
            "Prefetch cycle complete (fetched=true, usedCached=true)",
            "Prefetch cycle complete (id=ID, fetched=true, usedCached=true)",
        ]
    )
    func behindTheDelivery(message: String) throws {
        let bare = CutLogTests.whole.map { String($0.drop { $0 != "[" }) }
        let id = try #require(JudgedLog.judge(bare).cycles.first?.scheduleId)
        let line = "[DNP-FETCH] \(message.replacing("=ID", with: "=\(id)"))"
        let waiting = [
            "[DNP-FETCH] Scheduling prefetch for notification at 2025-11-16T05:53:00Z",
            "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-16T05:48:00Z)",
        ]
        let fetched = try #require(bare.firstIndex { $0.contains("Fetch success") })
        for log in [bare, bare[...fetched] + waiting + bare[(fetched + 1)...]] {
            let before = try JudgedLog.judge(Array(log))
            let judgement = try JudgedLog.judge(log + [line])
            #expect(
                judgement.cycles.map(\.closed.outcome) == before.cycles.map(\.closed.outcome),
                "\(judgement.text())"
            )
            #expect(judgement.totals.used == 1 && judgement.totals.success == 1)
            #expect(judgement.verdict() == .coherent, "\(judgement.text())")
        }
        let next = [
            "[DNP-FETCH] No cached content available, falling back to on-demand fetch",
            "[DNP-SCHEDULER] Notification scheduled/delivered",
        ]
        #expect(try JudgedLog.judge(bare + waiting + next).cycles.map(\.closed.outcome) == [.used, .fallback])
    }

    @Test("an event in a log without stamps gives the lines around it its time, so that both tell of one cycle")
    func eventInLogWithoutStamps() throws {
        let bare = CutLogTests.whole.map { String($0.drop { $0 != "[" }) }
        let fetched = try #require(bare.firstIndex { $0.contains("Fetch success") })
        let id = try #require(JudgedLog.judge(bare).cycles.first?.scheduleId)
        let due = try #require(JudgedLog.judge(bare).cycles.first?.closed.notificationTime)
        let event =
            #"{"event":"prefetch_success","scheduleId":"\#(id)","scheduledFor":"\#(due)","timestamp":"2025-11-15T05:50:03Z"}"#
        for place in [fetched + 1, bare.count] {
            let judgement = try JudgedLog.judge(bare[..<place] + [event] + bare[place...])
            #expect(judgement.cycles.count == 1 && judgement.verdict() == .coherent, "\(judgement.text())")
            #expect(judgement.totals.success == 1)
        }
    }

    @Test("lines before the first stamp are of the cycle that the stamps tell of, whose times are not judged")
    func headWithoutStamps() throws {
        let fired = try #require(CutLogTests.whole.firstIndex { $0.contains("handler invoked") })
        let bare = CutLogTests.whole[..<fired].map { String($0.drop { $0 != "[" }) }
        let judgement = try JudgedLog.judge(bare + CutLogTests.whole[fired...])
        #expect(judgement.cycles.count == 1 && judgement.verdict(strict: true) == .coherent, "\(judgement.text())")
        #expect(judgement.cycles.first?.closed.hasAssumedTimes == true)
    }

    /// Two days of the plugin, and runs of the other app between them.
    private static let bothApps = {
        (15...16).flatMap { day in
            CutLogTests.whole.map { $0.replacing("2025-11-15", with: "2025-11-\(day)") }
                + [
                    "2025-11-\(day)T09:00:00Z [BackgroundRefresh] Background refresh task started",
                    "2025-11-\(day)T09:00:00Z [BackgroundRefresh] Skipping refresh: No network connection",
                    "2025-11-\(day)T09:00:00Z [BackgroundRefresh] Scheduled background refresh for 4.0 hours from now",
                    "2025-11-\(day)T13:20:00Z [BackgroundRefresh] Background refresh task started",
                    "2025-11-\(day)T13:20:01Z [BackgroundRefresh] Last test was \(day) days ago. Available: false",
                    "2025-11-\(day)T13:20:11Z [BackgroundRefresh] Background refresh completed in 11.0s with success: true",
                    "2025-11-\(day)T13:20:11Z [BackgroundRefresh] Scheduled background refresh for 4.0 hours from now",
                ]
        }
    }()

    @Test("lines without a stamp among others change no count, and nothing is held against their times")
    func linesWithoutStamps() throws {
        func figures(_ judgement: Judgement) throws -> [String] {
            let counters = try JSONSerialization.data(
                withJSONObject: JudgedLog.object(judgement)["counters"] ?? [:],
                options: .sortedKeys
            )
            let cycles = judgement.cycles.map { "\($0.closed.outcome) \($0.closed.attempts)" }
            let runs = judgement.refresh.listed.map { "\($0.closed.outcome)" }
            return [String(decoding: counters, as: UTF8.self)] + cycles + runs
        }
        let whole = try JudgedLog.judge(Self.bothApps)
        try #require(whole.verdict(strict: true) == .coherent, "\(whole.text())")
        try #require(whole.cycles.count == 2 && whole.refresh.listed.count == 4)
        let places = Self.bothApps.indices.flatMap { first in
            // Alone, with one of the same place of the other day, and with all up to the next but one.
            [[first], [first, first + Self.bothApps.count / 2], Array(first...first + 2)]
        }
        for unstamped in places {
            var lines = Self.bothApps
            for place in unstamped where place < lines.count { lines[place] = String(lines[place].drop { $0 != "[" }) }
            let judgement = try JudgedLog.judge(lines)
            #expect(judgement.verdict(strict: true) == .coherent, "without \(unstamped): \(judgement.text())")
            #expect(try figures(judgement) == figures(whole), "without \(unstamped)")
        }
    }

    @Test("a line without a stamp whose time no rule compares does not keep the others from being judged")
    func lineThatNoRuleCompares() throws {
        let judgement = try JudgedLog.judge([
            "2025-11-15T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)",
            "[DNP-STORAGE] Persisted schedule to DB (id=n1, type=DAILY, time=2025-11-15T05:53:00Z)",
            "2025-11-15T05:50:09Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
            "2025-11-15T05:50:12Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=60)",
            "2025-11-15T05:57:00Z [DNP-FETCH] Using cached content for notification at 2025-11-15T05:53:00Z",
            "2025-11-15T05:57:00Z [DNP-SCHEDULER] Notification delivered (id=n1, title=x)",
        ])
        #expect(judgement.cycles.flatMap(\.closed.violations).map(\.kind) == [.staleContentUsed, .driftExceeded])
        let runs = try JudgedLog.judge([
            "2025-11-15T05:53:00Z [BackgroundRefresh] Background refresh task started",
            "[BackgroundRefresh] Last test was 100 days ago. Available: true",
            "2025-11-15T05:53:01Z [BackgroundRefresh] Sent test available notification",
            "2025-11-15T05:53:02Z [BackgroundRefresh] Background refresh completed in 2.00s with success: true",
            "2025-11-15T11:53:00Z [BackgroundRefresh] Background refresh task started",
            "[BackgroundRefresh] Last test was 100 days ago. Available: true",
            "2025-11-15T11:53:01Z [BackgroundRefresh] Sent test available notification",
            "2025-11-15T11:53:02Z [BackgroundRefresh] Background refresh completed in 2.00s with success: true",
        ])
        #expect(
            runs.refresh.listed.map { $0.closed.violations.contains { $0.kind == .notifiedAgain } } == [false, true]
        )
    }

    @Test("a warp of the clock that is told without a stamp holds from the lines before it on")
    func warpWithoutAStamp() throws {
        let judgement = try JudgedLog.judge([
            "2025-11-15T04:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z",
            "2025-11-15T04:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)",
            "[DNP-FETCH] Time warp simulated: +60 minutes",
            "2025-11-15T04:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
            "2025-11-15T04:50:03Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)",
            "2025-11-15T04:53:02Z [DNP-FETCH] Using cached content for notification at 2025-11-15T05:53:00Z",
            "2025-11-15T04:53:02Z [DNP-SCHEDULER] Notification delivered (id=n1, title=x)",
        ])
        #expect(judgement.cycles.flatMap(\.closed.violations).isEmpty)
        #expect(judgement.cycles.map(\.closed.isTimeWarped) == [true])
    }

    @Test("the same line with a stamp and without one is one event, and others behind it are told by their order")
    func toldWithAndWithoutStamp() throws {
        let handler = "[DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)"
        let head = [
            "2025-11-15T05:40:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z",
            "2025-11-15T05:40:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)",
            "2025-11-15T05:50:00Z \(handler)",
        ]
        let failed = "[DNP-FETCH] Fetch failed (error=NetworkError, httpStatus=0, willRetry=true)"
        let fetched = "2025-11-15T05:52:00Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)"
        #expect(try JudgedLog.judge(head + [handler, failed, fetched]).totals.executed == 1)
        let again = try JudgedLog.judge(head + [failed, handler, fetched])
        #expect(again.totals.executed == 2 && again.cycles.count == 1 && again.verdict() == .coherent)
    }

    @Test("lines before the first stamp are of its year, also where it names none")
    func headBeforeYearlessStamps() throws {
        let head = [
            "[DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T06:00:00Z",
            "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:55:00Z)",
        ]
        let rest = [
            "11-15 05:56:00.100  1234  1234 I DNP-FETCH: BGTask handler invoked (id=x)",
            "11-15 05:56:02.100  1234  1234 I DNP-FETCH: Fetch success (status=200, bytes=1234, ttl=86400)",
        ]
        let judgement = try JudgedLog.judge(head + rest)
        #expect(judgement.cycles.count == 1 && judgement.verdict() == .coherent, "\(judgement.text())")
        let scheduled = try #require(judgement.cycles.first?.closed.stages.scheduled)
        #expect("\(scheduled)".hasPrefix("2025-11-15T05:55:59"))
    }

    @Test("a task is judged by the order of lines: scheduled for another time while the first one waits")
    func secondTask() throws {
        func scheduled(_ day: String) -> [String] {
            [
                "[DNP-FETCH] Scheduling prefetch for notification at \(day)T05:53:00Z",
                "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=\(day)T05:48:00Z)",
            ]
        }
        let shown = [
            "[DNP-FETCH] No cached content available, falling back to on-demand fetch",
            "[DNP-SCHEDULER] Notification delivered (id=a, title=x)",
        ]
        let first = scheduled("2025-11-15")
        let second = scheduled("2025-11-17")
        #expect(try kinds(first + second + shown) == [.secondActiveTask])
        #expect(try kinds(first + shown + second) == [])
    }

    @Test("a submission behind a denial is judged by the order of lines, until a grant")
    func denied() throws {
        let denial = "[DNP-PLUGIN] notifications_denied for scheduleDailyNotification"
        let grant = "[DNP-PLUGIN] requestPermissions() → granted"
        let task = [
            "[DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z",
            "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)",
        ]
        #expect(try kinds([denial] + task) == [.scheduledWhileDenied])
        #expect(try kinds([denial, grant] + task) == [])
        #expect(try kinds(task + [denial]) == [])
        #expect(try kinds([grant, denial] + task) == [.scheduledWhileDenied])
    }

    @Test("an answer of 304 is held against the call before it")
    func notModified() throws {
        func run(_ call: String) -> [String] {
            [
                "[DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z",
                "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)",
                "[DNP-FETCH] BGTask handler invoked (id=x)",
                "[DNP-FETCH] API call: GET /api/notifications (\(call))",
                "[DNP-FETCH] Fetch success (status=304, bytes=0, ttl=86400)",
                "[DNP-FETCH] Task completed (success=true)",
            ]
        }
        #expect(try kinds(run("JWT present")) == [.notModifiedWithoutETag])
        #expect(try kinds(run("JWT present, ETag=\"abc\"")) == [])
    }

    @Test("a begin is held against the notification and the lead that the lines name, whenever they were written")
    func lead() throws {
        func task(begin: String) -> [String] {
            [
                "[DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z",
                "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T\(begin)Z)",
            ]
        }
        #expect(try kinds(task(begin: "05:48:00")) == [])
        #expect(try kinds(task(begin: "05:43:00")) == [.leadDiffers])
        let told = "[DNP-FETCH] Prefetch scheduled 10 minutes before notification"
        #expect(try kinds(task(begin: "05:43:00") + [told]) == [])
    }

    private func kinds(_ lines: [String]) throws -> [ViolationKind] {
        try JudgedLog.judge(lines).cycles.flatMap(\.closed.violations).map(\.kind)
    }
}
