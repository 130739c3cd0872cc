// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

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
