// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import PrefetchLifecycle

@Suite("What client snapshots include")
struct SnapshotReadingTests {
    @Test("a snapshot includes what happened until its time, whether it arrives before later events or after them")
    func snapshotIncludesWhatHappenedUntilItsTime() throws {
        let snapshot = TestEvent(.telemetrySnapshot, 100, id: nil).of(1).reporting([.executed: 3])
        for second in [50.0, 100, 100.000_001, 200] {
            let executed = TestEvent(.prefetchExecuted, second).of(1)
            let expected: UInt64 = second > 100 ? 4 : 3
            for order in Reading.orders([snapshot, executed]) {
                var fold = LifecycleFold.keeping()
                for event in order { try fold.accept([event]) }
                #expect(Reading.told(&fold).stages[1] == expected, "\(second)")
            }
        }
    }

    @Test("what a file takes back at its end never takes a counter below zero")
    func correctionNeverWraps() throws {
        let told = [
            TestEvent(.telemetrySnapshot, 2_111, id: nil).of(1).reporting([.failureNetwork: 1]),
            TestEvent(.prefetchFailure, 19).of(1), TestEvent(.prefetchCompleted, 131).with { $0.fetched = true }.of(1),
            TestEvent(.prefetchFailure, 8).reason(.network).retried().of(1),
        ]
        for order in Reading.orders(told) {
            var fold = Reading.file()
            try fold.apply(order)
            let result = Reading.told(&fold)
            #expect(result.stages == [0, 0, 1, 1, 0, 0, 0, 0])
            #expect(result.retries == 1)
        }
    }

    @Test("a snapshot that does not tell of a stage includes no event of it")
    func snapshotIncludesOnlyWhatItTells() throws {
        let told = [
            TestEvent(.telemetrySnapshot, 100, id: nil).of(1).reporting([.executed: 2]),
            TestEvent(.telemetrySnapshot, 300, id: nil).of(1).reporting([.used: 2]),
            TestEvent(.prefetchExecuted, 200).of(1),
        ]
        // A snapshot behind a later one is stale.
        for place in 0...2 {
            var order = Array(told.prefix(2))
            order.insert(told[2], at: place)
            var fold = LifecycleFold.keeping()
            for event in order { try fold.accept([event]) }
            #expect(Reading.told(&fold).stages[1] == 3)
        }
    }

    @Test("a snapshot from before a summary does not include the stages that the summary implies")
    func impliedStagesHaveTheTimeOfTheirSummary() throws {
        let snapshot = TestEvent(.telemetrySnapshot, 100, id: nil).of(1).reporting([.success: 1, .used: 1])
        let summary = TestEvent(.prefetchCycleComplete, 902).summing().of(1)
        for order in Reading.orders([snapshot, summary]) {
            var (fold, file) = (LifecycleFold.keeping(), Reading.file())
            for event in order { try fold.accept([event]) }
            try file.apply(order)
            #expect(Reading.told(&fold).stages == [0, 0, 2, 0, 0, 0, 0, 2])
            #expect(Reading.told(&file).stages == [0, 0, 2, 0, 0, 0, 0, 2])
        }
    }

    @Test("a stage that a file counted under two names never takes a counter below what its client told")
    func stageCountedTwiceStaysAtWhatTheClientTold() throws {
        let told = [
            TestEvent(.prefetchUsedForNotification, 900, id: nil, due: 900),
            TestEvent(.prefetchUsedForNotification, 901), TestEvent(.notificationScheduled, 0, due: 900),
            TestEvent(.telemetrySnapshot, 1_000, id: nil).reporting([.used: 2]),
        ].map { $0.of(1) }
        for order in Reading.orders(told) {
            var (fold, file) = (LifecycleFold.keeping(), Reading.file())
            for event in order { try fold.accept([event]) }
            try file.apply(order)
            #expect(Reading.told(&fold).stages[7] == 2)
            #expect(Reading.told(&file).stages[7] == 2)
        }
    }

    @Test("what waits for the names of its cycle is included in a snapshot by its own time")
    func waitingStageIsIncludedByItsOwnTime() throws {
        let told = [
            TestEvent(.prefetchExecuted, 200), TestEvent(.prefetchExecuted, 50, id: nil, due: 900),
            TestEvent(.telemetrySnapshot, 100, id: nil).reporting([.executed: 1]),
            TestEvent(.notificationScheduled, 0, due: 900),
        ].map { $0.of(1) }
        for order in Reading.orders(told) {
            var fold = LifecycleFold.keeping()
            for event in order { try fold.accept([event]) }
            #expect(Reading.told(&fold).stages[1] == 2)
        }
    }

    @Test("a retry that only a completion resolves is included in a snapshot by the completion of its own attempt")
    func resolvedRetryHasTheTimeOfItsCompletion() throws {
        let attempt = [
            TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchFailure, 2).retried(),
            TestEvent(.prefetchCompleted, 20), TestEvent(.prefetchExecuted, 112),
            TestEvent(.telemetrySnapshot, 116, id: nil).reporting([.success: 2]),
        ]
        let ends: [(TestEvent, UInt64)] = [
            (TestEvent(.prefetchCompleted, 132), 2), (TestEvent(.prefetchSuccess, 132), 3),
        ]
        for (end, expected) in ends {
            for order in Reading.orders((attempt + [end]).map { $0.of(1) }) {
                var (fold, file) = (LifecycleFold.keeping(), Reading.file())
                for event in order { try fold.accept([event]) }
                try file.apply(order)
                #expect(Reading.told(&fold).stages[2] == expected)
                #expect(Reading.told(&file).stages[2] == expected)
            }
        }
    }

    @Test("what waited counts by the time it was told with, whatever event ends the waiting")
    func waitingEndsWithAnotherEvent() throws {
        let scheduled = [
            Reading.scheduled(0, "a"), Reading.scheduled(100, nil, due: 9_000),
            TestEvent(.notificationScheduled, 50, due: 5_000),
            TestEvent(.telemetrySnapshot, 6_000, id: nil).reporting([.scheduled: 5]),
            TestEvent(.prefetchExecuted, 9_003, id: nil, due: 9_000),
        ]
        let used = [
            TestEvent(.prefetchUsedForNotification, 910, id: nil, due: 900),
            TestEvent(.prefetchCycleComplete, 2_000, id: "b").summing(fetched: false),
            TestEvent(.telemetrySnapshot, 950, id: nil).reporting([.used: 3]),
            TestEvent(.notificationScheduled, 0, due: 900), TestEvent(.notificationDenied, -100, id: "b"),
        ]
        for (events, place, expected) in [(scheduled, 0, 5), (used, 7, 4)] as [([TestEvent], Int, UInt64)] {
            for order in Reading.orders(events.map { $0.of(1) }) {
                var fold = LifecycleFold.keeping()
                for event in order { try fold.accept([event]) }
                #expect(Reading.told(&fold).stages[place] == expected)
            }
        }
    }

    @Test("a file counts a stage by its own time, also where a summary that asserts it came first")
    func fileCountsByOwnTime() throws {
        let told = [
            TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchSuccess, 12), TestEvent(.prefetchExecuted, 131),
            TestEvent(.telemetrySnapshot, 154, id: nil).reporting([.success: 2]),
            TestEvent(.prefetchCycleComplete, 327).summing(used: false),
        ]
        for order in Reading.orders(told.map { $0.of(1) }) {
            var file = Reading.file()
            try file.apply(order)
            #expect(Reading.told(&file).stages[2] == 2)
            #expect(file.totals.impliedSuccess == 0)
        }
    }

    @Test("a use that was counted for another pass is included in a snapshot by the time of its own pass")
    func countedUseIsIncludedByItsOwnTime() throws {
        let day = 86_400.0
        let told = [
            TestEvent(.prefetchUsedForNotification, day + 908),
            TestEvent(.prefetchUsedForNotification, 1_519, due: 900),
            TestEvent(.notificationScheduled, day - 3_000, due: day + 900),
            TestEvent(.telemetrySnapshot, day - 1_000, id: nil).reporting([.used: 1]),
        ]
        var fold = LifecycleFold.keeping()
        for event in told { try fold.accept([event.of(1)]) }
        #expect(Reading.told(&fold).stages[7] == 2)
    }

    @Test("a failure that has another reason at the end of a file is the same one, and not what a snapshot recovered")
    func changedReasonIsTheSameFailure() throws {
        let told = [
            TestEvent(.telemetrySnapshot, 366, id: nil).reporting([.failureNetwork: 2]),
            TestEvent(.prefetchCompleted, 196).reason(.network), TestEvent(.prefetchFailure, 178).reason(.auth),
        ]
        for order in Reading.orders(told.map { $0.of(1) }) {
            var file = Reading.file()
            try file.apply(order)
            let stages = Reading.told(&file).stages
            // Which of the two a snapshot tells of that arrives between them, nobody knows.
            #expect(2...3 ~= stages[3] + stages[4])
        }
    }

    @Test("a file counts a stage by its own time, also where snapshots before and behind its summary came after both")
    func fileCountsByOwnTimeBetweenSnapshots() throws {
        let told = [
            TestEvent(.prefetchCycleComplete, 16).summing(used: false), TestEvent(.prefetchSuccess, 1),
            TestEvent(.telemetrySnapshot, 10, id: nil).reporting([.success: 1]),
            TestEvent(.telemetrySnapshot, 2_000, id: nil).reporting([.success: 1]),
        ]
        for order in Reading.orders(told.map { $0.of(1) }) {
            var file = Reading.file()
            try file.apply(order)
            #expect(Reading.told(&file).stages[2] == 1)
        }
    }

    @Test("a file takes back a failure that a retry makes none, beside one that a snapshot recovered")
    func retriedFailureIsTakenBack() throws {
        let told = [
            TestEvent(.telemetrySnapshot, 108, id: nil).reporting([.failureNetwork: 1]),
            TestEvent(.prefetchFailure, 116).reason(.network), TestEvent(.prefetchFailure, 3).retried(),
            TestEvent(.prefetchCycleComplete, 134).summing(used: false),
        ]
        for order in Reading.orders(told.map { $0.of(1) }) {
            var file = Reading.file()
            try file.apply(order)
            #expect(Reading.told(&file).stages == [0, 0, 1, 1, 0, 0, 0, 0])
        }
    }

    @Test(
        "a use that only a summary tells is included in a snapshot by the summary's time, also where another pass counted"
    )
    func impliedUseOfAnotherPass() throws {
        let day = 86_400.0
        let told = [
            TestEvent(.prefetchUsedForNotification, day + 907), Reading.scheduled(0, "a", due: 900),
            TestEvent(.telemetrySnapshot, 3_200, id: nil).reporting([.used: 1]),
            TestEvent(.prefetchCycleComplete, 1_245).summing(fetched: false),
            Reading.scheduled(day, "a", due: day + 900),
        ]
        var (fold, file) = (LifecycleFold.keeping(), Reading.file())
        for event in told { try fold.accept([event.of(1)]) }
        try file.apply(told.map { $0.of(1) })
        #expect(Reading.told(&fold).stages[7] == 2)
        #expect(Reading.told(&file).stages[7] == 2)
    }

    @Test("a file takes no failure back that a snapshot had recovered for another reason")
    func failureOfAnotherReasonStaysRecovered() throws {
        let told = [
            TestEvent(.telemetrySnapshot, 2_421, id: nil).reporting([.failureNetwork: 2]),
            TestEvent(.prefetchFailure, 1_205, id: nil, due: 2_402).reason(.auth),
            TestEvent(.prefetchCompleted, 176, due: 1_201).reason(.network),
            TestEvent(.prefetchSuccess, 1_214, id: nil, due: 2_402),
            TestEvent(.prefetchFailure, 1_204, id: nil, due: 2_402).retried(),
            TestEvent(.prefetchFailure, 169, id: nil, due: 1_201).reason(.auth),
        ]
        var file = Reading.file()
        try file.apply(told.map { $0.of(1) })
        let stages = Reading.told(&file).stages
        #expect(2...3 ~= stages[3...6].reduce(0, +))
    }
}
