// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import PrefetchLifecycle

@Suite("Remembered identities")
struct DeduplicationTests {
    @Test("the identity table agrees with a set at no more than 12 bytes an identity")
    func identityTableAgreesWithASet() {
        var random = SplitMix64(seed: 7)
        var table = IdentityTable()
        var set: Set<UInt64> = []
        for step in 0..<200_000 {
            let hash = random.next() & (step % 3 == 0 ? .max : 0xFFFF_FF00_0000_0000) | 1
            let isNew = set.insert(hash).inserted
            let wasInserted = table.insert(hash)
            #expect(wasInserted == isNew)
        }
        #expect(table.count == set.count)
        for hash in set { #expect(table.contains(hash)) }
        for _ in 0..<100_000 {
            let hash = random.next()
            #expect(table.contains(hash) == set.contains(hash))
        }
        #expect(table.byteCount <= table.count * 12)
    }

    @Test("identities that are looked for together are those that are found one by one", arguments: [1, 7, 32])
    func findsManyAtOnce(count: Int) {
        var random = SplitMix64(seed: UInt64(count))
        var identities = RememberedIdentities(window: 700, limit: 40_000)
        var inserted: [UInt64] = [0]
        var found = 0
        for round in 0..<3_000 {
            // Three generations, with many identities in one line and in those behind it.
            _ = identities.advance(to: Timestamp(microseconds: Int64(round) / 1_000 * 400))
            for _ in 0..<8 {
                let identity = random.next() & (round % 2 == 0 ? .max : 0x3F00_0000_FFFF_0000)
                identities.insert(identity)
                inserted.append(identity)
            }
            let wanted = (0..<count).map { _ in
                let isOld = random.next() % 3 == 0
                return isOld ? inserted[Int(random.next() % UInt64(inserted.count))] : random.next() | 1
            }
            let places = identities.places(of: wanted.span)
            let expected = wanted.indices.reduce(0 as UInt32) {
                identities.contains(wanted[$1]) ? $0 | 1 << UInt32($1) : $0
            }
            #expect(places == expected)
            found += places.nonzeroBitCount
        }
        #expect(found > 500)
    }

    @Test("duplicates take no memory in the identity table")
    func duplicatesTakeNoMemory() {
        var table = IdentityTable()
        var random = SplitMix64(seed: 9)
        for _ in 0..<2_000 {
            let hash = random.next()
            let isNew = table.insert(hash)
            let bytes = table.byteCount
            let isNewAgain = table.insert(hash)
            #expect(isNew && !isNewAgain && table.byteCount == bytes)
        }
    }

    @Test("the identity table holds the ends of the range and runs at its end")
    func identityTableHoldsTheEndsOfTheRange() {
        var table = IdentityTable()
        for hash in (UInt64.max - 500)...UInt64.max { _ = table.insert(hash) }
        _ = table.insert(0)
        #expect(table.count == 502)
        for hash in (UInt64.max - 500)...UInt64.max { #expect(table.contains(hash)) }
        #expect(table.contains(0))
        #expect(!table.contains(2))
        #expect(!table.contains(UInt64.max - 501))
    }

    @Test("a batch of identities has the duplicates that it has one by one", arguments: [0, 1, 15, 16, 17, 33, 100])
    func batchHasTheDuplicatesThatItHasOneByOne(count: Int) throws {
        var random = SplitMix64(seed: UInt64(count) + 3)
        var fold = LifecycleFold(key: IdentityKey(3, 4))
        var found = 0
        for round in 0..<20 {
            // Few values, so that many are remembered, proposed already, or twice in the same window.
            let batch = (0..<count).map { _ in random.next() % 200 }
            var alone = fold
            let duplicates = batch.indices.filter { !alone.propose(batch[$0]) }
            let places = fold.propose(batch)
            #expect(places == duplicates)
            let again = fold.propose(batch)
            #expect(again == Array(batch.indices))
            found += duplicates.count
            guard round % 3 == 2 else { continue }
            fold.remember(batch, receivedAt: Timestamp(microseconds: 0))
            fold.clearProposals()
        }
        #expect(count < 2 || found > 0)
    }

    @Test("an identity is remembered for the window and forgotten after one and a half")
    func identityIsForgottenAfterItsWindow() {
        var identities = RememberedIdentities(window: 700, limit: 79)
        _ = identities.advance(to: Timestamp(microseconds: 0))
        identities.insert(11)
        for time in stride(from: Int64(50), through: 700, by: 50) {
            let evicted = identities.advance(to: Timestamp(microseconds: time))
            #expect(evicted == 0)
            #expect(identities.contains(11))
        }
        for time in stride(from: Int64(750), through: 1_050, by: 50) {
            _ = identities.advance(to: Timestamp(microseconds: time))
        }
        #expect(!identities.contains(11))
    }

    @Test("an identity is not forgotten because a clock leaps, however often it goes ahead and back")
    func leapsForgetNothing() {
        var identities = RememberedIdentities(window: 700, limit: 79)
        var identity: UInt64 = 0
        for ahead in [800, 1_600, 8_000, 1 << 60, 100, 750, 1 << 40] as [Int64] {
            for time in [0, 1, 1 + ahead, 2 + ahead, 2] {
                let evicted = identities.advance(to: Timestamp(microseconds: time))
                #expect(evicted == 0)
                identity += 1
                identities.insert(identity &* 0x9E37_79B9_7F4A_7C15)
            }
        }
        #expect((1...identity).allSatisfy { identities.contains($0 &* 0x9E37_79B9_7F4A_7C15) })
        #expect(identities.clock.now == Timestamp(microseconds: 2))
    }

    @Test("identities grow old while rows come, though a clock once stood years ahead")
    func agingGoesOnAfterALeap() {
        var identities = RememberedIdentities(window: 700, limit: 79)
        _ = identities.advance(to: Timestamp(microseconds: 1 << 60))
        identities.insert(11)
        for time in stride(from: Int64(0), through: 1_200, by: 50) {
            _ = identities.advance(to: Timestamp(microseconds: time))
            identities.insert(UInt64(time) + 100)
        }
        #expect(!identities.contains(11))
        #expect(identities.contains(1_300))
    }

    @Test("the newest identities are remembered whatever time passes, and older ones are forgotten")
    func newestAreKeptByOrder() {
        var identities = RememberedIdentities(window: 700, limit: 80 * 100)
        for identity in UInt64(1)...1_000 {
            _ = identities.advance(to: Timestamp(microseconds: Int64(identity) * 100))
            identities.insert(identity &* 0x9E37_79B9_7F4A_7C15)
        }
        for identity in UInt64(901)...1_000 { #expect(identities.contains(identity &* 0x9E37_79B9_7F4A_7C15)) }
        #expect(identities.count <= 150)
    }

    @Test("the clock of identities goes on from a checkpoint, and begins with the fold's in one of an older version")
    func agingClockIsRestored() throws {
        let days: Int64 = 86_400
        var live = LifecycleFold.keeping()
        var whole = live
        var store = CheckpointStore()
        for (index, second) in [0, 60, 8 * days, 120, 16 * days, 180].enumerated() {
            let told = [TestEvent(.prefetchScheduled, Double(index), id: "s\(index)")]
            try live.apply(told, at: Double(second))
            try whole.apply(told, at: Double(second))
            store.save(live.takeChanges())
            live = try store.restore()
        }
        store.save(live.takeChanges())
        var expected = CheckpointStore()
        expected.save(whole.takeChanges())
        #expect(store.pages == expected.pages)
        #expect(live.rememberedIdentities == 6)
        #expect(live.lastRow == .after(180))

        store.pages["totals"]?.removeLast(16)
        let older = try store.restore()
        #expect(older.lastRow == older.clock)
        #expect(older.rememberedIdentities == 6)
    }

    @Test("past the limit the oldest identities are evicted and counted")
    func oldestIdentitiesAreEvicted() {
        var identities = RememberedIdentities(window: 1_000_000, limit: 100)
        var evicted: UInt64 = 0
        for identity in UInt64(1)...1_000 {
            evicted += identities.advance(to: Timestamp(microseconds: Int64(identity)))
            identities.insert(identity &* 0x9E37_79B9_7F4A_7C15)
        }
        #expect(identities.count <= 100)
        #expect(identities.count >= 80)
        #expect(evicted == UInt64(1_000 - identities.count))
        for identity in UInt64(921)...1_000 { #expect(identities.contains(identity &* 0x9E37_79B9_7F4A_7C15)) }
        #expect(identities.contains(1_000 &* 0x9E37_79B9_7F4A_7C15))
    }

    @Test("the fold knows accepted events and remembered batches")
    func foldKnowsAcceptedEventsAndBatches() throws {
        var fold = LifecycleFold()
        let bytes = records([event("prefetch_success", 0), event("prefetch_success", 1)])
        var cursor = EventCursor()
        let first = try #require(try cursor.next(in: bytes.span))
        let identity = IdentityKey(3, 4).identity(of: first, in: bytes.span)
        #expect(!fold.isKnown(identity))
        try fold.apply(bytes.span, receivedAt: start)
        #expect(fold.isKnown(identity))
        fold.remember([99], receivedAt: start)
        #expect(fold.isKnown(99))
        #expect(fold.rememberedIdentities == 3)
    }
}
