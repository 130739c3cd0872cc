// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@Suite("Which cycle an event belongs to")
struct LinkingTests {
    static let day = 86_400.0

    @Test("schedule and notification time tell of one cycle once an event has both")
    func joined() throws {
        let events = [
            Told(.prefetchExecuted, 400), Told(.prefetchScheduled, 0, id: nil, due: 900),
            Told(.prefetchSuccess, 402, id: nil, due: 900), Told(.prefetchUsedForNotification, 900),
        ]
        #expect(try LifecycleFold.judged(events).count == 2)
        let link = Told(.notificationScheduled, 0, due: 900)
        for place in 0...events.count {
            var linked = events
            linked.insert(link, at: place)
            var fold = LifecycleFold.keeping()
            try fold.apply(linked)
            fold.finish()
            let cycles = fold.takeClosedCycles()
            #expect(cycles.count == 1)
            #expect(cycles.first?.outcome == .used)
            #expect(cycles.flatMap(\.violations) == [])
            #expect(cycles.first?.schedule != nil)
            #expect(cycles.first?.notificationTime == .after(900))
            #expect(fold.totals.stages == [1, 1, 1, 0, 0, 0, 0, 1])
        }
    }

    @Test("what both halves of a cycle had counted is not counted again")
    func countedOnce() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply([Told(.prefetchSuccess, 402), Told(.prefetchSuccess, 402, id: nil, due: 900)])
        #expect(fold.totals.success == 2)
        try fold.apply([
            Told(.notificationScheduled, 0, due: 900), Told(.prefetchExecuted, 300), Told(.prefetchExecuted, 500),
            Told(.prefetchSuccess, 502),
        ])
        #expect(fold.totals.success == 2)
        #expect(fold.openCycles == 1)
    }

    @Test("one schedule on two days is two cycles; events without a time go to the nearer one")
    func twoDays() throws {
        let events = [
            Told(.prefetchScheduled, 0, due: 900), Told(.prefetchExecuted, 600), Told(.prefetchSuccess, 602),
            Told(.prefetchUsedForNotification, 901), Told(.notificationDelivered, 901),
            Told(.prefetchScheduled, 603, due: 900 + Self.day), Told(.prefetchExecuted, 600 + Self.day),
            Told(.prefetchFailure, 602 + Self.day).reason(.network), Told(.contentMissing, 901 + Self.day),
            Told(.notificationDelivered, 901 + Self.day),
        ]
        let cycles = try LifecycleFold.judged(events)
        #expect(cycles.map(\.outcome) == [.used, .fallback])
        #expect(cycles.map(\.notificationTime) == [.after(900), .after(900 + Self.day)])
        #expect(cycles.flatMap(\.violations) == [])
        #expect(cycles.first?.schedule == cycles.last?.schedule)
    }

    @Test("a cycle whose time is a day past is not preferred, however near it is")
    func past() throws {
        let cycles = try LifecycleFold.judged([
            Told(.prefetchScheduled, 0, due: 100), Told(.prefetchScheduled, 0, due: 100 + 2.2 * Self.day),
            Told(.prefetchSuccess, 101 + Self.day),
        ])
        #expect(cycles.map { $0.stages.success != nil } == [false, true])
    }

    @Test("events of one installation and of another are apart, with the same schedule or time")
    func installations() throws {
        let cycles = try LifecycleFold.judged([
            Told(.prefetchSuccess, 0, due: 900).of(1), Told(.prefetchSuccess, 0, due: 900).of(2),
            Told(.prefetchExecuted, 0, id: nil, due: 900).of(3), Told(.prefetchExecuted, 0).of(4),
        ])
        #expect(cycles.count == 4)
    }

    @Test("of two schedules at one time the first takes the events that have only the time")
    func sharedTime() throws {
        let cycles = try LifecycleFold.judged([
            Told(.prefetchScheduled, 0, id: "a", due: 900), Told(.prefetchScheduled, 0, id: "b", due: 900),
            Told(.prefetchExecuted, 1, id: nil, due: 900),
        ])
        #expect(cycles.map(\.attempts) == [1, 0])
    }

    @Test("only so many cycles of one schedule are open")
    func crowded() throws {
        var limits = LifecycleLimits()
        limits.cyclesPerSchedule = 4
        var fold = LifecycleFold.keeping(limits: limits)
        try fold.apply((0..<10).map { Told(.prefetchScheduled, 0, due: Double($0) * 60) })
        #expect(fold.openCycles == 4)
        #expect(fold.totals.evictedCycles == 6)
        #expect(fold.takeClosedCycles().map(\.notificationTime) == (0..<6).map { .after(Double($0) * 60) })
        #expect(fold.totals.scheduled == 10)
    }

    @Test("halves that are too far apart in time stay two cycles")
    func farApart() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply([
            Told(.prefetchSuccess, 20 * Self.day, id: nil, due: 900), Told(.prefetchExecuted, -20 * Self.day),
            Told(.notificationScheduled, -19 * Self.day, due: 900),
        ])
        fold.finish()
        #expect(fold.takeClosedCycles().count == 2)
        #expect(fold.totals.evictedCycles == 1)
    }

    @Test("a cycle that was closed is counted when it is told of again, and not judged again")
    func closed() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply(ViolationTests.cycle())
        fold.tick(to: .after(1_000))
        #expect(fold.takeClosedCycles().count == 1)
        try fold.apply([Told(.prefetchSuccess, 402.5, due: 900)], at: 1_001)
        try fold.apply([Told(.prefetchCycleComplete, 905).summing()], at: 1_002)
        #expect(fold.openCycles == 1)
        fold.finish()
        #expect(fold.takeClosedCycles().isEmpty)
        #expect(fold.totals.cycles(.used) == 1)
        #expect(fold.totals.stages == [1, 1, 2, 0, 0, 0, 0, 1])
    }

    @Test("the next day of a closed schedule is judged")
    func nextDay() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply(ViolationTests.cycle())
        fold.tick(to: .after(1_000))
        let next = ViolationTests.cycle(
            scheduled: Self.day,
            begins: Self.day + 300,
            executed: Self.day + 400,
            success: Self.day + 402,
            used: Self.day + 900,
            delivered: Self.day + 901,
            due: Self.day + 900
        )
        try fold.apply(next.reversed(), at: Self.day)
        fold.finish()
        #expect(fold.takeClosedCycles().map(\.outcome) == [.used, .used])
    }
}

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
