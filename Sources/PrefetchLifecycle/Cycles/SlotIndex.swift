// SPDX-License-Identifier: Apache-2.0

/// A hash index of table slots in 64 parts, so that growing one part never stalls the writer for long.
struct SlotIndex: Sendable {
    /// The most slots of a table: an entry holds a slot in 24 bits.
    static let slotLimit = 1 << 24 - 1

    private static let partCount = 64

    private var parts: [SlotIndexPart]

    /// - Parameter slots: the expected number of slots.
    init(slots: Int = 0) {
        let share = slots / Self.partCount
        // Hashes spread slots so evenly that a part hardly ever exceeds its share by 4 %.
        let room = share + share / 24 + 16
        parts = [SlotIndexPart](repeating: SlotIndexPart(slots: room), count: Self.partCount)
    }

    /// The memory of the entries, in bytes.
    var byteCount: Int { parts.reduce(0) { $0 + $1.byteCount } }

    /// The first candidate slot of a hash for which `matches` is true.
    @inline(__always)
    func slot(_ hash: UInt64, where matches: (Int) -> Bool) -> Int? {
        parts[Self.part(hash)].slot(hash, where: matches)
    }

    /// Adds a slot that is not indexed yet.
    mutating func insert(_ slot: Int, _ hash: UInt64, hashAt: (Int) -> UInt64) {
        parts[Self.part(hash)].insert(slot, hash, hashAt: hashAt)
    }

    /// Moves the entry of a hash to another slot.
    mutating func move(_ hash: UInt64, from old: Int, to new: Int) {
        parts[Self.part(hash)].move(hash, from: old, to: new)
    }

    /// Removes a slot.
    mutating func remove(_ slot: Int, _ hash: UInt64, hashAt: (Int) -> UInt64) {
        parts[Self.part(hash)].remove(slot, hash, hashAt: hashAt)
    }

    private static func part(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 40) & (partCount - 1) }
}

/// One part of the index: open addressing with linear probing, four bytes per entry, 58 to 87 % full once it is large.
///
/// An entry holds a slot and eight bits of its hash, so that few wrong slots are looked at. Full hashes are computed from
/// the slots. Several slots may have the same hash; callers bound how many.
private struct SlotIndexPart: Sendable {
    private var places: [UInt32]
    private var count = 0

    /// - Parameter slots: the slots that fit without growing.
    init(slots: Int = 0) {
        places = [UInt32](repeating: 0, count: max(8, slots * 100 / 86 + 1))
    }

    /// The memory of the entries, in bytes.
    var byteCount: Int { places.count * MemoryLayout<UInt32>.size }

    /// The first candidate slot of a hash for which `matches` is true.
    @inline(__always)
    func slot(_ hash: UInt64, where matches: (Int) -> Bool) -> Int? {
        let tag = Self.tag(hash)
        var place = home(of: hash)
        while places[place] != 0 {
            if places[place] & Self.tagMask == tag {
                let slot = Self.slot(places[place])
                if matches(slot) { return slot }
            }
            place = next(place)
        }
        return nil
    }

    /// Adds a slot that is not indexed yet.
    mutating func insert(_ slot: Int, _ hash: UInt64, hashAt: (Int) -> UInt64) {
        if (count + 1) * 100 > places.count * 87 { grow(hashAt: hashAt) }
        count += 1
        enter(slot, hash)
    }

    /// Moves the entry of a hash to another slot.
    mutating func move(_ hash: UInt64, from old: Int, to new: Int) {
        places[place(of: old, hash)] = Self.entry(new, hash)
    }

    /// Removes a slot and closes the gap in its probe sequence.
    mutating func remove(_ slot: Int, _ hash: UInt64, hashAt: (Int) -> UInt64) {
        var gap = place(of: slot, hash)
        var place = next(gap)
        while places[place] != 0 {
            let home = home(of: hashAt(Self.slot(places[place])))
            if distance(from: home, to: place) >= distance(from: gap, to: place) {
                places[gap] = places[place]
                gap = place
            }
            place = next(place)
        }
        places[gap] = 0
        count -= 1
    }

    /// A smaller part doubles; a larger one grows by half, which saves memory and costs time.
    private static let smallPlaces = 4_096

    private static let tagMask: UInt32 = 0xFF00_0000

    private static func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) & tagMask }

    private static func entry(_ slot: Int, _ hash: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: slot + 1) | tag(hash)
    }

    private static func slot(_ entry: UInt32) -> Int { Int(entry & ~tagMask) - 1 }

    /// The low half of the hash scaled to the number of entries; the high half gives the tag.
    private func home(of hash: UInt64) -> Int {
        Int(truncatingIfNeeded: ((hash & 0xFFFF_FFFF) &* UInt64(places.count)) >> 32)
    }

    private func next(_ place: Int) -> Int {
        let next = place &+ 1
        return next == places.count ? 0 : next
    }

    private func distance(from start: Int, to end: Int) -> Int {
        end >= start ? end - start : end - start + places.count
    }

    private func place(of slot: Int, _ hash: UInt64) -> Int {
        var place = home(of: hash)
        while places[place] != Self.entry(slot, hash) { place = next(place) }
        return place
    }

    private mutating func enter(_ slot: Int, _ hash: UInt64) {
        var place = home(of: hash)
        while places[place] != 0 { place = next(place) }
        places[place] = Self.entry(slot, hash)
    }

    private mutating func grow(hashAt: (Int) -> UInt64) {
        let old = places
        let growth = old.count < Self.smallPlaces ? old.count : old.count / 2
        places = [UInt32](repeating: 0, count: old.count + growth)
        for entry in old where entry != 0 {
            let slot = Self.slot(entry)
            enter(slot, hashAt(slot))
        }
    }
}
