// SPDX-License-Identifier: Apache-2.0

/// Finds a cycle's slot by its key: open addressing with linear probing, four bytes a place, at most 7/10 full.
///
/// The keys themselves stand in the slots, so the index holds slot numbers only.
struct CycleIndex: Sendable {
    private var places: [UInt32]
    private var count = 0

    init() {
        places = [UInt32](repeating: 0, count: 64)
    }

    func slot(of key: UInt64, keyAt: (Int) -> UInt64) -> Int? {
        var place = home(of: key)
        while places[place] != 0 {
            let slot = Int(places[place]) - 1
            if keyAt(slot) == key { return slot }
            place = (place + 1) & mask
        }
        return nil
    }

    /// Enters a key that is not there yet.
    mutating func insert(_ slot: Int, key: UInt64, keyAt: (Int) -> UInt64) {
        if (count + 1) * 10 > places.count * 7 { grow(keyAt: keyAt) }
        count += 1
        enter(slot, key)
    }

    /// Tells that a key's cycle has moved to another slot.
    mutating func move(key: UInt64, from old: Int, to new: Int) {
        places[place(of: old, key: key)] = UInt32(new + 1)
    }

    /// Removes a key; the places behind it close up.
    mutating func remove(key: UInt64, slot: Int, keyAt: (Int) -> UInt64) {
        var gap = place(of: slot, key: key)
        var next = (gap + 1) & mask
        while places[next] != 0 {
            let distance = (next - home(of: keyAt(Int(places[next]) - 1))) & mask
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

    private func home(of key: UInt64) -> Int {
        Int(truncatingIfNeeded: key) & mask
    }

    private func place(of slot: Int, key: UInt64) -> Int {
        var place = home(of: key)
        while places[place] != UInt32(slot + 1) { place = (place + 1) & mask }
        return place
    }

    private mutating func enter(_ slot: Int, _ key: UInt64) {
        var place = home(of: key)
        while places[place] != 0 { place = (place + 1) & mask }
        places[place] = UInt32(slot + 1)
    }

    private mutating func grow(keyAt: (Int) -> UInt64) {
        let old = places
        places = [UInt32](repeating: 0, count: old.count * 2)
        for slot in old where slot != 0 { enter(Int(slot) - 1, keyAt(Int(slot) - 1)) }
    }
}
