// SPDX-License-Identifier: Apache-2.0

/// The lines that came last, by which one that is told again is known: of a file that is read twice, or of two parts of a log
/// that overlap.
///
/// A line is known by its stamp, process and message. One that names its cycle is then a repetition; one that does not is so
/// only behind the same line as the first time, since "Task completed" of two cycles in one second are two lines. The last
/// 16,384 to 32,768 lines are remembered.
struct RecentLines: Sendable {
    enum Novelty {
        case new
        /// The same line was there, but behind another one.
        case similar
        case repeated
    }

    private static let generation = 16_384
    /// How many of them outlive a restart.
    static let kept = 1_024

    private var young = FingerprintTable()
    private var old = FingerprintTable()
    private(set) var previous: UInt64 = 0
    /// The last ones in a ring, and where the next is put.
    private var ring: [UInt64] = []
    private var next = 0

    init() {}

    /// Goes on after a restart.
    init(latest: [UInt64], previous: UInt64) {
        for fingerprint in latest { _ = insert(fingerprint) }
        self.previous = previous
    }

    /// The fingerprints that were entered last, the oldest first.
    var latest: [UInt64] { Array(ring[next...] + ring[..<next]) }

    /// Whether a line was there before; it is from now on.
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

/// A set of hashes that are random already: open addressing, at most half full.
private struct FingerprintTable: Sendable {
    private static let places = 65_536

    private var table: [UInt64] = []
    private(set) var count = 0

    func contains(_ fingerprint: UInt64) -> Bool {
        guard !table.isEmpty else { return false }
        return table[place(of: fingerprint)] == fingerprint
    }

    /// Enters a fingerprint; true when it was there.
    mutating func insert(_ fingerprint: UInt64) -> Bool {
        if table.isEmpty { table = [UInt64](repeating: 0, count: Self.places) }
        let place = place(of: fingerprint)
        if table[place] == fingerprint { return true }
        table[place] = fingerprint
        count += 1
        return false
    }

    mutating func removeAll() {
        for index in table.indices { table[index] = 0 }
        count = 0
    }

    private func place(of fingerprint: UInt64) -> Int {
        var place = Int(truncatingIfNeeded: fingerprint) & (Self.places - 1)
        while table[place] != 0, table[place] != fingerprint { place = (place + 1) & (Self.places - 1) }
        return place
    }
}
