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

    private var table = FingerprintTable()
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
        if table.count >= 2 * Self.generation { table.beginGeneration() }
        let isKnown = insert(fingerprint)
        if namesItsCycle { return isKnown ? .repeated : .new }
        // The pair of a new line is new.
        if insert(pair, mayBeOld: isKnown) { return .repeated }
        return isKnown ? .similar : .new
    }

    private mutating func insert(_ fingerprint: UInt64, mayBeOld: Bool = true) -> Bool {
        let isKnown = mayBeOld && table.isOld(fingerprint)
        if table.insert(fingerprint) { return true }
        if ring.count < Self.kept {
            ring.append(fingerprint)
        } else {
            ring[next] = fingerprint
            next = (next + 1) % Self.kept
        }
        return isKnown
    }
}

/// Values that are already hashes, in two generations: open addressing, each at most half full.
///
/// The slots of both generations lie side by side, so that looking into the second one costs no other cache line.
private struct FingerprintTable: Sendable {
    private static let slotCount = 65_536

    private var table: [UInt64] = []
    /// The generation that values are added to: 0 or 1, its place in each pair of slots.
    private var young = 0
    /// The values of that generation.
    private(set) var count = 0

    /// Whether a value is in the generation before.
    func isOld(_ fingerprint: UInt64) -> Bool {
        guard !table.isEmpty else { return false }
        return table[place(of: fingerprint, young ^ 1)] == fingerprint
    }

    /// Adds a value; true if it was already there in this generation.
    mutating func insert(_ fingerprint: UInt64) -> Bool {
        if table.isEmpty { table = [UInt64](repeating: 0, count: 2 * Self.slotCount) }
        let place = place(of: fingerprint, young)
        if table[place] == fingerprint { return true }
        table[place] = fingerprint
        count += 1
        return false
    }

    /// Forgets the generation before; the current one takes its place.
    mutating func beginGeneration() {
        young ^= 1
        for place in stride(from: young, to: table.count, by: 2) { table[place] = 0 }
        count = 0
    }

    private func place(of fingerprint: UInt64, _ generation: Int) -> Int {
        var slot = Int(truncatingIfNeeded: fingerprint) & (Self.slotCount - 1)
        while table[2 * slot + generation] != 0, table[2 * slot + generation] != fingerprint {
            slot = (slot + 1) & (Self.slotCount - 1)
        }
        return 2 * slot + generation
    }
}
