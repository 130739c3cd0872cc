// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import PrefetchLifecycle

@Suite("Random histories")
struct HistoryTests {
    /// The result of a fold, without the order of its closed cycles and groups.
    struct Result: Equatable {
        let totals: [String: LifecycleTotals]
        let cycles: [String]

        init(_ fold: inout LifecycleFold) {
            totals = fold.namedTotals
            // The group is that of the event that arrived last.
            cycles = fold.takeClosedCycles().map { cycle in
                var cycle = cycle
                cycle.group = 0
                return "\(cycle)"
            }.sorted()
        }

        /// What differs, for messages.
        func difference(from other: Result) -> [String] {
            var lines = Set(cycles).symmetricDifference(other.cycles).sorted()
            for name in Set(totals.keys).union(other.totals.keys).sorted() {
                let own = totals[name].map { Mirror(reflecting: $0).children.map { "\($0.label ?? "") \($0.value)" } }
                let others = other.totals[name].map {
                    Mirror(reflecting: $0).children.map { "\($0.label ?? "") \($0.value)" }
                }
                lines += zip(own ?? [], others ?? []).filter { $0 != $1 }.map { "\(name): \($0), not \($1)" }
            }
            return lines
        }
    }

    /// A history in any order and in batches of any size, with some of its events repeated.
    struct Retold {
        var batches: [[TestEvent]] = []

        init(_ history: [TestEvent], _ random: inout SplitMix64) {
            var events = history.shuffled(using: &random)
            for event in history where Int.random(in: 0..<4, using: &random) == 0 {
                events.insert(event, at: Int.random(in: 0...events.count, using: &random))
            }
            var rest = events[...]
            while !rest.isEmpty {
                batches.append(Array(rest.prefix(Int.random(in: 1...5, using: &random))))
                rest = rest.dropFirst(batches[batches.count - 1].count)
            }
        }
    }

    @Test("random histories give the same totals in any order and batching, with any event repeated", arguments: 0..<32)
    func totalsAreTheSameInAnyOrder(seed: UInt64) throws {
        let history = History(seed: seed).events
        var random = SplitMix64(seed: seed + 1_000)
        var fold = LifecycleFold.keeping()
        try fold.accept(history)
        fold.finish()
        let expected = Result(&fold)
        for _ in 0..<8 {
            fold = LifecycleFold.keeping()
            var before = fold.totals.words
            for batch in Retold(history, &random).batches {
                try fold.accept(batch)
                let now = fold.totals.words
                #expect(!zip(before, now).contains { $0 > $1 })
                before = now
            }
            fold.finish()
            #expect(!zip(before, fold.totals.words).contains { $0 > $1 })
            let result = Result(&fold)
            guard result != expected else { continue }
            Issue.record("\(result.difference(from: expected))")
            return
        }
    }

    @Test("random histories give the same stages and verdicts without deduplication", arguments: 0..<30)
    func verdictsAreTheSameWithoutDeduplication(seed: UInt64) throws {
        let history = History(seed: seed).events
        var random = SplitMix64(seed: seed + 4_000)
        var fold = LifecycleFold.keeping(deduplicates: false)
        try fold.apply(history)
        fold.finish()
        let stages = fold.totals.stages
        let cycles = Result(&fold).cycles
        for _ in 0..<8 {
            fold = LifecycleFold.keeping(deduplicates: false)
            for batch in Retold(history, &random).batches { try fold.apply(batch) }
            fold.finish()
            try #require(fold.totals.stages == stages)
            let told = Result(&fold).cycles
            try #require(told == cycles, "\(Set(told).symmetricDifference(cycles).sorted())")
        }
    }

    @Test(
        "passes of a daily schedule are the same in any order of events that may not name their time",
        arguments: 0..<24
    )
    func passesAreTheSameInAnyOrder(seed: UInt64) throws {
        let history = History(seed: seed, isDaily: true).events
        var random = SplitMix64(seed: seed + 5_000)
        var expected: [String]?
        for _ in 0..<8 {
            var fold = LifecycleFold.keeping(deduplicates: false)
            for batch in Retold(history, &random).batches { try fold.apply(batch) }
            fold.finish()
            let cycles = Result(&fold).cycles
            guard let known = expected else {
                expected = cycles
                continue
            }
            guard cycles != known else { continue }
            Issue.record("\(Set(cycles).symmetricDifference(known).sorted().joined(separator: "\n"))")
            return
        }
    }

    @Test("passes of a daily schedule count the same in any order, and nothing twice", arguments: 0..<64)
    func passesCountTheSameInAnyOrder(seed: UInt64) throws {
        let history = History(seed: seed, isDaily: true).events
        var random = SplitMix64(seed: seed + 6_000)
        var expected: [String: [UInt64]]?
        for _ in 0..<8 {
            var fold = LifecycleFold.keeping()
            for batch in Retold(history, &random).batches { try fold.accept(batch) }
            fold.finish()
            let counts = fold.namedTotals.mapValues { totals in
                totals.stages + totals.delivered.indices.map { totals.delivered[$0] }
                    + [totals.fallbacks, totals.driftExceeded, totals.retries, totals.expired, totals.missedWindow]
            }
            try #require(expected.map { $0 == counts } ?? true, "\(counts), not \(expected ?? [:])")
            expected = counts
        }
    }

    @Test("random histories continue from a checkpoint like those that never stopped", arguments: 0..<10)
    func historyContinuesFromACheckpoint(seed: UInt64) throws {
        var random = SplitMix64(seed: seed + 2_000)
        var live = LifecycleFold.keeping()
        var store = CheckpointStore()
        for (index, event) in History(seed: seed).events.shuffled(using: &random).enumerated() {
            try live.apply([event], at: Double(index) * 1_800)
            live.tick(to: live.clock)
            _ = live.takeClosedCycles()
            store.save(live.takeChanges())
            guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
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

    @Test("checkpoint bytes do not depend on earlier checkpoints and restarts, within any limits", arguments: 0..<24)
    func checkpointBytesDoNotDependOnEarlierCheckpoints(seed: UInt64) throws {
        var limits = LifecycleLimits()
        if seed % 2 == 0 {
            limits.openCycles = 5
            limits.factsPerCycle = 8
            limits.installations = 3
            limits.identities = 64
            limits.cyclesPerSchedule = 2
        }
        var random = SplitMix64(seed: seed + 3_000)
        var live = LifecycleFold.keeping(limits: limits)
        var whole = live
        var store = CheckpointStore()
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
        var expected = CheckpointStore()
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
