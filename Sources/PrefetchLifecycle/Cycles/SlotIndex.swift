// SPDX-License-Identifier: Apache-2.0

/// Finds slots by a hash, in 64 parts by some of its bits, so that growing one never stops the writer for long.
struct CycleIndex: Sendable {
    /// How many slots there may be.
    static let slotLimit = 1 << 24 - 1

    private static let partCount = 64

    private var parts: [CycleIndexPart]

    /// - Parameter slots: how many slots it will have, about.
    init(slots: Int = 0) {
        let share = slots / Self.partCount
        // Hashes spread them so evenly that a part hardly ever has more than this.
        let room = share + share / 24 + 16
        parts = [CycleIndexPart](repeating: CycleIndexPart(slots: room), count: Self.partCount)
    }

    /// The bytes that the places take.
    var byteCount: Int { parts.reduce(0) { $0 + $1.byteCount } }

    /// The first slot that has this hash, as far as the index knows, and for which `matches` is true.
    @inline(__always)
    func slot(_ hash: UInt64, where matches: (Int) -> Bool) -> Int? {
        parts[Self.part(hash)].slot(hash, where: matches)
    }

    /// Enters a slot that is not there yet.
    mutating func insert(_ slot: Int, _ hash: UInt64, hashAt: (Int) -> UInt64) {
        parts[Self.part(hash)].insert(slot, hash, hashAt: hashAt)
    }

    /// Tells that a hash's cycle has moved to another slot.
    mutating func move(_ hash: UInt64, from old: Int, to new: Int) {
        parts[Self.part(hash)].move(hash, from: old, to: new)
    }

    /// Removes a slot.
    mutating func remove(_ slot: Int, _ hash: UInt64, hashAt: (Int) -> UInt64) {
        parts[Self.part(hash)].remove(slot, hash, hashAt: hashAt)
    }

    private static func part(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 40) & (partCount - 1) }
}

/// Finds slots by a hash: open addressing with linear probing, four bytes a place, 58 to 87 % full once it is large.
///
/// A place holds a slot and eight bits of its hash, so that hardly any other slot is looked at. The hashes themselves
/// follow from what is in the slots. Several slots may have the same hash; whoever enters them bounds how many.
struct CycleIndexPart: Sendable {
    private var places: [UInt32]
    private var count = 0

    /// - Parameter slots: how many slots it has room for without growing.
    init(slots: Int = 0) {
        places = [UInt32](repeating: 0, count: max(8, slots * 100 / 86 + 1))
    }

    /// The bytes that the places take.
    var byteCount: Int { places.count * MemoryLayout<UInt32>.size }

    /// The first slot that has this hash, as far as the index knows, and for which `matches` is true.
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

    /// Enters a slot that is not there yet.
    mutating func insert(_ slot: Int, _ hash: UInt64, hashAt: (Int) -> UInt64) {
        if (count + 1) * 100 > places.count * 87 { grow(hashAt: hashAt) }
        count += 1
        enter(slot, hash)
    }

    /// Tells that a hash's cycle has moved to another slot.
    mutating func move(_ hash: UInt64, from old: Int, to new: Int) {
        places[place(of: old, hash)] = Self.entry(new, hash)
    }

    /// Removes a slot; the places behind it close up.
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

    /// Below so many places a part doubles, above it grows by half, which saves memory and costs time.
    private static let smallPlaces = 4_096

    private static let tagMask: UInt32 = 0xFF00_0000

    private static func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) & tagMask }

    private static func entry(_ slot: Int, _ hash: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: slot + 1) | tag(hash)
    }

    private static func slot(_ entry: UInt32) -> Int { Int(entry & ~tagMask) - 1 }

    /// The share of the places that the low half of the hash points to; the high half gives the tag.
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
