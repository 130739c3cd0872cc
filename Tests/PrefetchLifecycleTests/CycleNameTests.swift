// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import PrefetchLifecycle

@Suite("Cycles that are told under several names")
struct CycleNameTests {
    @Test("notification times no more than a second apart are one cycle's", arguments: [-1, -0.4, 0.4, 1] as [Double])
    func nearTimesAreOneCycle(seconds: Double) throws {
        let near = 900 + seconds
        let scheduled = TestEvent(.prefetchScheduled, 0, due: 900).begins(600)
        let executed = TestEvent(.prefetchExecuted, 600)
        for rest in [
            [TestEvent(.prefetchSuccess, 602, due: near), TestEvent(.prefetchUsedForNotification, 900)],
            [TestEvent(.prefetchSuccess, 602), TestEvent(.prefetchUsedForNotification, 900, due: near)],
            [TestEvent(.prefetchSuccess, 602), TestEvent(.prefetchUsedForNotification, 900, id: nil, due: near)],
        ] {
            let told = try Reading.result([scheduled, executed] + rest)
            #expect(told.stages == [1, 1, 1, 0, 0, 0, 0, 1] && told.broken == [])
            #expect(try LifecycleFold.judged([scheduled, executed] + rest).count == 1)
        }
    }

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

    @Test("a pass that its notification alone tells of is judged, also when an earlier pass takes its execution")
    func passOfItsNotificationIsJudged() throws {
        let day = 86_400.0
        let passes = [
            TestEvent(.notificationScheduled, day - 100, due: day + 900), TestEvent(.prefetchExecuted, 610),
            TestEvent(.prefetchScheduled, 0, due: 900).begins(600), TestEvent(.prefetchSuccess, 612),
        ]
        for order in Reading.orders(passes) { #expect(try LifecycleFold.judged(order).count == 2) }
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

    @Test("a pass of which a summary tells that nothing was done is one in every order, also beside results of others")
    func summaryOfNothingIsAPass() throws {
        let day = 86_400.0
        let passes = [
            TestEvent(.prefetchSuccess, 1_500), TestEvent(.prefetchSuccess, day + 660, due: day + 900),
            TestEvent(.prefetchCycleComplete, 2 * day + 905, due: 2 * day + 900).summing(fetched: false, used: false),
        ]
        for order in Reading.orders(passes) { #expect(try LifecycleFold.judged(order).count == 2) }
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

    /// What every order of arrival counts, in the service and as a file.
    private func stages(_ told: [TestEvent]) throws -> Set<[UInt64]> {
        var counted: Set<[UInt64]> = []
        for order in Reading.orders(told.map { $0.of(1) }) {
            var (fold, file) = (LifecycleFold.keeping(), Reading.file())
            for event in order { try fold.accept([event]) }
            try file.apply(order)
            for stages in [Reading.told(&fold).stages, Reading.told(&file).stages] { counted.insert(stages) }
        }
        return counted
    }

    @Test(
        "what is told by the id alone and by the time alone counts once, also where another pass of the id is known first",
        arguments: [
            (.prefetchUsedForNotification, [0, 0, 0, 0, 0, 0, 0, 1]), (.prefetchSuccess, [0, 0, 1, 0, 0, 0, 0, 0]),
            (.prefetchFailure, [0, 0, 0, 1, 0, 0, 0, 0]), (.prefetchCycleComplete, [0, 0, 1, 0, 0, 0, 0, 1]),
        ] as [(EventKind, [UInt64])]
    )
    func stageOfTwoNamesBesideAnotherPass(kind: EventKind, expected: [UInt64]) throws {
        let day = 86_400.0
        func told(_ second: Double, id: String?, due: Double?) -> TestEvent {
            TestEvent(kind, second, id: id, due: due).reason(.network).summing()
        }
        let passes = [0.0, 2 * day].map { TestEvent(.notificationScheduled, $0, due: $0 + 900) }
        let same = [told(905, id: "a", due: nil), told(906, id: nil, due: 900)]
        #expect(try stages(passes + same) == [expected])
    }

    @Test("a fallback and a drift of two names count once, also where another pass of the id is known first")
    func fallbackBesideAnotherPass() throws {
        let day = 86_400.0
        let told = [
            TestEvent(.contentMissing, 905), TestEvent(.contentMissing, 906, id: nil, due: 900),
            TestEvent(.notificationDrift, 907), TestEvent(.notificationDrift, 908, id: nil, due: 900),
            TestEvent(.notificationScheduled, 0, due: 900),
            TestEvent(.notificationScheduled, 2 * day, due: 2 * day + 900),
        ]
        for order in Reading.orders(told.map { $0.of(1) }) {
            var fold = LifecycleFold.keeping()
            for event in order { try fold.accept([event]) }
            fold.finish()
            #expect(fold.totals.fallbacks == 1 && fold.totals.driftExceeded == 1)
            #expect(fold.totals.increments == fold.totals.sumOfEventCounters)
        }
    }

    @Test("what an event with the time of its pass tells counts at once, whatever other events of the pass wait for")
    func onlyDistantStagesWait() throws {
        let day = 86_400.0
        var fold = LifecycleFold.keeping()
        try fold.accept([TestEvent(.notificationScheduled, 0, due: 900).of(1)])
        try fold.accept([TestEvent(.prefetchUsedForNotification, day + 905, id: nil, due: day + 900).of(1)])
        try fold.accept([TestEvent(.prefetchUsedForNotification, day + 906).of(1)])
        #expect(fold.totals.used == 1, "it may be of either pass")
        try fold.accept([TestEvent(.prefetchExecuted, 600, due: 900).of(1)])
        #expect(fold.totals.executed == 1)
        let clock = Timestamp.after(5 * day)
        fold.tick(to: clock)
        #expect(fold.totals.used == 2 && fold.openCycles == 0, "nothing has said that they are one")
    }

    @Test("what was counted for an event goes with it to the pass that it is of")
    func countGoesWithItsEvent() throws {
        let day = 86_400.0
        let retried = [
            TestEvent(.prefetchExecuted, 1_499, id: nil, due: 900),
            TestEvent(.prefetchFailure, 1_656, due: 900).reason(.network).retried(),
        ]
        let later = [
            TestEvent(.prefetchFailure, day + 913).reason(.network), TestEvent(.prefetchExecuted, day + 900),
            TestEvent(.notificationScheduled, day + 933, due: day + 900),
        ]
        let final = TestEvent(.prefetchFailure, 1_667, id: nil, due: 900).reason(.auth).final()
        var fold = LifecycleFold.keeping()
        for event in retried + later + [final] { try fold.accept([event]) }
        let told = Reading.told(&fold)
        #expect(told.stages == [0, 2, 0, 1, 1, 0, 0, 0])
        #expect(told.reasons == [.network, .auth])
    }

    @Test("an execution that leaves a pass takes no failure along that it does not tell of")
    func failuresStayWithTheirPass() throws {
        let day = 86_400.0
        let told = [
            TestEvent(.prefetchExpired, 690, id: nil, due: 900), TestEvent(.prefetchCompleted, 793).reason(.network),
            TestEvent(.prefetchExecuted, 605 - 2 * day), TestEvent(.prefetchExecuted, 773, due: 900),
            TestEvent(.notificationScheduled, 500 - 2 * day, due: 900 - 2 * day), TestEvent(.prefetchExecuted, 660),
        ]
        #expect(try stages(told) == [[0, 3, 0, 1, 0, 1, 0, 0]])
    }

    @Test("a summary counts for its pass, also where the success that is known first turns out to be of another one")
    func summaryBesideASuccessOfAnotherPass() throws {
        let day = 86_400.0
        let told = [
            TestEvent(.prefetchSuccess, 2_818), TestEvent(.notificationScheduled, day, due: day + 900),
            TestEvent(.prefetchCycleComplete, day + 916, id: nil, due: day + 900).summing(used: false),
            TestEvent(.notificationDelivered, 1_081, due: 900),
        ]
        #expect(try stages(told) == [[0, 0, 2, 0, 0, 0, 0, 0]])
    }

    @Test("a summary counts for its own pass, also where a use of another one is known before any notification time")
    func summaryBesideAUseOfAnotherPass() throws {
        let day = 86_400.0
        let told = [
            TestEvent(.prefetchUsedForNotification, day + 907),
            TestEvent(.prefetchCycleComplete, 916).summing(fetched: false),
            TestEvent(.notificationScheduled, day, due: day + 900), TestEvent(.notificationScheduled, 0, due: 900),
        ]
        #expect(try stages(told) == [[0, 0, 0, 0, 0, 0, 0, 2]])
    }
}
