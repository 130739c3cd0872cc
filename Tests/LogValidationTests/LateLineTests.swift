// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@testable import LogValidation

@Suite("Lines that come late or name their notification late")
struct LateLineTests {
    private static let executed = "[DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)"

    private static func broken(_ judgement: Judgement) -> [ViolationKind] {
        judgement.cycles.flatMap(\.closed.violations).map(\.kind)
    }

    @Test(
        "a run whose task was scheduled without a notification time is that of the notification that a delivery names",
        arguments: ["2025-11-15T05:53:02Z ", ""]
    )
    func namedByTheDelivery(stamp: String) throws {
        let lines = [
            "2025-11-15T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)",
            "2025-11-15T05:50:00Z \(Self.executed)",
            "2025-11-15T05:50:03Z [DNP-FETCH] Fetch success (status=200)",
            "2025-11-15T05:50:03Z [DNP-FETCH] Task completed (success=true)",
            "2025-11-15T05:53:02Z [DNP-FETCH] Using cached content for notification at 2025-11-15T05:53:00Z",
            "2025-11-15T05:53:03Z [DNP-PLUGIN] Prefetch cycle complete (id=n1, fetched=true, usedCached=true)",
        ].map { stamp.isEmpty ? String($0.drop { $0 != "[" }) : $0 }
        let judgement = try JudgedLog.judge(lines)
        #expect(judgement.cycles.map(\.scheduleId) == ["n1"])
        #expect(judgement.cycles.map(\.closed.outcome) == [.used])
        #expect(judgement.totals.success == 1 && judgement.verdict() == .coherent, "\(judgement.text())")
    }

    @Test("a line whose stamp is of the day before goes to that day's run, wherever it stands")
    func lateLines() throws {
        func day(_ day: Int, _ result: String) -> [String] {
            [
                "05:50:00Z \(Self.executed)",
                "05:50:01Z [DNP-FETCH] Starting fetch (notificationTime=2025-11-\(day)T05:53:00Z, scheduleId=n\(day))",
                "05:50:03Z [DNP-FETCH] \(result)", "05:50:04Z [DNP-FETCH] Cached content for scheduleId=n\(day)",
                "05:53:02Z [DNP-FETCH] Using cached content for notification at 2025-11-\(day)T05:53:00Z",
                "05:53:02Z [DNP-FETCH] Found cached content (age=180s, source=prefetch)",
                "05:53:02Z [DNP-SCHEDULER] Notification delivered (id=n\(day))",
            ].map { "2025-11-\(day)T" + $0 }
        }
        for result in ["Fetch success (status=200)", "Fetch failed (error=NetworkError, willRetry=false)"] {
            let lines = day(15, result) + day(16, "Fetch success (status=200)")
            let inOrder = try JudgedLog.judge(lines)
            for line in 2..<7 {
                for place in 7..<lines.count {
                    var moved = lines
                    moved.insert(moved.remove(at: line), at: place)
                    let judgement = try JudgedLog.judge(moved)
                    #expect(judgement.totals == inOrder.totals, "line \(line) at \(place)")
                    #expect(judgement.cycles.map(\.closed.outcome) == inOrder.cycles.map(\.closed.outcome))
                    #expect(Self.broken(judgement) == Self.broken(inOrder), "line \(line) at \(place)")
                }
            }
        }
    }

    @Test("the submission of an earlier day behind the scheduling of a later one is that day's")
    func lateSubmission() throws {
        let judgement = try JudgedLog.judge([
            "2025-11-15T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z",
            "2025-11-16T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-16T05:53:00Z",
            "2025-11-15T05:41:01Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)",
            "2025-11-16T05:41:01Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-16T05:48:00Z)",
        ])
        #expect(judgement.totals.scheduled == 2)
        #expect(!Self.broken(judgement).contains(.leadDiffers), "\(judgement.text())")
    }

    @Test("a run half a day behind its notification keeps its lines")
    func lateRun() throws {
        let run = [
            "\(Self.executed)", "[DNP-FETCH] Starting fetch (notificationTime=2025-11-15T", "[DNP-FETCH] Fetch success",
        ]
        let judgement = try JudgedLog.judge(
            [
                "2025-11-15T05:00:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T06:00:00Z",
                "2025-11-15T05:00:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:55:00Z)",
                "2025-11-15T05:00:01Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T18:00:00Z",
                "2025-11-15T05:00:01Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T17:55:00Z)",
            ]
                + ["17:56", "19:00"].flatMap { time in
                    let due = time == "17:56" ? "18:00" : "06:00"
                    return run.map { "2025-11-15T\(time):00Z " + ($0.hasSuffix("T") ? $0 + "\(due):00Z)" : $0) }
                }
        )
        #expect(judgement.cycles.allSatisfy { $0.closed.stages.success != nil })
        #expect(!Self.broken(judgement).contains(.taskNotCompleted), "\(judgement.text())")
    }

    @Test(
        "a use behind a line that names its notification is of that one, with stamps or without",
        arguments: ["2025-11-15T08:10:00Z ", ""]
    )
    func useBehindItsName(stamp: String) throws {
        let judgement = try JudgedLog.judge(
            [
                Self.executed, "[DNP-FETCH] Starting fetch (notificationTime=2025-11-15T08:00:00Z, scheduleId=n1)",
                "[DNP-FETCH] Fetch success (status=200)", Self.executed,
                "[DNP-FETCH] Starting fetch (notificationTime=2025-11-15T08:12:00Z, scheduleId=n2)",
                "[DNP-FETCH] Fetch success (status=200)",
                "[DNP-FETCH] Using cached content for notification at 2025-11-15T08:00:00Z",
                "[DNP-FETCH] Found cached content (age=180s, source=prefetch)",
            ].map { stamp + $0 }
        )
        #expect(judgement.totals.used == 1)
        #expect(judgement.cycles.map(\.closed.outcome) == [.used, .incomplete])
    }

    @Test("in a log without stamps a use without a name is of the run that the log tells of last")
    func useInALogWithoutStamps() throws {
        let judgement = try JudgedLog.judge([
            Self.executed, "[DNP-FETCH] Starting fetch (notificationTime=2025-11-15T05:53:00Z, scheduleId=n1)",
            "[DNP-FETCH] Task completed (success=false, reason=NETWORK)", Self.executed,
            "[DNP-FETCH] Starting fetch (notificationTime=2025-11-16T05:53:00Z, scheduleId=n2)",
            "[DNP-FETCH] Fetch success (status=200)", "[DNP-FETCH] Found cached content (age=180s, source=prefetch)",
            "[DNP-FETCH] Using cached content for notification at 2025-11-16T05:53:00Z",
        ])
        #expect(judgement.totals.used == 1)
        #expect(judgement.cycles.map(\.closed.outcome) == [.failed, .used])
    }
}
