// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import LogInput
@testable import LogValidation

/// How lines are read that come newest first, are cut, or whose stamps leave their order open.
extension ReadingLinesTests {
    /// Two days of a device, of which the first one schedules the second.
    private static let twoDays = [
        "2025-11-10T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-10T05:53:00Z",
        "2025-11-10T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-10T05:48:00Z)",
        "2025-11-10T05:50:00Z \(executed)",
        "2025-11-10T05:50:01Z [DNP-FETCH] Starting fetch (notificationTime=2025-11-10T05:53:00Z, scheduleId=n10)",
        "2025-11-10T05:50:02Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-11T05:53:00Z",
        "2025-11-10T05:50:02Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-11T05:48:00Z)",
        "2025-11-10T05:50:03Z [DNP-FETCH] Fetch success (status=200)",
        "2025-11-10T05:50:03Z [DNP-FETCH] Task completed (success=true)",
        "2025-11-10T05:53:02Z [DNP-FETCH] Using cached content for notification at 2025-11-10T05:53:00Z",
        "2025-11-10T05:53:02Z [DNP-SCHEDULER] Notification delivered (id=n10)",
        "2025-11-11T05:50:00Z \(executed)",
        "2025-11-11T05:50:01Z [DNP-FETCH] Starting fetch (notificationTime=2025-11-11T05:53:00Z, scheduleId=n11)",
        "2025-11-11T05:50:03Z [DNP-FETCH] Fetch success (status=200)",
        "2025-11-11T05:50:03Z [DNP-FETCH] Task completed (success=true)",
        "2025-11-11T05:53:02Z [DNP-FETCH] Using cached content for notification at 2025-11-11T05:53:00Z",
        "2025-11-11T05:53:02Z [DNP-SCHEDULER] Notification delivered (id=n11)",
    ]

    @Test("a log that comes newest first is judged like the same log, with its own line numbers")
    func newestFirst() throws {
        let straight = try judged(Self.twoDays)
        let reversed = try judged(Self.twoDays.reversed())
        #expect(straight.verdict() == .coherent)
        #expect(reversed.verdict() == .coherent)
        #expect(reversed.totals == straight.totals)
        #expect(reversed.cycles.map(\.scheduleId) == ["n10", "n11"])
        #expect(reversed.cycles.map(\.closed.stages) == straight.cycles.map(\.closed.stages))

        let broken = Self.twoDays.filter { $0 != "2025-11-11T05:50:00Z \(Self.executed)" }
        for (lines, line) in [(broken, 12), (broken.reversed(), 4)] {
            let judgement = try judged(lines)
            #expect(self.broken(judgement) == [.successWithoutExecuted])
            #expect(judgement.cycles.last?.place(ofViolation: 0)?.line == line)
        }
        // What the beginning of a log may hide is at its end then.
        let unscheduled = [
            "2025-11-10T05:40:00Z [DNP-PLUGIN] Startup complete (hasPendingSchedules=false)", Self.twoDays[2],
            Self.twoDays[3], Self.twoDays[6], Self.twoDays[7],
        ]
        for lines in [unscheduled, unscheduled.reversed()] {
            #expect(try self.broken(judged(lines)) == [.executedWithoutScheduled])
        }
    }

    @Test("a long log with other lines and events in it that comes newest first is judged like the same log")
    func longNewestFirst() throws {
        let start: Int64 = 1_614_574_800
        var lines: [String] = []
        for day in 0..<700 {
            func at(_ seconds: Int64, _ days: Int = 0) -> Timestamp {
                Timestamp(seconds: start + Int64(day + days) * 86_400 + seconds)
            }
            if day == 0 {
                lines.append("\(at(-60)) [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=\(at(0)))")
            }
            lines.append("\(at(60)) \(Self.executed)")
            lines.append("\(at(60)) [DNP-FETCH] Starting fetch (notificationTime=\(at(300)), scheduleId=n\(day))")
            lines.append("\(at(61)) [DNP-FETCH] Scheduling prefetch for notification at \(at(300, 1))")
            lines.append("\(at(61)) [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=\(at(0, 1)))")
            let result = day.isMultiple(of: 7) ? "Fetch failed: error=NetworkError, willRetry=false" : "Fetch success"
            lines.append("\(at(62)) [DNP-FETCH] \(result)")
            lines += (0..<4).map { "\(at(100)) kernel: [\(day).\($0)] something else, as long as such lines are" }
            lines.append("\(at(301)) [DNP-SCHEDULER] Notification delivered (id=n\(day))")
            if day.isMultiple(of: 50) {
                lines.append(#"{"event":"content_cached","scheduleId":"n\#(day)","timestamp":"\#(at(62))"}"#)
            }
        }
        #expect(lines.reduce(0) { $0 + $1.utf8.count } > 2 * LineChunks.capacity)
        let straight = try JudgedLog.judge(lines)
        let reversed = try JudgedLog.judge(lines.reversed())
        #expect(straight.totals.executed == 700 && straight.totals.failure(.network) == 100)
        #expect(reversed.totals == straight.totals)
        #expect(reversed.cycles.map(\.closed.stages) == straight.cycles.map(\.closed.stages))
        #expect(broken(reversed) == broken(straight))
    }

    @Test(
        "content that is missing when a notification is due is that notification's, though an earlier one's delivery was not told",
        arguments: ["2025-11-15T12:00:02Z", "2025-11-15T11:56:00Z", "2025-11-15T12:04:00Z"]
    )
    func missingContentOfTheNotificationThatIsDue(missing: String) throws {
        let judgement = try JudgedLog.judge([
            "2025-11-15T09:00:02Z [DNP-FETCH] Using cached content for notification at 2025-11-15T09:00:00Z",
            "2025-11-15T11:40:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T12:00:00Z",
            "2025-11-15T11:40:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T11:55:00Z)",
            "\(missing) [DNP-FETCH] No cached content available, falling back to on-demand fetch",
            "2025-11-15T12:04:00Z [DNP-SCHEDULER] Notification delivered (id=daily-3)",
        ])
        #expect(judgement.cycles.map(\.closed.outcome) == [.used, .fallback])
    }

    @Test("a log's line that is cut within its id names no other cycle")
    func cutWithinAnId() throws {
        for length in 0..<8 {
            let judgement = try judged(
                Self.scheduled + [
                    "11:40:00Z [DNP-STORAGE] Persisted schedule to DB (id=" + "daily-15".prefix(length),
                    "11:56:00Z \(Self.executed)",
                    "11:56:01Z [DNP-FETCH] Starting fetch (notificationTime=2025-11-15T12:00:00Z, scheduleId=daily-15)",
                    "11:56:02Z [DNP-FETCH] Fetch success (status=200)",
                    "12:00:02Z [DNP-FETCH] Using cached content for notification at 2025-11-15T12:00:00Z",
                    "12:00:02Z [DNP-SCHEDULER] Notification delivered (\(length < 4 ? "id=dai" : "title=A title, id=da")",
                ]
            )
            #expect(judgement.verdict() == .coherent)
            #expect(judgement.cycles.map(\.scheduleId) == ["daily-15"])
            #expect(judgement.cycles.first?.closed.stages.delivered != nil)
        }
    }

    @Test("a log's word of a closed set is whole where its line is cut behind it")
    func cutBehindAWord() throws {
        let judgement = try judged(
            Self.scheduled + [
                "11:56:00Z \(Self.executed)", "11:56:02Z [DNP-FETCH] Task completed (success=false, reason=NETWORK",
            ]
        )
        #expect(failures(judgement) == [.network])
        let unauthorised = try judged(
            Self.scheduled + [
                "11:56:00Z \(Self.executed)", "11:56:02Z [DNP-FETCH] Fetch failed: httpStatus=401 (Unauthorized",
            ]
        )
        #expect(failures(unauthorised) == [.auth])
    }

    @Test("a log's stamp of an hour that a clock shows twice is the second one behind lines of the first")
    func repeatedHour() throws {
        let lines = [
            "01:50:00.000 [DNP-FETCH] Scheduling prefetch for notification at 2025-11-02T06:30:00Z",
            "01:50:00.000 [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-02T06:25:00Z)",
            "01:27:00.000 \(Self.executed)",
            "01:27:03.000 [DNP-FETCH] Fetch success (status=200)",
            "01:30:02.000 [DNP-FETCH] Using cached content for notification at 2025-11-02T06:30:00Z",
            "01:30:01.000 [DNP-SCHEDULER] Notification delivered (id=n2)",
        ]
        let repeated = Array(lines[..<2] + lines)
        for (date, lines) in [("2025-11-02 ", lines), ("11-02 ", lines), ("2025-11-02 ", repeated)] {
            let stamped = lines.map { line in
                let isLogcat = date.count < 11
                return date + (isLogcat ? line.replacing(" [", with: " 42 43 I ").replacing("] ", with: ": ") : line)
            }
            let judgement = try JudgedLog.judge(stamped, timezone: "America/New_York")
            let stages = try #require(judgement.cycles.first?.closed.stages)
            #expect(stages.scheduled.map { "\($0)" } == "2025-11-02T05:50:00Z")
            #expect(stages.executed.map { "\($0)" } == "2025-11-02T06:27:00Z")
            #expect(stages.delivered.map { "\($0)" } == "2025-11-02T06:30:01Z")
            #expect(judgement.cycles.count == 1 && broken(judgement) == [])
        }
    }

    @Test("a log without stamps keeps the order of its lines in the stages of its cycle")
    func orderOfLines() throws {
        let lines = [
            "[DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T12:00:00Z",
            "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T11:55:00Z)", Self.executed,
            "[DNP-FETCH] Fetch success (status=200)",
            "[DNP-FETCH] Using cached content for notification at 2025-11-15T12:00:00Z",
            "[DNP-SCHEDULER] Notification delivered (id=a, title=x)",
        ]
        let stages = try #require(judgedAsTheyAre(lines).cycles.first).closed.stages
        let times = [stages.scheduled, stages.executed, stages.success, stages.used, stages.delivered].compactMap(
            \.self
        )
        #expect(times.count == 5 && times == times.sorted())
    }
}
