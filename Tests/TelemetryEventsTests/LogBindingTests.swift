// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("Binding log lines to cycles")
struct LogBindingTests {
    @Test("lines before the one that names the schedule bind to its cycle")
    func lineBindsToLaterScheduleId() throws {
        let reading = try LogReading(
            """
            [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z
            [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)
            [DNP-STORAGE] Persisted schedule to DB (id=a, type=DAILY, time=2025-11-15T05:53:00Z)
            [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
            [DNP-FETCH] Starting fetch (notificationTime=2025-11-15T05:53:00Z, scheduleId=a)
            [DNP-FETCH] Fetch success: status=200, items=1, ttl=86400
            """
        )
        let cycle = "a 2025-11-15T05:53:00Z"
        #expect(
            Set(reading.bound) == [
                "prefetch_scheduled \(cycle)", "prefetch_executed \(cycle)", "prefetch_started \(cycle)",
                "prefetch_success \(cycle)",
            ]
        )
        #expect(reading.bound.count == 4)
    }

    @Test("a line of a delivery or a summary that names the schedule first names the cycle that is open")
    func lateIdNamesTheOpenCycle() throws {
        let lines = """
            2025-11-15T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z
            2025-11-15T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
            2025-11-15T05:50:02Z [DNP-FETCH] Fetch success: status=200, items=1, ttl=86400

            """
        for last in [
            "2025-11-15T05:50:03Z [DNP-PLUGIN] Prefetch cycle complete (id=a, fetched=true, usedCached=false)",
            "2025-11-15T05:53:01Z [DNP-SCHEDULER] Notification delivered (id=a, title=x)",
        ] {
            let bound = try LogReading(lines + last).bound
            #expect(bound.count == 3 && bound.allSatisfy { $0.hasSuffix(" a 2025-11-15T05:53:00Z") }, "\(bound)")
        }
        let later = try LogReading(
            lines + "2025-11-17T05:53:01Z [DNP-SCHEDULER] Notification delivered (id=b, title=x)"
        )
        #expect(later.bound.contains { $0.hasPrefix("notification_delivered b") && !$0.contains("2025-11-15") })
    }

    @Test("a task whose lead is capped before it is scheduled is of the next cycle, also behind a delivery")
    func nextCycleBeginsWithItsTask() throws {
        let lines = """
            2025-11-15T05:47:30Z [DNP-FETCH] Prefetch lead too small, capping at minimum (60s)
            2025-11-15T05:47:30Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:30Z)
            2025-11-15T05:47:30Z [DNP-SCHEDULER] Scheduling notification for 2025-11-15T05:53:00Z
            2025-11-15T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
            2025-11-15T05:53:01Z [DNP-SCHEDULER] Notification delivered (id=a, title=x)
            2025-11-15T06:47:30Z [DNP-FETCH] Prefetch lead too small, capping at minimum (60s)
            2025-11-15T06:47:30Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T06:48:30Z)
            2025-11-15T06:47:30Z [DNP-SCHEDULER] Scheduling notification for 2025-11-15T06:53:00Z
            """
        let bound = try LogReading(lines).bound
        for due in ["05:53:00Z", "06:53:00Z"] {
            for kind in ["lead_capped", "prefetch_scheduled"] {
                #expect(bound.contains { $0.hasPrefix(kind) && $0.hasSuffix("T\(due)") }, "\(kind) \(due): \(bound)")
            }
        }
    }

    @Test("a schedule that keeps its id is a new cycle each day")
    func dailyScheduleIsANewCycle() throws {
        func day(_ day: Int) -> String {
            """
            2025-11-\(day)T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-\(day)T05:53:00Z
            2025-11-\(day)T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-\(day)T05:48:00Z)
            2025-11-\(day)T05:41:00Z [DNP-STORAGE] Persisted schedule to DB (id=daily, type=DAILY, time=2025-11-\(day)T05:53:00Z)
            2025-11-\(day)T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
            2025-11-\(day)T05:50:01Z [DNP-FETCH] Fetch success: status=200, items=1, ttl=86400
            2025-11-\(day)T05:53:00Z [DNP-FETCH] Using cached content MD5: abcd
            2025-11-\(day)T05:53:01Z [DNP-SCHEDULER] Notification delivered (id=daily, title=x)

            """
        }
        let reading = try LogReading(day(14) + day(15) + day(16))
        for day in 14...16 {
            #expect(reading.bound.count { $0.hasSuffix("daily 2025-11-\(day)T05:53:00Z") } == 5, "day \(day)")
        }
        #expect(reading.bound.count == 15)
    }

    @Test("the next day's task, scheduled during an attempt, does not take over the attempt's lines")
    func nextDaysTaskDuringAnAttempt() throws {
        let reading = try LogReading(
            """
            2025-11-14T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-14T05:53:00Z
            2025-11-14T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-14T05:48:00Z)
            2025-11-14T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
            2025-11-14T05:50:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z
            2025-11-14T05:50:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)
            2025-11-14T05:50:01Z [DNP-FETCH] Starting fetch from https://x.test (notificationTime=2025-11-14T05:53:00Z, jwtPresent=true)
            2025-11-14T05:50:02Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)
            2025-11-14T05:50:02Z [DNP-FETCH] Task completed (success=true)
            2025-11-14T05:53:00Z [DNP-FETCH] Found cached content (age=180s, source=prefetch)
            2025-11-14T05:53:00Z [DNP-SCHEDULER] Notification scheduled/delivered
            2025-11-15T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
            2025-11-15T05:50:02Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)
            """
        )
        let first = "- 2025-11-14T05:53:00Z"
        let second = "- 2025-11-15T05:53:00Z"
        #expect(
            Set(reading.bound) == [
                "prefetch_scheduled \(first)", "prefetch_executed \(first)", "prefetch_started \(first)",
                "prefetch_success \(first)", "prefetch_completed \(first)", "prefetch_used_for_notification \(first)",
                "notification_delivered \(first)", "prefetch_scheduled \(second)", "prefetch_executed \(second)",
                "prefetch_success \(second)",
            ]
        )
        #expect(reading.bound.count == 10)
    }

    @Test("an execution waits for the line that names its cycle")
    func executionWaitsForItsCycle() throws {
        let reading = try LogReading(
            """
            [DNP-FETCH] Scheduling prefetch for notification at 2025-11-14T05:53:00Z
            [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-14T05:48:00Z)
            [DNP-STORAGE] Persisted schedule to DB (id=a, type=DAILY, time=2025-11-14T05:53:00Z)
            [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z
            [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)
            [DNP-STORAGE] Persisted schedule to DB (id=b, type=DAILY, time=2025-11-15T05:53:00Z)
            [DNP-FETCH] BGTask handler invoked (task.identifier=com.timesafari.dailynotification.fetch)
            [DNP-FETCH] Resolved next notification needing content (time=2025-11-15T05:53:00Z, scheduleId=b)
            """
        )
        #expect(reading.bound.contains("prefetch_executed b 2025-11-15T05:53:00Z"))
    }

    @Test("two processes with the same notification time are two cycles")
    func interleavedProcessesAreTwoCycles() throws {
        let lines = [
            "Scheduling prefetch for notification at 2025-11-15T05:53:00Z",
            "BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)",
            "Persisted schedule to DB (id=%, type=DAILY, time=2025-11-15T05:53:00Z)",
            "BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
            "Fetch success (status=200, bytes=1234, ttl=86400)",
            "Task completed (success=true)",
            "Preparing content for notification at 2025-11-15T05:53:00Z",
            "Found cached content (age=180s, source=prefetch)",
            "Notification delivered (id=%, title=x)",
        ]
        var log = ""
        for line in lines {
            for (process, id) in [(100, "a"), (200, "b")] {
                log += "2025-11-15T05:41:00+0000 phone app[\(process)]: [DNP-FETCH] \(line.replacing("%", with: id))\n"
            }
        }
        let reading = try LogReading(log)
        #expect(reading.bound.count == 12)
        for id in ["a", "b"] {
            #expect(Set(reading.bound.filter { $0.contains(" \(id) ") }).count == 6, "\(id)")
        }
    }

    @Test("an app relaunched for its task continues its cycle")
    func relaunchContinuesTheCycle() throws {
        let reading = try LogReading(
            """
            2025-11-15T05:41:00+0000 phone app[100]: [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z
            2025-11-15T05:41:00+0000 phone app[100]: [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)
            2025-11-15T05:41:00+0000 phone app[100]: [DNP-STORAGE] Persisted schedule to DB (id=a, type=DAILY, time=2025-11-15T05:53:00Z)
            2025-11-15T05:50:00+0000 phone app[200]: [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
            2025-11-15T05:50:00+0000 phone app[200]: [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)
            2025-11-15T05:53:00+0000 phone app[300]: [DNP-FETCH] Found cached content (age=180s, source=prefetch)
            2025-11-15T05:53:00+0000 phone app[300]: [DNP-SCHEDULER] Notification scheduled/delivered
            """
        )
        #expect(reading.bound.count == 5)
        #expect(reading.bound.allSatisfy { $0.hasSuffix(" a 2025-11-15T05:53:00Z") })
    }

    @Test("a test harness log without schedule and time is one cycle per attempt")
    func harnessLogIsOneCyclePerAttempt() throws {
        let reading = try LogReading(
            """
            2025-11-15T05:41:00Z [DNP-FETCH] Registered BGTaskScheduler with id=com.timesafari.dailynotification.fetch
            2025-11-15T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=Optional(2025-11-15 05:46:00 +0000))
            2025-11-15T05:47:00Z [DNP-FETCH] BGTask handler invoked (task.identifier=com.timesafari.dailynotification.fetch)
            2025-11-15T05:47:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=Optional(2025-11-16 05:46:00 +0000))
            2025-11-15T05:47:00Z [DNP-FETCH] PrefetchOperation: starting fake fetch...
            2025-11-15T05:47:02Z [DNP-FETCH] PrefetchOperation: finished fake fetch.
            2025-11-15T05:47:02Z [DNP-FETCH] Task completionBlock (success=true)
            """
        )
        #expect(reading.rejections.isEmpty)
        let cycles = Dictionary(grouping: reading.events.compactMap { LogReading.value(of: "scheduleId", in: $0) }) {
            $0
        }
        #expect(cycles.mapValues(\.count).values.sorted() == [1, 4])
    }

    @Test("a task rescheduled after its missed window belongs to its cycle")
    func rescheduledTaskKeepsItsCycle() throws {
        let reading = try LogReading(
            """
            2025-11-15T05:41:00Z [DNP-FETCH] Prefetch scheduled 5 minutes before notification (notificationTime=2025-11-15T05:53:00Z)
            2025-11-15T06:11:00Z [DNP-FETCH] BGTask missed window; rescheduling
            2025-11-15T06:11:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T06:12:00Z)
            """
        )
        #expect(reading.bound.allSatisfy { $0.hasSuffix(" - 2025-11-15T05:53:00Z") })
        #expect(reading.bound.count == 3)
    }

    @Test("a delivery under the id of an earlier day is of the notification that is being delivered")
    func deliveryOfTheNextDay() throws {
        func day(_ day: Int) -> String {
            """
            2025-11-\(day)T04:00:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-\(day)T05:53:00Z
            2025-11-\(day)T04:00:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-\(day)T05:48:00Z)
            2025-11-\(day)T05:53:02Z [DNP-SCHEDULER] Preparing content for notification at 2025-11-\(day)T05:53:00Z
            2025-11-\(day)T05:53:02Z [DNP-SCHEDULER] Notification delivered (id=daily, title=x)

            """
        }
        let bound = try LogReading(day(15) + day(16)).bound
        #expect(bound.contains("notification_delivered daily 2025-11-16T05:53:00Z"))
    }

    @Test("a result that names a time which nothing was scheduled for is of the execution of its stream")
    func resultWithAnotherTime() throws {
        let scheduling = """
            2025-11-15T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z
            2025-11-15T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)
            """
        let fetch = """

            2025-11-15T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=x)
            2025-11-15T05:50:01Z [DNP-FETCH] Starting fetch (notificationTime=2025-11-15T05:53:00Z, scheduleId=n1)
            2025-11-15T05:50:03Z [DNP-FETCH] Fetch success (status=200, scheduled_for=2025-11-15T05:58:00Z)
            """
        #expect(try LogReading(scheduling + fetch).bound.last == "prefetch_success n1 2025-11-15T05:58:00Z")
        let other = """

            2025-11-15T05:42:00Z [DNP-STORAGE] Persisted schedule to DB (id=n2, type=DAILY, time=2025-11-15T05:58:00Z)
            2025-11-15T05:42:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:53:00Z, id=n2)
            """
        #expect(try LogReading(scheduling + other + fetch).bound.last == "prefetch_success n2 2025-11-15T05:58:00Z")
    }

    @Test("of the lines of one failure the first that names a reason tells it, at one stamp and without any")
    func reasonOfOneFailure() throws {
        let start = "2025-11-15T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=x, scheduleId=n1)\n"
        let failure = "2025-11-15T05:50:03Z [DNP-FETCH] Fetch failed (error=NetworkError, willRetry=false)\n"
        let token = "2025-11-15T05:50:03Z [DNP-FETCH] JWT expired, authentication failed\n"
        func reasons(_ text: String) throws -> [String] {
            try LogReading(text).events.filter { $0.contains("prefetch_failure") }
                .map { event in ["NETWORK", "AUTH"].first { event.contains($0) } ?? "none" }
        }
        #expect(try reasons(start + failure + token) == ["NETWORK", "none"])
        #expect(try reasons(start + token + failure) == ["AUTH", "none"])
        let again = start.replacing("05:50:00", with: "05:51:00") + token.replacing("05:50:03", with: "05:51:03")
        #expect(try reasons(start + failure + again) == ["NETWORK", "AUTH"])
        let stamped = start + failure + token
        let bare = stamped.split(separator: "\n").map { $0.drop { $0 != "[" } + "\n" }.joined()
        #expect(try reasons(bare) == ["NETWORK", "none"])
    }

    @Test("a task whose line comes first binds to the cycle that its time fits")
    func taskBindsToCycleByTime() throws {
        let reading = try LogReading(
            """
            2025-11-15T05:41:00Z [DNP-STORAGE] Persisted schedule to DB (id=a, type=DAILY, time=2025-11-15T05:53:00Z)
            2025-11-15T05:41:00+0000 phone app[2]: [DNP-PLUGIN] configure() called
            2025-11-15T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)
            """
        )
        #expect(reading.bound.contains("prefetch_scheduled a 2025-11-15T05:53:00Z"))
    }

    @Test("a log read twice adds no events")
    func repeatedLogAddsNoEvents() throws {
        func day(_ day: Int) -> String {
            """
            2025-11-\(day)T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-\(day)T05:53:00Z
            2025-11-\(day)T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-\(day)T05:48:00Z)
            2025-11-\(day)T05:41:00Z [DNP-SCHEDULER] Scheduling notification for 2025-11-\(day)T05:53:00Z
            2025-11-\(day)T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
            2025-11-\(day)T05:50:01Z [DNP-FETCH] Fetch success: status=200, items=1, ttl=86400
            2025-11-\(day)T05:53:00Z [DNP-FETCH] Found cached content (age=180s, source=prefetch)
            2025-11-\(day)T05:53:01Z [DNP-SCHEDULER] Notification scheduled/delivered

            """
        }
        let once = try LogReading(day(14) + day(15))
        let twice = try LogReading(day(14) + day(15) + day(14) + day(15))
        #expect(twice.events.sorted() == once.events.sorted())
        #expect(twice.lines.recognised == 2 * once.lines.recognised)
        let lines = (day(14) + day(15)).split(separator: "\n")
        for line in lines {
            let again = try LogReading(day(14) + day(15) + line)
            #expect(again.events.sorted() == once.events.sorted(), "\(line)")
        }
    }

    @Test("lines without a device belong to the only named device")
    func lineWithoutDeviceBelongsToTheOnlyOne() throws {
        let reading = try LogReading(
            """
            2025-11-15T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z
            2025-11-15T05:41:00+0000 phone app[100]: [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)
            2025-11-15T05:41:00Z [DNP-STORAGE] Persisted schedule to DB (id=a, type=DAILY, time=2025-11-15T05:53:00Z)
            2025-11-15T05:50:00+0000 phone app[100]: [DNP-FETCH] BGTask handler invoked (id=x)
            2025-11-15T05:50:00Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)
            """
        )
        #expect(reading.bound.allSatisfy { $0.hasSuffix(" a 2025-11-15T05:53:00Z") })
        #expect(reading.bound.count == 3)
    }

    @Test("the events of a cycle have one installation, also when a later line names its device")
    func cycleKeepsItsInstallation() throws {
        let log = """
            2025-11-15T05:41:00Z [DNP-STORAGE] Persisted schedule to DB (id=a, type=DAILY, time=2025-11-15T05:53:00Z)
            2025-11-15T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)
            2025-11-15T05:50:00+0000 phone app[100]: [DNP-FETCH] BGTask handler invoked (id=x)
            2025-11-15T05:50:01+0000 phone app[100]: [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)
            """
        var decoder = logDecoder()
        var decoded = decoder.decode(Array(log.utf8).span, readAt: readingTime)
        decoded.append(decoder.flush(readAt: readingTime))
        var cursor = EventCursor()
        var installations: Set<Pseudonym?> = []
        while let event = try cursor.next(in: decoded.events.bytes.span) { installations.insert(event.installation) }
        #expect(decoded.events.count == 4 && installations.count == 1)
    }

    @Test("concurrent processes of a device are separate installations")
    func concurrentProcessesAreSeparate() throws {
        var log = ""
        for (minute, process, id) in [(0, 100, "a"), (0, 200, "b"), (1, 100, "c"), (1, 200, "d")] {
            let due = "2025-11-15T06:0\(minute):0\(process / 100)Z"
            log += "2025-11-15T05:41:0\(minute)+0000 phone app[\(process)]: [DNP-STORAGE] "
            log += "Persisted schedule to DB (id=\(id), type=DAILY, time=\(due))\n"
            log += "2025-11-15T05:41:0\(minute)+0000 phone app[\(process)]: [DNP-FETCH] "
            log += "BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)\n"
        }
        var decoder = logDecoder()
        let decoded = decoder.decode(Array(log.utf8).span, readAt: readingTime)
        var cursor = EventCursor()
        var installations: Set<Pseudonym?> = []
        while let event = try cursor.next(in: decoded.events.bytes.span) { installations.insert(event.installation) }
        #expect(decoded.events.count == 8)
        #expect(installations.count == 2)
    }

    @Test("an id with invalid UTF-8 leaves as a pseudonym, whatever its length becomes when that is replaced")
    func replacedIdentifierStaysInLimit() {
        var decoder = logDecoder()
        var log = Array("[DNP-FETCH] Cached content for scheduleId=n".utf8)
        log += [UInt8](repeating: 0xFF, count: 120)
        let events = (try? canonical(decoder.decode(log.span, readAt: readingTime))) ?? []
        #expect(events.map { LogReading.value(of: "scheduleId", in: $0)?.utf8.count } == [26])
    }
}
