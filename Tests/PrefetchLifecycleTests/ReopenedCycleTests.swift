// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import PrefetchLifecycle

@Suite("Late events for closed cycles")
struct ReopenedCycleTests {
    /// A late event and the totals that it changes.
    struct Late: CustomTestStringConvertible, Sendable {
        let told: TestEvent
        let counts: [String]

        init(_ told: TestEvent, _ counts: String...) {
            self.told = told
            self.counts = counts
        }

        var testDescription: String { "\(told.event.kind.name) counts \(counts)" }
    }

    static let late = [
        Late(TestEvent(.prefetchScheduled, 500, due: 900).begins(510).schedule("02"), "scheduled"),
        Late(TestEvent(.prefetchExecuted, 500, due: 900).schedule("02"), "executed"),
        Late(TestEvent(.prefetchSuccess, 503, due: 900).content("bb").ttl(1), "success"),
        Late(TestEvent(.prefetchSuccess, 503, due: 900).lasting(2), "success", "fetchDuration"),
        Late(TestEvent(.prefetchFailure, 503, due: 900).reason(.network), "failureNetwork"),
        Late(TestEvent(.prefetchFailure, 503, due: 900), "failureOther"),
        Late(TestEvent(.prefetchFailure, 503, due: 900).reason(.auth).retried(), "failureAuth", "retries"),
        Late(TestEvent(.prefetchExpired, 503, due: 900), "failureSystem", "expired"),
        Late(TestEvent(.prefetchMissed, 1_500, due: 900), "missedWindow"),
        Late(TestEvent(.contentMissing, 902, due: 900), "fallbacks"),
        Late(TestEvent(.contentCacheFailed, 902, due: 900), "cacheFailures"),
        Late(TestEvent(.prefetchUsedForNotification, 902, due: 900).content("bb"), "used"),
        Late(TestEvent(.prefetchUsedForNotification, 902, due: 900).aged(5), "used", "contentAge"),
        Late(TestEvent(.notificationDelivered, 902, due: 900), "delivered"),
        Late(TestEvent(.notificationDelivered, 1_900, due: 900).aged(90_000), "delivered", "driftExceeded"),
        Late(TestEvent(.notificationDrift, 902, due: 900), "driftExceeded"),
        Late(TestEvent(.notificationDenied, 902, due: 900), "pluginErrors"),
        Late(TestEvent(.leadCapped, 902, due: 900), "leadCapped"),
        Late(TestEvent(.prefetchCycleComplete, 905, due: 900).summing()),
        Late(TestEvent(.prefetchCompleted, 905, due: 900)),
    ]

    @Test("of several cycles that one batch opens, those are reopened that were closed before")
    func reopensThoseThatWereClosed() throws {
        let ids = ["a", "b", "c", "d", "e", "f"]
        let opening = ids.map { TestEvent(.prefetchScheduled, 0, id: $0, due: 900) }
        for closed in 0..<64 {
            var fold = LifecycleFold()
            let places = ids.indices.filter { closed >> $0 & 1 == 1 }
            try fold.apply(places.map { opening[$0] })
            fold.tick(to: .after(100_000))
            try #require(fold.openCycles == 0)
            try fold.apply(opening.map { told in told.with { $0.timestamp = .after(1) } }, at: 100_001)
            let reopened = (0..<fold.openCycles).filter { fold.cycles[$0].flags.contains(.isReopened) }
            #expect(fold.openCycles == ids.count && reopened == places)
        }
    }

    static let closed =
        ViolationTests.cycle() + [
            TestEvent(.prefetchScheduled, 0, due: 900).schedule("01"), TestEvent(.prefetchExecuted, 400).schedule("01"),
            TestEvent(.contentCached, 402).content("aa").ttl(600),
            TestEvent(.prefetchUsedForNotification, 900).content("aa"),
        ]

    @Test("a late event for a closed cycle counts its stage, and nothing is judged or observed twice", arguments: late)
    func lateEventCountsItsStageOnly(late: Late) throws {
        var fold = LifecycleFold.keeping()
        try fold.apply(Self.closed)
        fold.tick(to: .after(2_000))
        #expect(fold.takeClosedCycles().map(\.outcome) == [.used])
        let before = fold.totals
        try fold.accept([late.told], at: 2_100)
        fold.tick(to: .after(200_000))
        #expect(fold.openCycles == 0)
        #expect(fold.takeClosedCycles().isEmpty)
        let names = Self.changed(before, fold.totals).subtracting(["latest", "arrivalLag"])
        #expect(names == Set(late.counts))
        try fold.accept([late.told], at: 200_100)
        fold.finish()
        #expect(Self.changed(before, fold.totals).subtracting(["latest", "arrivalLag"]) == names)
    }

    /// The members of the totals that differ, which may be by 1 only.
    static func changed(_ before: LifecycleTotals, _ after: LifecycleTotals) -> Set<String> {
        var names: Set<String> = []
        let members = zip(Mirror(reflecting: before).children, Mirror(reflecting: after).children)
        // The sum of the others grows with each of them.
        for (old, new) in members where old.label != "increments" {
            switch (old.value, new.value) {
            case (let old as UInt64, let new as UInt64): #expect(new - old <= 1)
            case (let old as [UInt64], let new as [UInt64]): #expect(new.reduce(0, +) - old.reduce(0, +) <= 1)
            case (let old as TimeHistogram, let new as TimeHistogram): #expect(new.count - old.count <= 1)
            default: break
            }
            if "\(old.value)" != "\(new.value)" { names.insert(new.label ?? "") }
        }
        return names
    }

    @Test("a late event without a notification time matches a closed cycle of its schedule that had none either")
    func undatedLateEventMatchesAClosedSchedule() throws {
        for late in [
            TestEvent(.notificationDelivered, 903), TestEvent(.prefetchCompleted, 402),
            TestEvent(.prefetchSuccess, 4_000),
        ] {
            var fold = LifecycleFold.keeping()
            let cycle = ViolationTests.cycle().map { told in told.with { $0.scheduledFor = nil } }
            try fold.apply(cycle)
            fold.tick(to: .after(2_000))
            #expect(fold.takeClosedCycles().map(\.outcome) == [.used])
            try fold.apply([late], at: 5_000)
            fold.finish()
            #expect(fold.takeClosedCycles().isEmpty)
        }
    }

    @Test("a new scheduling of a closed schedule is a new cycle, on the same day or the next")
    func newSchedulingIsNoLateEvent() throws {
        for start in [3_600.0, 86_400] {
            var fold = LifecycleFold.keeping()
            let cycle = ViolationTests.cycle().map { told in told.with { $0.scheduledFor = nil } }
            try fold.apply(cycle)
            fold.tick(to: .after(2_000))
            let next = cycle.map { told in
                told.with {
                    $0.timestamp = Timestamp(microseconds: $0.timestamp.microseconds + Int64(start) * 1_000_000)
                }
                .with { if $0.earliestBeginDate != nil { $0.earliestBeginDate = .after(start + 300) } }
            }
            for event in next.reversed() { try fold.apply([event], at: start + 1_000) }
            fold.finish()
            #expect(fold.takeClosedCycles().map(\.outcome) == [.used, .used])
            #expect(fold.totals.stages == [2, 2, 2, 0, 0, 0, 0, 2])
        }
    }
}

@Suite("Closed cycles and late events")
struct ClosedCycleTests {
    private let day: Double = 86_400

    private func fold(closing events: [TestEvent]) throws -> LifecycleFold {
        var fold = LifecycleFold.keeping()
        try fold.apply(events, at: 1_000)
        fold.tick(to: .after(3 * day))
        #expect(fold.openCycles == 0)
        return fold
    }

    @Test("a closed cycle is not judged again by an event with only its time, nor by its id where it had only a time")
    func lateEventByTimeOrIdIsNotJudgedAgain() throws {
        let both = [TestEvent(.prefetchScheduled, 0, due: 900).of(1), TestEvent(.prefetchExecuted, 60, due: 900).of(1)]
        let timed = [TestEvent(.prefetchScheduled, 0, id: nil, due: 900).of(1)]
        for (first, late) in [
            (both, TestEvent(.prefetchSuccess, 70, id: nil, due: 900)),
            (timed, TestEvent(.prefetchExecuted, 60, due: 900)),
        ] {
            var fold = try fold(closing: first)
            let judged = CycleOutcome.allCases.map { fold.totals.cycles($0) }
            try fold.apply([late.of(1)], at: 3 * day)
            fold.tick(to: .after(6 * day))
            #expect(fold.openCycles == 0)
            #expect(CycleOutcome.allCases.map { fold.totals.cycles($0) } == judged)
        }
    }

    @Test(
        "a closed cycle is not judged again by an event with only its id shortly before it was due, at any hour",
        arguments: 0..<24
    )
    func lateEventByIdBeforeDueIsNotJudgedAgain(hour: Int) throws {
        let due = 300 + Double(hour) * 3_600
        var fold = try fold(closing: [
            TestEvent(.prefetchScheduled, due - 700, due: due), TestEvent(.prefetchUsedForNotification, due),
        ])
        try fold.apply([TestEvent(.prefetchCompleted, due - 600)], at: 3 * day)
        fold.tick(to: .after(6 * day))
        #expect(CycleOutcome.allCases.reduce(0) { $0 + fold.totals.cycles($1) } == 1)
    }

    @Test(
        "an event with only the id of a closed cycle on the next day is another cycle, at any hour",
        arguments: 0..<24
    )
    func eventByIdOnTheNextDayIsAnotherCycle(hour: Int) throws {
        let due = 300 + Double(hour) * 3_600
        var fold = try fold(closing: [
            TestEvent(.prefetchScheduled, due - 700, due: due), TestEvent(.prefetchUsedForNotification, due),
        ])
        try fold.apply(
            [TestEvent(.prefetchScheduled, due + day - 700), TestEvent(.prefetchExecuted, due + day - 300)],
            at: 3 * day
        )
        try fold.apply([TestEvent(.prefetchCycleComplete, due + day).summing()], at: 3 * day)
        fold.tick(to: .after(6 * day))
        #expect(fold.totals.used == 2)
        #expect(fold.totals.cycles(.used) == 2)
    }
}
