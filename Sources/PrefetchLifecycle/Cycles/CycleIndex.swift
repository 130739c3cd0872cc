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
