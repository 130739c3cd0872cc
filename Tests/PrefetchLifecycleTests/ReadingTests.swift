// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import PrefetchLifecycle

/// Where the rules could be read in two ways, each reading in every order of arrival.
@Suite("How the rules read")
struct ReadingTests {
    @Test("an execution is held against the latest schedule hash before it, and one match excuses no mismatch")
    func scheduleHashIsHeldAgainstTheNearest() throws {
        let first = [
            Reading.scheduled(0, "a").begins(60).schedule("01"), TestEvent(.prefetchExecuted, 60).schedule("01"),
            TestEvent(.prefetchSuccess, 61),
        ]
        #expect(try Reading.result(first).broken == [])
        let second = [TestEvent(.prefetchExecuted, 160).schedule("02"), TestEvent(.prefetchSuccess, 161)]
        #expect(try Reading.result(first + second).broken == [.scheduleHashMismatch])
        let anew = Reading.scheduled(100, "a").begins(160).schedule("02")
        #expect(try Reading.result(first + second + [anew]).broken == [])
    }

    @Test("used content is held against the latest content cached before it, and one match excuses no mismatch")
    func contentHashIsHeldAgainstTheNearest() throws {
        let cached = [TestEvent(.contentCached, 1).content("01"), TestEvent(.contentCached, 5).content("02")]
        let used = TestEvent(.prefetchUsedForNotification, 3).content("01")
        #expect(try !Reading.result(cached + [used]).broken.contains(.contentHashMismatch))
        let again = TestEvent(.prefetchUsedForNotification, 7).content("01")
        #expect(try Reading.result(cached + [used, again]).broken.contains(.contentHashMismatch))
    }

    @Test("the age of used content is held against the latest ttl before its use")
    func ageIsHeldAgainstTheLatestTTL() throws {
        let fetched = [
            Reading.scheduled(0, "a").begins(60), TestEvent(.prefetchExecuted, 60),
            TestEvent(.prefetchSuccess, 62).ttl(300), TestEvent(.contentCached, 63).ttl(60),
        ]
        let used = TestEvent(.prefetchUsedForNotification, 180)
        #expect(try Reading.result(fetched + [used]).broken == [.staleContentUsed, .ttlDiffers])
        #expect(try Reading.result(fetched + [used.aged(60)]).broken == [.ttlDiffers])
        #expect(try Reading.result(fetched + [used.aged(61)]).broken == [.staleContentUsed, .ttlDiffers])
        let longer = TestEvent(.contentCached, 100).ttl(86_400)
        #expect(try Reading.result(fetched + [used, longer]).broken == [.ttlDiffers])
        let later = TestEvent(.contentCached, 200).ttl(86_400)
        #expect(try Reading.result(fetched + [used, later]).broken == [.staleContentUsed, .ttlDiffers])
    }

    @Test("a ttl is kept to the second up to three hours, and rounded up beyond", arguments: [0, 1, 60, 3_600, 12_287])
    func ttlIsKept(seconds: Int64) {
        #expect(CodedTTL(seconds).seconds == seconds)
        for days in [1, 7, 11, 90] as [Int64] { #expect(CodedTTL(days * 86_400).seconds == days * 86_400) }
        #expect(CodedTTL(12_289).seconds == 12_300)
        #expect(CodedTTL(.max / 2).seconds ?? 0 > 86_400)
    }

    @Test("an earliest begin is known to the second near its submission, and the same however far it is told")
    func earliestBeginIsTheSameHoweverFarItIsTold() {
        let (due, begin) = (Timestamp.after(90_000), Timestamp.after(89_700.25))
        let tellings = [-40_000, 0, 60_000.5, 89_000, 89_699.75].map { SubmittedBegin(begin, at: .after($0)) }
        #expect(Set(tellings.map(\.key)).count == 1)
        #expect(tellings[1].begin(at: .after(0), window: begin, due: due) == begin)
        #expect(tellings[0].begin(at: .after(-40_000), window: .after(80_000), due: due) == .after(89_700))
        #expect(SubmittedBegin(.after(60.2), at: .after(0.5)).lead(at: .after(0.5)) == 59)
        #expect(SubmittedBegin(.after(60.5), at: .after(0.5)).lead(at: .after(0.5)) == 60)
        #expect(SubmittedBegin(.after(-90_000), at: .after(0)).lead(at: .after(0)) ?? 0 < 0)
        #expect(SubmittedBegin(begin, at: .after(0)).lead(at: .after(0)) == nil)
    }

    @Test("each earliest begin is one submission, however often and in whatever form it is told")
    func eachEarliestBeginIsASubmission() throws {
        let told = [
            Reading.scheduled(0, "a", due: 90_000).begins(89_700), Reading.scheduled(20, "a").begins(89_700),
            Reading.scheduled(21, "a"),
        ]
        #expect(try Reading.result(told).stages[0] == 1)
        #expect(try Reading.result(told + [Reading.scheduled(30, "a").begins(89_820)]).stages[0] == 2)
        let repeated = told + [TestEvent(.prefetchExecuted, 89_800), Reading.scheduled(89_900, "a").begins(89_700)]
        #expect(try Reading.result(repeated).stages[0] == 1)
    }

    @Test("a second active task is found among many schedules that arrive out of order")
    func secondTaskIsFoundAmongMany() throws {
        let day = 86_400.0
        var events: [TestEvent] = []
        for number in 0..<8 {
            let (id, due) = ("day-\(number)", Double(number + 1) * day)
            events.append(Reading.scheduled(due - day + 100, id, due: due))
            events.append(TestEvent(.prefetchExecuted, due - day + 200, id: id, due: due))
            events.append(TestEvent(.prefetchSuccess, due - day + 201, id: id, due: due))
        }
        #expect(try Reading.result(events).broken == [])
        let second = [
            Reading.scheduled(2 * day + 150, "other", due: 20 * day),
            TestEvent(.prefetchExecuted, 2 * day + 160, id: "other"),
        ]
        #expect(try Reading.result(events + second).broken.filter { $0 == .secondActiveTask }.count == 1)
    }

    @Test("a task scheduled more than a day after an execution is not the next one")
    func nextTaskIsScheduledWithinADay() throws {
        let day = 86_400.0
        let cycle = [
            Reading.scheduled(0, "a"), TestEvent(.prefetchExecuted, 60.5), TestEvent(.prefetchSuccess, 61),
            TestEvent(.pluginStarted, 5 * day, id: nil),
        ]
        #expect(try Reading.result(cycle + [Reading.scheduled(day + 60.9, "b")]).broken == [])
        #expect(try Reading.result(cycle + [Reading.scheduled(day + 61, "b")]).broken == [.nextNotScheduled])
    }

    @Test("a task scheduled in the execution's own second is the next one, one of the second before is not")
    func nextTaskOfTheSameSecond() throws {
        let cycle = [
            Reading.scheduled(0, "a"), TestEvent(.prefetchExecuted, 60.5),
            TestEvent(.pluginStarted, 2 * 86_400, id: nil),
        ]
        for second in [60, 60.9] {
            #expect(try !Reading.result(cycle + [Reading.scheduled(second, "b")]).broken.contains(.nextNotScheduled))
        }
        #expect(try Reading.result(cycle + [Reading.scheduled(59.9, "b")]).broken.contains(.nextNotScheduled))
    }

    @Test("a thousand failures of one attempt with one reason are one failure, and evict no cycle")
    func thousandFailuresAreOne() throws {
        var random = SplitMix64(seed: 21)
        let failures = (0..<1_000).map { TestEvent(.prefetchFailure, 61 + Double($0)).reason(.network) }
        for order in [failures, failures.reversed(), failures.shuffled(using: &random)] {
            var fold = LifecycleFold.keeping()
            try fold.accept([TestEvent(.prefetchExecuted, 60)] + order)
            #expect(fold.totals.failureNetwork == 1)
            #expect(fold.totals.evictedCycles == 0)
            #expect(fold.checkpointBytes < 40_000)
            #expect(Reading.told(&fold).stages == [0, 1, 0, 1, 0, 0, 0, 0])
        }
    }

    @Test("retries beyond the kept facts of a cycle stay counted, and a hash is not dropped from between two others")
    func droppedFactsStayCounted() throws {
        var fold = LifecycleFold.keeping()
        try fold.accept([TestEvent(.prefetchExecuted, 60)])
        try fold.accept((0..<400).map { TestEvent(.prefetchFailure, 61 + Double($0)).reason(.network).retried() })
        #expect(fold.totals.retries == 255)
        #expect(fold.totals.evictedCycles == 0)
        try fold.accept([TestEvent(.prefetchSuccess, 600)])
        #expect(Reading.told(&fold).stages == [0, 1, 1, 0, 0, 0, 0, 0])

        var limits = LifecycleLimits()
        limits.factsPerCycle = 12
        fold = LifecycleFold.keeping(limits: limits)
        let cached = [1, 2, 1].enumerated().map {
            TestEvent(.contentCached, Double($0.offset)).content("0\($0.element)")
        }
        let used = (3..<40).map { TestEvent(.prefetchUsedForNotification, Double($0)).content("01") }
        try fold.accept(cached + used)
        #expect(!Reading.told(&fold).broken.contains(.contentHashMismatch))
    }

    @Test("a submission that is told again has the lead with which it was told first")
    func leadIsThatOfTheFirstTelling() throws {
        let told = [Reading.scheduled(0, "a").begins(60), Reading.scheduled(20, "a").begins(60)]
        #expect(try Reading.result(told).broken == [])
        #expect(try Reading.result(told + [Reading.scheduled(30, "a").begins(89)]).broken == [.leadBelowMinimum])
    }
}
