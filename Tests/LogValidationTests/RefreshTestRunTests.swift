// SPDX-License-Identifier: Apache-2.0

import Foundation
import RefreshLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import LogInput
@testable import LogValidation

@Suite("The record of a test run of the background refresh")
struct RefreshTestRunTests {
    typealias Story = RefreshStory

    private func judge(_ lines: [String], _ apps: Set<App> = Set(App.allCases)) throws -> Judgement {
        try JudgedLog.judge(lines) {
            $0.detail = .testRun(scheduleId: nil)
            $0.apps = apps
        }
    }

    private func run(_ story: RefreshStory, _ circumstances: TestRun.Circumstances = .init()) throws -> RefreshTestRun {
        try #require(RefreshTestRun(judge(story.log), circumstances))
    }

    private func artifact(_ run: RefreshTestRun) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(run.json())) as? [String: Any]
        return try #require(object?["testRun"] as? [String: Any])
    }

    @Test("the artifact of a run has what the run did, the counters that it moved and the conditions")
    func artifact() throws {
        var circumstances = TestRun.Circumstances()
        circumstances.device = "iPhone 15 Pro"
        circumstances.scenarios = ["AIQ-1"]
        circumstances.facts.network = .wifi
        circumstances.notes = "fine"
        let artifact = try artifact(run(.notifying(), circumstances))
        #expect(artifact["app"] as? String == "aiq" && artifact["device"] as? String == "iPhone 15 Pro")
        #expect(artifact["date"] as? String == "2025-11-15T05:41:00Z" && artifact["notes"] as? String == "fine")
        #expect(artifact["scenarios"] as? [String] == ["AIQ-1"] && artifact["conditions"] as? String == "Wi-Fi")
        let outcome = try #require(artifact["outcome"] as? [String: Any])
        #expect(outcome["startedAt"] as? String == "2025-11-15T05:41:00Z")
        #expect(outcome["checkedAt"] as? String == "2025-11-15T05:41:01Z")
        #expect(outcome["notifiedAt"] as? String == "2025-11-15T05:41:01Z")
        #expect(outcome["endedAt"] as? String == "2025-11-15T05:41:02Z")
        #expect(outcome["nextScheduledAt"] as? String == "2025-11-15T05:41:02Z")
        #expect(outcome["outcome"] as? String == "completed" && outcome["skipReason"] is NSNull)
        #expect(outcome["daysSinceTest"] as? Int == 100 && outcome["available"] as? Bool == true)
        #expect(outcome["durationMs"] as? Int == 1_250 && outcome["withinTarget"] as? Bool == true)
        #expect((outcome["errors"] as? [Any])?.isEmpty == true)
        #expect(
            artifact["telemetry"] as? [String: Int] == [
                #"aiq_background_refresh_runs_total{outcome="completed"}"#: 1,
                #"aiq_background_refresh_schedules_total{result="scheduled"}"#: 1,
                #"aiq_background_refresh_notifications_total{result="sent"}"#: 1,
                #"aiq_background_refresh_checks_total{available="true"}"#: 1,
            ]
        )
    }

    @Test("the Markdown of a run fills in the template")
    func template() throws {
        let text = try run(.notifying()).markdown()
        for line in [
            "# Test run: refresh at 2025-11-15T05:41:00Z", "- Date: 2025-11-15T05:41:00Z", "- Device model: unknown",
            "- Conditions: none given", "- Task started at: 2025-11-15T05:41:00Z",
            "- Checked at: 2025-11-15T05:41:01Z", "- Last test: 100 days ago, a test is available",
            "- Notified at: 2025-11-15T05:41:01Z", "- Ended at: 2025-11-15T05:41:02Z",
            "- Duration: 1.25 s, within the target of 20 s", "- Next refresh scheduled at: 2025-11-15T05:41:02Z",
            #"- `aiq_background_refresh_runs_total{outcome="completed"}`: 1"#, "- none",
            "- The run ended as `completed`.",
        ] {
            #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)")
        }
    }

    @Test("a run that went wrong tells its failures and the rules that it broke")
    func failures() throws {
        let expired = try run(Story.started(0) + .checked(1, 100) + .expired(36) + .scheduleFailed(36))
        let outcome = try #require(artifact(expired)["outcome"] as? [String: Any])
        let errors = try #require(outcome["errors"] as? [String])
        #expect(errors.prefix(2) == ["the task expired before completion", "the next refresh could not be scheduled"])
        #expect(errors.dropFirst(2).map { $0.prefix { $0 != ":" } } == ["run_not_ended", "ran_too_long"])
        #expect(outcome["withinTarget"] as? Bool == false && outcome["nextSchedule"] as? String == "failed")
        let text = expired.markdown()
        for line in [
            "- Duration: 36.00 s, longer than the target of 20 s", "- Notified at: not notified",
            "- Next refresh scheduled at: refused by the system", "- the task expired before completion",
        ] {
            #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)")
        }
        #expect(text.contains("- C `expired`: ") && text.contains("- A `run_not_ended`: "))
        let skipped = try run(.skipping(.noNetwork)).markdown()
        #expect(skipped.contains("- the refresh was skipped: NO\\_NETWORK\n"))
        #expect(skipped.contains("- Last test: unknown\n") && skipped.contains("- Checked at: not checked\n"))
    }

    @Test("a record is of the latest run that was not skipped, and lists the others")
    func latest() throws {
        let story = Story.quiet() + .notifying(at: 5 * Story.hour) + .skipping(at: 6 * Story.hour, .tooRecent)
        let latest = try run(story)
        #expect(try artifact(latest)["date"] as? String == "2025-11-15T10:41:00Z")
        let others = try #require(artifact(latest)["otherRuns"] as? [[String: Any]])
        #expect(others.map { $0["outcome"] as? String } == ["skipped", "completed"])
        #expect(
            latest.markdown().contains(
                "- The log holds 2 more; `--all` writes all:\n  - 2025-11-15T11:41:00Z: `skipped`"
            )
        )
        let all = RefreshTestRun.all(try judge(story.log), .init())
        let object = try JSONSerialization.jsonObject(with: Data(RefreshTestRun.json(all))) as? [String: Any]
        let dates = (object?["testRuns"] as? [[String: Any]])?.map { $0["date"] as? String }
        #expect(dates == ["2025-11-15T05:41:00Z", "2025-11-15T10:41:00Z", "2025-11-15T11:41:00Z"])
        #expect(try run(.skipping(.noNetwork) + .skipping(at: 60, .noNetwork)).run.closed.outcome == .skipped)
    }

    @Test("of many runs the newest 1,000 are recorded, and the others counted")
    func manyRuns() throws {
        let story = (0..<1_010).map { Story.quiet(at: $0 * 5 * Story.hour) }
        let judgement = try judge(story.flatMap(\.log))
        #expect(RefreshTestRun.all(judgement, .init()).count == 1_000)
        let latest = try #require(RefreshTestRun(judgement, .init()))
        #expect(latest.otherRuns == 1_009 && latest.others.count == 20)
        #expect(latest.run.closed.begin == story.last?.lines.first?.time)
        #expect(latest.markdown().contains("  - and 989 more\n"))
    }

    @Test("device and conditions are those that the events tell up to the end of the run, in any order")
    func conditions() throws {
        func event(_ kind: String, _ second: Int, _ members: String) -> String {
            let time = PluginLine(second: second, component: PluginLine.refresh, message: "").time
            return #"{"event":"\#(kind)","timestamp":"\#(time)",\#(members)}"#
        }
        let later = 5 * Story.hour
        let events = [
            event("refresh_started", 0, #""deviceModel":"iPhone15,3","lowPowerMode":true"#),
            event("backgroundRefreshCompleted", 2, #""network":"wifi","properties":{"success":true}"#),
            event("refresh_started", later, #""lowPowerMode":false,"network":"cellular""#),
            event("backgroundRefreshCompleted", later + 2, #""appVersion":"2.1.0","properties":{"success":true}"#),
        ]
        for events in [events, events.reversed()] {
            let runs = RefreshTestRun.all(try judge(events), .init())
            #expect(runs.map(\.setting.facts.lowPowerMode) == [true, false])
            #expect(runs.map(\.setting.facts.network) == [.wifi, .cellular])
            #expect(runs.map(\.setting.deviceModel) == ["iPhone15,3", "iPhone15,3"])
            #expect(runs.map(\.setting.build) == ["2.1.0", "2.1.0"])
            #expect(runs.last?.setting.conditions == "cellular, Low Power Mode off")
        }
    }

    @Test("a record tells no times that the log does not tell")
    func assumedTimes() throws {
        let run = try #require(RefreshTestRun(judge(Story.notifying().bareLog), .init()))
        let artifact = try artifact(run)
        #expect(artifact["timesKnown"] as? Bool == false && artifact["date"] is NSNull)
        #expect(run.markdown().hasPrefix("# Test run: refresh\n\n- Date: unknown\n"))
        #expect(run.markdown().contains("- Notified at: yes; the log does not tell when\n"))
    }

    @Test("a log of both apps is reported as before, and its runs where the app is named")
    func bothApps() throws {
        let prefetch = JudgedLog.lines(NamedScenarioTests.happy)
        let both = try judge(prefetch + Story.quiet().log)
        let alone = try judge(prefetch)
        #expect(!both.reportsRuns && TestRun(both, .init())?.markdown() == TestRun(alone, .init())?.markdown())
        #expect(
            both.unreportedRuns?.hasPrefix("the input has 1 run of the background refresh (1 completed), too") == true
        )
        #expect(try judge(prefetch).unreportedRuns == nil)
        let refresh = try judge(prefetch + Story.quiet().log, [.aiq])
        #expect(refresh.reportsRuns && RefreshTestRun(refresh, .init()) != nil && TestRun(refresh, .init()) == nil)
        #expect(try judge(Story.quiet().log).reportsRuns)
        #expect(try !judge(prefetch).reportsRuns)
        #expect(try !judge([]).reportsRuns)
        #expect(try RefreshTestRun(judge(prefetch, [.aiq]), .init()) == nil)
    }

    @Test("a campaign leaves out the records of the background refresh, and says how many they are")
    func campaign() throws {
        let directory = try TemporaryDirectory()
        try Files.write(try run(.notifying()).json(), to: directory.file("refresh.json"))
        let judgement = try judge(JudgedLog.lines(NamedScenarioTests.happy))
        try Files.write(try #require(TestRun(judgement, .init())).json(), to: directory.file("prefetch.json"))
        let campaign = TestCampaign([directory.path], deferred: [])
        #expect(campaign.runs.count == 1 && campaign.problems.isEmpty)
        #expect(campaign.markdown().contains("\n1 run on 2025-11-15; 1 of the background refresh, which"))
        #expect(String(decoding: campaign.json(), as: UTF8.self).contains(#""refreshRuns":1"#))
    }
}
