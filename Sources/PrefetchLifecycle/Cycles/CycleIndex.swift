// SPDX-License-Identifier: Apache-2.0

/// Finds the slots of cycles by a hash: open addressing with linear probing, four bytes a place, at most 7/10 full.
///
/// The hashes themselves follow from the cycles in the slots, so the index holds slot numbers only. Several cycles may
/// have the same hash; whoever enters them bounds how many.
struct CycleIndex: Sendable {
    private var places: [UInt32]
    private var count = 0

    init() {
        places = [UInt32](repeating: 0, count: 64)
    }

    /// The bytes that the places take.
    var byteCount: Int { places.count * MemoryLayout<UInt32>.size }

    /// The first slot with this hash or one that shares its place, for which `matches` is true.
    func slot(_ hash: UInt64, where matches: (Int) -> Bool) -> Int? {
        var place = home(of: hash)
        while places[place] != 0 {
            let slot = Int(places[place]) - 1
            if matches(slot) { return slot }
            place = (place + 1) & mask
        }
        return nil
    }

    /// Enters a slot that is not there yet.
    mutating func insert(_ slot: Int, _ hash: UInt64, hashAt: (Int) -> UInt64) {
        if (count + 1) * 10 > places.count * 7 { grow(hashAt: hashAt) }
        count += 1
        enter(slot, hash)
    }

    /// Tells that a hash's cycle has moved to another slot.
    mutating func move(_ hash: UInt64, from old: Int, to new: Int) {
        places[place(of: old, hash)] = UInt32(new + 1)
    }

    /// Removes a slot; the places behind it close up.
    mutating func remove(_ slot: Int, _ hash: UInt64, hashAt: (Int) -> UInt64) {
        var gap = place(of: slot, hash)
        var next = (gap + 1) & mask
        while places[next] != 0 {
            let distance = (next - home(of: hashAt(Int(places[next]) - 1))) & mask
            if distance >= (next - gap) & mask {
                places[gap] = places[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        places[gap] = 0
        count -= 1
    }

    private var mask: Int { places.count - 1 }

    private func home(of hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash) & mask
    }

    private func place(of slot: Int, _ hash: UInt64) -> Int {
        var place = home(of: hash)
        while places[place] != UInt32(slot + 1) { place = (place + 1) & mask }
        return place
    }

    private mutating func enter(_ slot: Int, _ hash: UInt64) {
        var place = home(of: hash)
        while places[place] != 0 { place = (place + 1) & mask }
        places[place] = UInt32(slot + 1)
    }

    private mutating func grow(hashAt: (Int) -> UInt64) {
        let old = places
        places = [UInt32](repeating: 0, count: old.count * 2)
        for slot in old where slot != 0 { enter(Int(slot) - 1, hashAt(Int(slot) - 1)) }
    }
}
