// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import PrefetchLifecycle

@Suite("Cycles that are told under several names")
struct CycleNameTests {
    @Test("events that name a cycle by its time, its schedule and both count the same in every order")
    func halvesCountTheSameInEveryOrder() throws {
        let used = [
            TestEvent(.prefetchUsedForNotification, 900, id: nil, due: 900),
            TestEvent(.prefetchUsedForNotification, 901), TestEvent(.prefetchUsedForNotification, 902, due: 900),
        ].map { $0.of(1) }
        #expect(try Reading.result(used).stages[7] == 1)
        #expect(try Reading.result(Array(used.prefix(2))).stages[7] == 2, "nothing says that they are one")
        let snapshot = TestEvent(.telemetrySnapshot, 1_000, id: nil).of(1).reporting([.used: 1])
        for place in 0...3 {
            for order in Reading.orders(used) {
                var told = order
                told.insert(snapshot, at: place)
                var fold = LifecycleFold.keeping()
                for event in told { try fold.accept([event]) }
                #expect(Reading.told(&fold).stages[7] == 1)
            }
        }
        let attempt = [
            TestEvent(.prefetchExecuted, 60, id: nil, due: 900), TestEvent(.prefetchExecuted, 60),
            TestEvent(.prefetchFailure, 61).reason(.network),
            TestEvent(.prefetchFailure, 62, id: nil, due: 900).reason(.network),
            TestEvent(.notificationScheduled, 0, due: 900),
        ]
        #expect(try Reading.result(attempt).stages == [0, 1, 0, 1, 0, 0, 0, 0])
    }

    @Test("events of several passes under one id belong to the nearest pass in every order")
    func eventsBelongToTheNearestPass() throws {
        let day = 86_400.0
        let passes = [0.0, 1, 2].flatMap { number -> [TestEvent] in
            let due = number * day + 900
            return [
                Reading.scheduled(due - 1_000, "a", due: due).begins(due - 300),
                TestEvent(.prefetchExecuted, due - 290),
                TestEvent(.prefetchSuccess, due - 280), TestEvent(.prefetchUsedForNotification, due + 1),
            ]
        }
        let told = try Reading.result(passes)
        #expect(told.stages == [3, 3, 3, 0, 0, 0, 0, 3])
        #expect(told.broken == [])
        let repeated = passes + [TestEvent(.prefetchSuccess, 2 * day + 630, due: 2 * day + 900)]
        #expect(try Reading.result(repeated).stages == [3, 3, 3, 0, 0, 0, 0, 3])
    }

    @Test("a fallback and a drift that are told under two names of a cycle count once in every order")
    func fallbackAndDriftCountOnce() throws {
        let told = [
            TestEvent(.contentMissing, 900), TestEvent(.contentMissing, 901, id: nil, due: 900),
            TestEvent(.notificationDrift, 902), TestEvent(.notificationDrift, 903, id: nil, due: 900),
        ].map { $0.of(1) }
        let both = TestEvent(.notificationScheduled, 0, due: 900).of(1)
        for order in Reading.orders(told + [both]) {
            var (fold, file) = (LifecycleFold.keeping(), Reading.file())
            for event in order { try fold.accept([event]) }
            try file.apply(order)
            fold.finish()
            file.finish()
            for totals in [fold.totals, file.totals] {
                #expect(totals.fallbacks == 1 && totals.driftExceeded == 1)
                #expect(totals.increments == totals.sumOfEventCounters)
            }
        }
        var apart = LifecycleFold.keeping()
        for event in told { try apart.accept([event]) }
        apart.finish()
        #expect(apart.totals.fallbacks == 2 && apart.totals.driftExceeded == 2, "nothing says that they are one")
        #expect(apart.takeClosedCycles().allSatisfy { $0.broken == [.driftExceeded] })
    }

    @Test("a summary by the id alone is that of the nearest pass, also where an earlier one is known first")
    func summaryBelongsToTheNearestPass() throws {
        let day = 86_400.0
        let told = [
            TestEvent(.prefetchSuccess, 610, due: 900),
            TestEvent(.prefetchCycleComplete, day + 916).summing(used: false),
            TestEvent(.notificationScheduled, day, due: day + 900),
        ]
        for order in Reading.orders(told) {
            var fold = LifecycleFold.keeping()
            for event in order { try fold.accept([event]) }
            #expect(Reading.told(&fold).stages[2] == 2)
        }
    }

    @Test("a use that is told again after the delivery, by any name of its cycle, belongs to the delivered cycle")
    func useToldAfterTheDelivery() throws {
        let cycle = [
            Reading.scheduled(0, "a", due: 900).begins(600), TestEvent(.prefetchExecuted, 610),
            TestEvent(.prefetchSuccess, 612), TestEvent(.prefetchUsedForNotification, 900, due: 900),
            TestEvent(.notificationDelivered, 900, due: 900),
        ]
        let late = [
            TestEvent(.prefetchUsedForNotification, 930),
            TestEvent(.prefetchUsedForNotification, 931, id: nil, due: 900),
            TestEvent(.contentMissing, 932, id: nil, due: 900), TestEvent(.prefetchExecuted, 610, due: 900),
        ]
        let result = try Reading.result(cycle + late)
        #expect(result.stages == [1, 1, 1, 0, 0, 0, 0, 1])
        #expect(result.broken == [])
    }

    @Test("the age of used content goes with its use to the pass that it is of")
    func ageGoesWithItsUse() throws {
        let day = 86_400.0
        let told = [
            TestEvent(.prefetchSuccess, 890, due: 900).ttl(60), TestEvent(.prefetchUsedForNotification, 905, due: 900),
            TestEvent(.prefetchUsedForNotification, day + 907).aged(61),
            TestEvent(.notificationScheduled, day + 200, due: day + 900),
        ]
        let broken = try Reading.result(told).broken
        #expect(broken == [.successWithoutExecuted, .usedWithoutSuccess])
        let own = TestEvent(.prefetchUsedForNotification, 906, due: 900).aged(61)
        #expect(try Reading.result(told + [own]).broken.contains(.staleContentUsed))
    }

    @Test("a file counts as implied what only a summary of the same pass tells")
    func impliedIsWhatOnlyASummaryTells() throws {
        let day = 86_400.0
        let told = [
            TestEvent(.prefetchCycleComplete, 936).summing(used: false), Reading.scheduled(720, "a", due: 900),
            TestEvent(.prefetchSuccess, day + 1_083, due: day + 900),
        ]
        for order in Reading.orders(told) {
            var file = Reading.file()
            try file.apply(order)
            #expect(Reading.told(&file).stages[2] == 2)
            #expect(file.totals.impliedSuccess == 1)
        }
    }
}
