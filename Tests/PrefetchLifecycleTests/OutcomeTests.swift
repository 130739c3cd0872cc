// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@Suite("Outcomes")
struct OutcomeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let outcome: CycleOutcome
        let events: [TestEvent]

        init(_ name: String, _ outcome: CycleOutcome, _ events: [TestEvent]) {
            testDescription = name
            self.outcome = outcome
            self.events = events
        }
    }

    static let failed = [TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchFailure, 61).reason(.auth)]
    static let rows = [
        Row("used content", .used, [TestEvent(.prefetchUsedForNotification, 0)]),
        Row("use that a summary asserts", .used, [TestEvent(.prefetchCycleComplete, 0).summing()]),
        Row(
            "use, though something was missing",
            .used,
            failed + [
                TestEvent(.contentMissing, 90), TestEvent(.prefetchUsedForNotification, 91),
                TestEvent(.notificationDelivered, 91),
            ]
        ),
        Row(
            "content fetched on demand",
            .fallback,
            failed + [TestEvent(.contentMissing, 90), TestEvent(.notificationDelivered, 91)]
        ),
        Row("content missing and nothing delivered", .failed, failed + [TestEvent(.contentMissing, 90)]),
        Row("a failure and nothing delivered", .failed, failed),
        Row("an expired task", .failed, [TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchExpired, 90)]),
        Row(
            "a failure, delivered without a word about content",
            .incomplete,
            failed + [TestEvent(.notificationDelivered, 91)]
        ),
        Row(
            "a failure and then a success",
            .incomplete,
            failed + [TestEvent(.prefetchExecuted, 70), TestEvent(.prefetchSuccess, 71)]
        ),
        Row(
            "a window gone by",
            .missed,
            [TestEvent(.prefetchScheduled, 0).begins(60), TestEvent(.pluginStarted, 961, id: nil)]
        ),
        Row(
            "a window not gone by",
            .incomplete,
            [TestEvent(.prefetchScheduled, 0).begins(60), TestEvent(.pluginStarted, 960, id: nil)]
        ),
        Row(
            "a notification time gone by",
            .missed,
            [TestEvent(.prefetchScheduled, 0, due: 90), TestEvent(.pluginStarted, 91, id: nil)]
        ),
        Row(
            "a delivery without an execution",
            .incomplete,
            [TestEvent(.prefetchScheduled, 0, due: 90), TestEvent(.notificationDelivered, 91)]
        ),
        Row("a notification time to come", .incomplete, [TestEvent(.prefetchScheduled, 0, due: 90)]),
        Row(
            "a window that the app says was missed",
            .missed,
            [TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchMissed, 1)]
        ),
        Row(
            "a window gone by in times that only order",
            .incomplete,
            [TestEvent(.prefetchScheduled, 0, due: 90), TestEvent(.notificationDelivered, 91)].map { $0.assumed() }
        ),
        Row(
            "a task that could not be scheduled",
            .fallback,
            [
                TestEvent(.prefetchScheduleFailed, 0, due: 90), TestEvent(.contentMissing, 91),
                TestEvent(.notificationDelivered, 92),
            ]
        ),
        Row(
            "a summary of nothing behind a window gone by",
            .incomplete,
            [
                TestEvent(.prefetchScheduled, 0).begins(60),
                TestEvent(.prefetchCycleComplete, 961).summing().with {
                    $0.fetched = false
                    $0.usedCached = false
                },
            ]
        ),
        Row("nothing known", .incomplete, [TestEvent(.notificationScheduled, 0, due: 90)]),
    ]

    @Test("the outcome of a cycle is the first case that holds", arguments: rows)
    func outcomeIsTheFirstThatHolds(row: Row) throws {
        var random = SplitMix64(seed: 9)
        for _ in 0..<10 {
            var fold = LifecycleFold.keeping()
            try fold.apply(row.events.shuffled(using: &random))
            fold.finish()
            #expect(fold.takeClosedCycles().map(\.outcome) == [row.outcome])
            #expect(fold.totals.cycles(row.outcome) == 1)
            #expect(CycleOutcome.allCases.reduce(0) { $0 + fold.totals.cycles($1) } == 1)
        }
    }

    @Test("at the end of the input an outcome uses the latest event time of the installation")
    func outcomeUsesTheInstallationsOwnTime() throws {
        let cycles = try LifecycleFold.judged([
            TestEvent(.prefetchScheduled, 0, due: 90).of(1), TestEvent(.pluginStarted, 91, id: nil).of(2),
        ])
        #expect(cycles.map(\.outcome) == [.incomplete])
    }

    @Test("at a tick an outcome uses the ledger's clock, 24 h after the notification time")
    func outcomeOfATickUsesTheLedgersClock() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply([TestEvent(.prefetchScheduled, 0, due: 90)])
        fold.tick(to: .after(86_400 + 89))
        #expect(fold.takeClosedCycles().isEmpty)
        fold.tick(to: .after(86_400 + 90))
        #expect(fold.takeClosedCycles().map(\.outcome) == [.missed])
    }

    @Test("a closed cycle has its stages, attempts and failure reason")
    func closedCycleHasStagesAttemptsAndReason() throws {
        let cycle = try #require(
            try LifecycleFold.judged([
                TestEvent(.prefetchScheduled, 0, due: 900).schedule("AB"),
                TestEvent(.prefetchExecuted, 300.000_001).schedule("ab"),
                TestEvent(.prefetchFailure, 302).reason(.network), TestEvent(.prefetchExecuted, 400),
                TestEvent(.prefetchFailure, 403).reason(.auth), TestEvent(.contentMissing, 900),
                TestEvent(.notificationDelivered, 901), TestEvent(.prefetchScheduled, 2, due: 900),
            ]).first
        )
        #expect(cycle.stages.scheduled == .after(0))
        #expect(cycle.stages.executed == .after(300.000_001))
        #expect(cycle.stages.failure == .after(302))
        #expect(cycle.stages.success == nil)
        #expect(cycle.stages.used == nil)
        #expect(cycle.stages.delivered == .after(901))
        #expect(cycle.attempts == 2)
        #expect(cycle.failureReason == .network)
        #expect(cycle.notificationTime == .after(900))
        #expect(cycle.outcome == .fallback)
        #expect(cycle.violations == [])
        #expect(cycle.scheduleHashMatches == true)
        #expect(cycle.contentHashMatches == nil)
        #expect(!cycle.hasAssumedTimes)
    }

    @Test("assumed times violate no rule about time, and a begin is held against the lead by what its submission names")
    func assumedTimesViolateNoRuleAboutTime() throws {
        let late = ViolationTests.cycle(
            begins: 1,
            executed: 5_000,
            success: 5_001,
            used: 9_000,
            delivered: 9_000,
            due: 900
        )
        let events = late + [TestEvent(.contentCached, 5_002).ttl(1), TestEvent(.pluginStarted, 500_000, id: nil)]
        #expect(try LifecycleFold.judged(events).flatMap(\.broken).count == 7)
        let cycles = try LifecycleFold.judged(events.map { $0.assumed() })
        #expect(cycles.flatMap(\.broken) == [.leadDiffers])
        #expect(cycles.map(\.hasAssumedTimes) == [true])
        #expect(cycles.map(\.outcome) == [.used])
    }
}
