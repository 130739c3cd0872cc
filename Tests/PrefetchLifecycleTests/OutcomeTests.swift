// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@Suite("Outcomes")
struct OutcomeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let outcome: CycleOutcome
        let events: [Told]

        init(_ name: String, _ outcome: CycleOutcome, _ events: [Told]) {
            testDescription = name
            self.outcome = outcome
            self.events = events
        }
    }

    static let failed = [Told(.prefetchExecuted, 60), Told(.prefetchFailure, 61).reason(.auth)]
    static let rows = [
        Row("used content", .used, [Told(.prefetchUsedForNotification, 0)]),
        Row("use that a summary tells of", .used, [Told(.prefetchCycleComplete, 0).summing()]),
        Row(
            "use, though something was missing",
            .used,
            failed + [
                Told(.contentMissing, 90), Told(.prefetchUsedForNotification, 91), Told(.notificationDelivered, 91),
            ]
        ),
        Row(
            "content fetched on demand",
            .fallback,
            failed + [Told(.contentMissing, 90), Told(.notificationDelivered, 91)]
        ),
        Row("content missing and nothing delivered", .failed, failed + [Told(.contentMissing, 90)]),
        Row("a failure and nothing delivered", .failed, failed),
        Row("an expired task", .failed, [Told(.prefetchExecuted, 60), Told(.prefetchExpired, 90)]),
        Row(
            "a failure, delivered without a word about content",
            .incomplete,
            failed + [Told(.notificationDelivered, 91)]
        ),
        Row(
            "a failure and then a success",
            .incomplete,
            failed + [Told(.prefetchExecuted, 70), Told(.prefetchSuccess, 71)]
        ),
        Row("a window gone by", .missed, [Told(.prefetchScheduled, 0).begins(60), Told(.pluginStarted, 961, id: nil)]),
        Row(
            "a window not gone by",
            .incomplete,
            [Told(.prefetchScheduled, 0).begins(60), Told(.pluginStarted, 960, id: nil)]
        ),
        Row(
            "a notification time gone by",
            .missed,
            [Told(.prefetchScheduled, 0, due: 90), Told(.notificationDelivered, 91)]
        ),
        Row("a notification time to come", .incomplete, [Told(.prefetchScheduled, 0, due: 90)]),
        Row("a window that the app says was missed", .missed, [Told(.prefetchScheduled, 0), Told(.prefetchMissed, 1)]),
        Row(
            "a window gone by in times that only order",
            .incomplete,
            [Told(.prefetchScheduled, 0, due: 90), Told(.notificationDelivered, 91)].map { $0.assumed() }
        ),
        Row(
            "a task that could not be scheduled",
            .fallback,
            [
                Told(.prefetchScheduleFailed, 0, due: 90), Told(.contentMissing, 91), Told(.notificationDelivered, 92),
            ]
        ),
        Row("nothing known", .incomplete, [Told(.notificationScheduled, 0, due: 90)]),
    ]

    @Test("the first that holds", arguments: rows)
    func outcome(row: Row) throws {
        var random = SplitMix64(state: 9)
        for _ in 0..<10 {
            var fold = LifecycleFold.keeping()
            try fold.apply(row.events.shuffled(using: &random))
            fold.finish()
            #expect(fold.takeClosedCycles().map(\.outcome) == [row.outcome])
            #expect(fold.totals.cycles(row.outcome) == 1)
            #expect(CycleOutcome.allCases.reduce(0) { $0 + fold.totals.cycles($1) } == 1)
        }
    }

    @Test("the time that has come is the installation's own")
    func knownTime() throws {
        let cycles = try LifecycleFold.judged([
            Told(.prefetchScheduled, 0, due: 90).of(1), Told(.pluginStarted, 91, id: nil).of(2),
        ])
        #expect(cycles.map(\.outcome) == [.incomplete])
    }

    @Test("by a tick the ledger's clock is the time that has come")
    func tick() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply([Told(.prefetchScheduled, 0, due: 90)])
        fold.tick(to: .after(86_400 + 89))
        #expect(fold.takeClosedCycles().isEmpty)
        fold.tick(to: .after(86_400 + 90))
        #expect(fold.takeClosedCycles().map(\.outcome) == [.missed])
    }

    @Test("a closed cycle tells its stages, its attempts and why it failed")
    func closedCycle() throws {
        let cycle = try #require(
            try LifecycleFold.judged([
                Told(.prefetchScheduled, 0, due: 900).schedule("AB"),
                Told(.prefetchExecuted, 300.000_001).schedule("ab"),
                Told(.prefetchFailure, 302).reason(.network), Told(.prefetchExecuted, 400),
                Told(.prefetchFailure, 403).reason(.auth), Told(.contentMissing, 900),
                Told(.notificationDelivered, 901), Told(.prefetchScheduled, 2, due: 900),
            ]).first
        )
        #expect(cycle.stages.scheduled == .after(0))
        #expect(cycle.stages.executed == .after(300.000_001))
        #expect(cycle.stages.failure == .after(302))
        #expect(cycle.stages.success == nil)
        #expect(cycle.stages.used == nil)
        #expect(cycle.stages.delivered == .after(901))
        #expect(cycle.attempts == 2)
        #expect(cycle.failureReason == .auth)
        #expect(cycle.notificationTime == .after(900))
        #expect(cycle.outcome == .fallback)
        #expect(cycle.violations == [])
        #expect(cycle.scheduleHashMatches == true)
        #expect(cycle.contentHashMatches == nil)
        #expect(!cycle.hasAssumedTimes)
    }

    @Test("times that only order judge nothing")
    func assumed() throws {
        let late = ViolationTests.cycle(
            begins: 1,
            executed: 5_000,
            success: 5_001,
            used: 9_000,
            delivered: 9_000,
            due: 900
        )
        let events = late + [Told(.contentCached, 5_002).ttl(1), Told(.pluginStarted, 500_000, id: nil)]
        #expect(try LifecycleFold.judged(events).flatMap(\.broken).count == 6)
        let cycles = try LifecycleFold.judged(events.map { $0.assumed() })
        #expect(cycles.flatMap(\.broken) == [])
        #expect(cycles.map(\.hasAssumedTimes) == [true])
        #expect(cycles.map(\.outcome) == [.used])
    }
}
