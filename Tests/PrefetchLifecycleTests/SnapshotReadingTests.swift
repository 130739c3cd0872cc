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
}
