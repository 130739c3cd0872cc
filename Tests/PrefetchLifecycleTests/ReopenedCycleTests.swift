// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import PrefetchLifecycle

@Suite("An event for a closed cycle")
struct ReopenedTests {
    /// What one late event counts, and nothing else.
    struct Late: CustomTestStringConvertible, Sendable {
        let told: Told
        let counts: [String]

        init(_ told: Told, _ counts: String...) {
            self.told = told
            self.counts = counts
        }

        var testDescription: String { "\(told.event.kind.name) counts \(counts)" }
    }

    static let late = [
        Late(Told(.prefetchScheduled, 500, due: 900).begins(510).schedule("02"), "scheduled"),
        Late(Told(.prefetchExecuted, 500, due: 900).schedule("02"), "executed"),
        Late(Told(.prefetchSuccess, 503, due: 900).content("bb").ttl(1), "success"),
        Late(Told(.prefetchSuccess, 503, due: 900).lasting(2), "success", "fetchDuration"),
        Late(Told(.prefetchFailure, 503, due: 900).reason(.network), "failureNetwork"),
        Late(Told(.prefetchFailure, 503, due: 900), "failureOther"),
        Late(Told(.prefetchFailure, 503, due: 900).reason(.auth).retried(), "failureAuth", "retries"),
        Late(Told(.prefetchExpired, 503, due: 900), "failureSystem", "expired"),
        Late(Told(.prefetchMissed, 1_500, due: 900), "missedWindow"),
        Late(Told(.contentMissing, 902, due: 900), "fallbacks"),
        Late(Told(.contentCacheFailed, 902, due: 900), "cacheFailures"),
        Late(Told(.prefetchUsedForNotification, 902, due: 900).content("bb"), "used"),
        Late(Told(.prefetchUsedForNotification, 902, due: 900).aged(5), "used", "contentAge"),
        Late(Told(.notificationDelivered, 902, due: 900), "delivered"),
        Late(Told(.notificationDelivered, 1_900, due: 900).aged(90_000), "delivered", "driftExceeded"),
        Late(Told(.notificationDrift, 902, due: 900), "driftExceeded"),
        Late(Told(.notificationDenied, 902, due: 900), "pluginErrors"),
        Late(Told(.leadCapped, 902, due: 900), "leadCapped"),
        Late(Told(.prefetchCycleComplete, 905, due: 900).summing()),
        Late(Told(.prefetchCompleted, 905, due: 900)),
    ]

    static let closed =
        ViolationTests.cycle() + [
            Told(.prefetchScheduled, 0, due: 900).schedule("01"), Told(.prefetchExecuted, 400).schedule("01"),
            Told(.contentCached, 402).content("aa").ttl(600), Told(.prefetchUsedForNotification, 900).content("aa"),
        ]

    @Test("counts its stage; nothing is judged or observed twice", arguments: late)
    func counts(late: Late) throws {
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
        for (old, new) in zip(Mirror(reflecting: before).children, Mirror(reflecting: after).children) {
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

    @Test("that names no notification time is known by its schedule, where the cycle named none either")
    func undated() throws {
        for late in [Told(.notificationDelivered, 903), Told(.prefetchCompleted, 402), Told(.prefetchSuccess, 4_000)] {
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

    @Test("is not one that is scheduled anew under the same schedule, or on the next day")
    func anew() throws {
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
