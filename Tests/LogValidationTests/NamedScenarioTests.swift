// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import LogInput
@testable import LogValidation

@Suite("Scenarios by name")
struct NamedScenarioTests {
    typealias Story = GuideStory

    static let happy = Story.launch(0) + Story.scheduling() + Story.prefetch(540) + Story.shown()
    static let start = NegativePathTests.start
    static let refusal = Story(
        lines: [
            Story.line(0, "fetch", "Scheduling prefetch for notification at \(Story.time(720))"),
            Story.line(
                0,
                "fetch",
                "Failed to schedule BGAppRefreshTask: Error Domain=BGTaskSchedulerErrorDomain Code=1"
            ),
        ],
        events: []
    )
    static let zoneChange = Story.told(
        200,
        "scheduler",
        "Timezone changed, but UTC schedule unchanged",
        "timezone_changed"
    )
    static let missed = Story.told(
        4_001,
        "fetch",
        "BGTask missed window; rescheduling (notificationTime=\(Story.time(720)))",
        "prefetch_missed",
        id: "a"
    )
    static let denied = Story.told(
        1,
        "plugin",
        "notifications_denied for scheduleDailyNotification",
        "notification_denied"
    )
    static let tomorrow =
        Story.prefetch(86_400 + 540, due: 86_400 + 720, id: "b")
        + Story.shown(86_400 + 722, due: 86_400 + 720, id: "b")

    /// A log that shows each scenario.
    static let stories: [String: GuideStory] = [
        "background-refresh-off": Story.launch(0) + refusal + Story.notification(0, due: 720, id: "a")
            + Story.onDemand(),
        "low-power": Story.launch(0) + Story.scheduling() + Story.onDemand() + Story.launch(4_000),
        "force-quit": Story.launch(0) + Story.scheduling() + Story.onDemand() + Story.launch(4_000, pending: true)
            + missed + Story.scheduling(4_002, begins: 86_820, due: 87_120, id: "b"),
        "timezone-change": Story.launch(0) + Story.scheduling() + zoneChange + Story.prefetch(420)
            + Story.shown(age: 298),
        "dst": happy,
        "multi-day": Story.launch(0) + Story.scheduling() + Story.prefetch(540)
            + Story.scheduling(543, begins: 86_820, due: 87_120, id: "b") + Story.shown() + tomorrow,
        "reboot": Story.launch(0) + Story.scheduling() + Story.launch(300, pending: true) + Story.scheduling(301)
            + Story.prefetch(540) + Story.shown(),
        "network-failure": start + NegativePathTests.networkFailure + Story.unsuccessful(543, "NETWORK")
            + Story.onDemand(),
        "permission-denied": Story.launch(0) + denied,
        "storage-unavailable": start + Story.success(542)
            + Story.told(542, "storage", "Cache write failed: error=SQLiteError", "content_cache_failed", id: "a")
            + Story.completion(543) + Story.onDemand(),
        "jwt-expiration": start
            + NegativePathTests.failure(543, "Fetch failed: error=AuthError, httpStatus=401, willRetry=false", "")
            + NegativePathTests.failure(544, "JWT expired, authentication failed", "")
            + Story.unsuccessful(545, "AUTH") + Story.onDemand(),
        "timezone-drift": Story.launch(0) + Story.scheduling() + zoneChange + Story.prefetch(540) + Story.shown(),
        "corrupted-cache": Story.launch(0) + Story.scheduling() + Story.prefetch(540) + Story.onDemand(),
        "bgtask-execution-failure": start
            + Story.told(543, "fetch", "Task marked complete (success=false) due to error", "prefetch_completed")
            + Story.onDemand(),
        "repeated-scheduling": Story.launch(0) + Story.scheduling(0) + Story.notification(1, due: 720, id: "a")
            + Story.prefetch(540) + Story.shown(),
        "permission-revoked": Story.launch(0) + Story.scheduling() + Story.prefetch(540) + Story.launch(4_000),
    ]

    @Test("there are the guide's seven edge cases and nine negative paths, each with a log that shows it")
    func allOfThem() {
        #expect(GuideScenario.ofPrefetch.count == 16)
        #expect(Set(GuideScenario.ofPrefetch.map(\.name)) == Set(Self.stories.keys))
    }

    @Test("a scenario passes on a log that shows it", arguments: GuideScenario.ofPrefetch.map(\.name))
    func passes(name: String) throws {
        let story = try #require(Self.stories[name])
        let scenario = try #require(GuideScenario.named(name))
        #expect(try JudgedLog.judge(story).check([scenario]).flatMap(\.failures) == [])
    }

    @Test(
        "a scenario fails on a log of nothing, and on one that breaks a rule",
        arguments: GuideScenario.ofPrefetch.map(\.name)
    )
    func fails(name: String) throws {
        let scenario = try #require(GuideScenario.named(name))
        #expect(try !JudgedLog.judge(["nothing of ours"]).check([scenario]).allSatisfy(\.isPassed))
        let broken =
            try #require(Self.stories[name]) + Story.execution(90_000, due: 90_300, id: "z") + Story.launch(95_000)
        #expect(try !JudgedLog.judge(broken).check([scenario]).allSatisfy(\.isPassed))
    }

    @Test("a scenario says what it expected and what it found, in text, JSON and a JUnit case of its own")
    func told() throws {
        let scenarios = try ["reboot", "dst"].map { try #require(GuideScenario.named($0)) }
        let judgement = try JudgedLog.judge(Self.happy)
        let checks = judgement.check(scenarios)
        let text = judgement.text(checks: checks)
        #expect(text.contains("✗ reboot\n      expected a launch with hasPendingSchedules=true, found none\n"))
        #expect(text.contains("✓ dst\n"))
        let junit = judgement.junit(checks: checks)
        #expect(junit.contains(#"<testsuite name="scenarios" tests="2" failures="1""#))
        let told = try #require(JudgedLog.object(judgement, checks)["scenarios"] as? [[String: Any]])
        #expect(told.map { $0["passed"] as? Bool } == [false, true])
    }

    @Test("a notification that is delivered again later that day does not pass the change of the clocks")
    func deliveredAgain() throws {
        let scenario = try #require(GuideScenario.named("dst"))
        let lines = JudgedLog.lines(Story.scheduling() + Story.prefetch(540) + Story.shown())
        let delivered = try #require(lines.last { $0.contains("Notification delivered") })
        let hour = try #require(Int(delivered.dropFirst(11).prefix(2)))
        let again = delivered.prefix(11) + "\(hour + 11)" + delivered.dropFirst(13)
        #expect(try JudgedLog.judge(lines).check([scenario]).allSatisfy(\.isPassed))
        #expect(try !JudgedLog.judge(lines + [String(again)]).check([scenario]).allSatisfy(\.isPassed))
    }

    @Test("a task that is submitted twice within seconds fails the scenario of repeated scheduling", arguments: [1, 5])
    func submittedTwice(seconds: Int) throws {
        let scenario = try #require(GuideScenario.named("repeated-scheduling"))
        let story = Story.scheduling(0) + Story.scheduling(seconds) + Story.prefetch(540) + Story.shown()
        for input in [JudgedLog.lines(story), story.events] {
            #expect(
                try JudgedLog.judge(input).check([scenario]).flatMap(\.failures) == [
                    "expected one submission for each notification, found 1 notification submitted more than once"
                ]
            )
        }
    }

    @Test("a submission that is told in other forms, or by the same line again, is one")
    func submittedOnce() throws {
        let scenario = try #require(GuideScenario.named("repeated-scheduling"))
        let story = Story.scheduling(0) + Story.prefetch(540) + Story.shown()
        var lines = JudgedLog.lines(story)
        let place = try #require(lines.firstIndex { $0.contains("BGAppRefreshTask scheduled") })
        let minutes = "Prefetch scheduled 5 minutes before notification (notificationTime=\(Story.time(720)))"
        let stamp = "\(Story.time(0))".replacing("Z", with: ".400Z")
        lines.insert(contentsOf: [lines[place], "\(stamp) [DNP-FETCH] \(minutes)"], at: place + 1)
        #expect(try JudgedLog.judge(lines).check([scenario]).flatMap(\.failures) == [])
        let twin = story.events.filter { $0.contains("prefetch_scheduled") }
        #expect(try JudgedLog.judge(JudgedLog.lines(story) + twin).check([scenario]).flatMap(\.failures) == [])
    }

    @Test(
        "a submission told in two forms within 5 s is one, and each form tells another a second later",
        arguments: [(["01.100"], 0), (["05"], 0), (["05.001"], 1), (["01.100", "02.100"], 1)]
    )
    func submittedInTwoForms(clocks: [String], failures: Int) throws {
        let scenario = try #require(GuideScenario.named("repeated-scheduling"))
        var lines = JudgedLog.lines(Story.scheduling(0) + Story.prefetch(540) + Story.shown())
        let place = try #require(lines.firstIndex { $0.contains("BGAppRefreshTask scheduled") })
        let told = "Prefetch scheduled 5 minutes before notification (notificationTime=\(Story.time(720)))"
        let stamps = clocks.map { "\(Story.time(0))".replacing("00Z", with: "\($0)Z") }
        lines.insert(contentsOf: stamps.map { "\($0) [DNP-FETCH] \(told)" }, at: place + 1)
        #expect(try JudgedLog.judge(lines).check([scenario]).flatMap(\.failures).count == failures)
    }

    @Test("an unknown scenario gets the nearest name")
    func nearest() {
        #expect(GuideScenario.named("Reboot")?.name == "reboot")
        #expect(GuideScenario.nearest(to: "force-qit") == "force-quit")
    }

    @Test("docs/scenarios.md has every scenario with its title, in order")
    func page() throws {
        let page = try String(contentsOf: URL.repository.appendingPathComponent("docs/scenarios.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.map { $0.split(separator: "`")[1] } == GuideScenario.all.map { Substring($0.name) })
        for (row, scenario) in zip(rows, GuideScenario.all) {
            for expectation in scenario.expectations.dropLast() { #expect(row.contains(expectation.sentence)) }
        }
    }
}

@Suite("The sequence and required stages")
struct SequenceTests {
    typealias Story = GuideStory

    static let lines = JudgedLog.lines(NamedScenarioTests.happy)

    @Test("the seven markers of one cycle in order pass")
    func whole() throws {
        #expect(try JudgedLog.judge(Self.lines).sequenceCheck.isPassed)
        #expect(try JudgedLog.judge(Self.lines.map { String($0.dropFirst(21)) }).sequenceCheck.isPassed)
    }

    @Test("a marker that is missing is named", arguments: SequenceMarker.allCases)
    func missing(marker: SequenceMarker) throws {
        let lines = Self.lines.filter { !$0.contains(marker.text) }
        #expect(lines.count < Self.lines.count)
        #expect(try JudgedLog.judge(lines).sequenceCheck.failures == ["missing: \(marker.text)"])
    }

    @Test("markers in another order are named, and those of two cycles do not add up")
    func order() throws {
        let early = Self.lines.map {
            $0.contains("handler invoked") ? $0.replacing("05:50:00", with: "05:30:00") : $0
        }
        #expect(
            try JudgedLog.judge(early).sequenceCheck.failures.first?.hasPrefix("out of order: BGTask handler") == true
        )
        let two = JudgedLog.lines(
            Story.launch(0) + Story.scheduling() + Story.onDemand()
                + Story.execution(4_000, due: 4_600, id: "b") + Story.success(4_001, id: "b")
                + Story.completion(4_002, id: "b")
        )
        #expect(try !JudgedLog.judge(two).sequenceCheck.isPassed)
    }

    @Test("required stages are told in JSON, with those that are no stage of a cycle")
    func requirements() throws {
        let told = try #require(JudgedLog.object(JudgedLog.judge(Self.lines))["requirements"] as? [[String: Any]])
        let met = Set(told.filter { $0["met"] as? Bool == true }.compactMap { $0["require"] as? String })
        for name in ["registered", "scheduled", "executed", "started", "success", "completed", "used", "delivered"] {
            #expect(met.contains(name), "\(name)")
        }
        #expect(!met.contains("failed"))
        #expect(told.count == Requirement.allCases.count)
    }
}
