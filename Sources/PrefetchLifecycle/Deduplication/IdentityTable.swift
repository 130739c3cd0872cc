// SPDX-License-Identifier: Apache-2.0

/// A set of 64-bit hashes at 9.4 to 11.3 bytes each.
///
/// Slots are sorted by hash: a hash is at the slot that its share of the 64-bit range gives, or behind it without a gap.
/// Growing is then one pass in memory order, and the table can be 85 % full. Inserting and looking up touch a run of at
/// most about 20 slots on average.
struct IdentityTable: Sendable {
    private static let slack = 64
    private(set) var count = 0
    private var capacity: Int
    private var slots: [UInt64]

    init(capacity: Int = 16) {
        self.capacity = capacity
        slots = [UInt64](repeating: 0, count: capacity + Self.slack)
    }

    /// The memory of the slots, in bytes.
    var byteCount: Int { slots.count * MemoryLayout<UInt64>.size }

    func contains(_ hash: UInt64) -> Bool {
        let hash = Swift.max(hash, 1)
        var slot = home(of: hash)
        while slots[slot] != 0, slots[slot] < hash {
            slot += 1
            if slot == slots.count { return false }
        }
        return slots[slot] == hash
    }

    /// Inserts a hash; false for a duplicate.
    mutating func insert(_ hash: UInt64) -> Bool {
        let hash = Swift.max(hash, 1)
        var slot = place(of: hash)
        if slot < slots.count, slots[slot] == hash { return false }
        // After the duplicates, so that the memory depends on what was inserted alone and a restart takes as much.
        if count * 100 >= capacity * 85 {
            grow()
            slot = place(of: hash)
        }
        var gap = slot
        while gap < slots.count, slots[gap] != 0 { gap += 1 }
        if gap == slots.count { slots.append(contentsOf: repeatElement(0, count: Self.slack)) }
        while gap > slot {
            slots[gap] = slots[gap - 1]
            gap -= 1
        }
        slots[slot] = hash
        count += 1
        return true
    }

    /// Empties the table; releases its memory only where it is large.
    mutating func removeAll() {
        guard count > 0 else { return }
        if slots.count > 1 << 16 {
            self = IdentityTable()
        } else {
            for slot in slots.indices { slots[slot] = 0 }
            count = 0
        }
    }

    /// Where a hash is, or belongs.
    @inline(__always)
    private func place(of hash: UInt64) -> Int {
        var slot = home(of: hash)
        while slot < slots.count, slots[slot] != 0, slots[slot] < hash { slot += 1 }
        return slot
    }

    private func home(of hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash.multipliedFullWidth(by: UInt64(capacity)).high)
    }

    private mutating func grow() {
        let old = slots
        capacity += Swift.max(capacity / 5, 16)
        slots = [UInt64](repeating: 0, count: capacity + Self.slack)
        var next = 0
        for hash in old where hash != 0 {
            next = Swift.max(home(of: hash), next)
            if next == slots.count { slots.append(contentsOf: repeatElement(0, count: Self.slack)) }
            slots[next] = hash
            next += 1
        }
    }
}
