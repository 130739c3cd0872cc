// SPDX-License-Identifier: Apache-2.0

import Foundation
import RefreshLifecycle
import TelemetryEvents
import Testing

@testable import LogValidation

@Suite("Scenarios of the background refresh by name")
struct NamedRefreshScenarioTests {
    typealias Story = RefreshStory

    private static let later = 5 * Story.hour
    private static let denied = Story.run(100, Story.notAuthorized)
    private static func notifiedBefore(at second: Int, daysAgo: Int = 0) -> RefreshStory {
        .run(at: second, 100) { Story.alreadyNotified($0, daysAgo) }
    }
    private static let expired = Story.started(0) + .expired(30) + .scheduled(30)

    /// A log, and a scenario that it shows.
    struct Shown: Sendable {
        let scenario: String
        let story: RefreshStory
    }

    /// A log that lacks something of a scenario, or contradicts it, and what is said of that.
    struct NotShown: Sendable {
        let scenario: String
        let story: RefreshStory
        let says: String
    }

    private static func shows(_ scenario: String, _ story: RefreshStory) -> Shown {
        Shown(scenario: scenario, story: story)
    }

    private static func lacks(_ scenario: String, _ story: RefreshStory, _ says: String) -> NotShown {
        NotShown(scenario: scenario, story: story, says: says)
    }

    /// The five intervals of the guide in one log, a run every 5 hours.
    private static let intervals = Story.of(
        .quiet(0),
        .quiet(at: later, 30),
        .quiet(at: 2 * later, 89),
        .notifying(at: 3 * later, 90),
        notifiedBefore(at: 4 * later)
    )

    static let shown: [Shown] = [
        shows("refresh-cadence", .quiet(0)),
        shows("refresh-cadence", .quiet(30)),
        shows("refresh-cadence", .quiet(89)),
        shows("refresh-cadence", .notifying(90)),
        shows("refresh-cadence", .notifying(100)),
        shows("refresh-cadence", intervals),
        // Triggered one right after the other, as the guide does.
        shows("refresh-cadence", .of(.quiet(30), .notifying(at: 60, 90))),
        shows("refresh-authorization", .of(denied, .notifying(at: later))),
        shows("refresh-authorization", .of(denied, .notifying(at: 60))),
        shows("refresh-deduplication", .of(.notifying(), notifiedBefore(at: later))),
        shows("refresh-deduplication", .of(.notifying(), notifiedBefore(at: 60))),
        shows("refresh-deduplication", .of(.notifying(), notifiedBefore(at: 20 * Story.day, daysAgo: 20))),
        shows("refresh-fast-fail", .skipping(.notAuthenticated)),
        shows("refresh-fast-fail", .skipping(.noNetwork)),
        shows("refresh-fast-fail", .of(.quiet(), .skipping(at: 10, .tooRecent))),
        shows("refresh-expiration", expired),
        shows("refresh-expiration", .of(.started(0), .expired(35), .scheduled(35))),
        shows("refresh-expiration", .of(.started(0), .expired(30), .completed(30, false), .scheduled(30))),
    ]

    static let notShown: [NotShown] = [
        lacks("refresh-cadence", expired, "expected a check that tells the days since the last test, found 1 expired"),
        lacks("refresh-cadence", .notifying(89), "expected no notification before 90 days, found 89 days: sent"),
        lacks(
            "refresh-cadence",
            .quiet(90),
            "expected a notification, sent or skipped as already notified, in each run from 90 days on, found "
                + "90 days: no notification"
        ),
        lacks("refresh-cadence", denied, "in each run from 90 days on, found 100 days: not_authorized"),
        lacks(
            "refresh-cadence",
            .of(.started(0), .checked(1, 89, true), .sent(1), .completed(2), .scheduled(2)),
            "expected a test available from 90 days on, and not before, found 89 days: available"
        ),
        lacks(
            "refresh-authorization",
            denied,
            #"expected a run that tells "Sent test available notification", found 1 not_authorized"#
        ),
        lacks(
            "refresh-authorization",
            .notifying(),
            #"expected a run that tells "Skipping notification: Not authorized", found 1 sent"#
        ),
        lacks(
            "refresh-authorization",
            .run(100) { .of(.notAuthorized($0), .sent($0)) },
            #"expected a run that tells "Skipping notification: Not authorized", found 1 sent"#
        ),
        lacks(
            "refresh-deduplication",
            .notifying(),
            #"expected a later run that tells "Skipping notification: Already notified", found 1 sent"#
        ),
        lacks(
            "refresh-deduplication",
            notifiedBefore(at: 0, daysAgo: 3),
            #"expected a run that tells "Sent test available notification", found 1 already_notified"#
        ),
        lacks(
            "refresh-deduplication",
            .of(notifiedBefore(at: 0, daysAgo: 3), .notifying(at: later)),
            "expected a later run that tells"
        ),
        lacks(
            "refresh-deduplication",
            .of(.notifying(), .notifying(at: later), notifiedBefore(at: 2 * later)),
            "expected no violation of bucket A but refreshed_too_soon, found notified_again"
        ),
        lacks(
            "refresh-fast-fail",
            .quiet(),
            #"expected a run that tells "Skipping refresh" with its reason, found 1 completed"#
        ),
        lacks(
            "refresh-fast-fail",
            .of(.started(0), .skipped(21, .noNetwork), .scheduled(21)),
            "expected every skip within 20 s of its start, found 21 s"
        ),
        lacks(
            "refresh-fast-fail",
            .of(.started(0), .skipped(0, .noNetwork), .checked(2, 30), .scheduled(2)),
            "expected no violation of bucket A, found worked_after_skip"
        ),
        lacks(
            "refresh-fast-fail",
            .of(.quiet(), .quiet(at: 60), .skipping(at: 70, .tooRecent)),
            "expected no violation of bucket A, found refreshed_too_soon"
        ),
        lacks(
            "refresh-expiration",
            .of(.started(0), .completed(34, took: "34.00"), .scheduled(34)),
            #"expected a run that tells "Background refresh task expired before completion", found 1 completed"#
        ),
        lacks(
            "refresh-expiration",
            .of(.started(0), .expired(30), .completed(31), .scheduled(31)),
            "expected no success of a run that expired, found a completion with success: true"
        ),
        lacks(
            "refresh-expiration",
            .of(.started(0), .expired(36), .scheduled(36)),
            "expected no violation of bucket A, found run_not_ended"
        ),
    ]

    private func check(_ name: String, _ lines: [String]) throws -> CheckResult {
        let scenario = try #require(GuideScenario.named(name))
        return try #require(JudgedLog.judge(lines).check([scenario]).first)
    }

    @Test("there are the guide's five scenarios of the background refresh, each shown and not shown by a log")
    func allOfThem() {
        let names = [
            "refresh-cadence", "refresh-authorization", "refresh-deduplication", "refresh-fast-fail",
            "refresh-expiration",
        ]
        #expect(GuideScenario.ofRefresh.map(\.name) == names)
        #expect(Set(Self.shown.map(\.scenario)) == Set(names))
        #expect(Set(Self.notShown.map(\.scenario)) == Set(names))
        #expect(GuideScenario.all.filter { $0.app == .aiq }.map(\.name) == names)
    }

    @Test("a scenario of the refresh passes on a log that shows it", arguments: shown.indices)
    func passes(index: Int) throws {
        let (name, story) = (Self.shown[index].scenario, Self.shown[index].story)
        for lines in [story.log, story.log.reversed(), story.bareLog, story.events] {
            #expect(try check(name, lines).failures == [])
        }
    }

    @Test("a scenario of the refresh says what a log lacks or contradicts", arguments: notShown.indices)
    func fails(index: Int) throws {
        let row = Self.notShown[index]
        for lines in [row.story.log, row.story.log.reversed(), row.story.events] {
            let failures = try check(row.scenario, lines).failures
            #expect(failures.contains { $0.contains(row.says) }, "\(failures)")
        }
    }

    @Test(
        "a scenario of the refresh fails on a log of nothing and on one of the plugin",
        arguments: GuideScenario.ofRefresh.map(\.name)
    )
    func nothing(name: String) throws {
        #expect(try !check(name, ["nothing of ours"]).isPassed)
        #expect(try !check(name, JudgedLog.lines(NamedScenarioTests.happy)).isPassed)
    }

    @Test("a scenario that passes names what its log leaves untested, in text, JSON and JUnit")
    func untested() throws {
        let scenarios = try ["refresh-cadence", "refresh-fast-fail", "refresh-expiration"].map {
            try #require(GuideScenario.named($0))
        }
        let judgement = try JudgedLog.judge((Story.quiet() + .skipping(at: 10, .tooRecent)).log)
        let checks = judgement.check(scenarios)
        let days = "not in the log: a check after 0, 89, 90, 100 days"
        let reasons = "not in the log: a skip for NOT_AUTHENTICATED, NO_NETWORK"
        let text = judgement.text(checks: checks)
        #expect(text.contains("  ✓ refresh-cadence\n      \(days)\n  ✓ refresh-fast-fail\n      \(reasons)\n"))
        #expect(text.contains("  ✗ refresh-expiration\n      expected a run that tells"))
        let junit = judgement.junit(checks: checks)
        #expect(junit.contains(#"<testsuite name="scenarios" tests="3" failures="1""#))
        #expect(junit.contains(days) && junit.contains(reasons))
        let told = try #require(JudgedLog.object(judgement, checks)["scenarios"] as? [[String: Any]])
        #expect(told.map { $0["passed"] as? Bool } == [true, true, false])
        #expect(told.map { $0["untested"] as? String } == [days, reasons, nil])
        let every = try #require(Self.shown.first { $0.story.lines.count > 20 })
        #expect(try check(every.scenario, every.story.log).untested == nil)
    }

    @Test("each app's scenarios look at its own rules")
    func bothApps() throws {
        let lines = JudgedLog.lines(NamedScenarioTests.happy) + (Story.notifying() + .notifying(at: 5 * Story.hour)).log
        #expect(try check("dst", lines).isPassed)
        #expect(try !check("refresh-cadence", lines).isPassed)
        let broken = JudgedLog.lines(
            NamedScenarioTests.happy + GuideStory.execution(90_000, due: 90_300, id: "z") + GuideStory.launch(95_000)
        )
        #expect(try check("refresh-cadence", broken + Story.quiet().log).isPassed)
        #expect(try !check("dst", broken + Story.quiet().log).isPassed)
    }
}

@Suite("The sequence and required stages of the background refresh")
struct RefreshSequenceTests {
    typealias Story = RefreshStory

    private func failures(_ lines: [String]) throws -> [String] {
        try JudgedLog.judge(lines).sequenceChecks.flatMap(\.failures)
    }

    @Test("the four lines that the guide expects of a run pass, with and without times")
    func whole() throws {
        for story in [Story.quiet(), .notifying()] {
            #expect(try failures(story.log) == [])
            #expect(try failures(story.bareLog) == [])
            #expect(try failures(story.events) == [])
        }
    }

    @Test(
        "a line that is missing in the only run is named",
        arguments: [
            ("task started", "missing: Background refresh task started"), ("Last test", "missing: Last test was"),
            ("completed", "missing: Background refresh completed with success: true"),
            ("Scheduled", "missing: Scheduled background refresh"),
        ]
    )
    func missing(words: String, says: String) throws {
        #expect(try failures(Story.quiet().log.filter { !$0.contains(words) }) == [says])
    }

    @Test("a run without success, and one that schedules before it completes, do not follow the sequence")
    func order() throws {
        let failed = Story.started(0) + .checked(1, 30) + .completed(2, false) + .scheduled(2)
        #expect(try failures(failed.log) == ["missing: Background refresh completed with success: true"])
        let early = Story.started(0) + .checked(1, 30) + .scheduled(1) + .completed(2)
        let says = "out of order: Scheduled background refresh comes before a step that belongs before it"
        #expect(try failures(early.log) == [says])
        #expect(try failures((early + .scheduled(3)).log) == [])
        #expect(try failures((early + .quiet(at: 5 * Story.hour)).log) == [])
    }

    @Test("the lines of two runs do not add up")
    func twoRuns() throws {
        let story =
            Story.started(0) + .checked(1, 30) + .expired(30) + .started(5 * Story.hour)
            + .completed(5 * Story.hour + 1) + .scheduled(5 * Story.hour + 1)
        #expect(try failures(story.log) == ["missing: Last test was"])
    }

    @Test("the sequence is asked of each app that the log tells of, and of the one that is named")
    func apps() throws {
        let prefetch = JudgedLog.lines(NamedScenarioTests.happy)
        func names(_ lines: [String], _ apps: Set<App>? = nil) throws -> [String] {
            try JudgedLog.judge(lines) { $0.apps = apps ?? $0.apps }.sequenceChecks.map(\.name)
        }
        let refresh = "--sequence of the background refresh"
        #expect(try names(prefetch) == ["--sequence"])
        #expect(try names(Story.quiet().log) == [refresh])
        #expect(try names(prefetch + Story.quiet().log) == ["--sequence", refresh])
        #expect(try names(prefetch + Story.quiet().log, [.aiq]) == [refresh])
        #expect(try names(prefetch + Story.quiet().log, [.dnp]) == ["--sequence"])
        #expect(try names([]) == ["--sequence"])
        let nothing = try JudgedLog.judge(prefetch) { $0.apps = [.aiq] }.sequenceChecks
        #expect(nothing.flatMap(\.failures) == ["no run of the background refresh"])
    }

    /// Stories, and what `--require` finds in them.
    static let reached: [(story: RefreshStory, requirements: Set<Requirement>)] = [
        (.notifying(), [.started, .checked, .notified, .completed, .scheduled]),
        (.quiet(), [.started, .checked, .completed, .scheduled]),
        (.skipping(.noNetwork), [.started, .skipped, .scheduled]),
        (.of(.started(0), .expired(30), .scheduleFailed(30)), [.started, .expired]),
        (.of(.started(0), .completed(2, false)), [.started, .failed]), (.started(0), [.started, .incomplete]),
    ]

    @Test("required stages and outcomes of a log of runs alone are those of its runs", arguments: reached.indices)
    func requirements(index: Int) throws {
        let (story, reached) = Self.reached[index]
        let judgement = try JudgedLog.judge(story.log)
        #expect(Set(judgement.unmet(Requirement.allCases)) == Set(Requirement.allCases).subtracting(reached))
        let told = try #require(JudgedLog.object(judgement)["requirements"] as? [[String: Any]])
        let met = told.filter { $0["met"] as? Bool == true }.compactMap { $0["require"] as? String }
        #expect(Set(met) == Set(reached.map(\.rawValue)))
    }

    @Test("in a log of both apps a name that both have is asked of the cycles, and one of runs alone of the runs")
    func requirementsOfBoth() throws {
        let cut = JudgedLog.lines(NamedScenarioTests.happy).filter { !$0.contains("Task completed") }
        let judgement = try JudgedLog.judge(cut + Story.notifying().log)
        #expect(judgement.unmet([.completed, .used, .notified, .checked, .skipped]) == [.completed, .skipped])
        #expect(judgement.unmetSentence(.completed) == "no cycle's task was completed")
        #expect(judgement.unmetSentence(.skipped) == "no run of the background refresh ended as skipped")
        let narrowed = try JudgedLog.judge(cut + Story.notifying().log) { $0.apps = [.aiq] }
        #expect(narrowed.unmet([.completed, .started]) == [])
    }

    @Test("a requirement that runs cannot meet says so in a log of runs alone")
    func unmetSentences() throws {
        let judgement = try JudgedLog.judge(Story.quiet().log)
        #expect(
            judgement.unmetSentence(.used)
                == "no cycle's content was used for its notification, and the input tells of the background refresh alone"
        )
        #expect(judgement.unmetSentence(.notified) == "no run of the background refresh notified the user")
        #expect(
            judgement.junit(requirements: [.notified]).contains("no run of the background refresh notified the user")
        )
        for requirement in Requirement.allCases {
            #expect(requirement.exists(for: .dnp) || requirement.exists(for: .aiq), "\(requirement)")
        }
    }
}
