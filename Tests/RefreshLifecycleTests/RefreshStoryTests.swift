// SPDX-License-Identifier: Apache-2.0

import RefreshLifecycle
import TelemetryEvents
import TestSupport
import Testing

@Suite("Runs of the background refresh")
struct RefreshRunTests {
    @Test("a run that notifies and schedules the next one is completed and breaks no rule")
    func happyRunIsCoherent() throws {
        let runs = try RefreshFold.judged(.run())
        #expect(runs.map(\.outcome) == [.completed])
        #expect(runs.flatMap(\.violations).isEmpty)
        #expect(runs.first?.notification == .sent)
        #expect(runs.first?.daysSinceTest == 100)
        let totals = try RefreshFold.total(.run())
        #expect(totals.runs(.completed) == 1)
        #expect(totals.checks(isAvailable: true) == 1)
        #expect(totals.notifications(.sent) == 1)
        #expect(totals.schedules(.scheduled) == 1)
        #expect(totals.duration.count == 1)
        #expect(totals.duration.total == 1.25)
        #expect(totals.daysSinceTest.total == 100)
    }

    @Test(
        "a run ends as it is told, whether its start was told or not",
        arguments: [
            (Told.completed(2), RunOutcome.completed), (.completed(2, nil, took: nil), .completed),
            (.completed(2, false), .failed), (.expired(30), .expired), (.skipped(0, .noNetwork), .skipped),
        ]
    )
    func outcomeIsAsTold(end: Told, outcome: RunOutcome) throws {
        #expect(try RefreshFold.judged([.started(0), end]).map(\.outcome) == [outcome])
        #expect(try RefreshFold.judged([end]).map(\.outcome) == [outcome])
    }

    @Test("a start without an end is an incomplete run, and so is a check alone")
    func runWithoutEndIsIncomplete() throws {
        #expect(try outcomes([.started(0)]) == ["incomplete"])
        #expect(try outcomes([.checked(0, 30)]) == ["incomplete"])
    }

    @Test("a line and an analytics event of one moment of a run count once")
    func lineAndAnalyticsEventCountOnce() throws {
        let lines: [Told] = .run()
        let analytics: [Told] = [.completed(2.4, true, took: 1.2), .sent(1.7)].analytics()
        let totals = try RefreshFold.total(lines + analytics)
        #expect(totals.runs(.completed) == 1)
        #expect(totals.notifications(.sent) == 1)
        #expect(totals.duration.count == 1)
        #expect(totals.duration.total == 1.25)
        #expect(try broken(lines + analytics).isEmpty)
    }

    @Test("two lines, or two events, of one kind are two moments, however soon one follows the other")
    func everyLineIsAMoment() throws {
        let run: [Told] = [.started(0), .checked(1, 100), .sent(1.2), .sent(1.4), .completed(2)]
        let schedules: [Told] = [.scheduled(2), .scheduled(2.5), .scheduleFailed(3), .scheduleFailed(3.1)]
        for events in [run + schedules, (run + schedules).analytics()] {
            let totals = try RefreshFold.total(events)
            #expect(totals.notifications(.sent) == 2)
            #expect(totals.schedules(.scheduled) == 2 && totals.schedules(.failed) == 2)
            #expect(try broken(events) == ["notified_again"])
        }
    }

    @Test("each line has one event of its moment, in every order of arrival")
    func linesAndEventsArePairs() throws {
        let told: [Told] = [
            .started(0), .checked(0.5, 100), .sent(1), .sent(1.2).analytics(), .sent(1.4), .sent(1.5).analytics(),
            .sent(1.6).analytics(), .completed(8), .scheduled(9),
        ]
        var random = SplitMix64(seed: 1)
        for _ in 0..<50 {
            var live = RefreshFold.keeping()
            for told in told.shuffled(using: &random) { try live.apply([told], at: 1) }
            #expect(live.totals.notifications(.sent) == 3)
            live.closeAll(from: 3)
            #expect(live.totals.violations(.notifiedAgain) == 1)
        }
    }

    @Test("a line of a whole second and its event up to 2 s later count once, in every order of arrival")
    func eventBehindAWholeSecond() throws {
        let events: [Told] = [
            .started(0), .checked(1, 100), .sent(1), .sent(2.9).analytics(), .completed(3), .scheduleFailed(3),
            .scheduleFailed(4.999_999).analytics(), .scheduled(60), .scheduled(62),
        ]
        var random = SplitMix64(seed: 1)
        for _ in 0..<50 {
            let order = events.shuffled(using: &random)
            let totals = try RefreshFold.total(order)
            #expect(totals.notifications(.sent) == 1)
            #expect(totals.schedules(.failed) == 1 && totals.schedules(.scheduled) == 2)
            #expect(try broken(order).isEmpty)
        }
    }

    @Test("a start in the second of a notification divides those around it in every order of arrival")
    func startDividesAWholeSecond() throws {
        let events: [Told] = [.sent(0).analytics(), .sent(0.1), .started(0.2), .sent(1.5)]
        var random = SplitMix64(seed: 1)
        for _ in 0..<50 {
            var live = RefreshFold.keeping()
            for told in events.shuffled(using: &random) { try live.apply([told], at: 1) }
            #expect(live.totals.notifications(.sent) == 2)
        }
    }

    @Test("analytics events alone make a run, in whatever order its end and its notification come")
    func analyticsEventsAloneMakeARun() throws {
        let events: [Told] = [.completed(0, true, took: 1.2), .sent(1)]
        #expect(try outcomes(events) == ["completed"])
        #expect(try RefreshFold.total(events).notifications(.sent) == 1)
        #expect(try broken(events).isEmpty)
    }

    @Test("a failure told by two analytics events is one run")
    func failureToldTwiceIsOneRun() throws {
        #expect(try outcomes([.completed(1, false, took: nil), .completed(1.5, false, took: 3)]) == ["failed"])
    }

    @Test("a completion, an expiry, a skip or a check behind the end of a run begins another run")
    func endedRunTakesNoMore() throws {
        for second in [4.0, 200] {
            let twice: [Told] = [.completed(0), .completed(second)]
            for events in [twice, twice.analytics(), [.started(-1)] + twice] {
                #expect(try outcomes(events) == ["completed", "completed"])
                #expect(try broken(events).contains("refreshed_too_soon"))
            }
            let failures: [Told] = [.completed(0, false), .completed(second, false)]
            #expect(try outcomes(failures.analytics()) == ["failed", "failed"])
            #expect(try outcomes([.started(-1), .expired(0), .skipped(second, .noNetwork)]) == ["expired", "skipped"])
            #expect(try outcomes([.started(-1), .completed(0), .expired(second)]) == ["completed", "expired"])
            #expect(try outcomes([.started(-1), .completed(0), .checked(second, 3)]) == ["completed", "incomplete"])
            #expect(try outcomes([.started(-1), .skipped(0, .noNetwork), .expired(second)]) == ["skipped", "expired"])
            let skips: [Told] = [.started(-1), .skipped(0, .noNetwork), .skipped(second, .noNetwork)]
            #expect(try outcomes(skips) == ["skipped", "skipped"])
        }
        #expect(try outcomes([.expired(0), .expired(4)].analytics()) == ["expired", "expired"])
    }

    @Test("of the ends that are less than 2 s apart a line and one analytics event are one run's")
    func endToldTwiceIsOneRun() throws {
        let pair: [Told] = [.started(0), .completed(3), .completed(4.9).analytics()]
        #expect(try outcomes(pair) == ["completed"])
        let early: [Told] = [.started(0), .completed(3).analytics(), .checked(3.3, 30), .completed(3.9)]
        #expect(try outcomes(early) == ["completed"])
        #expect(try outcomes([.started(0), .completed(3), .completed(5).analytics()]).count == 2)
        #expect(try outcomes(pair + [.completed(4.95).analytics()]).count == 2)
        #expect(try outcomes(pair + [.completed(4.95)]).count == 2)
        #expect(try outcomes([.started(0), .expired(30), .expired(29).analytics()]) == ["expired"])
    }

    @Test("a schedule behind a run without a start is the next one of the run before it, too")
    func scheduleBehindAnotherEnd() throws {
        let events: [Told] = [.started(0), .completed(3), .completed(6, false), .scheduled(7)]
        #expect(try outcomes(events) == ["completed", "failed"])
        #expect(try broken(events) == ["refreshed_too_soon"])
        let launched: [Told] = [.started(0), .completed(3), .completed(6, false), .started(8), .scheduled(9)]
        #expect(
            try broken(launched) == [
                "next_not_scheduled", "next_not_scheduled", "refreshed_too_soon", "run_not_ended",
            ]
        )
    }

    @Test("an expired run that completes without success afterwards stays expired")
    func firstEndDecides() throws {
        let events: [Told] = [.started(0), .expired(29.5), .completed(29.9, false, took: 29.9)]
        #expect(try outcomes(events) == ["expired"])
        #expect(try outcomes(Array(events.reversed())) == ["expired"])
    }

    @Test("stamps of whole seconds divide a run from the next one that starts in its last second")
    func runsThatShareASecondAreDivided() throws {
        let events: [Told] = [
            .started(0), .checked(1, 30), .completed(1), .scheduled(1), .started(1), .skipped(1, .tooRecent),
            .scheduled(2),
        ]
        #expect(try outcomes(events) == ["completed", "skipped"])
        #expect(try broken(events).isEmpty)
        #expect(try outcomes(Array(events.reversed())) == ["completed", "skipped"])
    }

    @Test("events in the whole second before the start of their run are of it, in every order of arrival")
    func wholeSecondBeforeTheStart() throws {
        let lines: [Told] = [
            .started(0.2), .checked(0.4, 100), .sent(0.5), .completed(0.6, took: 0.4), .scheduled(0.7),
        ]
        let events = lines + [.sent(0), .completed(0, took: 0.4)].analytics()
        var random = SplitMix64(seed: 1)
        for _ in 0..<50 {
            let order = events.shuffled(using: &random)
            #expect(try outcomes(order) == ["completed"])
            #expect(try broken(order).isEmpty)
            var live = RefreshFold.keeping()
            for told in order { try live.apply([told], at: 1) }
            live.closeAll(from: 3)
            #expect(live.totals.runs(.completed) == 1 && live.totals.notifications(.sent) == 1)
            #expect(live.takeEffects().counted == 4)
        }
    }

    @Test("an end in the whole second before the start of its run is its only one, and not before its begin")
    func onlyEndIsBeforeTheStart() throws {
        let events: [Told] = [.started(0.2), .completed(0)]
        for events in [events, events.reversed()] {
            let run = try #require(try RefreshFold.judged(events).first)
            #expect(run.outcome == .completed && run.violations.isEmpty)
            #expect(run.begin == .after(0.2) && run.end == run.begin)
        }
        #expect(try outcomes([.completed(0.1), .started(0.2)]) == ["completed", "incomplete"])
        #expect(try outcomes([.completed(0), .started(1.2)]) == ["completed", "incomplete"])
    }

    @Test("an end in the second in which the next run starts is that of an open run, or tells again what that told")
    func endOfAnOpenRun() throws {
        let next: [Told] = [.started(0.2), .skipped(0.4, .tooRecent)]
        let ended: [[Told]] = [
            [.started(-3), .completed(0)], [.started(-3), .completed(-0.3), .completed(0).analytics()],
        ]
        for events in ended.map({ $0 + next }) {
            #expect(try outcomes(events) == ["completed", "skipped"])
            #expect(try outcomes(events.reversed()) == ["completed", "skipped"])
        }
        let late = try RefreshFold.judged([.started(-60), .completed(0), .started(0.2)])
        #expect(late.map(\.outcome) == [.incomplete, .completed])
    }

    @Test("lines without times are in their order, and no rule about time applies to them")
    func linesWithoutTimes() throws {
        let events = (0..<2).flatMap { run in
            [Told].run().enumerated().map { index, told in
                var told = told.assumed()
                told.seconds = Double(run * 5 + index) / 1_000_000
                return told
            }
        }
        let totals = try RefreshFold.total(events)
        #expect(totals.runs(.completed) == 2)
        #expect(totals.notifications(.sent) == 2)
        #expect(totals.checks(isAvailable: true) == 2)
        #expect(try broken(events).isEmpty)
    }

    @Test("runs of two installations do not touch each other")
    func installationsAreSeparate() throws {
        let events = [Told].run() + [Told].run(at: 1).of(2)
        #expect(try outcomes(events) == ["completed", "completed"])
        #expect(try broken(events).isEmpty)
    }

    @Test("events of the plugin are passed over")
    func eventsOfThePluginArePassedOver() throws {
        let event = Told(kind: .prefetchSuccess, seconds: 0)
        var fold = RefreshFold.keeping()
        try fold.apply([event, Told(kind: .pluginStarted, seconds: 1)])
        fold.finish()
        #expect(fold.totals == RefreshTotals())
        #expect(fold.takeClosedRuns().isEmpty)
    }
}

@Suite("The scenarios of the testing guide of the background refresh")
struct RefreshScenarioTests {
    @Test(
        "scenario 1: a test is available, and notified of, from 90 days on",
        arguments: [(0, false), (30, false), (89, false), (90, true), (100, true)] as [(Int64, Bool)]
    )
    func cadence(daysSinceTest: Int64, isDue: Bool) throws {
        #expect(try broken(isDue ? .run(daysSinceTest) : .quiet(daysSinceTest)).isEmpty)
        let wrong: [Told] = [.started(0), .checked(1, daysSinceTest, !isDue), .completed(2), .scheduled(2)]
        #expect(try broken(wrong).contains("availability_wrong"))
        #expect(
            try broken(isDue ? .quiet(daysSinceTest) : .run(daysSinceTest)) == [
                isDue ? "not_notified" : "notified_too_soon"
            ]
        )
        let totals = try RefreshFold.total(.quiet(daysSinceTest))
        #expect(totals.checks(isAvailable: isDue) == 1)
        #expect(totals.daysSinceTest.total == Double(daysSinceTest))
    }

    @Test("scenario 2: without permission nothing is sent, and with it a notification is")
    func authorization() throws {
        let events: [Told] =
            [.started(0), .checked(1, 100), .notAuthorized(1), .completed(2), .scheduled(2)] + .run(at: 5 * hours)
        let totals = try RefreshFold.total(events)
        #expect(totals.notifications(.notAuthorized) == 1)
        #expect(totals.notifications(.sent) == 1)
        #expect(try broken(events).isEmpty)
    }

    @Test("scenario 3: within 90 days the user is notified once, and a second notification is told apart")
    func deduplication() throws {
        let again: [Told] = [.started(0), .checked(1, 100), .alreadyNotified(1, 0), .completed(2), .scheduled(2)]
        let events = [Told].run() + again.after(5 * hours)
        #expect(try RefreshFold.total(events).notifications(.alreadyNotified) == 1)
        #expect(try broken(events).isEmpty)
        #expect(try broken(.run() + .run(at: 5 * hours)) == ["notified_again"])
        #expect(try broken(.run() + again.after(60)) == ["refreshed_too_soon"])
    }

    @Test(
        "scenario 4: a refresh that cannot be done is skipped at once",
        arguments: [RefreshSkipReason.notAuthenticated, .noNetwork, .tooRecent]
    )
    func fastFail(reason: RefreshSkipReason) throws {
        let events: [Told] = [.started(0), .skipped(0, reason), .scheduled(0)]
        let totals = try RefreshFold.total(events)
        #expect(totals.runs(.skipped) == 1)
        #expect(totals.skipped(reason) == 1)
        #expect(totals.duration.count == 0)
        #expect(try broken(events).isEmpty)
    }

    @Test("scenario 4: a second refresh at once is skipped without being too soon")
    func skippedRefreshIsNotTooSoon() throws {
        #expect(try broken(.run() + [.started(10), .skipped(10, .tooRecent), .scheduled(10)]).isEmpty)
    }

    @Test("scenario 5: a run that the operating system ends is expired, and it is no bug")
    func expiration() throws {
        let events: [Told] = [.started(0), .expired(30), .scheduled(30)]
        let runs = try RefreshFold.judged(events)
        #expect(runs.map(\.outcome) == [.expired])
        #expect(runs.flatMap { $0.violations.map(\.kind) } == [.ranTooLong, .expired])
        #expect(runs.flatMap { $0.violations.map(\.kind.bucket) } == [.b, .c])
        #expect(try RefreshFold.total(events).runs(.expired) == 1)
    }
}

@Suite("The troubleshooting cases of the testing guide of the background refresh")
struct RefreshTroubleshootingTests {
    @Test("not triggering: schedules without any run are counted and nothing is judged")
    func notTriggering() throws {
        let events: [Told] = (0..<5).map { .scheduled(Double($0) * 4 * hours) }
        #expect(try RefreshFold.total(events).schedules(.scheduled) == 5)
        #expect(try outcomes(events).isEmpty)
    }

    @Test("notifications that do not appear: those that failed are counted and nothing is missing")
    func notificationsNotAppearing() throws {
        let events: [Told] = [
            .started(0), .checked(1, 100), .notificationFailed(1), .completed(2), .scheduled(2),
        ]
        #expect(try RefreshFold.total(events).notifications(.failed) == 1)
        #expect(try broken(events).isEmpty)
    }

    @Test("rate limiting: refreshes that are always skipped are counted by reason")
    func rateLimiting() throws {
        let events: [Told] = (0..<4).flatMap { run -> [Told] in
            [.started(0), .skipped(0, .tooRecent), .scheduled(0)].after(Double(run) * hours)
        }
        let totals = try RefreshFold.total(events)
        #expect(totals.skipped(.tooRecent) == 4)
        #expect(totals.runs(.skipped) == 4)
        #expect(try broken(events).isEmpty)
    }

    @Test("registration that fails: a refused schedule is counted and is no missing one")
    func registrationFails() throws {
        let events: [Told] =
            [.started(0), .checked(1, 30), .completed(2), .scheduleFailed(2.2), .scheduleFailed(2.9).analytics()]
            + .quiet(at: 5 * hours)
        #expect(try RefreshFold.total(events).schedules(.failed) == 1)
        #expect(try broken(events).isEmpty)
    }
}
