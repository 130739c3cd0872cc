// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@Suite("Client counters")
struct ClientCountersTests {
    static func snapshot(_ second: Double, _ counters: KeyValuePairs<ClientCounter, UInt64>) -> TestEvent {
        TestEvent(.telemetrySnapshot, second, id: nil).reporting(counters).of(1)
    }

    /// Tasks that were scheduled, each of a cycle of its own.
    static func scheduled(_ seconds: Double...) -> [TestEvent] {
        seconds.map { TestEvent(.prefetchScheduled, $0, id: "at \($0)").of(1) }
    }

    /// Attempts that failed, each of a cycle of its own.
    static func failure(_ second: Double, _ reason: FailureReason?) -> [TestEvent] {
        let failed = TestEvent(.prefetchFailure, second, id: "at \(second)").of(1)
        return [reason.map(failed.reason) ?? failed]
    }

    struct Fold {
        var fold: LifecycleFold
        var totals: LifecycleTotals { fold.totals }

        init(limits: LifecycleLimits = LifecycleLimits(), _ steps: [TestEvent]...) throws {
            fold = LifecycleFold.keeping(limits: limits)
            for step in steps { try fold.accept(step) }
        }
    }

    @Test("client counters above the fold's counts add the difference once and count it as recovered")
    func lostEventsAreAddedOnce() throws {
        let totals = try Fold(
            Self.scheduled(1, 2),
            [Self.snapshot(10, [.scheduled: 5, .executed: 3, .success: 2, .used: 1, .failureAuth: 1])]
        ).totals
        #expect(totals.stages == [5, 3, 2, 0, 1, 0, 0, 1])
        #expect(LifecycleStage.recoverable.map { totals.recovered($0) } == [3, 3, 2, 1, 1])
        #expect(totals.snapshots(.applied) == 1)
    }

    @Test("a repeated client snapshot adds nothing")
    func repeatedSnapshotAddsNothing() throws {
        let snapshot = Self.snapshot(10, [.scheduled: 5])
        var fold = try Fold(Self.scheduled(1, 2), [snapshot], [snapshot], [Self.snapshot(20, [.scheduled: 5])]).fold
        #expect(fold.totals.scheduled == 5)
        #expect(fold.totals.snapshots(.applied) == 2)
        try fold.apply([snapshot])
        #expect(fold.totals.scheduled == 5)
    }

    @Test("client counters at or below the fold's counts add nothing")
    func equalOrLowerCountersAddNothing() throws {
        let totals = try Fold(
            Self.scheduled(1, 2, 3),
            [Self.snapshot(2.5, [.scheduled: 2])],
            [Self.snapshot(4, [.scheduled: 3])]
        ).totals
        #expect(totals.scheduled == 3)
        #expect(totals.recovered(.scheduled) == 0)
        #expect(totals.snapshots(.applied) == 2)
    }

    @Test("a client snapshot older than the last applied one is stale and changes nothing")
    func olderSnapshotIsStale() throws {
        let totals = try Fold(
            [Self.snapshot(10, [.scheduled: 5])],
            [Self.snapshot(9.999_999, [.scheduled: 7])],
            [Self.snapshot(9, [.scheduled: 4])]
        ).totals
        #expect(totals.scheduled == 5)
        #expect(totals.snapshots(.stale) == 2)
    }

    @Test("of two client snapshots at the same time the higher one counts, in either order")
    func higherSnapshotOfOneSecondWins() throws {
        let (low, high) = (Self.snapshot(10, [.scheduled: 4]), Self.snapshot(10, [.scheduled: 5, .executed: 1]))
        for order in [[low, high], [high, low]] {
            let totals = try Fold([order[0]], [order[1].with { $0.kind = .pluginStarted }]).totals
            #expect(totals.stages == [5, 1, 0, 0, 0, 0, 0, 0])
            #expect(totals.snapshots(.reset) == 0)
        }
    }

    @Test("a newer, lower client snapshot starts a new baseline, and later losses are added")
    func lowerSnapshotStartsANewBaseline() throws {
        var fold = try Fold(
            Self.scheduled(1, 2, 3),
            [Self.snapshot(10, [.scheduled: 3])],
            Self.scheduled(20),
            [Self.snapshot(21, [.scheduled: 1])]
        ).fold
        #expect(fold.totals.snapshots(.reset) == 1)
        #expect(fold.totals.scheduled == 4)
        try fold.accept([Self.snapshot(30, [.scheduled: 3])])
        #expect(fold.totals.scheduled == 6)
        #expect(fold.totals.recovered(.scheduled) == 2)
        try fold.accept(Self.scheduled(25, 26) + Self.scheduled(31))
        #expect(fold.totals.scheduled == 7)
        try fold.accept([Self.snapshot(40, [.scheduled: 2])])
        try fold.accept([Self.snapshot(50, [.scheduled: 3])])
        #expect(fold.totals.snapshots(.reset) == 2)
        #expect(fold.totals.scheduled == 9)
    }

    @Test("one lower client counter resets the baseline of all counters")
    func oneLowerCounterResetsAll() throws {
        let totals = try Fold(
            [Self.snapshot(10, [.scheduled: 3, .executed: 2])],
            [Self.snapshot(20, [.scheduled: 9, .executed: 1])],
            [Self.snapshot(30, [.scheduled: 10, .executed: 3])]
        ).totals
        #expect(totals.stages == [13, 5, 0, 0, 0, 0, 0, 0])
    }

    @Test("client counters without an installation are not applied")
    func snapshotWithoutInstallationIsNotApplied() throws {
        var fold = LifecycleFold.keeping()
        try fold.accept([TestEvent(.telemetrySnapshot, 10, id: nil).reporting([.scheduled: 5])])
        #expect(fold.totals.snapshots(.unidentified) == 1)
        #expect(fold.totals.scheduled == 0)
        #expect(fold.totals.recovered(.scheduled) == 0)
    }

    @Test("client counters on an event include that event")
    func countersIncludeTheEventThatCarriesThem() throws {
        let seed: KeyValuePairs<ClientCounter, UInt64> = [.scheduled: 1, .executed: 1, .success: 1]
        let success = TestEvent(.prefetchSuccess, 402).of(1).reporting(seed)
        for order in [
            [TestEvent(.prefetchScheduled, 0).of(1), success], [success, TestEvent(.prefetchScheduled, 0).of(1)],
        ] {
            let totals = try Fold([order[0]], [order[1]], [success]).totals
            #expect(totals.stages == [1, 1, 1, 0, 0, 0, 0, 0])
            #expect(totals.recovered(.success) == 0)
        }
    }

    @Test("client counters of one installation do not affect another")
    func countersApplyToOneInstallation() throws {
        let totals = try Fold(
            Self.scheduled(1, 2).map { $0.of(2) },
            [Self.snapshot(10, [.scheduled: 1])],
            [Self.snapshot(10, [.scheduled: 2]).of(2)]
        ).totals
        #expect(totals.scheduled == 3)
        #expect(totals.recovered(.scheduled) == 1)
    }

    @Test("recovered events count in the platform and version of the client snapshot")
    func recoveredEventsCountInTheGroupOfTheSnapshot() throws {
        let fold = try Fold(
            Self.scheduled(1).map { $0.from("ios", "1.0") },
            [Self.snapshot(10, [.scheduled: 3]).from("ios", "1.1")]
        ).fold
        #expect(fold.totalsByGroup.map { $0.totals.scheduled } == [0, 1, 2])
        #expect(fold.totalsByGroup.map { $0.totals.recovered(.scheduled) } == [0, 0, 2])
    }
}

@Suite("Client counters after a reset")
struct NewBaselineTests {
    private let old = [
        TestEvent(.prefetchScheduled, 0, id: "a").of(1), ClientCountersTests.snapshot(10, [.scheduled: 3]),
    ]

    @Test("an event counts once whether it arrives before or after the first snapshot of a new baseline")
    func eventAroundAResetCountsOnceInAnyOrder() throws {
        let event = TestEvent(.prefetchScheduled, 20, id: "b").of(1)
        let reset = ClientCountersTests.snapshot(30, [.scheduled: 1])
        for middle in [[event, reset], [reset, event]] {
            var fold = LifecycleFold.keeping()
            try fold.apply(old + middle + [ClientCountersTests.snapshot(50, [.scheduled: 2])])
            fold.finish()
            #expect(fold.totals.scheduled == 5)
            #expect(fold.totals.snapshots(.reset) == 1)
        }
    }

    @Test("an event recovered before a reset does not count again when it arrives late")
    func eventFromBeforeAResetIsNotCountedAgain() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply(
            old + [
                ClientCountersTests.snapshot(30, [.scheduled: 1]), TestEvent(.prefetchScheduled, 5, id: "late").of(1),
            ]
        )
        fold.finish()
        #expect(fold.totals.scheduled == 4)
    }

    @Test("what a lower client snapshot tells beyond the events since the last one is added, once, and never more")
    func lossesBehindAResetAreAddedOnce() throws {
        for (events, told, lost) in [(0, 2, 2), (1, 3, 2), (3, 2, 0), (2, 2, 0)] {
            var fold = LifecycleFold.keeping()
            try fold.accept([ClientCountersTests.snapshot(10, [.scheduled: 5])])
            try fold.accept((0..<events).map { TestEvent(.prefetchScheduled, 20, id: "new \($0)").of(1) })
            try fold.accept([ClientCountersTests.snapshot(30, [.scheduled: UInt64(told)])])
            #expect(fold.totals.scheduled == UInt64(5 + events + lost))
            #expect(fold.totals.recovered(.scheduled) == UInt64(5 + lost))
            // They arrive after all.
            try fold.accept((0..<lost).map { TestEvent(.prefetchScheduled, 25, id: "late \($0)").of(1) })
            #expect(fold.totals.scheduled == UInt64(5 + events + lost))
            try fold.accept([TestEvent(.prefetchScheduled, 26, id: "more").of(1)])
            #expect(fold.totals.scheduled == UInt64(6 + events + lost))
        }
    }
}

@Suite("Client counters within limits")
struct ClientLimitsTests {
    typealias Counters = ClientCountersTests

    @Test(
        "a client snapshot may add 10,000 to a counter; a larger claim becomes the baseline",
        arguments: [10_000, 10_001] as [UInt64]
    )
    func implausibleCountersBecomeTheBaseline(lost: UInt64) throws {
        var fold = try Counters.Fold(Counters.scheduled(1), [Counters.snapshot(10, [.scheduled: lost + 1])]).fold
        let isBelieved = lost == 10_000
        #expect(fold.totals.scheduled == (isBelieved ? 10_001 : 1))
        #expect(fold.totals.snapshots(isBelieved ? .applied : .implausible) == 1)
        try fold.accept([Counters.snapshot(20, [.scheduled: lost + 4])])
        #expect(fold.totals.recovered(.scheduled) == (isBelieved ? 10_003 : 3))
    }

    @Test("the first client snapshot may be far above the fold's counts")
    func firstSnapshotMayAddMany() throws {
        let totals = try Counters.Fold(Counters.scheduled(1), [Counters.snapshot(10, [.scheduled: 900])]).totals
        #expect(totals.scheduled == 900)
        #expect(totals.recovered(.scheduled) == 899)
    }

    @Test("client counters out of range change nothing", arguments: ClientCounter.allCases)
    func outOfRangeCountersChangeNothing(counter: ClientCounter) throws {
        var fold = try Counters.Fold(Counters.scheduled(1)).fold
        for (index, value) in [UInt64.max, 1 << 63, 1 << 32, UInt64(Int64.max)].enumerated() {
            try fold.accept([Counters.snapshot(10 + Double(index), [counter: value])])
            #expect(fold.totals.snapshots(.implausible) == UInt64(index) + 1)
        }
        try fold.accept([Counters.snapshot(20, [counter: UInt64(UInt32.max)])])
        #expect(fold.totals.snapshots(.implausible) == 5)
        #expect(fold.totals.stages == [1, 0, 0, 0, 0, 0, 0, 0])
        try fold.accept([Counters.snapshot(30, [counter: 0])])
        try fold.accept([Counters.snapshot(40, [counter: 2])])
        #expect(fold.totals.stages.reduce(0, +) == 3)
    }

    @Test("client counters of an evicted installation start a new baseline")
    func evictedInstallationGetsANewBaseline() throws {
        var limits = LifecycleLimits()
        limits.installations = 2
        var fold = try Counters.Fold(limits: limits, Counters.scheduled(1, 2, 3, 4, 5)).fold
        try fold.accept([TestEvent(.pluginStarted, 6, id: nil).of(2), TestEvent(.pluginStarted, 7, id: nil).of(3)])
        #expect(fold.totals.evictedInstallations == 1)
        try fold.accept([Counters.snapshot(10, [.scheduled: 5])])
        #expect(fold.totals.scheduled == 5)
        #expect(fold.totals.snapshots(.reset) == 1)
        try fold.accept([Counters.snapshot(20, [.scheduled: 7])])
        #expect(fold.totals.scheduled == 7)
    }

    @Test("client counters continue across a checkpoint at any point")
    func countersSurviveACheckpoint() throws {
        let steps: [[TestEvent]] = [
            Counters.scheduled(1, 2), [Counters.snapshot(10, [.scheduled: 4, .failure: 2])], Counters.scheduled(5),
            Counters.failure(6, .auth), [Counters.snapshot(20, [.scheduled: 4, .failureAuth: 2])],
            [Counters.snapshot(30, [.scheduled: 1])], Counters.scheduled(31),
            [Counters.snapshot(40, [.scheduled: 4])],
        ]
        for place in 0...steps.count {
            var fold = LifecycleFold.keeping()
            var store = CheckpointStore()
            for (index, step) in steps.enumerated() {
                if index == place {
                    store.save(fold.takeChanges())
                    fold = try store.restore()
                }
                try fold.accept(step)
            }
            #expect(fold.totals.stages == [8, 0, 0, 0, 0, 0, 2, 0])
            #expect(fold.totals.recovered(.scheduled) == 5)
            #expect(fold.totals.recovered(.failure) == 2)
            #expect(fold.totals.snapshots(.applied) == 3)
            #expect(fold.totals.snapshots(.reset) == 1)
        }
    }
}
