// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@Suite("What a tick will find")
struct ClosingVerdictTests {
    @Test("is what it finds, asked twice and with nothing changed by the question", arguments: 0..<8)
    func agrees(seed: UInt64) throws {
        var random = SplitMix64(state: seed + 4_000)
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
            // A clock that was set back ticks at the latest time that it told.
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

    @Test("of a cycle that was judged before is nothing")
    func judgedBefore() throws {
        var fold = LifecycleFold.keeping()
        let delivered = Told(.notificationDelivered, 999, due: 0)
        try fold.apply([delivered], at: 1_000)
        #expect(fold.violations(closingAt: .after(1_899)).isEmpty)
        #expect(fold.violations(closingAt: .after(1_900)).map(\.broken) == [[.driftExceeded]])
        fold.tick(to: .after(1_900))
        try fold.apply([Told(.prefetchUsedForNotification, 999, due: 0)], at: 2_000)
        #expect(fold.openCycles == 1)
        #expect(fold.violations(closingAt: .after(200_000)).isEmpty)
        fold.tick(to: .after(200_000))
        #expect(fold.openCycles == 0)
        #expect(fold.totals.violations(.driftExceeded) == 1)
    }
}
