// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@Suite("What a checkpoint takes stays as it was")
struct SnapshotTests {
    @Test("however the fold goes on while it is written, within any limits", arguments: 0..<40)
    func anyHistory(seed: UInt64) throws {
        var limits = LifecycleLimits()
        if seed % 2 == 0 {
            limits.openCycles = 5
            limits.factsPerCycle = 8
            limits.installations = 3
            limits.identities = 64
            limits.cyclesPerSchedule = 2
        }
        var random = SplitMix64(state: seed + 4_000)
        var live = LifecycleFold.keeping(limits: limits)
        var store = CheckpointTests.Store()
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

    @Test("names to delete are taken a few at a time, before the pages")
    func deletedNames() throws {
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
