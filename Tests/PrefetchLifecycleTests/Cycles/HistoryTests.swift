// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

/// Histories of chance in which each schedule has one notification time, nothing contradicts itself, and nothing is told
/// once with only the schedule and again with only the time.
struct History {
    private var random: SplitMix64
    private(set) var events: [Told] = []

    init(seed: UInt64) {
        random = SplitMix64(state: seed)
        for cycle in 0..<Int.random(in: 1...3, using: &random) { add(cycle) }
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    /// Adds the events of a cycle, each with its schedule, its time or both.
    private mutating func add(_ cycle: Int) {
        let day = Double(cycle) * 86_400
        let due = day + 900
        let installation: UInt64 = 7
        var told: [Told] = [
            Told(.prefetchScheduled, day - 20 + Double(Int.random(in: 0..<40, using: &random))).begins(day + 30)
        ]
        for attempt in 0..<Int.random(in: 0...3, using: &random) {
            let time = day + 60 + Double(attempt) * 100
            told.append(Told(.prefetchExecuted, time))
            if chance(30) { told.append(Told(.prefetchFailure, time + 1).retried().reason(.network)) }
            if chance(40) {
                told.append(Told(.prefetchSuccess, time + 2).ttl(700))
            } else if chance(70) {
                let reason = FailureReason.allCases[Int.random(in: 0..<3, using: &random)]
                told.append(Told(.prefetchFailure, time + 3).reason(reason))
                if chance(50) { told.append(Told(.prefetchCompleted, time + 4).unsuccessful().reason(reason)) }
            }
            if chance(60) { told.append(Told(.prefetchCompleted, time + 5)) }
        }
        if chance(30) { told.append(Told(.contentMissing, due)) }
        if chance(50) { told.append(Told(.prefetchUsedForNotification, due).aged(Double(chance(50) ? 699 : 701))) }
        if chance(70) { told.append(Told(.notificationDelivered, due + (chance(20) ? 200 : 1))) }
        if chance(20) { told.append(Told(.prefetchMissed, day + 1_000)) }
        if chance(20) { told.append(Told(.notificationDenied, day - 10)) }
        if chance(10) { told.append(Told(.notificationDrift, due + 200)) }
        told.append(Told(.notificationScheduled, day))
        for event in told {
            let hasBoth = event.event.kind == .notificationScheduled || event.event.fetched == false
            let hasSchedule = hasBoth || chance(60)
            let hasDue = hasBoth || !hasSchedule || chance(30)
            var addressed = Told(
                event.event.kind,
                0,
                id: hasSchedule ? "cycle-\(cycle)" : nil,
                due: hasDue ? due : nil
            )
            let address = (addressed.event.scheduleId, addressed.event.scheduledFor)
            addressed.event = event.event
            (addressed.event.scheduleId, addressed.event.scheduledFor) = address
            events.append(addressed.of(installation))
        }
        if chance(20) { events.append(Told(.pluginStarted, day + 200_000, id: nil).of(installation)) }
    }
}

@Suite("Histories of chance")
struct HistoryTests {
    /// What a fold comes to, without the order in which its cycles were closed.
    struct Result: Equatable {
        let stages: [UInt64]
        let outcomes: [UInt64]
        let violations: [UInt64]
        let cycles: [String]

        init(_ fold: inout LifecycleFold) {
            stages = fold.totals.stages
            outcomes = CycleOutcome.allCases.map { fold.totals.cycles($0) }
            violations = ViolationKind.allCases.map { fold.totals.violations($0) }
            cycles = fold.takeClosedCycles().map { "\($0)" }.sorted()
        }
    }

    @Test("come to the same in any order, in one batch or many, with any event told twice", arguments: 0..<60)
    func anyOrder(seed: UInt64) throws {
        let history = History(seed: seed).events
        var random = SplitMix64(state: seed + 1_000)
        var fold = LifecycleFold.keeping()
        try fold.apply(history)
        fold.finish()
        let expected = Result(&fold)
        for round in 0..<20 {
            var events = history.shuffled(using: &random)
            for event in history where Int.random(in: 0..<4, using: &random) == 0 {
                events.insert(event, at: Int.random(in: 0...events.count, using: &random))
            }
            fold = LifecycleFold.keeping(deduplicates: round % 2 == 0)
            var rest = events[...]
            var before = fold.totals.stages
            while !rest.isEmpty {
                let batch = rest.prefix(Int.random(in: 1...5, using: &random))
                try fold.apply(Array(batch))
                rest = rest.dropFirst(batch.count)
                for (old, new) in zip(before, fold.totals.stages) { #expect(new >= old) }
                before = fold.totals.stages
            }
            fold.finish()
            #expect(Result(&fold) == expected)
        }
    }

    @Test("go on from a checkpoint like those that were never stopped", arguments: 0..<40)
    func checkpoints(seed: UInt64) throws {
        var random = SplitMix64(state: seed + 2_000)
        var live = LifecycleFold.keeping()
        var store = CheckpointTests.Store()
        for (index, event) in History(seed: seed).events.shuffled(using: &random).enumerated() {
            try live.apply([event], at: Double(index) * 1_800)
            live.tick(to: live.clock)
            _ = live.takeClosedCycles()
            store.save(live.takeChanges())
            var restored = LifecycleFold.keeping()
            for (key, value) in store.pages.sorted(by: { $0.key < $1.key }) {
                try restored.restore(StatePage(key: key, value: value))
            }
            var other = live
            let rest = History(seed: seed &+ 1).events
            try restored.apply(rest, at: Double(index) * 1_800)
            try other.apply(rest, at: Double(index) * 1_800)
            #expect(restored.takeChanges().upserts.last == other.takeChanges().upserts.last)
            restored.finish()
            other.finish()
            #expect(Result(&restored) == Result(&other))
            #expect(restored.totals == other.totals)
        }
    }

    @Test("leave the same bytes in their checkpoints as in one at the end, within any limits", arguments: 0..<60)
    func savedPages(seed: UInt64) throws {
        var limits = LifecycleLimits()
        if seed % 2 == 0 {
            limits.openCycles = 5
            limits.factsPerCycle = 8
            limits.installations = 3
            limits.identities = 64
            limits.cyclesPerSchedule = 2
        }
        var random = SplitMix64(state: seed + 3_000)
        var live = LifecycleFold.keeping(limits: limits)
        var whole = live
        var store = CheckpointTests.Store()
        var time = 0.0
        for _ in 0..<60 {
            let installation = UInt64.random(in: 1...6, using: &random)
            let history = History(seed: UInt64.random(in: 0..<1_000, using: &random)).events
            let events = history.shuffled(using: &random).prefix(6).map { $0.of(installation) }
            time += Double(Int.random(in: 0..<20_000, using: &random))
            try live.apply(events, at: time)
            try whole.apply(events, at: time)
            if Int.random(in: 0..<3, using: &random) == 0 {
                live.tick(to: live.clock)
                whole.tick(to: whole.clock)
            }
            guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
            store.save(live.takeChanges())
            if Int.random(in: 0..<2, using: &random) == 0 {
                live = LifecycleFold.keeping(limits: limits)
                for (key, value) in store.pages.sorted(by: { $0.key < $1.key }) {
                    try live.restore(StatePage(key: key, value: value))
                }
            }
        }
        store.save(live.takeChanges())
        var expected = CheckpointTests.Store()
        expected.save(whole.takeChanges())
        let names = Set(store.pages.keys).union(expected.pages.keys)
        #expect(names.filter { store.pages[$0] != expected.pages[$0] }.sorted() == [])
        #expect(live.totals == whole.totals)
        if seed % 2 == 0 {
            #expect(live.totals.evictedCycles > 0)
            #expect(live.totals.evictedInstallations > 0)
        }
    }
}
