// SPDX-License-Identifier: Apache-2.0

import LifecycleState
import RefreshLifecycle
import TelemetryEvents
import Testing

/// Events that break a rule, or keep it by a hair.
struct RuleRow: CustomTestStringConvertible, Sendable {
    var rule: String
    var isBroken: Bool
    var name: String
    var events: [Told]

    init(_ rule: String, _ isBroken: Bool, _ name: String, _ events: [Told]) {
        self.rule = rule
        self.isBroken = isBroken
        self.name = name
        self.events = events
    }

    var testDescription: String { "\(rule) is \(isBroken ? "broken" : "kept"): \(name)" }

    static let all = soon + notified + told + checks + ends + schedules + durations

    private static let soon = [
        RuleRow(
            "refreshed_too_soon",
            true,
            "a check 3 h 59 min after a completion",
            .quiet() + .quiet(at: 4 * hours - 60)
        ),
        RuleRow(
            "refreshed_too_soon",
            true,
            "a check a microsecond before 4 h",
            .quiet() + [.started(0), .checked(2.999_999, 30), .completed(3), .scheduled(3)].after(4 * hours - 1)
        ),
        RuleRow(
            "refreshed_too_soon",
            false,
            "a check at 4 h exactly",
            .quiet() + [.started(0), .checked(3, 30), .completed(4), .scheduled(4)].after(4 * hours - 1)
        ),
        RuleRow("refreshed_too_soon", true, "a completion alone", [.completed(0), .completed(3 * hours)]),
        RuleRow("refreshed_too_soon", false, "after a failure", [.completed(0, false), .completed(3 * hours)]),
        RuleRow("refreshed_too_soon", false, "after an unknown result", [.completed(0, nil), .completed(3 * hours)]),
        RuleRow(
            "refreshed_too_soon",
            false,
            "with a skip",
            .quiet() + [.started(60), .skipped(60, .tooRecent), .scheduled(61)]
        ),
        RuleRow(
            "refreshed_too_soon",
            true,
            "behind a skipped run",
            .quiet() + [.started(60), .skipped(60, .tooRecent)] + .quiet(at: 3 * hours)
        ),
    ]

    private static let notified = [
        RuleRow("notified_too_soon", true, "89 days", .run(89)),
        RuleRow("notified_too_soon", false, "90 days", .run(90)),
        RuleRow("notified_too_soon", false, "without a check", [.started(0), .sent(1), .completed(2)]),
        RuleRow("notified_again", true, "89 days later", .run() + .run(at: 89 * days)),
        RuleRow("notified_again", true, "a second before 90 days", .run() + .run(at: 90 * days - 1)),
        RuleRow("notified_again", false, "90 days later", .run() + .run(at: 90 * days)),
        RuleRow("notified_again", true, "twice in a run", .run() + [.sent(4)]),
        RuleRow("notified_again", true, "twice within a second", .run() + [.sent(1.2)]),
        RuleRow("notified_again", false, "told by a line and an event of one time", .run() + [.sent(1).analytics()]),
        RuleRow(
            "notified_again",
            false,
            "told by a line, and by an event just not 2 s later",
            .run() + [.sent(2.999_999).analytics()]
        ),
        RuleRow("notified_again", true, "told by a line, and by an event 2 s later", .run() + [.sent(3).analytics()]),
        RuleRow(
            "notified_again",
            true,
            "told by a line and two events",
            .run() + [.sent(1.5).analytics(), .sent(2.9).analytics()]
        ),
        RuleRow(
            "notified_again",
            true,
            "twice in a run, each told by a line and an event",
            [.started(0), .sent(1.5), .sent(1.6).analytics(), .sent(1.7).analytics(), .sent(1.8)]
        ),
        RuleRow(
            "notified_again",
            false,
            "by analytics events alone",
            [.sent(0), .completed(1), .completed(5 * hours)]
        ),
        RuleRow("not_notified", true, "nothing sent", .quiet(90)),
        RuleRow("not_notified", false, "not available", .quiet(89)),
        RuleRow("not_notified", false, "failed", [.started(0), .checked(1, 100), .completed(2, false)]),
        RuleRow(
            "not_notified",
            false,
            "not authorised",
            [.started(0), .checked(1, 100), .notAuthorized(1), .completed(2)]
        ),
        RuleRow(
            "not_notified",
            false,
            "not authorised before",
            [.started(0), .checked(1, 100), .notAuthorized(1), .completed(2), .scheduled(2)]
                + .quiet(100, at: 5 * hours)
        ),
        RuleRow("not_notified", false, "notified before", .run() + .quiet(100, at: 5 * hours)),
        RuleRow(
            "not_notified",
            false,
            "notified before, without times",
            ([Told].run() + [Told].quiet(100, at: 10)).map { $0.assumed() }
        ),
        RuleRow(
            "not_notified",
            false,
            "told as notified before, without times",
            ([.started(0), .checked(1, 100), .alreadyNotified(1, 2), .completed(2)] + [Told].quiet(100, at: 10))
                .map { $0.assumed() }
        ),
        RuleRow("not_notified", true, "nothing sent, without times", [Told].quiet(90).map { $0.assumed() }),
        RuleRow("not_notified", true, "notified 90 days before", .run() + .quiet(190, at: 90 * days + 1)),
        RuleRow(
            "not_notified",
            false,
            "told as notified before",
            [.started(0), .checked(1, 100), .alreadyNotified(1, 10), .completed(2)] + .quiet(100, at: 79 * days)
        ),
        RuleRow(
            "not_notified",
            true,
            "told as notified 90 days before",
            [.started(0), .checked(1, 100), .alreadyNotified(1, 10), .completed(2)] + .quiet(100, at: 80 * days)
        ),
    ]

    /// A run that skips its notification because one was sent some days before.
    private static func skipping(_ daysAgo: Int64) -> [Told] {
        [.started(0), .checked(1, 100), .alreadyNotified(1, daysAgo), .completed(2), .scheduled(2)]
    }

    private static let told = [
        RuleRow("notified_again", true, "ten hours after a skip tells of one", skipping(10) + .run(at: 10 * hours)),
        RuleRow("notified_again", true, "89 days after one that a skip tells", skipping(10) + .run(at: 79 * days - 2)),
        RuleRow("notified_again", false, "perhaps 90 days after it", skipping(10) + .run(at: 79 * days)),
        RuleRow("notified_again", false, "a skip tells of 90 days", skipping(90) + .run(at: 10 * hours)),
        RuleRow("notified_again", false, "before the skip", .run(at: -10 * hours) + skipping(0)),
        RuleRow(
            "notified_again",
            false,
            "after a skip, without times",
            (skipping(10) + [Told].run(at: 10)).map { $0.assumed() }
        ),
    ]

    private static let checks = [
        RuleRow("availability_wrong", true, "available after 89 days", [.checked(0, 89, true)]),
        RuleRow("availability_wrong", false, "not available after 89 days", [.checked(0, 89, false)]),
        RuleRow("availability_wrong", true, "not available after 90 days", [.checked(0, 90, false)]),
        RuleRow("availability_wrong", false, "available after 90 days", [.checked(0, 90, true)]),
        RuleRow("worked_after_skip", true, "a check", [.started(0), .skipped(1, .noNetwork), .checked(2, 30)]),
        RuleRow("worked_after_skip", true, "a completion", [.started(0), .skipped(1, .noNetwork), .completed(2)]),
        RuleRow("worked_after_skip", true, "a notification", [.started(0), .skipped(1, .noNetwork), .sent(2)]),
        RuleRow(
            "worked_after_skip",
            true,
            "in the same second",
            [.started(0), .skipped(1, .noNetwork), .checked(1, 30)]
        ),
        RuleRow(
            "worked_after_skip",
            false,
            "a check before it",
            [.started(0), .checked(1, 30), .skipped(2, .noNetwork)]
        ),
        RuleRow("worked_after_skip", false, "the next run", [.started(0), .skipped(1, .noNetwork)] + .quiet(at: 2)),
        RuleRow("worked_after_skip", false, "an expiry", [.started(0), .skipped(1, .noNetwork), .expired(2)]),
    ]

    private static let ends = [
        RuleRow("run_not_ended", true, "no end", [.started(0)]),
        RuleRow("run_not_ended", true, "no end before the next start", [.started(0)] + .quiet(at: 3)),
        RuleRow("run_not_ended", false, "expired at 35 s", [.started(0), .expired(35)]),
        RuleRow("run_not_ended", true, "expired behind 35 s", [.started(0), .expired(35.000_001)]),
        RuleRow("run_not_ended", true, "completed after a minute", [.started(0), .completed(60)]),
        RuleRow("run_not_ended", false, "no start", [.checked(0, 30)]),
        RuleRow("run_not_ended", true, "no end and no times", [Told.started(0).assumed()]),
        RuleRow("expired", true, "told", [.started(0), .expired(3)]),
        RuleRow("expired", false, "30 s", [.started(0), .completed(30, took: 30)]),
        RuleRow("expired", true, "longer than 30 s", [.started(0), .completed(30.01, took: 30.01)]),
    ]

    private static let schedules = [
        RuleRow("next_not_scheduled", true, "a launch after 4 h", ended + .quiet(at: 4 * hours)),
        RuleRow(
            "next_not_scheduled",
            false,
            "scheduled before the launch",
            ended + [.scheduled(hours)] + .quiet(at: 4 * hours)
        ),
        RuleRow(
            "next_not_scheduled",
            true,
            "told in the second of the next start, which ends in it, too",
            [.started(0), .skipped(0, .noNetwork), .started(hours), .skipped(hours, .noNetwork), .scheduled(hours)]
        ),
        RuleRow("next_not_scheduled", false, "refused", ended + [.scheduleFailed(3)] + .quiet(at: 4 * hours)),
        RuleRow(
            "next_not_scheduled",
            false,
            "scheduled first",
            [.started(0), .scheduled(0), .completed(2)] + .quiet(at: 5 * hours)
        ),
        RuleRow("next_not_scheduled", false, "scheduled at 4 h 15 min", ended + [.scheduled(limit)]),
        RuleRow("next_not_scheduled", true, "scheduled behind 4 h 15 min", ended + [.scheduled(limit + 1)]),
        RuleRow("next_not_scheduled", false, "the log ends", ended),
        RuleRow(
            "next_not_scheduled",
            true,
            "skipped and launched",
            [.started(0), .skipped(0, .noNetwork)] + .quiet(at: hours)
        ),
        RuleRow("next_not_scheduled", false, "analytics events", .twoEnds.analytics()),
        RuleRow("next_not_scheduled", true, "the same as lines", .twoEnds),
        RuleRow(
            "next_not_scheduled",
            false,
            "a run without a start, which is no launch, within the limit",
            [.started(0), .completed(2), .completed(6)]
        ),
        RuleRow(
            "next_not_scheduled",
            false,
            "a schedule in the second of the end",
            [.completed(0), .scheduled(0), .started(5 * hours)]
        ),
        RuleRow("next_not_scheduled", false, "no end", [.started(0)] + .quiet(at: hours)),
    ]
    private static let ended: [Told] = [.started(0), .checked(1, 30), .completed(2)]
    private static let limit = 2 + 4 * hours + 15 * minutes

    private static let durations = [
        RuleRow("ran_too_long", false, "told as 20 s", [.started(0), .completed(20, took: 20)]),
        RuleRow("ran_too_long", true, "told as 20.01 s", [.started(0), .completed(20, took: 20.01)]),
        RuleRow("ran_too_long", false, "seen for 20 s", [.started(0), .completed(20, took: nil)]),
        RuleRow("ran_too_long", true, "seen for 20.01 s", [.started(0), .completed(20.01, took: nil)]),
        RuleRow("ran_too_long", true, "expired after 30 s", [.started(0), .expired(30)]),
        RuleRow("ran_too_long", true, "by an analytics event", [.completed(0, took: 25)]),
        RuleRow("ran_too_long", false, "never ended", [.started(0), .checked(25, 30)]),
    ]
}

extension [Told] {
    fileprivate static let twoEnds: [Told] = [.completed(0), .completed(5 * hours)]
}

@Suite("The rules for runs of the background refresh")
struct RefreshRuleTests {
    @Test("a rule is broken, or kept by a hair", arguments: RuleRow.all)
    func ruleIsBrokenOrKept(row: RuleRow) throws {
        #expect(try broken(row.events).contains(row.rule) == row.isBroken)
        #expect(try broken(Array(row.events.reversed())).contains(row.rule) == row.isBroken)
        #expect(try broken(row.events + row.events).contains(row.rule) == row.isBroken)
    }

    @Test("there is a row both ways for every rule")
    func everyRuleHasRows() {
        for kind in RefreshViolationKind.allCases {
            #expect(Set(RuleRow.all.filter { $0.rule == "\(kind.name)" }.map(\.isBroken)) == [true, false])
        }
    }

    @Test("every violation has a bucket and tells what happened in a sentence")
    func violationsHaveDetails() throws {
        #expect(RefreshViolationKind.allCases.filter { $0.bucket == .b } == [.nextNotScheduled, .ranTooLong])
        #expect(RefreshViolationKind.allCases.filter { $0.bucket == .c } == [.expired])
        for row in RuleRow.all where row.isBroken {
            for run in try RefreshFold.judged(row.events) {
                for violation in run.violations {
                    #expect(violation.detail.count > 20)
                    #expect(!violation.detail.contains("-"), "\(violation.detail)")
                }
            }
        }
    }

    @Test("a notification too many is told with the time since the last one, as a skip tells it where none was seen")
    func timeSinceToldNotification() throws {
        let skipping: [Told] = [.started(0), .checked(1, 100), .alreadyNotified(1, 10), .completed(2), .scheduled(2)]
        let runs = try RefreshFold.judged(skipping + .run(at: 10 * hours))
        #expect(
            runs.flatMap(\.violations).map(\.detail) == [
                "notified about 10 days after the last notification, of which an earlier run tells; "
                    + "once in 90 days is allowed"
            ]
        )
    }

    @Test("events of installations that are not told apart are counted one by one")
    func anonymousEventsAreCountedAlone() throws {
        var fold = RefreshFold(keepsClosedRuns: true, anonymousIsOneInstallation: false)
        try fold.apply(([Told].run() + .run(at: 1) + [.checked(2, 3, true)]).of(0))
        #expect(fold.totals.runs(.completed) == 2)
        #expect(fold.totals.notifications(.sent) == 2)
        #expect(fold.totals.violations(.availabilityWrong) == 1)
        #expect(fold.totals.violations(.notifiedAgain) == 0)
        #expect(fold.totals.violations(.runNotEnded) == 0)
        #expect(fold.knownInstallations == 0)
    }
}
