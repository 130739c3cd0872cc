// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import PrefetchLifecycle

@Suite("What accepted events did")
struct AcceptedEffectTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let events: [TestEvent]
        let effects: [AcceptedEffect]

        var testDescription: String { name }
    }

    static let rows = [
        Row(
            name: "a cycle in order",
            events: [
                TestEvent(.prefetchScheduled, 0, due: 900), TestEvent(.prefetchExecuted, 60),
                TestEvent(.prefetchStarted, 61), TestEvent(.prefetchSuccess, 62), TestEvent(.contentCached, 63),
                TestEvent(.prefetchCompleted, 64), TestEvent(.prefetchUsedForNotification, 899),
                TestEvent(.notificationDelivered, 900), TestEvent(.prefetchCycleComplete, 901).summing(),
            ],
            effects: [
                .counted, .counted, .informational, .counted, .informational, .informational, .counted, .counted,
                .repeatedStage,
            ]
        ),
        Row(
            name: "a schedule told three times",
            events: [0, 0.5, 1].map { TestEvent(.prefetchScheduled, $0, due: 900) },
            effects: [.counted, .repeatedStage, .repeatedStage]
        ),
        Row(
            name: "a stage told under two event ids",
            events: [TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchExecuted, 60)],
            effects: [.counted, .repeatedStage]
        ),
        Row(
            name: "failures of one attempt",
            events: (0..<4).map { TestEvent(.prefetchFailure, 60 + Double($0)).reason(.network) },
            effects: [.counted, .repeatedStage, .repeatedStage, .repeatedStage]
        ),
        Row(
            name: "a failure that waits for its reason, told again, and its reason",
            events: [
                TestEvent(.prefetchFailure, 60), TestEvent(.prefetchFailure, 60), TestEvent(.prefetchFailure, 61),
                TestEvent(.prefetchCompleted, 62).unsuccessful().reason(.auth),
            ],
            effects: [.counted, .repeatedStage, .repeatedStage, .counted]
        ),
        Row(
            name: "a failure that is tried again, and its success",
            events: [
                TestEvent(.prefetchFailure, 60).retried(), TestEvent(.prefetchFailure, 61).retried(),
                TestEvent(.prefetchSuccess, 62),
            ],
            effects: [.counted, .counted, .counted]
        ),
        Row(
            name: "a delivery whose content shows when its cycle closes, told again",
            events: [900, 901].map { TestEvent(.notificationDelivered, $0, due: 900) },
            effects: [.counted, .repeatedStage]
        ),
        Row(
            name: "a summary before what it sums up",
            events: [
                TestEvent(.prefetchCycleComplete, 901).summing(), TestEvent(.prefetchSuccess, 62),
                TestEvent(.prefetchUsedForNotification, 899),
                TestEvent(.prefetchCycleComplete, 902).summing(fetched: false, used: false),
            ],
            effects: [.counted, .repeatedStage, .repeatedStage, .informational]
        ),
        Row(
            name: "what counts outside of a cycle",
            events: [
                TestEvent(.leadCapped, 0, id: nil), TestEvent(.contentCacheFailed, 1, id: nil),
                TestEvent(.pluginStarted, 2, id: nil), TestEvent(.prefetchMissed, 3, id: nil),
                TestEvent(.prefetchScheduleFailed, 4, id: nil).failing("task_scheduling_failed"),
            ],
            effects: [.counted, .counted, .informational, .informational, .counted]
        ),
        Row(
            name: "what the system ended, and a fallback, each told again",
            events: [
                TestEvent(.prefetchExpired, 30), TestEvent(.prefetchExpired, 31), TestEvent(.contentMissing, 900),
                TestEvent(.contentMissing, 901), TestEvent(.notificationDrift, 902), TestEvent(.notificationDrift, 903),
            ],
            effects: [.counted, .repeatedStage, .counted, .repeatedStage, .counted, .repeatedStage]
        ),
        Row(
            name: "stages that wait because another cycle without both names has counted such",
            events: [
                TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchExecuted, 61, id: nil, due: 900),
                TestEvent(.prefetchExecuted, 62, id: nil, due: 900),
                TestEvent(.prefetchExecuted, 62, id: nil, due: 900),
                TestEvent(.contentMissing, 900), TestEvent(.contentMissing, 901, id: nil, due: 900),
                TestEvent(.contentMissing, 902, id: nil, due: 900),
            ],
            effects: [.counted, .counted, .counted, .repeatedStage, .counted, .counted, .repeatedStage]
        ),
    ]

    @Test("every accepted event has one effect that tells whether a counter grew for it", arguments: rows)
    func effectsOfEvents(row: Row) throws {
        var fold = LifecycleFold.keeping()
        for (event, effect) in zip(row.events, row.effects) {
            try fold.apply([event])
            let tally = fold.takeEffects()
            #expect(tally.total == 1 && tally[effect] == 1, "\(event.event.kind) at \(event.event.timestamp)")
        }
    }

    @Test("a thousand failures of one attempt are accepted, and all but one are repeated")
    func thousandFailures() throws {
        var limits = LifecycleLimits()
        limits.factsPerCycle = 100
        var fold = LifecycleFold.keeping(limits: limits)
        try fold.apply((0..<1_000).map { TestEvent(.prefetchFailure, Double($0)).reason(.network) })
        let tally = fold.takeEffects()
        #expect(tally.total == 1_000)
        #expect(tally[.counted] == fold.totals.failureNetwork)
        #expect(tally[.counted] == 1)
    }

    @Test("an event of a closed cycle counts its stage, and a summary of it is late")
    func lateEvents() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply([TestEvent(.prefetchScheduled, 0, due: 900), TestEvent(.prefetchExecuted, 60)])
        fold.closeAll()
        _ = fold.takeEffects()
        try fold.apply([TestEvent(.prefetchSuccess, 62)].map { $0.addressed(id: "a", due: 900) }, at: 4 * 86_400)
        var tally = fold.takeEffects()
        #expect(tally[.counted] == 1)
        let late = [TestEvent(.prefetchCycleComplete, 901, due: 900).summing()]
        try fold.apply(late + [TestEvent(.prefetchSuccess, 63, due: 900)], at: 4 * 86_400)
        tally = fold.takeEffects()
        #expect((tally[.late], tally[.repeatedStage]) == (1, 1))
    }

    @Test("a stage that a client's counters had recovered is repeated by its event, and the recovery is no event")
    func recoveredStages() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply([
            TestEvent(.telemetrySnapshot, 100, id: nil).of(1).reporting([.executed: 2])
        ])
        var tally = fold.takeEffects()
        #expect((tally.total, tally[.informational], tally.recovered) == (1, 1, 2))
        try fold.apply([TestEvent(.prefetchExecuted, 60).of(1)])
        tally = fold.takeEffects()
        #expect((tally[.repeatedStage], tally.countedAtOnce) == (1, 0))
        #expect(fold.totals.executed == 2)
    }

    @Test(
        "effects add up to the events and increments to the counters in any order, batching and repetition",
        arguments: 0..<24
    )
    func effectsAddUp(seed: UInt64) throws {
        var random = SplitMix64(seed: seed + 7_000)
        let history = History(seed: seed).events
        var limits = LifecycleLimits()
        if seed % 3 == 0 {
            limits.openCycles = 4
            limits.factsPerCycle = 6
            limits.installations = 2
        }
        for _ in 0..<6 {
            var fold = LifecycleFold.keeping(limits: limits)
            var accepted: UInt64 = 0
            var atOnce: UInt64 = 0
            var recovered: UInt64 = 0
            var time = 0.0
            for batch in HistoryTests.Retold(history, &random).batches {
                let before = fold.increments
                accepted += UInt64(try fold.accept(batch, at: time))
                var tally = fold.takeEffects()
                #expect(tally.total <= UInt64(batch.count))
                accepted -= tally.total
                #expect(accepted == 0)
                #expect(tally.countedAtOnce <= tally[.counted])
                #expect(tally.countedAtOnce + tally.recovered <= fold.increments - before)
                atOnce += tally.countedAtOnce
                recovered += tally.recovered
                if Int.random(in: 0..<3, using: &random) == 0 {
                    time += Double(Int.random(in: 0..<90_000, using: &random))
                    fold.tick(to: .after(time))
                    tally = fold.takeEffects()
                    #expect(tally == EffectTally())
                }
                #expect(fold.increments == fold.totals.sumOfEventCounters)
            }
            fold.finish()
            let totals = fold.totals
            #expect(fold.increments == totals.sumOfEventCounters)
            #expect(recovered == LifecycleStage.allCases.reduce(0) { $0 + totals.recovered($1) })
            #expect(atOnce + recovered <= totals.sumOfEventCounters)
            #expect(totals.increments == totals.sumOfEventCounters)
        }
    }
}
