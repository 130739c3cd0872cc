// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import Testing

@testable import LogValidation

@Suite("Runs of the background refresh in validate and replay")
struct RefreshJudgementTests {
    private static let happy = [
        "2025-11-15T05:54:00Z [BackgroundRefresh] Background refresh task started",
        "2025-11-15T05:54:00Z [BackgroundRefresh] Last test was 100 days ago. Available: true",
        "2025-11-15T05:54:01Z [BackgroundRefresh] Sent test available notification",
        "2025-11-15T05:54:01Z [BackgroundRefresh] Scheduled background refresh for 4 hours from now",
        "2025-11-15T05:54:01Z [BackgroundRefresh] Background refresh completed in 1.25s with success: true",
    ]
    /// Five hours later.
    private static let again = happy.map { $0.replacing("T05:", with: "T10:") }
    private static let prefetch = [
        "2025-11-15T05:33:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T06:00:00Z",
        "2025-11-15T05:33:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:55:00Z)",
        "2025-11-15T05:55:10Z [DNP-FETCH] BGTask handler invoked (id=dnp.fetch)",
        "2025-11-15T05:55:12Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)",
        "2025-11-15T05:55:12Z [DNP-FETCH] Task completed (success=true)",
        "2025-11-15T06:00:00Z [DNP-FETCH] Using cached content for notification",
        "2025-11-15T06:00:01Z [DNP-SCHEDULER] Notification delivered (id=n1)",
    ]

    private func page(_ judgement: Judgement) -> String { String(decoding: judgement.exposition(), as: UTF8.self) }

    @Test("the text lists each run with what it did and the rules that it broke")
    func textListsRuns() throws {
        let text = try JudgedLog.judge(Self.happy + Self.again).text()
        let expected = """
            REFRESH               OUTCOME    DAYS SINCE TEST  AVAILABLE  NOTIFICATION  DURATION  REASON
            2025-11-15T05:54:00Z  completed  100              yes        sent          1.25 s    -
            2025-11-15T10:54:00Z  completed  100              yes        sent          1.25 s    -
                violation A notified_again: notified 5 h 0 min after the last notification; once in 90 days is allowed

            """
        #expect(text.hasPrefix(expected))
        #expect(text.contains(#"  aiq_background_refresh_notifications_total{result="sent"}   2"# + "\n"))
        #expect(
            text.hasSuffix("\nincoherent: 1 violation in 2 runs of the background refresh (2 completed)\n")
        )
    }

    @Test("the JSON has the runs with their violations, beside the cycles")
    func jsonHasRuns() throws {
        let object = try JudgedLog.object(try JudgedLog.judge(Self.happy + Self.again))
        let runs = try #require(object["runs"] as? [[String: Any]])
        #expect(object["verdict"] as? String == "incoherent" && (object["cycles"] as? [Any])?.isEmpty == true)
        #expect(runs.map { $0["outcome"] as? String } == ["completed", "completed"])
        #expect(runs.map { $0["begin"] as? String } == ["2025-11-15T05:54:00Z", "2025-11-15T10:54:00Z"])
        #expect(runs.map { $0["durationMs"] as? Int } == [1_250, 1_250])
        let violations = runs.map { ($0["violations"] as? [[String: Any]] ?? []).map { $0["violation"] as? String } }
        #expect(violations == [[], ["notified_again"]])
        let counters = object["counters"] as? [String: Any]
        #expect(counters?[#"aiq_background_refresh_runs_total{outcome="completed"}"#] as? Int == 2)
        let plain = try JudgedLog.object(try JudgedLog.judge(Self.prefetch))
        #expect(plain["runs"] == nil, "a log of the plugin alone is told as before")
    }

    @Test("the JUnit report has a case for each run, which fails for a broken rule")
    func junitHasRuns() throws {
        let report = try JudgedLog.judge(Self.happy + Self.again).junit()
        #expect(report.contains(#"<testcase name="refresh at 2025-11-15T05:54:00Z" classname="#))
        #expect(report.contains(#"tests="2" failures="1""#) && report.contains(#"<failure type="notified_again""#))
    }

    @Test("a log of both apps is judged for both, and the counters of one never move by the other")
    func bothApps() throws {
        let judgement = try JudgedLog.judge((Self.prefetch + Self.happy).sorted())
        #expect(
            judgement.verdictLine()
                == "coherent: 1 cycle (1 used) and 1 run of the background refresh (1 completed)"
        )
        let page = page(judgement)
        #expect(page.contains("\ndnp_prefetch_executed_total 1\n"))
        #expect(page.contains("\naiq_background_refresh_runs_total{outcome=\"completed\"} 1\n"))
        #expect(page.contains("\naiq_background_refresh_runs_total{outcome=\"failed\"} 0\n"))
        #expect(page.contains("\naiq_background_refresh_duration_seconds_bucket{le=\"20\"} 1\n"))
        #expect(page.contains("\naiq_background_refresh_days_since_test_bucket{le=\"90\"} 0\n"))
        #expect(page.contains("\naiq_background_refresh_days_since_test_bucket{le=\"100\"} 1\n"))
    }

    @Test("a page has the families of the apps that are on, at 0 where nothing happened")
    func pageOfOneApp() throws {
        let none = "\naiq_background_refresh_runs_total{outcome=\"completed\"} 0\n"
        #expect(try page(JudgedLog.judge(Self.prefetch)).contains(none))
        let refresh = try page(JudgedLog.judge(Self.prefetch) { $0.apps = [.aiq] })
        #expect(refresh.contains("\naiq_background_refresh_open_runs 0\n") && !refresh.contains("dnp_"))
        let prefetch = try page(JudgedLog.judge(Self.prefetch) { $0.apps = [.dnp] })
        #expect(prefetch.contains("\ndnp_prefetch_executed_total 1\n") && !prefetch.contains("aiq_"))
    }

    @Test("one app alone is judged where it is named")
    func oneApp() throws {
        let lines = (Self.prefetch + Self.happy + Self.again).sorted()
        let prefetch = try JudgedLog.judge(lines) { $0.apps = [.dnp] }
        #expect(prefetch.verdictLine() == "coherent: 1 cycle (1 used)")
        #expect(!page(prefetch).contains("aiq_"))
        let refresh = try JudgedLog.judge(lines) { $0.apps = [.aiq] }
        #expect(
            refresh.verdictLine() == "incoherent: 1 violation in 2 runs of the background refresh (2 completed)"
        )
        #expect(!refresh.text().contains("dnp_"))
    }

    @Test("lines without times are judged without the rules about time")
    func assumedTimes() throws {
        let bare = (Self.happy + Self.again).map { String($0.drop { $0 != "[" }) }
        let judgement = try JudgedLog.judge(bare)
        #expect(judgement.verdict() == .coherent)
        #expect(judgement.text().contains("\n    not all lines have times; rules about time were not judged\n"))
    }
}
