// SPDX-License-Identifier: Apache-2.0

/// The fingerprints of recent lines, to detect repeated ones: a file read twice, or overlapping parts of a log.
///
/// A line's fingerprint covers its stamp, process and message. A line that names its cycle is a repetition if its
/// fingerprint is known; one that does not must also follow the same line as before, since two cycles may both log
/// "Task completed" in one second. The last 16,384 to 32,768 lines are remembered.
struct RecentLines: Sendable {
    enum Novelty {
        case new
        /// The same line occurred, but after another one.
        case similar
        case repeated
    }

    private static let generation = 16_384
    /// How many fingerprints survive a restart.
    static let kept = 1_024

    private var young = FingerprintTable()
    private var old = FingerprintTable()
    private(set) var previous: UInt64 = 0
    /// A ring of the last fingerprints, and the index of the next.
    private var ring: [UInt64] = []
    private var next = 0

    init() {}

    /// Restores the fingerprints after a restart.
    init(latest: [UInt64], previous: UInt64) {
        for fingerprint in latest { _ = insert(fingerprint) }
        self.previous = previous
    }

    /// The last fingerprints, oldest first.
    var latest: [UInt64] { Array(ring[next...] + ring[..<next]) }

    /// Records a line and returns whether it is a repetition.
    mutating func note(_ fingerprint: UInt64, namesItsCycle: Bool) -> Novelty {
        let pair = fingerprint ^ (previous &* 0x9E37_79B9_7F4A_7C15 | 1)
        previous = fingerprint
        if young.count >= 2 * Self.generation {
            swap(&young, &old)
            young.removeAll()
        }
        let isKnown = insert(fingerprint)
        if namesItsCycle { return isKnown ? .repeated : .new }
        if insert(pair) { return .repeated }
        return isKnown ? .similar : .new
    }

    private mutating func insert(_ fingerprint: UInt64) -> Bool {
        let isKnown = old.contains(fingerprint)
        if young.insert(fingerprint) { return true }
        if ring.count < Self.kept {
            ring.append(fingerprint)
        } else {
            ring[next] = fingerprint
            next = (next + 1) % Self.kept
        }
        return isKnown
    }
}

/// A set of values that are already hashes: open addressing, at most half full.
private struct FingerprintTable: Sendable {
    private static let slotCount = 65_536

    private var table: [UInt64] = []
    private(set) var count = 0

    func contains(_ fingerprint: UInt64) -> Bool {
        guard !table.isEmpty else { return false }
        return table[slot(of: fingerprint)] == fingerprint
    }

    /// Inserts a fingerprint; true if it was already there.
    mutating func insert(_ fingerprint: UInt64) -> Bool {
        if table.isEmpty { table = [UInt64](repeating: 0, count: Self.slotCount) }
        let slot = slot(of: fingerprint)
        if table[slot] == fingerprint { return true }
        table[slot] = fingerprint
        count += 1
        return false
    }

    mutating func removeAll() {
        for index in table.indices { table[index] = 0 }
        count = 0
    }

    private func slot(of fingerprint: UInt64) -> Int {
        var slot = Int(truncatingIfNeeded: fingerprint) & (Self.slotCount - 1)
        while table[slot] != 0, table[slot] != fingerprint { slot = (slot + 1) & (Self.slotCount - 1) }
        return slot
    }
}
