// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("Lines without an id bind by their order")
struct LogOrderTests {
    private static let day = "2025-11-15"

    /// A schedule whose notification is due at 12:00 and whose task begins at 11:55.
    private static let scheduled = """
        \(day)T11:50:00Z [DNP-FETCH] Scheduling prefetch for notification at \(day)T12:00:00Z
        \(day)T11:50:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=\(day)T11:55:00Z)
        \(day)T11:50:00Z [DNP-STORAGE] Persisted schedule to DB (id=a, type=DAILY, time=\(day)T12:00:00Z)

        """
    private static let executed = """
        \(day)T11:55:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
        \(day)T11:55:01Z [DNP-FETCH] Starting fetch (scheduleId=a)
        \(day)T11:55:02Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)
        \(day)T11:55:02Z [DNP-FETCH] Task completed (success=true)

        """
    private static let delivered = """
        \(day)T12:00:00Z [DNP-FETCH] No cached content available, falling back to on-demand fetch
        \(day)T12:00:00Z [DNP-SCHEDULER] Notification delivered (id=a)

        """
    private static let next = """
        \(day)T12:01:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-16T12:00:00Z
        \(day)T12:01:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-16T11:55:00Z)
        \(day)T12:01:00Z [DNP-STORAGE] Persisted schedule to DB (id=b, type=DAILY, time=2025-11-16T12:00:00Z)

        """

    private static func handler(_ time: String) -> String {
        "\(day)T\(time)Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)\n"
    }

    private static func withoutStamps(_ log: String) -> String {
        log.split(separator: "\n").map { $0.drop { $0 != "[" } + "\n" }.joined()
    }

    /// The schedules of the events of a kind.
    private func schedules(of kind: String, in log: String) throws -> [String] {
        try LogReading(log).bound.filter { $0.hasPrefix("\(kind) ") }.map { String($0.dropFirst(kind.count + 1)) }
    }

    private let first = "a 2025-11-15T12:00:00Z"
    private let second = "b 2025-11-16T12:00:00Z"

    @Test(
        "a task that runs after its notification runs for its cycle, however often its line is printed",
        arguments: [1, 2, 3],
        [
            "",
            "2025-11-15T12:05:01Z [DNP-FETCH] Starting fetch (scheduleId=a)\n",
            "2025-11-15T12:05:02Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)\n",
        ]
    )
    func lateExecution(times: Int, then: String) throws {
        let lines = String(repeating: Self.handler("12:05:00"), count: times)
        for before in [Self.scheduled + Self.delivered, Self.scheduled + Self.delivered + Self.next] {
            let reading = try LogReading(before + lines + then)
            #expect(reading.bound.count { $0 == "prefetch_executed \(first)" } == 1)
            #expect(reading.bound.allSatisfy { $0.hasSuffix(first) || $0 == "prefetch_scheduled \(second)" })
        }
    }

    @Test("the second late run of a task is another attempt of its cycle, also where the day before was not delivered")
    func secondLateRun() throws {
        let runs =
            Self.handler("12:05:00") + "\(Self.day)T12:05:02Z [DNP-FETCH] Fetch failed: error=Timeout, willRetry=true\n"
            + Self.handler("12:07:00")
            + "\(Self.day)T12:07:02Z [DNP-FETCH] Fetch success (status=200, bytes=1, ttl=9)\n"
        let dayBefore = (Self.scheduled + Self.executed).replacing("2025-11-15", with: "2025-11-14")
            .replacing("id=a", with: "id=z").replacing("scheduleId=a", with: "scheduleId=z")
        for before in ["", dayBefore] {
            let log = before + Self.scheduled + Self.delivered + runs
            #expect(try schedules(of: "prefetch_executed", in: log).suffix(2) == [first, first], "\(before)")
            #expect(try schedules(of: "prefetch_success", in: log).last == first)
        }
    }

    @Test("a result is of the task that was to begin since the last one ended, wherever its handler's line stands")
    func resultWithoutHandler() throws {
        let whole = Self.scheduled + Self.executed + Self.delivered + Self.next
        let handler =
            "2025-11-16T11:55:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)\n"
        let results = [
            "prefetch_success": "2025-11-16T11:55:02Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)\n",
            "prefetch_failure": "2025-11-16T11:55:02Z [DNP-FETCH] Fetch failed: error=Timeout, willRetry=false\n",
        ]
        for (kind, result) in results {
            for end in [result, result + handler, handler + result] {
                #expect(try schedules(of: kind, in: whole + end).last == second, "\(end)")
                let undelivered = Self.scheduled + Self.executed + Self.next + end
                #expect(try schedules(of: kind, in: undelivered).last == second, "\(end)")
            }
            #expect(try schedules(of: "prefetch_executed", in: whole + result + handler) == [first, second])
        }
        // A line of the run that has just ended, or one before the other task's time.
        let late = "\(Self.day)T11:55:03Z [DNP-FETCH] Task completed (success=true)\n"
        #expect(
            try schedules(of: "prefetch_completed", in: Self.scheduled + Self.executed + Self.next + late).last == first
        )
        let early = "2025-11-16T05:00:00Z [DNP-FETCH] Task completed (success=true)\n"
        #expect(try schedules(of: "prefetch_completed", in: whole + early).last == first)
    }

    @Test("an execution that is told again after the delivery, and that nothing follows, opens no cycle")
    func repeatedHandlerOpensNoCycle() throws {
        let whole = Self.scheduled + Self.executed + Self.delivered
        for again in [
            Self.handler("11:55:00"), Self.handler("12:00:30"), Self.handler("11:55:00") + Self.handler("12:07:00"),
        ] {
            #expect(try Set(schedules(of: "prefetch_executed", in: whole + again)) == [first], "\(again)")
        }
        let bare = Self.withoutStamps(whole + Self.handler("11:55:00") + Self.handler("11:55:00"))
        #expect(try Set(schedules(of: "prefetch_executed", in: bare)) == [first])
    }

    @Test("an execution that is told in pieces opens no cycle either")
    func repeatedHandlerInPieces() throws {
        let log = Self.scheduled + Self.executed + Self.delivered + Self.handler("12:00:30")
        let lines = log.split(separator: "\n").map { Array("\($0)\n".utf8) }
        let reading = try LogReading(lines)
        #expect(reading.bound.allSatisfy { $0.hasSuffix(first) })
        #expect(reading.bound.count == 8)
    }

    @Test(
        "a late or repeated line of a delivery belongs to the delivered cycle and opens none",
        arguments: [
            "12:00:05Z [DNP-SCHEDULER] Preparing content for notification at 2025-11-15T12:00:00Z|"
                + "12:00:05Z [DNP-FETCH] Using cached content MD5: 0123456789abcdef0123456789abcdef",
            "18:00:00Z [DNP-SCHEDULER] Preparing content for notification at 2025-11-15T12:00:00Z|"
                + "18:00:00Z [DNP-FETCH] Found cached content (age=180s, source=prefetch)|"
                + "18:00:01Z [DNP-FETCH] Using cached content MD5: 0123456789abcdef0123456789abcdef",
            "12:01:30Z [DNP-FETCH] Found cached content (age=180s, source=prefetch)",
            "12:04:00Z [DNP-FETCH] No cached content available, falling back to on-demand fetch",
            "12:01:30Z [DNP-SCHEDULER] Notification scheduled/delivered",
        ]
    )
    func lateLinesOfADelivery(late: String) throws {
        let lines = late.split(separator: "|").map { "\(Self.day)T\($0)\n" }
        let whole = Self.scheduled + Self.executed + Self.delivered
        for before in [whole, whole + Self.next] {
            let first = self.first
            let told = try LogReading(before + lines.joined()).bound.filter { !$0.hasPrefix("prefetch_scheduled") }
            #expect(told.allSatisfy { $0.hasSuffix(first) })
            let pieces = (before + lines.joined()).split(separator: "\n").map { Array("\($0)\n".utf8) }
            #expect(try LogReading(pieces).events.sorted() == LogReading(before + lines.joined()).events.sorted())
        }
    }

    @Test("a line of a delivery minutes after it, or of a warped clock, belongs to it where no other is known")
    func lineFarFromItsTime() throws {
        let found = "[DNP-FETCH] Found cached content (age=180s, source=prefetch)\n"
        let whole = Self.scheduled + Self.executed + Self.delivered
        for time in ["12:05:00", "15:00:00", "23:59:00"] {
            let used = try schedules(of: "prefetch_used_for_notification", in: whole + "\(Self.day)T\(time)Z \(found)")
            #expect(used.allSatisfy { $0 == first } && !used.isEmpty, "\(time)")
        }
        let warped = Self.delivered.replacing("T12:00", with: "T09:00") + "\(Self.day)T09:00:00Z \(found)"
        for log in [Self.scheduled + Self.executed + warped, Self.scheduled + Self.executed + Self.next + warped] {
            let used = try schedules(of: "prefetch_used_for_notification", in: log)
            #expect(used.allSatisfy { $0 == first } && !used.isEmpty)
        }
        let nextDay = try schedules(of: "prefetch_used_for_notification", in: whole + "2025-11-16T12:00:00Z \(found)")
        #expect(nextDay.last == "unnamed-2025-11-16T12:00:00Z -")
    }

    @Test("lines of the next delivery belong to the next cycle, however soon it is due")
    func linesOfTheNextDelivery() throws {
        let soon = """
            \(Self.day)T12:00:10Z [DNP-FETCH] Scheduling prefetch for notification at \(Self.day)T12:03:00Z
            \(Self.day)T12:00:10Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=\(Self.day)T12:02:00Z)
            \(Self.day)T12:00:10Z [DNP-STORAGE] Persisted schedule to DB (id=b, type=DAILY, time=\(Self.day)T12:03:00Z)
            \(Self.day)T12:03:00Z [DNP-FETCH] Found cached content (age=180s, source=prefetch)

            """
        let used = try schedules(
            of: "prefetch_used_for_notification",
            in: Self.scheduled + Self.executed + Self.delivered + soon
        )
        #expect(used == ["b \(Self.day)T12:03:00Z"])
        let again = "\(Self.day)T12:00:20Z [DNP-FETCH] Using cached content for notification at \(Self.day)T12:00:00Z\n"
        let nextDay = "2025-11-16T12:00:00Z [DNP-FETCH] Found cached content (age=180s, source=prefetch)\n"
        let handler =
            "2025-11-16T11:55:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)\n"
        let log = Self.scheduled + Self.executed + Self.delivered + Self.next + again + handler + nextDay
        #expect(try schedules(of: "prefetch_used_for_notification", in: log) == [first, second])
    }

    @Test(
        "a cycle gets no id from a time that no event may have",
        arguments: ["0001-01-01T00:00:00Z", "2019-12-31T23:59:59Z", "9999-12-31T23:59:59Z"]
    )
    func impossibleTimesNameNoCycle(time: String) throws {
        let log = """
            \(time) [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
            2025-11-14T05:50:01Z [DNP-FETCH] Starting fetch from https://api.example.org/notifications
            2025-11-14T05:50:03Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)

            """
        let reading = try LogReading(log)
        #expect(reading.rejections.map(\.index) == [0])
        #expect(
            reading.bound == [
                "prefetch_started unnamed-2025-11-14T05:50:01Z -", "prefetch_success unnamed-2025-11-14T05:50:01Z -",
            ]
        )
    }

    @Test("an execution the day after, of which nothing else is told, is not one of the day before")
    func executionTheDayAfter() throws {
        let log = Self.scheduled + Self.executed + Self.delivered
        let later = Self.handler("11:55:00").replacing("2025-11-15", with: "2025-11-16")
        let executed = try schedules(of: "prefetch_executed", in: log + later)
        #expect(executed == [first, "unnamed-2025-11-16T11:55:00Z -"])
    }

    @Test("an execution with a result that no line names is a cycle of its own")
    func executionWithAResult() throws {
        let log = Self.scheduled + Self.executed + Self.delivered
        let later =
            (Self.handler("18:00:00") + "2025-11-15T18:00:02Z [DNP-FETCH] Fetch success (status=200, bytes=1, ttl=60)\n")
        let executed = try schedules(of: "prefetch_executed", in: log + later)
        #expect(executed == [first, "unnamed-2025-11-15T18:00:00Z -"])
    }

    @Test(
        "a task that begins after its notification is that of the schedule that was just told",
        arguments: ["12:03:00", "18:00:00", "23:59:00"]
    )
    func beginAfterNotification(begin: String) throws {
        let named = "\(Self.day)T11:50:00Z [DNP-STORAGE] Persisted schedule to DB (id=a, time=\(Self.day)T12:00:00Z)\n"
        let due = "\(Self.day)T11:50:00Z [DNP-FETCH] Scheduling prefetch for notification at \(Self.day)T12:00:00Z\n"
        let task =
            "\(Self.day)T11:50:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=\(Self.day)T\(begin)Z)\n"
        #expect(try LogReading(named + task).bound == ["prefetch_scheduled \(first)"])
        #expect(try LogReading(due + task).bound == ["prefetch_scheduled - 2025-11-15T12:00:00Z"])
        #expect(try LogReading(Self.withoutStamps(named + task)).bound == ["prefetch_scheduled \(first)"])
    }

    @Test("a task that is submitted anew after its notification is that of its schedule, the next day's is not")
    func submittedAnew() throws {
        func task(_ begin: String) -> String {
            "\(Self.day)T12:09:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=\(begin))\n"
        }
        for before in [Self.scheduled, Self.scheduled + Self.delivered] {
            let anew = try schedules(of: "prefetch_scheduled", in: before + task("2025-11-15T12:12:00Z"))
            #expect(anew == [first, first])
            let nextDay = try schedules(of: "prefetch_scheduled", in: before + task("2025-11-16T11:55:00Z"))
            #expect(nextDay.count == 2 && nextDay.last?.hasPrefix("unnamed-") == true)
        }
        let told = Self.scheduled + Self.delivered + Self.next + task("2025-11-16T11:55:00Z")
        #expect(try schedules(of: "prefetch_scheduled", in: told) == [first, second, second])
    }

    @Test("a late line of a missed window tells of the cycle whose window it was, not of the one scheduled last")
    func missedWindow() throws {
        let missed = "\(Self.day)T12:20:00Z [DNP-FETCH] BGTask missed window; rescheduling\n"
        let again =
            "\(Self.day)T12:20:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=\(Self.day)T12:21:00Z)\n"
        for delivered in ["", Self.delivered] {
            let log = Self.scheduled + delivered + Self.next + missed
            #expect(try schedules(of: "prefetch_missed", in: log) == [first])
            #expect(try schedules(of: "prefetch_missed", in: Self.withoutStamps(log)) == [first])
            #expect(try schedules(of: "prefetch_scheduled", in: log + again) == [first, second, first])
        }
        let ran = Self.scheduled + Self.executed + Self.next
        #expect(try schedules(of: "prefetch_missed", in: ran + missed) == [first])
        let nextDay = missed.replacing("2025-11-15T12:20", with: "2025-11-16T12:20")
        #expect(try schedules(of: "prefetch_missed", in: ran + nextDay) == [second])
        #expect(
            try schedules(of: "prefetch_missed", in: Self.scheduled + Self.next + missed + nextDay) == [first, second]
        )
    }

    @Test("a delivery that names a daily id belongs to the nearest pass, also where the day before was not delivered")
    func deliveryOfADailyId() throws {
        let whole = Self.scheduled + Self.executed
        let prepared = """
            \(Self.day)T12:00:00Z [DNP-SCHEDULER] Preparing content for notification at \(Self.day)T12:00:00Z
            \(Self.day)T12:00:00Z [DNP-FETCH] Using cached content MD5: 0123456789abcdef0123456789abcdef

            """
        let next = Self.next.replacing("id=b", with: "id=a")
        let delivered = "2025-11-16T12:00:05Z [DNP-SCHEDULER] Notification delivered (id=a)\n"
        let summed = "2025-11-16T12:00:06Z [DNP-FETCH] Prefetch cycle complete (id=a, fetched=true, usedCached=true)\n"
        for before in [whole, whole + prepared] {
            let told = try Array(LogReading(before + next + delivered + summed).bound.suffix(2))
            #expect(
                told == ["notification_delivered", "prefetch_cycle_complete"].map { "\($0) a 2025-11-16T12:00:00Z" }
            )
        }
        let late = "\(Self.day)T12:03:00Z [DNP-SCHEDULER] Notification delivered (id=a)\n"
        let told = try LogReading(whole + prepared + next + late).bound.last
        #expect(told == "notification_delivered \(first)")
    }
}
