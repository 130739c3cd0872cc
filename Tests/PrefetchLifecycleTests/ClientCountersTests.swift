// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

/// What SPEC 5.3 says of a client's own counters, sentence by sentence.
@Suite("A client's own counters")
struct ClientCountersTests {
    static func snapshot(_ second: Double, _ counters: KeyValuePairs<ClientCounter, UInt64>) -> Told {
        Told(.telemetrySnapshot, second, id: nil).telling(counters).of(1)
    }

    /// Tasks that were scheduled, each of a cycle of its own.
    static func scheduled(_ seconds: Double...) -> [Told] {
        seconds.map { Told(.prefetchScheduled, $0, id: "at \($0)").of(1) }
    }

    /// Attempts that failed, each of a cycle of its own.
    static func failure(_ second: Double, _ reason: FailureReason?) -> [Told] {
        let failed = Told(.prefetchFailure, second, id: "at \(second)").of(1)
        return [reason.map(failed.reason) ?? failed]
    }

    struct Fold {
        var fold: LifecycleFold
        var totals: LifecycleTotals { fold.totals }

        init(limits: LifecycleLimits = LifecycleLimits(), _ steps: [Told]...) throws {
            fold = LifecycleFold.keeping(limits: limits)
            for step in steps { try fold.accept(step) }
        }
    }

    @Test("say more than was counted: the difference is added once, where it can be seen")
    func lostEvents() throws {
        let totals = try Fold(
            Self.scheduled(1, 2),
            [Self.snapshot(10, [.scheduled: 5, .executed: 3, .success: 2, .used: 1, .failureAuth: 1])]
        ).totals
        #expect(totals.stages == [5, 3, 2, 0, 1, 0, 0, 1])
        #expect(LifecycleStage.recoverable.map { totals.recovered($0) } == [3, 3, 2, 1, 1])
        #expect(totals.snapshots(.applied) == 1)
    }

    @Test("say the same again, in another snapshot or in the same one: nothing is added")
    func again() throws {
        let snapshot = Self.snapshot(10, [.scheduled: 5])
        var fold = try Fold(Self.scheduled(1, 2), [snapshot], [snapshot], [Self.snapshot(20, [.scheduled: 5])]).fold
        #expect(fold.totals.scheduled == 5)
        #expect(fold.totals.snapshots(.applied) == 2)
        try fold.apply([snapshot])
        #expect(fold.totals.scheduled == 5)
    }

    @Test("say what was counted, or less because events have overtaken them: nothing changes")
    func nothingLost() throws {
        let totals = try Fold(
            Self.scheduled(1, 2, 3),
            [Self.snapshot(2.5, [.scheduled: 2])],
            [Self.snapshot(4, [.scheduled: 3])]
        ).totals
        #expect(totals.scheduled == 3)
        #expect(totals.recovered(.scheduled) == 0)
        #expect(totals.snapshots(.applied) == 2)
    }

    @Test("are older than the last ones applied: nothing changes")
    func older() throws {
        let totals = try Fold(
            [Self.snapshot(10, [.scheduled: 5])],
            [Self.snapshot(9.999_999, [.scheduled: 7])],
            [Self.snapshot(9, [.scheduled: 4])]
        ).totals
        #expect(totals.scheduled == 5)
        #expect(totals.snapshots(.stale) == 2)
    }

    @Test("of one second: the higher ones count, in either order")
    func sameTime() throws {
        let (low, high) = (Self.snapshot(10, [.scheduled: 4]), Self.snapshot(10, [.scheduled: 5, .executed: 1]))
        for order in [[low, high], [high, low]] {
            let totals = try Fold([order[0]], [order[1].with { $0.kind = .pluginStarted }]).totals
            #expect(totals.stages == [5, 1, 0, 0, 0, 0, 0, 0])
            #expect(totals.snapshots(.reset) == 0)
        }
    }

    @Test("are lower and newer: a new baseline, beyond which losses are added again")
    func reinstalled() throws {
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
        #expect(fold.totals.scheduled == 8)
    }

    @Test("lower in one counter begin anew in all of them")
    func lowerInOne() throws {
        let totals = try Fold(
            [Self.snapshot(10, [.scheduled: 3, .executed: 2])],
            [Self.snapshot(20, [.scheduled: 9, .executed: 1])],
            [Self.snapshot(30, [.scheduled: 10, .executed: 3])]
        ).totals
        #expect(totals.stages == [4, 4, 0, 0, 0, 0, 0, 0])
    }

    @Test("without an installation are not applied")
    func unidentified() throws {
        var fold = LifecycleFold.keeping()
        try fold.accept([Told(.telemetrySnapshot, 10, id: nil).telling([.scheduled: 5])])
        #expect(fold.totals.snapshots(.unidentified) == 1)
        #expect(fold.totals.scheduled == 0)
        #expect(fold.totals.recovered(.scheduled) == 0)
    }

    @Test("that come with another kind of event include that event")
    func withAnEvent() throws {
        let seed: KeyValuePairs<ClientCounter, UInt64> = [.scheduled: 1, .executed: 1, .success: 1]
        let success = Told(.prefetchSuccess, 402).of(1).telling(seed)
        for order in [[Told(.prefetchScheduled, 0).of(1), success], [success, Told(.prefetchScheduled, 0).of(1)]] {
            let totals = try Fold([order[0]], [order[1]], [success]).totals
            #expect(totals.stages == [1, 1, 1, 0, 0, 0, 0, 0])
            #expect(totals.recovered(.success) == 0)
        }
    }

    @Test("of one installation say nothing of another")
    func installations() throws {
        let totals = try Fold(
            Self.scheduled(1, 2).map { $0.of(2) },
            [Self.snapshot(10, [.scheduled: 1])],
            [Self.snapshot(10, [.scheduled: 2]).of(2)]
        ).totals
        #expect(totals.scheduled == 3)
        #expect(totals.recovered(.scheduled) == 1)
    }

    @Test("are counted where their event counts, by platform and version")
    func groups() throws {
        let fold = try Fold(
            Self.scheduled(1).map { $0.from("ios", "1.0") },
            [Self.snapshot(10, [.scheduled: 3]).from("ios", "1.1")]
        ).fold
        #expect(fold.totalsByGroup.map { $0.totals.scheduled } == [0, 1, 2])
        #expect(fold.totalsByGroup.map { $0.totals.recovered(.scheduled) } == [0, 0, 2])
    }
}

@Suite("A client that began anew")
struct NewBaselineTests {
    private let old = [Told(.prefetchScheduled, 0, id: "a").of(1), ClientCountersTests.snapshot(10, [.scheduled: 3])]

    @Test("is counted alike whether what it told comes before its first snapshot or after")
    func anyOrder() throws {
        let event = Told(.prefetchScheduled, 20, id: "b").of(1)
        let reset = ClientCountersTests.snapshot(30, [.scheduled: 1])
        for middle in [[event, reset], [reset, event]] {
            var fold = LifecycleFold.keeping()
            try fold.apply(old + middle + [ClientCountersTests.snapshot(50, [.scheduled: 2])])
            fold.finish()
            #expect(fold.totals.scheduled == 5)
            #expect(fold.totals.snapshots(.reset) == 1)
        }
    }

    @Test("does not count again what was given up before and comes after all")
    func formerLife() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply(
            old + [ClientCountersTests.snapshot(30, [.scheduled: 1]), Told(.prefetchScheduled, 5, id: "late").of(1)]
        )
        fold.finish()
        #expect(fold.totals.scheduled == 3)
    }
}

@Suite("A client's counters within limits")
struct ClientLimitsTests {
    typealias Counters = ClientCountersTests

    @Test("may be 10,000 ahead, and are taken at their word beyond", arguments: [10_000, 10_001] as [UInt64])
    func limit(lost: UInt64) throws {
        var fold = try Counters.Fold(Counters.scheduled(1), [Counters.snapshot(10, [.scheduled: lost + 1])]).fold
        let isBelieved = lost == 10_000
        #expect(fold.totals.scheduled == (isBelieved ? 10_001 : 1))
        #expect(fold.totals.snapshots(isBelieved ? .applied : .implausible) == 1)
        try fold.accept([Counters.snapshot(20, [.scheduled: lost + 4])])
        #expect(fold.totals.recovered(.scheduled) == (isBelieved ? 10_003 : 3))
    }

    @Test("may be far above what was counted the first time")
    func first() throws {
        let totals = try Counters.Fold(Counters.scheduled(1), [Counters.snapshot(10, [.scheduled: 900])]).totals
        #expect(totals.scheduled == 900)
        #expect(totals.recovered(.scheduled) == 899)
    }

    @Test("that no counter can have change nothing", arguments: ClientCounter.allCases)
    func hostile(counter: ClientCounter) throws {
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

    @Test("of an installation that was forgotten are a new baseline")
    func forgotten() throws {
        var limits = LifecycleLimits()
        limits.installations = 2
        var fold = try Counters.Fold(limits: limits, Counters.scheduled(1, 2, 3, 4, 5)).fold
        try fold.accept([Told(.pluginStarted, 6, id: nil).of(2), Told(.pluginStarted, 7, id: nil).of(3)])
        #expect(fold.totals.evictedInstallations == 1)
        try fold.accept([Counters.snapshot(10, [.scheduled: 5])])
        #expect(fold.totals.scheduled == 5)
        #expect(fold.totals.snapshots(.reset) == 1)
        try fold.accept([Counters.snapshot(20, [.scheduled: 7])])
        #expect(fold.totals.scheduled == 7)
    }

    @Test("are remembered by a checkpoint at any place")
    func checkpoints() throws {
        let steps: [[Told]] = [
            Counters.scheduled(1, 2), [Counters.snapshot(10, [.scheduled: 4, .failure: 2])], Counters.scheduled(5),
            Counters.failure(6, .auth), [Counters.snapshot(20, [.scheduled: 4, .failureAuth: 2])],
            [Counters.snapshot(30, [.scheduled: 1])], Counters.scheduled(31),
            [Counters.snapshot(40, [.scheduled: 4])],
        ]
        for place in 0...steps.count {
            var fold = LifecycleFold.keeping()
            var store = CheckpointTests.Store()
            for (index, step) in steps.enumerated() {
                if index == place {
                    store.save(fold.takeChanges())
                    fold = try store.restore()
                }
                try fold.accept(step)
            }
            #expect(fold.totals.stages == [7, 0, 0, 0, 0, 0, 2, 0])
            #expect(fold.totals.recovered(.scheduled) == 4)
            #expect(fold.totals.recovered(.failure) == 2)
            #expect(fold.totals.snapshots(.applied) == 3)
            #expect(fold.totals.snapshots(.reset) == 1)
        }
    }
}
