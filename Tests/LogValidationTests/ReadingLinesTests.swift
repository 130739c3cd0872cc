// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import LogInput
@testable import LogValidation

/// How the rules read where a log could be read in two ways: the notification is due at 12:00, its task may begin at 11:55.
@Suite("How the rules read device logs")
struct ReadingLinesTests {
    static let scheduled = [
        "11:40:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T12:00:00Z",
        "11:40:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T11:55:00Z)",
    ]
    static let executed = "[DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)"

    /// Judges lines whose stamps have a time on 2025-11-15, or a date of their own.
    func judged(_ lines: [String]) throws -> Judgement {
        try judgedAsTheyAre(lines.map { $0.hasPrefix("2025-") ? $0 : "2025-11-15T\($0)" })
    }

    func judgedAsTheyAre(_ lines: [String]) throws -> Judgement {
        let directory = try TemporaryDirectory()
        let text = lines.map { "\($0)\n" }.joined()
        try Files.write(Array(text.utf8), to: directory.file("device.log"))
        let judgement = try JudgementRun(JudgementOptions(LineFormat(timezone: "UTC"))).judge([
            directory.file("device.log")
        ])
        #expect(judgement.lines.unrecognised == 0 && judgement.lines.foreign == 0)
        return judgement
    }

    func broken(_ judgement: Judgement) -> [ViolationKind] {
        judgement.cycles.flatMap { $0.closed.violations.map(\.kind) }
    }

    func failures(_ judgement: Judgement) -> [FailureReason] {
        FailureReason.allCases.filter { judgement.totals.failure($0) > 0 }
    }

    @Test("a log's failure and its second line in the same second are one retry where a success follows")
    func linesOfOneSecond() throws {
        let judgement = try judged(
            Self.scheduled + [
                "11:56:00Z \(Self.executed)",
                "11:56:02Z [DNP-FETCH] Fetch failed: error=AuthError, httpStatus=401, willRetry=true",
                "11:56:02Z [DNP-FETCH] JWT expired, authentication failed",
                "11:56:04Z [DNP-FETCH] Fetch success (status=200)",
            ]
        )
        #expect(broken(judgement) == [])
        #expect(failures(judgement) == [])
        #expect(judgement.totals.retries == 1 && judgement.totals.success == 1)
    }

    @Test("a log's JWT that expired says whether there is a retry")
    func expiredTokenWithARetry() throws {
        let judgement = try judged(
            Self.scheduled + [
                "11:56:00Z \(Self.executed)", "11:56:02Z [DNP-FETCH] JWT expired (willRetry=true, status=401)",
                "11:56:04Z [DNP-FETCH] Task completed (success=true)",
            ]
        )
        #expect(failures(judgement) == [])
        #expect(judgement.totals.retries == 1 && judgement.totals.success == 1)
    }

    @Test("a log's line about the system's task belongs to the schedule that it names")
    func scheduleOfATaskLine() throws {
        let judgement = try judged([
            "05:00:00Z [DNP-FETCH] Prefetch scheduled 5 minutes before notification "
                + "(notificationTime=2025-11-15T06:00:00Z, scheduleId=n1)",
            "05:01:00Z [DNP-FETCH] Force rescheduling all tasks and notifications",
            "05:02:00Z [DNP-FETCH] Prefetch scheduled 5 minutes before notification "
                + "(notificationTime=2025-11-15T06:03:00Z, scheduleId=n2)",
            "05:59:00Z [DNP-FETCH] BGTask handler invoked (id=com.example.fetch, scheduleId=n2)",
            "05:59:02Z [DNP-FETCH] Task expired (scheduleId=n2)",
        ])
        #expect(judgement.cycles.map(\.scheduleId) == ["n1", "n2"])
        #expect(judgement.cycles.map(\.closed.failureReason) == [nil, .system])
    }

    @Test("a log's task marked complete without success behind a failure is the same failure")
    func completionBehindAFailure() throws {
        let judgement = try judged(
            Self.scheduled + [
                "11:56:00Z \(Self.executed)",
                "11:56:02Z [DNP-FETCH] Fetch failed: error=NetworkError, willRetry=true",
                "11:56:03Z [DNP-FETCH] Task marked complete (success=false) due to error",
                "11:56:09Z [DNP-FETCH] Fetch success (status=200)",
            ]
        )
        #expect(broken(judgement) == [])
        #expect(failures(judgement) == [])
        #expect(judgement.totals.retries == 1)
    }

    @Test("a log's counter and failureReason name the earlier of two reasons")
    func earlierReason() throws {
        let judgement = try judged(
            Self.scheduled + [
                "11:56:00Z \(Self.executed)",
                "11:56:30Z [DNP-FETCH] Task expired",
                "11:56:02Z [DNP-FETCH] Fetch failed: error=NetworkError, willRetry=false",
            ]
        )
        #expect(failures(judgement) == [.network])
        #expect(judgement.cycles.map(\.closed.failureReason) == [.network])
    }

    @Test("a log's line behind a failure that will be retried tells the reason for which the task then fails for good")
    func reasonBehindARetry() throws {
        for end in ["Task expired", "Fetch failed: error=SQLITE_FULL, willRetry=false"] {
            let judgement = try judged(
                Self.scheduled + [
                    "11:56:00Z \(Self.executed)",
                    "11:56:02Z [DNP-FETCH] Fetch failed: error=NetworkError, willRetry=true",
                    "11:56:03Z [DNP-FETCH] JWT expired, authentication failed", "11:56:30Z [DNP-FETCH] \(end)",
                ]
            )
            #expect(failures(judgement) == [.auth])
            #expect(judgement.cycles.map(\.closed.failureReason) == [.auth])
        }
    }

    @Test("a log's submission that is told again without its earliest begin has the lead of its first line")
    func submissionToldAgain() throws {
        let told = Self.scheduled.map { $0.replacing("11:40:00Z", with: "11:54:00Z") }
        let again = told.map { $0.replacing("11:54:00Z", with: "11:54:02Z") }
        let silent = "11:54:02Z [DNP-FETCH] BGAppRefreshTask scheduled"
        #expect(try broken(judged(told + [again[0], silent])) == [])
        #expect(try broken(judged(told + again)) == [])
    }

    @Test("a log's late lines of a delivery make no cycle of their own, which nothing had fetched for")
    func lateLinesOfADelivery() throws {
        let judgement = try judged(
            Self.scheduled + [
                "11:56:00Z \(Self.executed)", "11:56:02Z [DNP-FETCH] Fetch success (status=200)",
                "12:00:00Z [DNP-SCHEDULER] Preparing content for notification at 2025-11-15T12:00:00Z",
                "12:00:00Z [DNP-FETCH] Using cached content MD5: 0123456789abcdef0123456789abcdef",
                "12:00:01Z [DNP-SCHEDULER] Notification delivered (id=a, title=x)",
                "12:00:05Z [DNP-SCHEDULER] Preparing content for notification at 2025-11-15T12:00:00Z",
                "12:00:05Z [DNP-FETCH] Using cached content MD5: 0123456789abcdef0123456789abcdef",
            ]
        )
        #expect(judgement.cycles.count == 1)
        #expect(broken(judgement) == [])
        #expect(judgement.totals.used == 1)
    }

    @Test("a log's failure stage and failureReason are those of its first failed attempt")
    func firstFailedAttempt() throws {
        let judgement = try judged(
            Self.scheduled + [
                "11:56:00Z \(Self.executed)", "11:56:02Z [DNP-FETCH] Fetch failed: error=NetworkError, willRetry=false",
                "11:58:00Z \(Self.executed)",
                "11:58:02Z [DNP-FETCH] Fetch failed: error=AuthError, httpStatus=401, willRetry=false",
            ]
        )
        let cycle = try #require(judgement.cycles.first).closed
        #expect(cycle.failureReason == .network)
        #expect("\(cycle.stages.failure?.description ?? "")" == "2025-11-15T11:56:02Z")
        #expect(failures(judgement) == [.network, .auth])
    }

    @Test("a log's denial holds for what is scheduled until permission is granted")
    func denialUntilAGrant() throws {
        let denied = "11:00:00Z [DNP-PLUGIN] notifications_denied for scheduleDailyNotification"
        let granted = "11:30:00Z [DNP-PLUGIN] requestPermissions() → granted"
        #expect(try broken(judged([denied] + Self.scheduled)).contains(.scheduledWhileDenied))
        #expect(try !broken(judged([denied, granted] + Self.scheduled)).contains(.scheduledWhileDenied))
    }

    @Test("a log's content is held against the last ttl told before its use")
    func lastTTL() throws {
        let fetched =
            Self.scheduled + [
                "11:56:00Z \(Self.executed)", "11:56:02Z [DNP-FETCH] Fetch success (status=200, bytes=1, ttl=300)",
                "11:58:00Z \(Self.executed)", "11:58:02Z [DNP-FETCH] Fetch success (status=200, bytes=1, ttl=60)",
            ]
        let used = "12:00:00Z [DNP-FETCH] Using cached content for notification at 2025-11-15T12:00:00Z"
        #expect(try broken(judged(fetched + [used])).contains(.staleContentUsed))
        #expect(try !broken(judged(Array(fetched.prefix(4)) + [used])).contains(.staleContentUsed))
    }

    @Test("a log's failure that will be retried and a summary that content was fetched are a success and a retry")
    func summaryBehindARetry() throws {
        let named = "11:40:00Z [DNP-STORAGE] Persisted schedule to DB (id=a, type=DAILY, time=2025-11-15T12:00:00Z)"
        let judgement = try judged(
            Self.scheduled + [
                named, "11:56:00Z \(Self.executed)",
                "11:56:02Z [DNP-FETCH] Fetch failed: error=NetworkError, willRetry=true",
                "11:56:40Z [DNP-FETCH] Prefetch cycle complete (id=a, fetched=true, usedCached=false)",
            ]
        )
        #expect(broken(judgement) == [])
        #expect(failures(judgement) == [])
        #expect(judgement.totals.success == 1 && judgement.totals.retries == 1)
    }

    @Test("a log's hashes are held against the last ones before them, and one match excuses no mismatch")
    func hashes() throws {
        let (first, second) = (String(repeating: "1", count: 32), String(repeating: "2", count: 32))
        let executed = Self.executed.dropLast()
        let scheduled = [Self.scheduled[0], Self.scheduled[1].dropLast() + ", scheduleHash=\(first))"]
        let ran = ["11:56:00Z \(executed), scheduleHash=\(first))", "11:56:02Z [DNP-FETCH] Fetch success (status=200)"]
        let again = [
            "11:57:00Z \(executed), scheduleHash=\(second))", "11:57:02Z [DNP-FETCH] Fetch success (status=200)",
        ]
        #expect(try broken(judged(scheduled + ran)) == [])
        #expect(try broken(judged(scheduled + ran + again)) == [.scheduleHashMismatch])
        let cached = [
            "11:56:03Z [DNP-FETCH] Cached content MD5: \(first)", "11:56:04Z [DNP-FETCH] Cached content MD5: \(second)",
        ]
        let prepared = "12:00:00Z [DNP-SCHEDULER] Preparing content for notification at 2025-11-15T12:00:00Z"
        let used = [second, first].map { [prepared, "12:00:00Z [DNP-FETCH] Using cached content MD5: \($0)"] }
        #expect(try broken(judged(scheduled + ran + cached + used[0])) == [])
        #expect(try broken(judged(scheduled + ran + cached + used[1])) == [.contentHashMismatch])
    }

    @Test("a log's execution is held against the submission before it, which was told anew")
    func toldAnew() throws {
        let anew = "12:09:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T12:12:00Z)"
        let ran = ["12:13:00Z \(Self.executed)", "12:13:02Z [DNP-FETCH] Fetch success (status=200)"]
        let judgement = try judged(Self.scheduled + [anew] + ran)
        #expect(broken(judgement) == [.executedAfterNotification, .leadDiffers])
        #expect(judgement.totals.scheduled == 2)
        let late = try #require(judged(Self.scheduled + ran).cycles.first).closed.violations
        let missed = try #require(late.first { $0.kind == .missedWindow })
        #expect(missed.detail.hasPrefix("executed 1080 s after its earliest begin at 2025-11-15T11:55:00Z"))
    }

    @Test("a log's next task may be scheduled in the second of the execution")
    func nextTaskOfTheSameSecond() throws {
        let next = Self.scheduled.map {
            $0.replacing("11:40:00Z", with: "11:56:00Z").replacing("2025-11-15", with: "2025-11-16")
        }
        let success = "11:56:02Z [DNP-FETCH] Fetch success (status=200)"
        let launched = "2025-11-17T12:00:00Z [DNP-PLUGIN] Startup complete (hasPendingSchedules=true)"
        let told = Self.scheduled + ["11:56:00Z \(Self.executed)"]
        #expect(try !broken(judged(told + next + [success, launched])).contains(.nextNotScheduled))
        #expect(try broken(judged(told + [success, launched])).contains(.nextNotScheduled))
    }

    @Test("a log's uses that name the time, the id or both are one, and so are the passes of a daily id")
    func namesOfOneUse() throws {
        func delivered(_ day: Int, _ time: String) -> [String] {
            [
                "2025-11-\(day)T11:00:00Z [DNP-STORAGE] Persisted schedule to DB (id=daily, type=DAILY, time=2025-11-\(day)T12:00:00Z)",
                "2025-11-\(day)T\(time)Z [DNP-SCHEDULER] Preparing content for notification at 2025-11-\(day)T12:00:00Z",
                "2025-11-\(day)T\(time)Z [DNP-FETCH] Using cached content for notification at 2025-11-\(day)T12:00:00Z",
                "2025-11-\(day)T12:00:01Z [DNP-SCHEDULER] Notification delivered (id=daily, title=x)",
                "2025-11-\(day)T12:00:02Z [DNP-FETCH] Prefetch cycle complete (id=daily, fetched=true, usedCached=true)",
            ]
        }
        let days = [14, 15, 16].map { delivered($0, "12:00:00") }
        let telling = [days.flatMap(\.self), days.reversed().flatMap(\.self), days.flatMap { $0 + $0 }]
        for lines in telling {
            let judgement = try judged(lines)
            #expect(judgement.totals.used == 3 && judgement.totals.success == 3)
            #expect(judgement.cycles.count == 3)
        }
    }

    @Test("a log's second active task is found among many schedules")
    func secondTaskAmongMany() throws {
        func schedule(_ day: Int, at time: String) -> [String] {
            Self.scheduled.map {
                $0.replacing("11:40:00Z", with: "2025-11-\(day)T\(time)Z").replacing(
                    "2025-11-15T1",
                    with: "2025-11-\(day)T1"
                )
            }
        }
        let days = (15...20).flatMap { day in
            schedule(day, at: "11:40:00") + [
                "2025-11-\(day)T11:56:00Z \(Self.executed)",
                "2025-11-\(day)T11:56:02Z [DNP-FETCH] Fetch success (status=200)",
            ]
        }
        #expect(try !broken(judged(days)).contains(.secondActiveTask))
        let second = [
            "2025-11-15T11:45:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-25T12:00:00Z",
            "2025-11-15T11:45:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-25T11:55:00Z)",
        ]
        // It waits itself while the tasks of the other days are scheduled.
        #expect(try broken(judged(days + second)).filter { $0 == .secondActiveTask }.count == 6)
    }

    @Test("a log's violations say what was told, and when")
    func sentences() throws {
        func detail(_ kind: ViolationKind, _ lines: [String]) throws -> String {
            try judged(lines).cycles.flatMap(\.closed.violations).first { $0.kind == kind }?.detail ?? ""
        }
        let denied = "11:00:00Z [DNP-PLUGIN] notifications_denied for scheduleDailyNotification"
        #expect(
            try detail(.scheduledWhileDenied, [denied] + Self.scheduled)
                == "scheduled at 2025-11-15T11:40:00Z after notifications were denied at 2025-11-15T11:00:00Z"
        )
        let attempts =
            Self.scheduled + [
                "11:56:00Z \(Self.executed)", "11:56:02Z [DNP-FETCH] Fetch failed: error=NetworkError, willRetry=false",
                "11:58:00Z \(Self.executed)", "11:58:02Z [DNP-FETCH] Fetch success (status=200)",
                "11:58:20Z [DNP-FETCH] Task completed (success=false, reason=AUTH)",
            ]
        #expect(
            try detail(.duplicateTerminal, attempts)
                == "an attempt ended twice: in success at 2025-11-15T11:58:02Z and in failure at 2025-11-15T11:58:20Z"
        )
        let missed = "12:20:00Z [DNP-FETCH] BGTask missed window; rescheduling"
        let ran = ["11:56:00Z \(Self.executed)", "11:56:02Z [DNP-FETCH] Fetch success (status=200)"]
        #expect(try detail(.missedWindow, Self.scheduled + ran + [missed]).hasPrefix("the app reported"))
    }
}
