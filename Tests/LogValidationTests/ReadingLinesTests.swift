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
    private static let scheduled = [
        "11:40:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T12:00:00Z",
        "11:40:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T11:55:00Z)",
    ]
    private static let executed = "[DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)"

    /// Judges lines whose stamps have a time on 2025-11-15.
    private func judged(_ lines: [String]) throws -> Judgement {
        let directory = try TemporaryDirectory()
        let text = lines.map { "2025-11-15T\($0)\n" }.joined()
        try Files.write(Array(text.utf8), to: directory.file("device.log"))
        let judgement = try JudgementRun(JudgementOptions(LineFormat(timezone: "UTC"))).judge([
            directory.file("device.log")
        ])
        #expect(judgement.lines.unrecognised == 0 && judgement.lines.foreign == 0)
        return judgement
    }

    private func broken(_ judgement: Judgement) -> [ViolationKind] {
        judgement.cycles.flatMap { $0.closed.violations.map(\.kind) }
    }

    private func failures(_ judgement: Judgement) -> [FailureReason] {
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
}
