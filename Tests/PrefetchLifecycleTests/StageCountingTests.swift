// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import PrefetchLifecycle

@Suite("Stages count once per attempt")
struct StageCountingTests {
    struct History: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let events: [String]
        /// scheduled, executed, success, NETWORK, AUTH, SYSTEM, OTHER, used
        let stages: [UInt64]

        init(_ name: String, _ events: [String], _ stages: [UInt64]) {
            testDescription = name
            self.events = events
            self.stages = stages
        }
    }

    static let histories = [
        History(
            "a whole cycle",
            [
                event("prefetch_scheduled", 0), event("prefetch_executed", 60), event("prefetch_success", 62),
                event("prefetch_used_for_notification", 300), event("notification_delivered", 300),
            ],
            [1, 1, 1, 0, 0, 0, 0, 1]
        ),
        History(
            "the same stage in several events",
            [
                event("prefetch_scheduled", 0), event("prefetch_scheduled", 1), event("prefetch_executed", 60),
                event("prefetch_success", 62), event("prefetch_success", 63),
                event("prefetch_used_for_notification", 300), event("prefetch_used_for_notification", 301),
            ],
            [1, 1, 1, 0, 0, 0, 0, 1]
        ),
        History(
            "two attempts with one failure and one success",
            [
                event("prefetch_executed", 60), event("prefetch_failure", 62, #""reason":"NETWORK""#),
                event("prefetch_executed", 120), event("prefetch_success", 125),
            ],
            [0, 2, 1, 1, 0, 0, 0, 0]
        ),
        History(
            "three events of one failure",
            [
                event("prefetch_executed", 60), event("prefetch_failure", 62, #""status":401"#),
                event("prefetch_failure", 63, #""error":"JWT expired""#),
                event("prefetch_failure", 64, #""reason":"AUTH""#),
            ],
            [0, 1, 0, 0, 1, 0, 0, 0]
        ),
        History(
            "a failure that is retried with success in the same attempt",
            [
                event("prefetch_executed", 60), event("prefetch_failure", 62, #""reason":"NETWORK","willRetry":true"#),
                event("prefetch_success", 70),
            ],
            [0, 1, 1, 0, 0, 0, 0, 0]
        ),
        History(
            "a failure in two lines whose retry never came",
            [
                event("prefetch_executed", 60), event("prefetch_failure", 62, #""status":401,"willRetry":true"#),
                event("prefetch_failure", 63, #""error":"JWT expired""#),
            ],
            [0, 1, 0, 0, 1, 0, 0, 0]
        ),
        History(
            "a retry that failed for the same reason and says that there is no other",
            [
                event("prefetch_executed", 60), event("prefetch_failure", 62, #""status":401,"willRetry":true"#),
                event("prefetch_failure", 63, #""status":401,"willRetry":false"#),
            ],
            [0, 1, 0, 0, 1, 0, 0, 0]
        ),
        History(
            "a retry whose success only a summary tells",
            [
                event("prefetch_executed", 60), event("prefetch_failure", 62, #""reason":"NETWORK","willRetry":true"#),
                event("prefetch_cycle_complete", 300, #""fetched":true"#),
            ],
            [0, 1, 1, 0, 0, 0, 0, 0]
        ),
        History(
            "a retry whose success only the completion tells",
            [
                event("prefetch_executed", 60), event("prefetch_failure", 62, #""reason":"NETWORK","willRetry":true"#),
                event("prefetch_completed", 70),
            ],
            [0, 1, 1, 0, 0, 0, 0, 0]
        ),
        History(
            "a failure that would be retried and was not",
            [event("prefetch_executed", 60), event("prefetch_failure", 62, #""reason":"NETWORK","willRetry":true"#)],
            [0, 1, 0, 1, 0, 0, 0, 0]
        ),
        History(
            "a failure whose reason comes later",
            [
                event("prefetch_executed", 60), event("prefetch_failure", 62),
                event("prefetch_failure", 63, #""reason":"SYSTEM""#),
            ],
            [0, 1, 0, 0, 0, 1, 0, 0]
        ),
        History(
            "a failure whose reason never comes",
            [event("prefetch_executed", 60), event("prefetch_failure", 62), event("prefetch_executed", 90)],
            [0, 2, 0, 0, 0, 0, 1, 0]
        ),
        History(
            "a failure that only the completion reports, with its reason",
            [
                event("prefetch_executed", 60), event("prefetch_completed", 62, #""fetched":false,"reason":"AUTH""#),
                event("prefetch_executed", 90),
            ],
            [0, 2, 0, 0, 1, 0, 0, 0]
        ),
        History(
            "a failure that only the completion reports, without a reason",
            [event("prefetch_executed", 60), event("prefetch_completed", 62, #""fetched":false"#)],
            [0, 1, 0, 0, 0, 0, 1, 0]
        ),
        History(
            "a failure and the completion that reports it",
            [
                event("prefetch_executed", 60), event("prefetch_failure", 62, #""reason":"NETWORK""#),
                event("prefetch_completed", 63, #""fetched":false"#), event("prefetch_executed", 90),
                event("prefetch_success", 91),
            ],
            [0, 2, 1, 1, 0, 0, 0, 0]
        ),
        History(
            "a success without a place in an attempt, and another one after it",
            [event("prefetch_success", 59), event("prefetch_executed", 60), event("prefetch_success", 61)],
            [0, 1, 1, 0, 0, 0, 0, 0]
        ),
        History(
            "results of an attempt whose execution is not told, minutes before the first execution",
            [
                event("prefetch_scheduled", 0), event("prefetch_failure", 20, #""reason":"NETWORK""#),
                event("prefetch_failure", 21, #""error":"NetworkError""#), event("prefetch_executed", 60),
                event("prefetch_failure", 62, #""reason":"AUTH""#),
            ],
            [1, 1, 0, 1, 1, 0, 0, 0]
        ),
        History(
            "a retry that was announced minutes before the first execution, which is another attempt",
            [
                event("prefetch_failure", 20, #""reason":"NETWORK","willRetry":true"#), event("prefetch_executed", 60),
                event("prefetch_success", 62), event("prefetch_completed", 63),
            ],
            [0, 1, 1, 1, 0, 0, 0, 0]
        ),
        History(
            "a result seconds before the execution of its attempt, whose failure is told again behind it",
            [
                event("prefetch_failure", 55, #""reason":"NETWORK""#), event("prefetch_executed", 60),
                event("prefetch_failure", 62, #""reason":"NETWORK""#),
            ],
            [0, 1, 0, 1, 0, 0, 0, 0]
        ),
        History(
            "a result minutes before an execution that ends in nothing else",
            [event("prefetch_success", 0), event("prefetch_executed", 600), event("prefetch_completed", 604)],
            [0, 1, 1, 0, 0, 0, 0, 0]
        ),
        History(
            "a task that is scheduled again after its execution",
            [
                event("prefetch_scheduled", 0), event("prefetch_executed", 60), event("prefetch_success", 61),
                event("prefetch_scheduled", 62), event("prefetch_scheduled", 63),
            ],
            [2, 1, 1, 0, 0, 0, 0, 0]
        ),
        History("a task that expired", [event("prefetch_expired", 62)], [0, 0, 0, 0, 0, 1, 0, 0]),
        History(
            "a summary alone",
            [event("prefetch_cycle_complete", 300, #""fetched":true,"usedCached":true"#)],
            [0, 0, 1, 0, 0, 0, 0, 1]
        ),
        History(
            "a summary of what was seen",
            [
                event("prefetch_success", 62), event("prefetch_used_for_notification", 299),
                event("prefetch_cycle_complete", 300, #""fetched":true,"usedCached":true"#),
            ],
            [0, 0, 1, 0, 0, 0, 0, 1]
        ),
        History(
            "more facts than a cycle holds inline",
            (0..<20).flatMap { [event("prefetch_executed", $0 * 10), event("prefetch_success", $0 * 10 + 5)] },
            [0, 20, 20, 0, 0, 0, 0, 0]
        ),
    ]

    /// What a failure tells that arrives before the one that it belongs to counts at once, so these depend on the order.
    static let historiesInOrder = [
        History(
            "a failure in two lines that is retried with success",
            [
                event("prefetch_executed", 60), event("prefetch_failure", 62, #""status":401,"willRetry":true"#),
                event("prefetch_failure", 63, #""error":"JWT expired""#), event("prefetch_success", 70),
            ],
            [0, 1, 1, 0, 0, 0, 0, 0]
        ),
        History(
            "a completion that names another reason than the failure before it",
            [
                event("prefetch_executed", 60), event("prefetch_failure", 62, #""reason":"NETWORK""#),
                event("prefetch_completed", 63, #""fetched":false,"reason":"SYSTEM""#),
            ],
            [0, 1, 0, 1, 0, 0, 0, 0]
        ),
    ]

    @Test("each stage counts once per attempt, with events in order", arguments: histories + historiesInOrder)
    func stagesCountOncePerAttemptInOrder(history: History) throws {
        var fold = LifecycleFold()
        try fold.apply(history.events)
        fold.closeAll()
        #expect(fold.totals.stages == history.stages)
        #expect(fold.openCycles == 0)
    }

    @Test(
        "each stage counts once per attempt in any order and batching, and no counter decreases",
        arguments: histories
    )
    func stagesCountOncePerAttemptInAnyOrder(history: History) throws {
        var random = SplitMix64(seed: 42)
        for _ in 0..<50 {
            var fold = LifecycleFold()
            var rest = history.events.shuffled(using: &random)[...]
            var before = fold.totals.stages
            while !rest.isEmpty {
                let batch = rest.prefix(Int.random(in: 1...3, using: &random))
                try fold.apply(Array(batch))
                rest = rest.dropFirst(batch.count)
                for (old, new) in zip(before, fold.totals.stages) { #expect(new >= old) }
                before = fold.totals.stages
            }
            fold.closeAll()
            #expect(fold.totals.stages == history.stages)
        }
    }

    @Test("a failure counts as soon as no later event can revoke it")
    func failureCountsOnceItIsFinal() throws {
        var fold = LifecycleFold()
        try fold.apply([event("prefetch_executed", 0), event("prefetch_failure", 1)])
        #expect(fold.totals.failureOther == 0)
        try fold.apply([event("prefetch_completed", 2)])
        #expect(fold.totals.failureOther == 1)
        try fold.apply([event("prefetch_failure", 1, #""reason":"AUTH","eventId":"late""#)])
        fold.closeAll()
        #expect(fold.totals.stages == [0, 1, 0, 0, 0, 0, 1, 0])
    }

    @Test("a cycle that lasts for weeks or has very many facts keeps counting")
    func longCyclesKeepCounting() throws {
        var fold = LifecycleFold()
        for day in Int64(-60)..<0 { try fold.apply([event("prefetch_success", day * 86_400, #""eventId":"\#(day)""#)]) }
        #expect(fold.totals.success >= 3)
        var limits = LifecycleLimits()
        limits.factsPerCycle = 20
        fold = LifecycleFold(limits: limits)
        try fold.apply((0..<200).map { event("prefetch_executed", Int64($0)) })
        #expect(fold.totals.executed == 200)
        #expect(fold.totals.evictedCycles > 0)
    }

    @Test("stages that only a summary asserts count as implied")
    func summaryStagesCountAsImplied() throws {
        var fold = LifecycleFold()
        try fold.apply([
            event("prefetch_success", 0), event("prefetch_cycle_complete", 9, #""fetched":true,"usedCached":true"#),
        ])
        #expect(fold.totals.impliedSuccess == 0)
        #expect(fold.totals.impliedUsed == 1)
    }

    @Test("a use that only a summary asserts has the time of that summary, in every order")
    func impliedUseHasTheTimeOfItsSummary() throws {
        let events = [
            event("prefetch_success", 0), event("prefetch_cycle_complete", 9, #""fetched":true,"usedCached":false"#),
            event("prefetch_cycle_complete", 99, #""fetched":true,"usedCached":true"#),
        ]
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            var fold = LifecycleFold()
            try fold.apply(order.map { events[$0] })
            fold.closeAll()
            #expect(fold.totals.used == 1)
            #expect(fold.totals.contentAge.seconds == 99, "\(order)")
        }
    }

    @Test("cycles are separate by installation, schedule and notification time")
    func cyclesAreSeparateByInstallationScheduleAndTime() throws {
        var fold = LifecycleFold()
        let due = #""scheduledFor":"2025-11-15T05:53:00Z""#
        try fold.apply([
            event("prefetch_success", 0), event("prefetch_success", 1, #""installationId":"x""#),
            event("prefetch_success", 2, id: "b"),
            #"{"event":"prefetch_success","timestamp":"2025-11-15T05:48:32Z",\#(due)}"#,
        ])
        #expect(fold.openCycles == 4)
        #expect(fold.totals.success == 3, "two of them may turn out to be one")
        fold.closeAll()
        #expect(fold.totals.success == 4)
    }

    @Test("what the facts of a cycle give is counted with the event that tells of it", arguments: 0..<12)
    func countsWithTheEvent(seed: UInt64) throws {
        let kinds: [EventKind] = [
            .prefetchScheduled, .prefetchExecuted, .prefetchSuccess, .prefetchFailure, .prefetchCompleted,
            .prefetchCycleComplete, .prefetchMissed, .prefetchUsedForNotification, .notificationDelivered,
        ]
        var random = SplitMix64(seed: seed)
        var counted = 0
        for _ in 0..<300 {
            var fold = LifecycleFold()
            // Nothing that was counted is taken back.
            var most = [Int](repeating: 0, count: StageTally.failures)
            var failures = 0
            var time = 0.0
            for _ in 0..<Int.random(in: 1...7, using: &random) {
                time += Double(Int.random(in: 1...90, using: &random))
                let late = Bool.random(using: &random) ? 0 : Double(Int.random(in: 0...200, using: &random))
                let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
                var told = TestEvent(kind, time - late, due: 7_200)
                if kind == .prefetchScheduled, Bool.random(using: &random) { told = told.begins(600) }
                if kind == .prefetchFailure, Bool.random(using: &random) { told = told.reason(.network) }
                if kind == .prefetchFailure, Int.random(in: 0..<4, using: &random) == 0 { told = told.retried() }
                if kind == .prefetchCompleted, Bool.random(using: &random) { told = told.unsuccessful() }
                if kind == .prefetchCycleComplete { told = told.summing(used: Bool.random(using: &random)) }
                try fold.apply([told])
                let given = fold.cycles.stageCounts(at: 0, isClosing: false)
                for place in most.indices { most[place] = max(most[place], given[place]) }
                failures = max(failures, given.failureTotal)
                let stages = fold.totals.stages.map { Int($0) }
                try #require(Array(stages.prefix(3)) + [stages[7]] == most)
                try #require(stages[3..<7].reduce(0, +) == failures)
                counted += failures
            }
        }
        #expect(counted > 100)
    }
}
