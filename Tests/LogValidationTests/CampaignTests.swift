// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrefetchLifecycle
import TestSupport
import Testing

@testable import LogInput
@testable import LogValidation

@Suite("A campaign")
struct CampaignTests {
    /// The artifact of the plugin's test app.
    static func artifact(
        day: Int = 15,
        device: String = "iPhone 15 Pro",
        executed: String? = "05:50:00",
        used: Bool = true,
        errors: [String] = [],
        more: String = ""
    ) -> String {
        let date = "2025-11-\(day)"
        let ran = executed.map { "\"\(date)T\($0)Z\"" } ?? "null"
        let failed = errors.map { "\"\($0)\"" }.joined(separator: ",")
        let count = used ? 1 : 0
        return """
            {"testRun":{"date":"\(date)T10:00:00Z","device":"\(device)","iosVersion":"17.1",\(more)
             "outcome":{"prefetchScheduledAt":"\(date)T05:41:00Z","bgTaskExecutedAt":\(ran),
              "notificationFiredAt":"\(date)T05:53:00Z","cachedContentUsed":\(used),"errors":[\(failed)]},
             "telemetry":{"scheduled":1,"executed":\(executed == nil ? 0 : 1),"success":\(count),"used":\(count)}}}
            """
    }

    static func campaign(_ files: [String: String], deferred: Set<TestCampaign.Point> = []) throws -> TestCampaign {
        let directory = try TemporaryDirectory()
        for (name, text) in files { try Files.write(Array(text.utf8), to: directory.file(name)) }
        return TestCampaign([directory.file("")], deferred: deferred)
    }

    static func status(_ campaign: TestCampaign) -> [String: String] {
        Dictionary(campaign.findings.map { ($0.point.rawValue, $0.status.rawValue) }) { first, _ in first }
    }

    static let complete = [
        "1.json": artifact(device: "iPhone 15 Simulator"),
        "2.json": artifact(more: #""conditions":"plugged in, Wi-Fi","scenarios":["too-small-lead"],"#),
        "3.json": artifact(day: 16, used: false, errors: ["prefetch_failure: NETWORK"]),
        "4.json": artifact(day: 17, more: #""scenarios":["timezone-change"],"#),
    ]

    @Test("artifacts of the plugin's test app that show every point are signed off, with the runs that show them")
    func signedOff() throws {
        let campaign = try Self.campaign(Self.complete)
        #expect(campaign.isSignedOff)
        let text = campaign.markdown()
        #expect(text.hasPrefix("# Test campaign: Phase 1 sign-off\n\n4 runs from 2025-11-15 to 2025-11-17\n"))
        #expect(text.contains("- [x] Simulator: one full happy-path cycle"))
        #expect(text.contains("1.json, 2025-11-15\n"))
        #expect(text.contains("| 2025-11-16 | 1 | 1 | 0 | 1 |"))
        #expect(text.hasSuffix("\nSigned off.\n"))
        let object = try JSONSerialization.jsonObject(with: Data(campaign.json())) as? [String: Any]
        let told = try #require(object?["campaign"] as? [String: Any])
        #expect(told["signedOff"] as? Bool == true)
        #expect((told["points"] as? [Any])?.count == TestCampaign.Point.allCases.count)
    }

    @Test("a point that no run shows is not met, unless it is deferred")
    func notMet() throws {
        var files = Self.complete
        files["4.json"] = nil
        #expect(try Self.status(Self.campaign(files))["time"] == "not_met")
        #expect(try !Self.campaign(files).isSignedOff)
        let deferred = try Self.campaign(files, deferred: [.time])
        #expect(Self.status(deferred)["time"] == "deferred")
        #expect(deferred.isSignedOff)
    }

    @Test("a good run that does not tell of power and network is no best case, and the campaign says what is missing")
    func unsaidConditions() throws {
        let campaign = try Self.campaign(["1.json": Self.artifact()])
        #expect(Self.status(campaign)["device"] == "not_met")
        #expect(campaign.markdown().contains("does not tell of power and network (report --power, --network)"))
    }

    @Test("the majority of runs on devices must have prefetched before the notification")
    func majority() throws {
        for (late, status) in [(1, "met"), (2, "not_met")] {
            var files = ["0.json": Self.artifact(), "1.json": Self.artifact()]
            for index in 0..<late { files["late\(index).json"] = Self.artifact(executed: nil, used: false) }
            #expect(try Self.status(Self.campaign(files))["majority"] == status)
        }
    }

    @Test("1,000 artifacts of which some are broken: each broken one is named, and the others count")
    func manyArtifacts() throws {
        var files = Self.complete
        for index in 0..<996 {
            files["run-\(index).json"] =
                switch index % 100 {
                case 0: ""
                case 1: #"{"testRun":{"outcome":{"bgTaskExecutedAt":"yesterday"}}}"#
                case 2: String(Self.artifact().prefix(100))
                case 3: "[1,2]"
                case 4: #"{"verdict":"coherent"}"#
                default: Self.artifact(day: 10 + index % 9)
                }
        }
        let campaign = try Self.campaign(files)
        #expect(campaign.problems.count == 50)
        #expect(campaign.runs.count == 950)
        #expect(campaign.isSignedOff)
        let text = campaign.markdown()
        for words in [
            "50 artifacts unreadable", "it is empty", "found \"yesterday\"", "it is no JSON, or cut short",
            #"expected an object {"testRun":{...}}"#, #"it has no "testRun" object"#,
        ] { #expect(text.contains(words), "\(words)") }
    }

    @Test("what is not there or holds nothing is named")
    func nothing() throws {
        let campaign = TestCampaign(["/nowhere/run.json"], deferred: [])
        #expect(campaign.problems.map(\.problem) == ["there is no such file"])
        #expect(try Self.campaign([:]).problems.first?.problem == "the directory has no file that ends in .json")
    }

    @Test("the records that report writes are artifacts of a campaign")
    func ownArtifacts() throws {
        var circumstances = TestRun.Circumstances()
        circumstances.device = "iPhone 15 Pro"
        circumstances.facts.pluggedIn = true
        circumstances.facts.network = .wifi
        let judgement = try JudgedLog.judge(JudgedLog.lines(NamedScenarioTests.happy)) {
            $0.detail = .testRun(scheduleId: nil)
        }
        let run = try #require(TestRun(judgement, circumstances))
        let one = try Self.campaign(["run.json": String(decoding: run.json(), as: UTF8.self)])
        #expect(Self.status(one)["device"] == "met")
        let all = try Self.campaign(["run.json": String(decoding: TestRun.json([run, run]), as: UTF8.self)])
        #expect(all.runs.map { $0.name.suffix(2) } == ["#1", "#2"])
    }

    @Test("a log in which the time zone changes shows it to the campaign without a named scenario")
    func zoneChange() throws {
        for (lines, status) in [
            ([], "not_met"), (["[DNP-PLUGIN] Timezone changed, but UTC schedule unchanged"], "met"),
        ] {
            let log = JudgedLog.lines(NamedScenarioTests.happy) + lines
            let judgement = try JudgedLog.judge(log) { $0.detail = .testRun(scheduleId: nil) }
            let run = try #require(TestRun(judgement, .init()))
            var files = Self.complete
            files["4.json"] = String(decoding: run.json(), as: UTF8.self)
            #expect(try Self.status(Self.campaign(files))["time"] == status)
        }
    }
}

@Suite("Which cycle is reported")
struct ReportedCycleTests {
    typealias Story = GuideStory

    static func judged(_ story: GuideStory) throws -> Judgement {
        try JudgedLog.judge(JudgedLog.lines(story)) { $0.detail = .testRun(scheduleId: nil) }
    }

    @Test("the latest cycle that ran is reported, and tomorrow's, which waits, is listed")
    func latestThatRan() throws {
        let story =
            NamedScenarioTests.happy + Story.scheduling(800, begins: 86_820, due: 87_120, id: "b")
        let judgement = try Self.judged(story)
        let run = try #require(TestRun(judgement, .init()))
        #expect(run.cycle.scheduleId == "a")
        #expect(
            run.markdown().contains("- The log holds 1 more; `--cycle` chooses another, `--all` writes all:\n  - b, ")
        )
        #expect(TestRun.all(judgement, .init()).map(\.cycle.scheduleId) == ["a", "b"])
    }

    @Test("a fallback names its cause")
    func fallbackCause() throws {
        let stories: [(GuideStory, String)] = [
            (Story.launch(0) + Story.scheduling() + Story.onDemand(), "not_executed"),
            (NegativePathTests.start + NegativePathTests.networkFailure + Story.onDemand(), "fetch_failed"),
            (Story.launch(0) + Story.scheduling() + Story.prefetch(540) + Story.onDemand(), "content_lost"),
            (
                NegativePathTests.start + Story.success(542, ttl: 60) + Story.cached(542) + Story.completion(543)
                    + Story.onDemand(), "expired_content"
            ),
        ]
        for (story, cause) in stories {
            let run = try #require(TestRun(Self.judged(story), .init()))
            #expect(run.fallbackCause == cause)
            #expect(String(decoding: run.json(), as: UTF8.self).contains(#""fallbackCause":"\#(cause)""#))
        }
    }

    @Test("a missed window is explained by the conditions")
    func missedWindow() throws {
        let judgement = try Self.judged(Story.launch(0) + Story.scheduling() + Story.onDemand() + Story.launch(4_000))
        var circumstances = TestRun.Circumstances()
        #expect(TestRun(judgement, circumstances)?.missedWindowSentence?.contains("are not known") == true)
        circumstances.conditions = "battery, LTE, Low Power Mode on"
        let run = try #require(TestRun(judgement, circumstances))
        #expect(
            run.missedWindowSentence
                == "The task missed its window: Low Power Mode was on, the device was on its battery."
        )
        let json = String(decoding: run.json(), as: UTF8.self)
        #expect(json.contains(#""pluggedIn":false,"network":"cellular","lowPowerMode":true"#))
        circumstances.conditions = "plugged in, Wi-Fi"
        #expect(TestRun(judgement, circumstances)?.missedWindowSentence?.contains("the system's own timing") == true)
    }
}

@Suite("The plugin's schedule")
struct PlannedScheduleTests {
    static func judge(_ snapshot: String) throws -> Judgement {
        let directory = try TemporaryDirectory()
        let path = directory.file("schedule.json")
        try Files.write(Array(snapshot.utf8), to: path)
        let planned = try PlannedSchedules(contentsOf: path)
        return try JudgedLog.judge(JudgedLog.lines(NamedScenarioTests.happy)) { $0.planned = planned }
    }

    @Test("a schedule that the log has passes, by id and by time")
    func found() throws {
        for schedule in [
            #"{"scheduleId":"a","notificationTime":"2025-11-15T05:53:00Z"}"#, #"{"id":"a"}"#,
            #"{"scheduledFor":"2025-11-15T06:53:00+01:00"}"#,
        ] {
            let judgement = try Self.judge(#"{"event":"schedule_snapshot","schedules":[\#(schedule)]}"#)
            #expect(judgement.verdict() == .coherent)
            #expect(judgement.scheduleCheck?.isPassed == true)
        }
    }

    @Test("a schedule that was moved is a violation of its cycle, and one that is missing is a cycle unseen")
    func movedAndMissing() throws {
        let moved = try Self.judge(#"{"schedules":[{"scheduleId":"a","notificationTime":"2025-11-15T05:53:02Z"}]}"#)
        #expect(moved.verdict() == .incoherent)
        #expect(moved.cycles.flatMap(\.closed.violations).map(\.kind) == [.scheduleMoved])
        let missing = try Self.judge(#"[{"scheduleId":"b","notificationTime":"2025-11-16T05:53:00Z"}]"#)
        #expect(missing.verdict() == .incoherent)
        let unseen = try #require(missing.cycles.last)
        #expect(unseen.scheduleId == "b" && unseen.closed.stages == CycleStages())
        #expect(missing.cycles.flatMap(\.closed.violations).map(\.kind) == [.scheduleMissing])
        let check = try #require(missing.scheduleCheck)
        #expect(missing.junit(checks: [check]).contains("schedule_missing: the plugin has b"))
    }

    @Test("a snapshot among the events is held against the cycles of its own installation")
    func snapshotAmongTheEvents() throws {
        let moment = #""timestamp":"2025-11-15T05:41:00Z""#
        func judged(_ schedule: String, of device: String) throws -> [ViolationKind] {
            let scheduled =
                #"{"event":"prefetch_scheduled","scheduleId":"a",\#(moment),"scheduledFor":"2025-11-15T05:53:00Z","#
                + #""earliestBeginDate":"2025-11-15T05:48:00Z","installationId":"one"}"#
            let snapshot =
                #"{"event":"schedule_snapshot",\#(moment),"schedules":[\#(schedule)],"installationId":"\#(device)"}"#
            let judgement = try JudgedLog.judge([scheduled, snapshot])
            return judgement.cycles.flatMap(\.closed.violations).map(\.kind)
        }
        #expect(try judged(#"{"scheduleId":"a","notificationTime":"2025-11-15T05:53:01Z"}"#, of: "one") == [])
        let moved = #"{"scheduleId":"a","notificationTime":"2025-11-15T05:53:02Z"}"#
        #expect(try judged(moved, of: "one") == [.scheduleMoved])
        #expect(try judged(#"{"scheduleId":"a"}"#, of: "two") == [.scheduleMissing])
    }

    @Test("a snapshot with 10,000 schedules, a broken one and none are refused in words")
    func refused() throws {
        let many = Array(repeating: #"{"scheduleId":"a"}"#, count: 10_000).joined(separator: ",")
        for (text, words) in [
            (#"{"schedules":[\#(many)]}"#, "it has 10000 schedules, and a snapshot has at most 128"),
            ("{", "as one JSON document"), ("{}", "expected {\"schedules\":[...]}"),
            (#"[{"scheduleId":"a","notificationTime":"soon"}]"#, "schedule 0: expected notificationTime"),
            ("[{}]", "schedule 0: expected scheduleId or notificationTime"),
        ] {
            #expect { try Self.judge(text) } throws: { ($0 as? InputError)?.problem.contains(words) == true }
        }
    }
}
