// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import PrefetchLifecycle

@Suite("Violations that a tick will find")
struct ClosingVerdictTests {
    @Test("the announced violations are those that the tick finds, and announcing changes nothing", arguments: 0..<8)
    func announcedViolationsAreThoseOfTheTick(seed: UInt64) throws {
        var random = SplitMix64(seed: seed + 4_000)
        var limits = LifecycleLimits()
        if seed % 2 == 0 {
            limits.openCycles = 5
            limits.installations = 3
            limits.cyclesPerSchedule = 2
        }
        var fold = LifecycleFold.keeping(limits: limits)
        var untouched = fold
        var found = 0
        var time = 0.0
        for _ in 0..<60 {
            let installation = UInt64.random(in: 1...6, using: &random)
            let history = History(seed: UInt64.random(in: 0..<1_000, using: &random)).events
            let events = history.shuffled(using: &random).prefix(6).map { $0.of(installation) }
            time += Double(Int.random(in: 0..<40_000, using: &random))
            try fold.apply(events, at: time)
            try untouched.apply(events, at: time)
            // After a clock was set back, a tick has the latest time before.
            let now = Timestamp.after(time + Double(Int.random(in: -5_000..<5_000, using: &random)))
            let expected = fold.violations(closingAt: now)
            #expect(fold.violations(closingAt: now).map { "\($0)" } == expected.map { "\($0)" })
            _ = fold.takeClosedCycles()
            _ = untouched.takeClosedCycles()
            fold.tick(to: now)
            untouched.tick(to: now)
            let closed = fold.takeClosedCycles().filter { !$0.violations.isEmpty }
            #expect(closed.map { "\($0)" } == expected.map { "\($0)" })
            found += closed.count
            #expect(fold.totals == untouched.totals)
        }
        #expect(fold.takeChanges().upserts == untouched.takeChanges().upserts)
        #expect(found > 0)
    }

    @Test("a reopened cycle announces no violation")
    func reopenedCycleAnnouncesNoViolation() throws {
        var fold = LifecycleFold.keeping()
        let delivered = TestEvent(.notificationDelivered, 999, due: 0)
        try fold.apply([delivered], at: 1_000)
        #expect(fold.violations(closingAt: .after(1_899)).isEmpty)
        #expect(fold.violations(closingAt: .after(1_900)).map(\.broken) == [[.driftExceeded]])
        fold.tick(to: .after(1_900))
        try fold.apply([TestEvent(.prefetchUsedForNotification, 999, due: 0)], at: 2_000)
        #expect(fold.openCycles == 1)
        #expect(fold.violations(closingAt: .after(200_000)).isEmpty)
        fold.tick(to: .after(200_000))
        #expect(fold.openCycles == 0)
        #expect(fold.totals.violations(.driftExceeded) == 1)
    }
}

@Suite("Closed cycles that are named again")
struct ClosedNamesTests {
    @Test(
        "a batch that closes cycles for room and names them again is folded as its events one by one",
        arguments: 0..<20
    )
    func batchIsFoldedAsItsEventsAre(seed: UInt64) throws {
        var random = SplitMix64(seed: seed + 6_000)
        var limits = LifecycleLimits()
        limits.openCycles = Int.random(in: 1...3, using: &random)
        let kinds = ["prefetch_scheduled", "prefetch_executed", "prefetch_success", "notification_delivered"]
        let events = (0..<60).map { moment in
            let cycle = Int64.random(in: 0..<6, using: &random)
            let due = Timestamp(microseconds: start.microseconds + (900 + cycle) * 1_000_000)
            let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
            let told = event(kind, Int64(moment), #""notificationTime":"\#(due)""#, id: "cycle-\(cycle)")
            let isNamed = Int.random(in: 0..<4, using: &random) > 0
            return isNamed ? told : told.replacing(#""scheduleId":"cycle-\#(cycle)","#, with: "")
        }
        var whole = LifecycleFold.keeping(limits: limits)
        var single = whole
        try whole.apply(events)
        for event in events { try single.apply([event]) }
        #expect(whole.totals.evictedCycles > 0)
        #expect(whole.totals == single.totals)
        #expect(whole.takeClosedCycles().map { "\($0)" } == single.takeClosedCycles().map { "\($0)" })
    }

    @Test("none of many cycles that one tick closes is judged again")
    func noneOfManyIsJudgedAgain() throws {
        let count = 3 * EventWindow.size + 5
        var fold = try BoundedTickTests.fold(count)
        fold.tick(to: BoundedTickTests.end)
        #expect(fold.openCycles == 0)
        let judged = fold.totals.cycles(.missed) + fold.totals.cycles(.incomplete)
        #expect(judged == UInt64(count))
        try fold.apply((0..<count).map { event("prefetch_executed", 60, id: "cycle-\($0)") }, at: 3 * 86_400)
        #expect(fold.openCycles == count)
        fold.tick(to: Timestamp(microseconds: BoundedTickTests.end.microseconds + 3 * 86_400 * 1_000_000))
        #expect(fold.openCycles == 0)
        #expect(CycleOutcome.allCases.reduce(0) { $0 + fold.totals.cycles($1) } == judged)
    }
}

@Suite("Ticks with many due cycles")
struct BoundedTickTests {
    static let end = Timestamp(microseconds: start.microseconds + 3 * 86_400 * 1_000_000)
    static let limit = LifecycleFold.closingsPerTick

    /// A fold with `count` open cycles.
    static func fold(_ count: Int) throws -> LifecycleFold {
        var fold = LifecycleFold()
        for first in stride(from: 0, to: count, by: 1_000) {
            try fold.apply(
                (first..<min(first + 1_000, count)).map { event("prefetch_scheduled", 0, id: "cycle-\($0)") }
            )
        }
        return fold
    }

    @Test("each tick closes a bounded number of cycles until none is due")
    func ticksCloseBoundedParts() throws {
        var fold = try Self.fold(2 * Self.limit + 5)
        var open = [fold.openCycles]
        while fold.isTickDue(at: Self.end), open.count < 10 {
            fold.tick(to: Self.end)
            open.append(fold.openCycles)
        }
        #expect(open == [2 * Self.limit + 5, Self.limit + 5, 5, 0])
        #expect(fold.totals.cycles(.missed) + fold.totals.cycles(.incomplete) == UInt64(2 * Self.limit + 5))
    }

    @Test("a tick closes the same cycles after a restart, whatever was searched before")
    func tickClosesTheSameCyclesAfterARestart() throws {
        var live = try Self.fold(Self.limit + 700)
        var store = CheckpointStore()
        store.save(live.takeChanges())
        for second in stride(from: 0, to: 80_000, by: 7_000) {
            _ = live.isTickDue(at: Timestamp(microseconds: start.microseconds + Int64(second) * 1_000_000))
        }
        var restored = try store.restore()
        live.tick(to: Self.end)
        restored.tick(to: Self.end)
        var after = [CheckpointStore(), CheckpointStore()]
        after[0].save(live.takeChanges())
        after[1].save(restored.takeChanges())
        #expect(live.openCycles == 700)
        #expect(after[0].pages == after[1].pages)
    }

    @Test("a cycle is due exactly from its closing second on", arguments: 0..<10)
    func cycleIsDueAtItsClosingSecond(seed: UInt64) throws {
        var random = SplitMix64(seed: seed + 5_000)
        var fold = LifecycleFold.keeping()
        var time = 0.0
        for _ in 0..<80 {
            time += Double(Int.random(in: 0..<9_000, using: &random))
            let history = History(seed: UInt64.random(in: 0..<200, using: &random)).events
            try fold.apply(Array(history.shuffled(using: &random).prefix(3)), at: time)
            let due = (0..<fold.cycles.count).filter { fold.cycles[$0].closesAt <= fold.seconds(fold.clock) }
            #expect(fold.isTickDue(at: fold.clock) == !due.isEmpty)
            #expect(fold.cycles.due(at: fold.seconds(fold.clock), limit: .max) == due)
            if Int.random(in: 0..<3, using: &random) == 0 { fold.tick(to: fold.clock) }
        }
    }
}
