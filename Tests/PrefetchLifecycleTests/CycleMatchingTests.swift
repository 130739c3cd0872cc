// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import PrefetchLifecycle

@Suite("Which cycle an event belongs to")
struct CycleMatchingTests {
    static let day = 86_400.0

    @Test("an event with schedule and notification time joins the cycles that know only one of them")
    func eventWithBothJoinsScheduleAndTime() throws {
        let events = [
            TestEvent(.prefetchExecuted, 400), TestEvent(.prefetchScheduled, 0, id: nil, due: 900),
            TestEvent(.prefetchSuccess, 402, id: nil, due: 900), TestEvent(.prefetchUsedForNotification, 900),
        ]
        #expect(try LifecycleFold.judged(events).count == 2)
        let link = TestEvent(.notificationScheduled, 0, due: 900)
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

    @Test("stages counted by both halves of a joined cycle are not counted again")
    func joinedCyclesDoNotCountAgain() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply([TestEvent(.prefetchSuccess, 402), TestEvent(.prefetchSuccess, 402, id: nil, due: 900)])
        #expect(fold.totals.success == 1, "they may be one")
        try fold.apply([
            TestEvent(.notificationScheduled, 0, due: 900), TestEvent(.prefetchExecuted, 300),
            TestEvent(.prefetchExecuted, 500),
            TestEvent(.prefetchSuccess, 502),
        ])
        #expect(fold.totals.success == 2)
        #expect(fold.openCycles == 1)
    }

    @Test("one schedule on two days is two cycles, and events without a time go to the nearer one")
    func oneScheduleOnTwoDaysIsTwoCycles() throws {
        let events = [
            TestEvent(.prefetchScheduled, 0, due: 900), TestEvent(.prefetchExecuted, 600),
            TestEvent(.prefetchSuccess, 602),
            TestEvent(.prefetchUsedForNotification, 901), TestEvent(.notificationDelivered, 901),
            TestEvent(.prefetchScheduled, 603, due: 900 + Self.day), TestEvent(.prefetchExecuted, 600 + Self.day),
            TestEvent(.prefetchFailure, 602 + Self.day).reason(.network), TestEvent(.contentMissing, 901 + Self.day),
            TestEvent(.notificationDelivered, 901 + Self.day),
        ]
        let cycles = try LifecycleFold.judged(events)
        #expect(cycles.map(\.outcome) == [.used, .fallback])
        #expect(cycles.map(\.notificationTime) == [.after(900), .after(900 + Self.day)])
        #expect(cycles.flatMap(\.violations) == [])
        #expect(cycles.first?.schedule == cycles.last?.schedule)
    }

    @Test("a cycle more than a day past its notification time is not preferred, however near")
    func cycleADayPastIsNotPreferred() throws {
        let cycles = try LifecycleFold.judged([
            TestEvent(.prefetchScheduled, 0, due: 100), TestEvent(.prefetchScheduled, 0, due: 100 + 2.2 * Self.day),
            TestEvent(.prefetchSuccess, 101 + Self.day),
        ])
        #expect(cycles.map { $0.stages.success != nil } == [false, true])
    }

    @Test("cycles of different installations are separate with the same schedule or time")
    func installationsHaveSeparateCycles() throws {
        let cycles = try LifecycleFold.judged([
            TestEvent(.prefetchSuccess, 0, due: 900).of(1), TestEvent(.prefetchSuccess, 0, due: 900).of(2),
            TestEvent(.prefetchExecuted, 0, id: nil, due: 900).of(3), TestEvent(.prefetchExecuted, 0).of(4),
        ])
        #expect(cycles.count == 4)
    }

    @Test("of two schedules at one time the first takes the events that name only the time")
    func firstOfTwoSchedulesTakesTimeOnlyEvents() throws {
        let cycles = try LifecycleFold.judged([
            TestEvent(.prefetchScheduled, 0, id: "a", due: 900), TestEvent(.prefetchScheduled, 0, id: "b", due: 900),
            TestEvent(.prefetchExecuted, 1, id: nil, due: 900),
        ])
        #expect(cycles.map(\.attempts) == [1, 0])
    }

    @Test("past the limit the oldest open cycles of a schedule are evicted")
    func openCyclesOfAScheduleAreEvicted() throws {
        var limits = LifecycleLimits()
        limits.cyclesPerSchedule = 4
        var fold = LifecycleFold.keeping(limits: limits)
        try fold.apply((0..<10).map { TestEvent(.prefetchScheduled, 0, due: Double($0) * 60) })
        #expect(fold.openCycles == 4)
        #expect(fold.totals.evictedCycles == 6)
        #expect(fold.takeClosedCycles().map(\.notificationTime) == (0..<6).map { .after(Double($0) * 60) })
        #expect(fold.totals.scheduled == 10)
    }

    @Test("halves of a cycle that are too far apart in time stay two cycles")
    func distantHalvesStaySeparate() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply([
            TestEvent(.prefetchSuccess, 20 * Self.day, id: nil, due: 900), TestEvent(.prefetchExecuted, -20 * Self.day),
            TestEvent(.notificationScheduled, -19 * Self.day, due: 900),
        ])
        fold.finish()
        #expect(fold.takeClosedCycles().count == 2)
        #expect(fold.totals.evictedCycles == 1)
    }

    @Test("an event for a closed cycle counts its stage without a second verdict")
    func lateEventCountsWithoutASecondVerdict() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply(ViolationTests.cycle())
        fold.tick(to: .after(1_000))
        #expect(fold.takeClosedCycles().count == 1)
        try fold.apply([TestEvent(.prefetchSuccess, 402.5, due: 900)], at: 1_001)
        try fold.apply([TestEvent(.prefetchCycleComplete, 905).summing()], at: 1_002)
        #expect(fold.openCycles == 1)
        fold.finish()
        #expect(fold.takeClosedCycles().isEmpty)
        #expect(fold.totals.cycles(.used) == 1)
        #expect(fold.totals.stages == [1, 1, 2, 0, 0, 0, 0, 1])
    }

    @Test("the next day of a closed schedule gets its own verdict")
    func nextDayOfAClosedScheduleIsJudged() throws {
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

@Suite("Bounds against hostile senders")
struct BoundedCyclesTests {
    @Test("the open cycles of one schedule are bounded, also where they learn its id late")
    func openCyclesOfAScheduleAreBounded() throws {
        var fold = LifecycleFold.keeping()
        for number in 1...100 {
            let due = Double(number) * 60
            try fold.apply([
                TestEvent(.prefetchScheduled, 0, id: nil, due: due), TestEvent(.prefetchExecuted, 1, id: "a", due: due),
            ])
        }
        #expect(fold.openCycles == LifecycleLimits().cyclesPerSchedule)
        #expect(fold.totals.scheduled == 100)
        #expect(fold.totals.executed == 100)
    }

    @Test("the sums of clock skew and arrival lag never decrease or overflow")
    func histogramSumsNeverOverflow() throws {
        var fold = LifecycleFold.keeping()
        var before: UInt64 = 0
        for second in 0..<200 {
            try fold.apply([TestEvent(.pluginStarted, Double(second)).with { $0.clockSkew = .min }])
            #expect(fold.totals.clockSkew.microseconds >= before)
            before = fold.totals.clockSkew.microseconds
        }
        #expect(fold.totals.clockSkew.count == 200)
        #expect(before == 200 * 10 * 365 * 86_400 * 1_000_000)
    }

    @Test("a delivery by a clock that is a month off still counts")
    func deliveryByAFarClockCounts() throws {
        let delivered = TestEvent(.notificationDelivered, 900, due: 900).with { $0.clockSkew = 30 * 86_400 * 1_000_000 }
        var fold = LifecycleFold.keeping()
        try fold.apply([TestEvent(.prefetchScheduled, 0, due: 900), delivered])
        fold.finish()
        #expect(DeliveredContent.allCases.map { fold.totals.delivered($0) } == [0, 0, 1])
    }

    @Test("a cycle takes 92 bytes and an installation 208")
    func cycleAndInstallationSizes() {
        #expect(MemoryLayout<Cycle>.stride == 92)
        #expect(MemoryLayout<Installation>.stride == 208)
    }

    @Test("open cycles stay within their limit and evictions are counted")
    func openCyclesStayWithinTheirLimit() throws {
        var limits = LifecycleLimits()
        limits.openCycles = 10
        var fold = LifecycleFold(limits: limits)
        try fold.apply((0..<100).map { event("prefetch_success", Int64($0), id: "c\($0)") })
        #expect(fold.openCycles == 10)
        #expect(fold.totals.evictedCycles == 90)
        #expect(fold.totals.success == 100)
    }
}
