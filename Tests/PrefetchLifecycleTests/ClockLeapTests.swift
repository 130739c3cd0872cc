// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import PrefetchLifecycle

/// The ledger's clock follows the rows, and a tick sets it back (docs/lifecycle.md, A clock that leaps).
@Suite("A clock that leaps")
struct ClockLeapTests {
    private static let day: Double = 86_400

    @Test("a tick sets a clock ahead back, and what closes by time closes by the true one")
    func tickSetsBack() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply([TestEvent(.prefetchScheduled, 0, id: "before", due: 900)])
        try fold.apply([TestEvent(.prefetchExecuted, 60, id: "before")], at: 8 * Self.day)
        try fold.apply([TestEvent(.notificationDelivered, 900, id: "ended", due: 900)], at: 8 * Self.day)
        try fold.apply([TestEvent(.prefetchScheduled, 0, id: "undated")], at: 8 * Self.day)
        #expect(fold.clock == .after(8 * Self.day))
        let isDue = fold.isTickDue(at: .after(120))
        #expect(isDue)
        fold.tick(to: .after(120))
        #expect(fold.clock == .after(120))
        #expect(fold.openCycles == 3)
        let isStillDue = fold.isTickDue(at: .after(120))
        #expect(!isStillDue)

        fold.tick(to: .after(120 + 15 * 60))
        #expect(fold.openCycles == 2)
        fold.tick(to: .after(120 + Self.day - 1))
        #expect(fold.openCycles == 2)
        fold.tick(to: .after(120 + Self.day))
        #expect(fold.openCycles == 1)
        fold.tick(to: .after(900 + Self.day))
        #expect(fold.openCycles == 0)
    }

    @Test("a clock that is set back by a few minutes is waited for")
    func smallStepIsWaitedFor() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply([TestEvent(.prefetchScheduled, 0)], at: 300)
        let isDue = fold.isTickDue(at: .after(0))
        #expect(!isDue)
        fold.tick(to: .after(0))
        #expect(fold.clock == .after(300))
        let isDueLater = fold.isTickDue(at: .after(-1))
        #expect(isDueLater)
    }

    @Test("events alone never set the clock back")
    func eventsDoNotSetBack() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply([TestEvent(.prefetchScheduled, 0)], at: Self.day)
        try fold.apply([TestEvent(.prefetchExecuted, 60)], at: 60)
        #expect(fold.clock == .after(Self.day))
        #expect(fold.lastRow == .after(60))
    }

    @Test("the verdicts told for a tick that sets the clock back are those that it closes", arguments: 0..<10)
    func verdictsAgree(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var fold = LifecycleFold.keeping()
        var store = CheckpointStore()
        for _ in 0..<60 {
            let history = History(seed: UInt64.random(in: 0..<200, using: &random)).events
            let leap = Double(Int.random(in: -3...12, using: &random)) * Self.day
            try fold.apply(Array(history.shuffled(using: &random).prefix(5)), at: leap)
            guard Int.random(in: 0..<2, using: &random) == 0 else { continue }
            let now = Timestamp.after(Double(Int.random(in: -3...12, using: &random)) * Self.day)
            let told = fold.violations(closingAt: now).map { "\($0)" }
            let time = fold.timeOfTick(at: now)
            _ = fold.takeClosedCycles()
            var restored = LifecycleFold.keeping()
            store.save(fold.takeChanges())
            for (key, value) in store.pages.sorted(by: { $0.key < $1.key }) {
                try restored.restore(StatePage(key: key, value: value))
            }
            fold.tick(to: now)
            restored.tick(to: now)
            #expect(fold.clock == time)
            #expect(fold.takeClosedCycles().filter { !$0.violations.isEmpty }.map { "\($0)" } == told)
            #expect(restored.totals == fold.totals)
            #expect(restored.openCycles == fold.openCycles)
        }
    }
}
