// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import PrefetchLifecycle

extension SlotIndex {
    /// Adds a slot, after making room where there is none.
    fileprivate mutating func insert(_ slot: Int, _ hash: UInt64, hashAt: (Int) -> UInt64) {
        if !hasRoom(for: hash) { grow(for: hash, hashAt: hashAt) }
        insert(slot, hash)
    }
}

@Suite("The index of slots")
struct SlotIndexTests {
    /// Hashes of which many share a group, a tag or all bits.
    private static func hash(_ random: inout SplitMix64) -> UInt64 {
        switch random.next() % 4 {
        case 0: random.next()
        case 1: random.next() & 0xFFFF_FFFF_0000_0000
        case 2: random.next() % 8 &* 0x0101_0000_0101_0001
        default: random.next() & 0x0000_3F00_FFFF_FFFF
        }
    }

    @Test("the index agrees with a list while slots come, move and go", arguments: [1, 2, 3])
    func agreesWithAList(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var index = SlotIndex()
        var hashes: [UInt64] = []
        func slots(of hash: UInt64) -> Set<Int> {
            var found: Set<Int> = []
            _ = index.slot(hash) { slot in
                if hashes[slot] == hash { found.insert(slot) }
                return false
            }
            return found
        }
        var changes: UInt64 = 0
        for step in 0..<12_000 {
            // More come at first, and more go later.
            if hashes.isEmpty || random.next() % 100 < (step < 6_000 ? 60 : 40) {
                let hash = Self.hash(&random)
                guard hashes.count(where: { $0 == hash }) < 32 || hashes.count < 64 else { continue }
                hashes.append(hash)
                index.insert(hashes.count - 1, hash) { hashes[$0] }
            } else {
                let slot = Int(random.next() % UInt64(hashes.count))
                index.remove(slot, hashes[slot])
                let last = hashes.count - 1
                if slot != last { index.move(hashes[last], from: last, to: slot) }
                hashes[slot] = hashes[last]
                hashes.removeLast()
            }
            #expect(index.changes > changes)
            changes = index.changes
            guard step % 97 == 0 else { continue }
            for _ in 0..<20 {
                let hash = hashes.isEmpty ? 0 : hashes[Int(random.next() % UInt64(hashes.count))]
                #expect(slots(of: hash) == Set(hashes.indices.filter { hashes[$0] == hash }))
            }
            #expect(slots(of: random.next() | 1).isEmpty)
        }
        for slot in hashes.indices.reversed() { index.remove(slot, hashes[slot]) }
        for hash in hashes { #expect(index.slot(hash) { _ in true } == nil) }
    }

    @Test("a search ends where entries have passed every line, each while it was full", .timeLimit(.minutes(1)))
    func searchesEnd() {
        // A new part has two lines of 15 places; the low half of a hash chooses the line.
        let (first, second): (UInt64, UInt64) = (0, 0x8000_0000)
        var index = SlotIndex()
        var hashes = Array(repeating: first, count: 16)
        for slot in 0..<16 { index.insert(slot, first) { hashes[$0] } }
        for slot in 0..<6 { index.remove(slot, first) }
        hashes += Array(repeating: second, count: 15)
        for slot in 16..<31 { index.insert(slot, second) { hashes[$0] } }
        let otherTag: UInt64 = 0x0700_0000_0000_0000
        #expect(index.slot(first | otherTag) { _ in true } == nil)
        #expect(index.slot(second | otherTag) { _ in true } == nil)
        #expect(index.slot(first) { $0 == 15 } == 15 && index.slot(second) { $0 == 30 } == 30)
    }

    @Test("a probable slot is one with the hash where it is alone, and none of an empty index")
    func candidatesAreSlotsOfTheHash() {
        var random = SplitMix64(seed: 4)
        var index = SlotIndex()
        #expect(index.candidate(7) == nil)
        let hashes = (0..<1_000).map { _ in random.next() }
        for (slot, hash) in hashes.enumerated() { index.insert(slot, hash) { hashes[$0] } }
        let found = hashes.indices.count { index.candidate(hashes[$0]) == $0 }
        #expect(found > 900)
    }

    @Test("the index of many slots takes no more than 8 bytes each")
    func takesFewBytes() {
        var random = SplitMix64(seed: 5)
        var index = SlotIndex()
        let hashes = (0..<100_000).map { _ in random.next() }
        for (slot, hash) in hashes.enumerated() { index.insert(slot, hash) { hashes[$0] } }
        #expect(index.byteCount < 8 * hashes.count)
        #expect(SlotIndex(slots: hashes.count).byteCount < 6 * hashes.count)
    }
}
