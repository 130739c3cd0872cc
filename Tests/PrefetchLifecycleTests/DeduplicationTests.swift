// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import PrefetchLifecycle

@Suite("Remembered identities")
struct DeduplicationTests {
    @Test("the table holds what a set holds, at 12 bytes an identity at most once it is large")
    func agreesWithSet() {
        var random = SplitMix64(state: 7)
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

    @Test("the ends of the range and runs at the very end are held too")
    func edges() {
        var table = IdentityTable()
        for hash in (UInt64.max - 500)...UInt64.max { _ = table.insert(hash) }
        _ = table.insert(0)
        #expect(table.count == 502)
        for hash in (UInt64.max - 500)...UInt64.max { #expect(table.contains(hash)) }
        #expect(table.contains(0))
        #expect(!table.contains(2))
        #expect(!table.contains(UInt64.max - 501))
    }

    @Test("an identity is remembered for the window and forgotten after one and a half")
    func window() {
        var identities = RememberedIdentities(window: 700, limit: 1_000)
        _ = identities.advance(to: Timestamp(microseconds: 0))
        identities.insert(11)
        for time in stride(from: Int64(50), through: 700, by: 50) {
            let evicted = identities.advance(to: Timestamp(microseconds: time))
            #expect(evicted == 0)
            #expect(identities.contains(11))
        }
        _ = identities.advance(to: Timestamp(microseconds: 1_050))
        #expect(!identities.contains(11))
    }

    @Test("past the limit the oldest go first, and are counted")
    func limit() {
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

    @Test("the fold knows an accepted event and a remembered batch again")
    func fold() throws {
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

    @Test("a cycle takes 84 bytes, an installation 160")
    func sizes() {
        #expect(MemoryLayout<Cycle>.stride == 84)
        #expect(MemoryLayout<Installation>.stride == 160)
    }

    @Test("open cycles stay within their limit")
    func openCycles() throws {
        var limits = LifecycleLimits()
        limits.openCycles = 10
        var fold = LifecycleFold(limits: limits)
        try fold.apply((0..<100).map { event("prefetch_success", Int64($0), id: "c\($0)") })
        #expect(fold.openCycles == 10)
        #expect(fold.totals.evictedCycles == 90)
        #expect(fold.totals.success == 100)
    }
}
