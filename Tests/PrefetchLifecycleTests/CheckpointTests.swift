// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@Suite("Checkpoints of the fold")
struct CheckpointTests {

    func history(_ index: Int) -> [String] {
        let id = "cycle-\(index)"
        let time = Int64(index)
        return [
            event("prefetch_executed", time, id: id),
            event("prefetch_failure", time + 1, #""willRetry":true"#, id: id),
            event(index % 2 == 0 ? "prefetch_success" : "prefetch_used_for_notification", time + 2, id: id),
        ]
    }

    @Test("a fold restored from any checkpoint continues like the one that never stopped")
    func restoredFoldContinuesLikeTheLiveOne() throws {
        var live = LifecycleFold()
        var store = CheckpointStore()
        for index in 0..<1_200 {
            try live.apply(Array(history(index).shuffled().prefix(2)), at: Int64(index))
            if index % 400 == 399 {
                live.tick(to: .init(microseconds: live.clock.microseconds + 3_600 * 1_000_000))
                store.save(live.takeChanges())
                var restored = try store.restore()
                #expect(restored.totals == live.totals)
                #expect(restored.openCycles == live.openCycles)
                #expect(restored.rememberedIdentities == live.rememberedIdentities)
                var other = live
                let rest = (0..<index).flatMap(history)
                try restored.apply(rest, at: 9_000)
                try other.apply(rest, at: 9_000)
                restored.closeAll()
                other.closeAll()
                #expect(restored.totals == other.totals)
            }
        }
    }

    @Test("a checkpoint writes only the pages that changed")
    func checkpointWritesOnlyChangedPages() throws {
        var fold = LifecycleFold()
        try fold.apply((0..<2_000).flatMap(history))
        let first = fold.takeChanges()
        #expect(first.upserts.count > 8)
        #expect(fold.takeChanges().upserts.map(\.key) == ["totals"])
        try fold.apply([event("prefetch_scheduled", 1, id: "cycle-0")])
        #expect(fold.takeChanges().upserts.count == 4)
    }

    @Test("closed cycles leave the checkpoint")
    func closedCyclesLeaveTheCheckpoint() throws {
        var fold = LifecycleFold()
        var store = CheckpointStore()
        try fold.apply((0..<700).flatMap(history))
        store.save(fold.takeChanges())
        #expect(store.pages.keys.filter { $0.hasPrefix("cycles/") }.count == 3)
        fold.closeAll()
        store.save(fold.takeChanges())
        #expect(store.pages.keys.filter { $0.hasPrefix("cycles/") }.isEmpty)
    }

    @Test("a truncated or unknown checkpoint page is an error", arguments: ["totals", "cycles/00000000", "else"])
    func damagedPageIsAnError(key: String) {
        var fold = LifecycleFold()
        #expect(throws: StateError.self) { try fold.restore(StatePage(key: key, value: [1, 2, 3])) }
    }
}

@Suite("Checkpoints taken while the fold continues")
struct SnapshotTests {
    @Test("a checkpoint holds the state of one moment while the fold continues, within any limits", arguments: 0..<20)
    func checkpointIsASnapshotWhileTheFoldContinues(seed: UInt64) throws {
        var limits = LifecycleLimits()
        if seed % 2 == 0 {
            limits.openCycles = 5
            limits.factsPerCycle = 8
            limits.installations = 3
            limits.identities = 64
            limits.cyclesPerSchedule = 2
        }
        var random = SplitMix64(seed: seed + 4_000)
        var live = LifecycleFold.keeping(limits: limits)
        var store = CheckpointStore()
        var time = 0.0
        func tell(_ fold: inout LifecycleFold) throws {
            let installation = UInt64.random(in: 1...6, using: &random)
            let history = History(seed: UInt64.random(in: 0..<1_000, using: &random)).events
            time += Double(Int.random(in: 0..<20_000, using: &random))
            try fold.apply(history.shuffled(using: &random).prefix(6).map { $0.of(installation) }, at: time)
            if Int.random(in: 0..<3, using: &random) == 0 { fold.tick(to: fold.clock) }
        }
        for _ in 0..<12 {
            for _ in 0..<4 { try tell(&live) }
            var whole = live
            var delta = live.takeChanges()
            var saved = store
            saved.save(whole.takeChanges())
            let count = delta.count
            for prefix in delta.takeDeletedPrefixes(.max) {
                store.pages = store.pages.filter { !$0.key.hasPrefix(prefix) }
            }
            while let page = delta.takePage() {
                store.pages[page.key] = page.value
                try tell(&live)
            }
            #expect(count > 0 && delta.count == 0)
            try #require(store.pages == saved.pages)
            let restored = try store.restore(limits: limits)
            #expect(restored.totals == whole.totals)
            #expect(restored.openCycles == whole.openCycles)
        }
    }

    @Test("a checkpoint hands out the key prefixes to delete in parts, before its pages")
    func deletedPrefixesPrecedePages() throws {
        var fold = LifecycleFold()
        try fold.apply((0..<1_400).map { event("prefetch_scheduled", 0, id: "cycle-\($0)") })
        _ = fold.takeChanges()
        fold.closeAll()
        var delta = fold.takeChanges()
        #expect(delta.takeDeletedPrefixes(0) == [])
        #expect(delta.takeDeletedPrefixes(4) == (0..<4).map { "cycles/0000000\($0)" })
        #expect(delta.takeDeletedPrefixes(.max) == (4..<6).map { "cycles/0000000\($0)" })
        #expect(delta.takeDeletedPrefixes(.max) == [])
        #expect(delta.takePage()?.key == "totals")
    }
}
