// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@Suite("What a sender cannot blow up")
struct BoundedCyclesTests {
    @Test("the open cycles of one schedule, also where they learn its id late")
    func cyclesOfASchedule() throws {
        var fold = LifecycleFold.keeping()
        for number in 1...100 {
            let due = Double(number) * 60
            try fold.apply([
                Told(.prefetchScheduled, 0, id: nil, due: due), Told(.prefetchExecuted, 1, id: "a", due: due),
            ])
        }
        #expect(fold.openCycles == LifecycleLimits().cyclesPerSchedule)
        #expect(fold.totals.scheduled == 100)
        #expect(fold.totals.executed == 100)
    }

    @Test("the sums of clocks and arrival, which never fall")
    func sums() throws {
        var fold = LifecycleFold.keeping()
        var before: UInt64 = 0
        for second in 0..<200 {
            try fold.apply([Told(.pluginStarted, Double(second)).with { $0.clockSkew = .min }])
            #expect(fold.totals.clockSkew.microseconds >= before)
            before = fold.totals.clockSkew.microseconds
        }
        #expect(fold.totals.clockSkew.count == 200)
        #expect(before == 200 * 10 * 365 * 86_400 * 1_000_000)
    }

    @Test("a delivery by a clock that is a month off still counts")
    func farClock() throws {
        let delivered = Told(.notificationDelivered, 900, due: 900).with { $0.clockSkew = 30 * 86_400 * 1_000_000 }
        var fold = LifecycleFold.keeping()
        try fold.apply([Told(.prefetchScheduled, 0, due: 900), delivered])
        fold.finish()
        #expect(DeliveredContent.allCases.map { fold.totals.delivered($0) } == [0, 0, 1])
    }
}

@Suite("A closed cycle that is told of again")
struct ClosedCycleTests {
    private let day: Double = 86_400

    private func fold(closing events: [Told]) throws -> LifecycleFold {
        var fold = LifecycleFold.keeping()
        try fold.apply(events, at: 1_000)
        fold.tick(to: .after(3 * day))
        #expect(fold.openCycles == 0)
        return fold
    }

    @Test("by its time alone is not judged again, nor by its id where it had only a time")
    func otherName() throws {
        let both = [Told(.prefetchScheduled, 0, due: 900).of(1), Told(.prefetchExecuted, 60, due: 900).of(1)]
        let timed = [Told(.prefetchScheduled, 0, id: nil, due: 900).of(1)]
        for (first, late) in [
            (both, Told(.prefetchSuccess, 70, id: nil, due: 900)), (timed, Told(.prefetchExecuted, 60, due: 900)),
        ] {
            var fold = try fold(closing: first)
            let judged = CycleOutcome.allCases.map { fold.totals.cycles($0) }
            try fold.apply([late.of(1)], at: 3 * day)
            fold.tick(to: .after(6 * day))
            #expect(fold.openCycles == 0)
            #expect(CycleOutcome.allCases.map { fold.totals.cycles($0) } == judged)
        }
    }

    @Test("by its id alone shortly before it was due is not judged again, whatever the hour", arguments: 0..<24)
    func beforeDue(hour: Int) throws {
        let due = 300 + Double(hour) * 3_600
        var fold = try fold(closing: [
            Told(.prefetchScheduled, due - 700, due: due), Told(.prefetchUsedForNotification, due),
        ])
        try fold.apply([Told(.prefetchCompleted, due - 600)], at: 3 * day)
        fold.tick(to: .after(6 * day))
        #expect(CycleOutcome.allCases.reduce(0) { $0 + fold.totals.cycles($1) } == 1)
    }

    @Test("by its id alone on the next day is another cycle, whatever the hour", arguments: 0..<24)
    func nextDay(hour: Int) throws {
        let due = 300 + Double(hour) * 3_600
        var fold = try fold(closing: [
            Told(.prefetchScheduled, due - 700, due: due), Told(.prefetchUsedForNotification, due),
        ])
        try fold.apply(
            [Told(.prefetchScheduled, due + day - 700), Told(.prefetchExecuted, due + day - 300)],
            at: 3 * day
        )
        try fold.apply([Told(.prefetchCycleComplete, due + day).summing()], at: 3 * day)
        fold.tick(to: .after(6 * day))
        #expect(fold.totals.used == 2)
        #expect(fold.totals.cycles(.used) == 2)
    }
}
