// SPDX-License-Identifier: Apache-2.0

import Foundation
import RefreshLifecycle
import TelemetryEvents
import Testing

@testable import LogValidation

/// A case of the refresh guide with what is to come of its lines, and of its analytics events alone.
struct RefreshCase: CustomTestStringConvertible, Sendable {
    var name: String
    var story: RefreshStory
    var expected: RefreshOutcome
    /// The violations that lines without times show, too.
    var untimed: [String] = []
    var analytics: RefreshOutcome

    var testDescription: String { name }
}

extension RefreshCase {
    typealias Story = RefreshStory

    private static let nothing = RefreshOutcome(verdict: .empty, counting: [:])
    private static let completed = RefreshOutcome("completed", counting: ["runs completed": 1])
    private static let quiet = RefreshOutcome(
        "completed",
        counting: ["runs completed": 1, "checks false": 1, "schedules scheduled": 1]
    )
    private static let notified = RefreshOutcome(
        "completed",
        counting: ["runs completed": 1, "checks true": 1, "notifications sent": 1, "schedules scheduled": 1]
    )
    private static let notifiedByAnalytics = RefreshOutcome(
        "completed",
        counting: ["runs completed": 1, "notifications sent": 1]
    )

    static let all = scenarios + troubleshooting

    static let scenarios = [
        RefreshCase(name: "scenario 1, 0 days ago", story: .quiet(0), expected: quiet, analytics: completed),
        RefreshCase(name: "scenario 1, 30 days ago", story: .quiet(30), expected: quiet, analytics: completed),
        RefreshCase(name: "scenario 1, 89 days ago", story: .quiet(89), expected: quiet, analytics: completed),
        RefreshCase(
            name: "scenario 1, 90 days ago",
            story: .notifying(90),
            expected: notified,
            analytics: notifiedByAnalytics
        ),
        RefreshCase(
            name: "scenario 1, 100 days ago",
            story: .notifying(100),
            expected: notified,
            analytics: notifiedByAnalytics
        ),
        RefreshCase(
            name: "scenario 2, denied and then granted",
            story: .of(.run(100, Story.notAuthorized), .notifying(at: 5 * Story.hour)),
            expected: RefreshOutcome(
                "completed",
                "completed",
                counting: [
                    "runs completed": 2, "checks true": 2, "notifications not_authorized": 1, "notifications sent": 1,
                    "schedules scheduled": 2,
                ]
            ),
            analytics: RefreshOutcome(
                "completed",
                "completed",
                counting: ["runs completed": 2, "notifications sent": 1]
            )
        ),
        RefreshCase(
            name: "scenario 3, the second run after 5 hours",
            story: .of(.notifying(), .run(at: 5 * Story.hour, 100) { .alreadyNotified($0, 0) }),
            expected: RefreshOutcome(
                "completed",
                "completed",
                counting: [
                    "runs completed": 2, "checks true": 2, "notifications sent": 1,
                    "notifications already_notified": 1, "schedules scheduled": 2,
                ]
            ),
            analytics: RefreshOutcome(
                "completed",
                "completed",
                counting: ["runs completed": 2, "notifications sent": 1]
            )
        ),
        RefreshCase(
            name: "scenario 3, the second run at once",
            story: .of(.notifying(), .run(at: 60, 100) { .alreadyNotified($0, 0) }),
            expected: RefreshOutcome(
                "completed",
                "completed",
                verdict: .incoherent,
                violations: ["refreshed_too_soon"],
                counting: [
                    "runs completed": 2, "checks true": 2, "notifications sent": 1,
                    "notifications already_notified": 1, "schedules scheduled": 2,
                ]
            ),
            analytics: RefreshOutcome(
                "completed",
                "completed",
                verdict: .incoherent,
                violations: ["refreshed_too_soon"],
                counting: ["runs completed": 2, "notifications sent": 1]
            )
        ),
        skip("scenario 4, not authenticated", .notAuthenticated),
        skip("scenario 4, no network", .noNetwork),
        RefreshCase(
            name: "scenario 4, rate limited",
            story: .of(.quiet(), .skipping(at: 10, .tooRecent)),
            expected: RefreshOutcome(
                "completed",
                "skipped",
                counting: [
                    "runs completed": 1, "runs skipped": 1, "skipped TOO_RECENT": 1, "checks false": 1,
                    "schedules scheduled": 2,
                ]
            ),
            analytics: completed
        ),
        RefreshCase(
            name: "scenario 5, the system ends a run of 35 s after 30 s",
            story: .of(.started(0), .expired(30), .scheduled(30)),
            expected: RefreshOutcome(
                "expired",
                violations: ["ran_too_long", "expired"],
                counting: ["runs expired": 1, "schedules scheduled": 1]
            ),
            untimed: ["expired"],
            analytics: RefreshOutcome("expired", violations: ["expired"], counting: ["runs expired": 1])
        ),
    ]

    static let troubleshooting = [
        RefreshCase(
            name: "troubleshooting, not triggering",
            story: .of(.scheduled(0), .scheduled(4 * Story.hour), .scheduled(8 * Story.hour)),
            expected: RefreshOutcome(verdict: .empty, counting: ["schedules scheduled": 3]),
            analytics: nothing
        ),
        RefreshCase(
            name: "troubleshooting, notification not appearing",
            story: .notifying(),
            expected: notified,
            analytics: notifiedByAnalytics
        ),
        RefreshCase(
            name: "troubleshooting, rate limiting",
            story: .of(
                .skipping(.tooRecent),
                .skipping(at: Story.hour, .tooRecent),
                .skipping(at: 2 * Story.hour, .tooRecent)
            ),
            expected: RefreshOutcome(
                "skipped",
                "skipped",
                "skipped",
                counting: ["runs skipped": 3, "skipped TOO_RECENT": 3, "schedules scheduled": 3]
            ),
            analytics: nothing
        ),
        RefreshCase(
            name: "troubleshooting, registration fails",
            story: .of(.started(0), .checked(1, 30), .completed(2), .scheduleFailed(2)),
            expected: RefreshOutcome(
                "completed",
                counting: ["runs completed": 1, "checks false": 1, "schedules failed": 1]
            ),
            analytics: RefreshOutcome("completed", counting: ["runs completed": 1, "schedules failed": 1])
        ),
    ]

    private static func skip(_ name: String, _ reason: RefreshSkipReason) -> RefreshCase {
        RefreshCase(
            name: name,
            story: .skipping(reason),
            expected: RefreshOutcome(
                "skipped",
                counting: ["runs skipped": 1, "skipped \(reason.name)": 1, "schedules scheduled": 1]
            ),
            analytics: nothing
        )
    }
}

@Suite("The guide of the background refresh: its scenarios and troubleshooting cases")
struct RefreshGuideTests {
    static func outcome(_ lines: [String]) throws -> RefreshOutcome { RefreshOutcome(try JudgedLog.judge(lines)) }

    @Test("a case of the refresh guide comes out as the guide says, told by lines", arguments: RefreshCase.all)
    func lines(guide: RefreshCase) throws {
        #expect(try Self.outcome(guide.story.log) == guide.expected)
        #expect(try Self.outcome(guide.story.log.reversed()) == guide.expected)
        #expect(try Self.outcome(guide.story.log + guide.story.log) == guide.expected)
    }

    @Test(
        "a case of the refresh guide comes out the same told by events, in order and reversed",
        arguments: RefreshCase.all
    )
    func events(guide: RefreshCase) throws {
        #expect(try Self.outcome(guide.story.events) == guide.expected)
        #expect(try Self.outcome(guide.story.events.reversed()) == guide.expected)
    }

    @Test(
        "analytics events alone tell of a case what they can, in order and reversed, and beside its lines add nothing",
        arguments: RefreshCase.all
    )
    func analytics(guide: RefreshCase) throws {
        #expect(try Self.outcome(guide.story.analytics) == guide.analytics)
        #expect(try Self.outcome(guide.story.analytics.reversed()) == guide.analytics)
        #expect(try Self.outcome(guide.story.log + guide.story.analytics) == guide.expected)
        #expect(try Self.outcome(guide.story.analytics + guide.story.log) == guide.expected)
    }

    @Test(
        "a case of the refresh guide comes out the same in every wrapper",
        arguments: RefreshCase.all,
        Wrapping.ofRefresh
    )
    func wrapped(guide: RefreshCase, wrapping: Wrapping) throws {
        let log = WrittenLog.plain.bytes(of: guide.story.lines.map(wrapping.wrap))
        try check(log, guide, wrapping)
    }

    @Test(
        "a refresh comes out the same in every wrapper, whatever happened to the file",
        arguments: Wrapping.ofRefresh,
        WrittenLog.allCases
    )
    func written(wrapping: Wrapping, written: WrittenLog) throws {
        guard wrapping.isOneLine || written != .amongOthers else { return }
        let guide = try #require(RefreshCase.all.first)
        try check(written.bytes(of: guide.story.lines.map(wrapping.wrap)), guide, wrapping)
    }

    @Test("a notification that fails is told by events alone, and nothing is missing then")
    func notificationFails() throws {
        let story = RefreshStory.run(100, RefreshStory.notificationFailed)
        let counts: [String: UInt64] = [
            "runs completed": 1, "checks true": 1, "notifications failed": 1, "schedules scheduled": 1,
        ]
        #expect(try Self.outcome(story.events) == RefreshOutcome("completed", counting: counts))
        #expect(try Self.outcome(story.log + story.analytics) == RefreshOutcome("completed", counting: counts))
        #expect(try Self.outcome(story.log).violations == ["not_notified"])
    }

    /// Folds a log that is read a month after its begin, so that stamps without a year are of that year.
    private func check(_ log: [UInt8], _ guide: RefreshCase, _ wrapping: Wrapping) throws {
        let readAt = Timestamp(seconds: PluginLine.start.microseconds / 1_000_000 + 30 * 86_400)
        var decoder = LogDecoder(
            LogDecoderOptions(),
            pseudonyms: EphemeralPseudonyms(),
            identityKey: IdentityKey(1, 2)
        )
        var fold = RefreshFold(keepsClosedRuns: true, isReceiver: false)
        for decoded in [decoder.decode(log.span, readAt: readAt), decoder.flush(readAt: readAt)] {
            try fold.apply(decoded.events.bytes.span, receivedAt: readAt)
        }
        fold.finish()
        let runs = fold.takeClosedRuns()
        #expect(runs.map { "\($0.outcome.name)" } == guide.expected.outcomes)
        let violations = runs.flatMap { $0.violations.map { "\($0.kind.name)" } }
        #expect(violations == (wrapping.hasTime ? guide.expected.violations : guide.untimed))
        var judged = JudgedRuns()
        judged.totals = fold.totals
        #expect(RefreshOutcome.counts(judged) == guide.expected.counts)
    }
}

@Suite("The limits of the background refresh, to the second and the day")
struct RefreshLimitTests {
    typealias Story = RefreshStory

    /// What lines and events of a story break, in every order.
    private func broken(_ story: RefreshStory) throws -> [String] {
        let violations = try RefreshGuideTests.outcome(story.log).violations
        for lines in [story.log.reversed(), story.events, story.events.reversed()] {
            #expect(try RefreshGuideTests.outcome(lines).violations == violations)
        }
        return violations
    }

    @Test(
        "a check tells a test available from 90 days on, and each other word breaks the rule",
        arguments: [(0, false), (30, false), (89, false), (90, true), (100, true)]
    )
    func availability(days: Int, isDue: Bool) throws {
        #expect(try broken(isDue ? .notifying(days) : .quiet(days)) == [])
        #expect(try broken(isDue ? .quiet(days) : .notifying(days)) == [isDue ? "not_notified" : "notified_too_soon"])
        let wrong = Story.started(0) + .checked(1, days, !isDue) + .completed(2) + .scheduled(2)
        #expect(try broken(wrong) == ["availability_wrong"] + (isDue ? [] : ["not_notified"]))
    }

    @Test("a refresh 3 h 59 min after the last success is too soon, one after 4 h is not")
    func interval() throws {
        // The run before completes in its second 2, and a run checks in its second 1.
        let last = 4 * Story.hour + 1
        #expect(try broken(.quiet() + .quiet(at: last - 60)) == ["refreshed_too_soon"])
        #expect(try broken(.quiet() + .quiet(at: last - 1)) == ["refreshed_too_soon"])
        #expect(try broken(.quiet() + .quiet(at: last)) == [])
        #expect(try broken(.quiet() + .skipping(at: last - 60, .tooRecent)) == [])
    }

    @Test("the user is notified again 90 days later, and not a second before")
    func notificationWindow() throws {
        #expect(try broken(.notifying() + .notifying(at: 90 * Story.day - 1, 190)) == ["notified_again"])
        #expect(try broken(.notifying() + .notifying(at: 90 * Story.day, 190)) == [])
    }

    @Test(
        "a run may take 20 s as the target and 30 s as the system's limit, and not a hundredth more",
        arguments: [
            ("20.00", []), ("20.01", ["ran_too_long"]), ("30.00", ["ran_too_long"]),
            ("30.01", ["ran_too_long", "expired"]),
        ]
    )
    func duration(took: String, violations: [String]) throws {
        let run = Story.started(0) + .checked(1, 30) + .completed(31, took: took) + .scheduled(31)
        #expect(try broken(run) == violations)
    }

    @Test("a run that expires after 35 s has ended, one that does a second later has not in time")
    func expiry() throws {
        func run(_ end: Int) -> RefreshStory { .started(0) + .expired(end) + .scheduled(end) }
        #expect(try broken(run(35)) == ["ran_too_long", "expired"])
        #expect(try broken(run(36)) == ["run_not_ended", "ran_too_long", "expired"])
        #expect(try RefreshGuideTests.outcome(run(35).log).verdict == .coherent)
        #expect(try RefreshGuideTests.outcome(run(36).log).verdict == .incoherent)
        #expect(try broken(.started(0)) == ["run_not_ended"])
    }

    @Test("the next refresh is scheduled up to 4 h 15 min after a run, and not a second later")
    func scheduling() throws {
        let run = Story.started(0) + .checked(1, 30) + .completed(2)
        let limit = 2 + 4 * Story.hour + 900
        #expect(try broken(run + .scheduled(limit)) == [])
        #expect(try broken(run + .scheduled(limit + 1)) == ["next_not_scheduled"])
        #expect(try broken(run + .quiet(at: 5 * Story.hour)) == ["next_not_scheduled"])
    }
}
