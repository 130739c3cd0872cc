// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@testable import LogValidation

@Suite("Files of events")
struct EventFileTests {
    @Test("more pending notifications than the limit are told of the latest cycle, and where there is none beside them")
    func breachWithoutCycle() throws {
        let window =
            #"{"event":"rolling_window","timestamp":"2025-11-15T05:54:00Z","installationId":"p1","pending":65}"#
        let cycle =
            #"{"event":"notification_delivered","timestamp":"2025-11-15T05:53:00Z","installationId":"p1","scheduleId":"n1"}"#
        let alone = try JudgedLog.judge([window], named: "events.ndjson")
        #expect(alone.verdict() == .incoherent && alone.verdictLine() == "incoherent: 1 violation in 1 cycle")
        let details = alone.cycles.flatMap(\.closed.violations).map(\.detail)
        #expect(details == ["more notifications were pending at 2025-11-15T05:54:00Z than the limit allows"])
        let beside = try JudgedLog.judge([cycle, window], named: "events.ndjson")
        #expect(beside.cycles.map { $0.closed.violations.map(\.kind) } == [[.pendingLimitExceeded]])
        let kept = try JudgedLog.judge([window.replacing("65", with: "64")], named: "events.ndjson")
        #expect(kept.verdict() == .empty && kept.cycles.isEmpty)
    }

    @Test("--device holds for events, too: a task that the system refuses is the failure of its cycle")
    func refusedOnDevice() throws {
        let events = [
            #"{"event":"prefetch_schedule_failed","timestamp":"2025-11-15T05:41:00Z","scheduleId":"a","scheduledFor":"2025-11-15T05:53:00Z","error":"BGTaskSchedulerErrorDomain Code=1"}"#,
            #"{"event":"content_missing","timestamp":"2025-11-15T05:53:00Z","scheduleId":"a"}"#,
        ]
        let judged = try JudgedLog.judge(events, named: "events.ndjson") { $0.isSimulator = false }
        #expect(judged.cycles.first?.closed.failureReason == .system)
        #expect(try JudgedLog.judge(events, named: "events.ndjson").cycles.first?.closed.failureReason == nil)
    }

    @Test("lines and the events of one installation among them are one device, those of several are their own")
    func linesAndEvents() throws {
        let lines = JudgedLog.lines(GuideStory.scheduling() + GuideStory.prefetch(540) + GuideStory.shown())
        let cycle = try #require(JudgedLog.judge(lines).cycles.first)
        let id = try #require(cycle.scheduleId)
        func summary(_ installation: String) -> String {
            #"{"event":"prefetch_cycle_complete","scheduleId":"\#(id)","timestamp":"2025-11-15T05:54:00Z","fetched":true,"usedCached":true,"installationId":"\#(installation)"}"#
        }
        let one = try JudgedLog.judge(lines + [summary("p1")])
        #expect(one.cycles.count == 1 && one.totals.success == 1 && one.verdict() == .coherent, "\(one.text())")
        let several = try JudgedLog.judge(lines + [summary("p1"), summary("p2")])
        #expect(several.cycles.count == 3)
        let unnamed = summary("").replacing(#","installationId":"""#, with: "")
        #expect(try JudgedLog.judge(lines + [summary("p1"), unnamed]).cycles.count == 2)
    }

    @Test("events of several installations in turns are judged as those of each alone, also among lines")
    func installationsInTurns() throws {
        func events(_ installation: Int) -> [String] {
            let (minute, id) = (10 + installation, "n\(installation)")
            return [
                ("prefetch_scheduled", 0), ("prefetch_executed", 1), ("prefetch_success", 2),
                ("prefetch_used_for_notification", 3),
            ].prefix(installation % 2 == 0 ? 4 : 3).map { kind, second in
                #"{"event":"\#(kind)","timestamp":"2025-11-15T05:\#(minute):0\#(second)Z","installationId":"p\#(installation)","scheduleId":"\#(id)"}"#
            }
        }
        func stages(_ judged: Judgement) -> [String] {
            judged.cycles.map { "\($0.scheduleId ?? "") \($0.closed.outcome) \($0.closed.stages)" }.sorted()
        }
        let all = (0..<9).map(events)
        let turns = (0..<4).flatMap { place in all.compactMap { place < $0.count ? $0[place] : nil } }
        let alone = try all.flatMap { stages(try JudgedLog.judge($0, named: "events.ndjson")) }.sorted()
        #expect(alone.count == 9 && Set(alone).count == 9)
        #expect(stages(try JudgedLog.judge(turns, named: "events.ndjson")) == alone)
        let lines = JudgedLog.lines(GuideStory.scheduling() + GuideStory.prefetch(540) + GuideStory.shown())
        let mixed = try JudgedLog.judge(Array(lines.prefix(2)) + turns + lines.dropFirst(2))
        #expect(stages(mixed).filter { $0.hasPrefix("n") && Set(alone).contains($0) } == alone)
        #expect(mixed.cycles.count == 10 && mixed.totals.used == 6)
    }

    @Test("the one host that lines name is the device of the events that name none")
    func hostAndEvents() throws {
        let lines = [
            "Nov 15 05:41:00 phone App[42]: [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z",
            "Nov 15 05:41:00 phone App[42]: [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)",
            "Nov 15 05:50:00 phone App[42]: [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
        ]
        let event =
            #"{"event":"prefetch_success","scheduledFor":"2025-11-15T05:53:00Z","timestamp":"2025-11-15T05:50:02Z"}"#
        for log in [lines + [event], [event] + lines] {
            let judged = try JudgedLog.judge(log)
            #expect(judged.cycles.count == 1 && judged.totals.success == 1, "\(judged.text())")
            #expect(judged.verdict() == .coherent)
        }
        let named = event.replacing("}", with: #","installationId":"p1"}"#)
        #expect(try JudgedLog.judge(lines + [named]).cycles.count == 1)
        let ofTablet = "Nov 15 05:50:02 tablet App[42]: \(event)"
        #expect(try JudgedLog.judge(lines + [ofTablet]).cycles.count == 2)
        #expect(try JudgedLog.judge(lines + [ofTablet.replacing("tablet", with: "phone")]).cycles.count == 1)
        let other = lines[2].replacing("phone", with: "tablet")
        #expect(try JudgedLog.judge(lines + [other, event]).cycles.count > 1)
    }

    @Test("the first host of a file is its device, whatever else names one or none")
    func firstHost() throws {
        let lines = [
            "2025-11-15T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z",
            "2025-11-15T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)",
            "2025-11-15T05:41:00Z [DNP-STORAGE] Persisted schedule to DB (id=d1, type=DAILY, time=2025-11-15T05:53:00Z)",
        ]
        let heading = "Nov 15 05:50:00 phone App[42]: "
        let executed =
            #"{"event":"prefetch_executed","scheduleId":"d1","timestamp":"2025-11-15T05:50:00Z","scheduledFor":"2025-11-15T05:53:00Z"}"#
        let success = #"{"event":"prefetch_success","scheduleId":"d1","timestamp":"2025-11-15T05:50:03Z"}"#
        let blank = ""
        for log in [
            lines + [heading + executed, heading + success], lines + [heading + executed, success],
            [heading + executed, blank, success] + lines, [executed, heading + success] + lines,
            lines + lines.map { "Nov 15 05:41:00 phone App[42]: \($0.dropFirst(21))" } + [executed, success],
        ] {
            let judged = try JudgedLog.judge(log)
            #expect(judged.cycles.count == 1 && judged.totals.scheduled == 1, "\(log)\n\(judged.text())")
            #expect(judged.verdict() == .coherent && judged.totals.success == 1, "\(log)")
        }
        let tablet = heading.replacing("phone", with: "tablet")
        #expect(try JudgedLog.judge([heading + executed, tablet + success, success]).cycles.count == 2)
    }

    @Test("two processes that write at once are told apart beside an event that names no device")
    func processesBesideEvent() throws {
        func story(_ process: Int, _ second: Int, _ result: String) -> [String] {
            [
                "05:41:0\(second)|[DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z",
                "05:41:0\(second)|[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)",
                "05:41:0\(second)|[DNP-STORAGE] Persisted schedule to DB (id=n1, type=DAILY, time=2025-11-15T05:53:00Z)",
                "05:50:0\(second)|[DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
                "05:50:0\(second)|[DNP-FETCH] Starting fetch (notificationTime=2025-11-15T05:53:00Z, scheduleId=n1)",
                "05:50:0\(second)|[DNP-FETCH] \(result)",
            ].map { "Nov 15 \($0.replacing("|", with: " phone App[\(process)]: "))" }
        }
        let first = story(42, 0, "Fetch success (status=200, bytes=1234, ttl=86400)")
        let second = story(43, 5, "Fetch failed (error=NetworkError, willRetry=false)")
        let mixed = first[..<3] + second[..<3] + first[3...] + second[3...]
        let event = #"{"event":"plugin_started","timestamp":"2025-11-15T06:50:03Z"}"#
        #expect(try JudgedLog.judge(mixed + [event]).cycles.count == 2)
    }

    @Test("an event or a line that is repeated counts once, also what counts beside its cycle")
    func repeated() throws {
        let events = [
            #"{"event":"prefetch_executed","timestamp":"2025-11-15T05:50:00Z","scheduleId":"a"}"#,
            #"{"event":"prefetch_success","timestamp":"2025-11-15T05:50:02Z","scheduleId":"a","status":304,"duration_ms":1500}"#,
            #"{"event":"prefetch_used_for_notification","timestamp":"2025-11-15T05:53:02Z","scheduleId":"a","age":180}"#,
        ]
        let once = try JudgedLog.judge(events).totals
        let twice = try JudgedLog.judge(events + events).totals
        #expect(twice.notModified == 1 && once.notModified == 1)
        #expect(twice.fetchDuration == once.fetchDuration && twice.contentAge == once.contentAge)
        #expect(once.fetchDuration.counts.reduce(0, +) == 1 && once.contentAge.counts.reduce(0, +) == 1)
    }

    @Test(
        "a refused submission has its code by the domain or the name of its error",
        arguments: [
            "BGTaskSchedulerErrorDomain Code=1", "BGTaskSchedulerErrorDomain", "notPermitted",
        ]
    )
    func refusal(error: String) throws {
        let event =
            #"{"event":"prefetch_schedule_failed","timestamp":"2025-11-15T05:41:00Z","scheduleId":"a","error":"\#(error)""#
        for (more, code) in [
            ("}", "task_scheduling_failed"), (#","backgroundRefresh":false}"#, "background_refresh_disabled"),
        ] {
            let page = String(decoding: try JudgedLog.judge([event + more]).exposition(), as: UTF8.self)
            #expect(page.contains(#"dnp_plugin_errors_total{code="\#(code)"} 1"#))
        }
    }
}
