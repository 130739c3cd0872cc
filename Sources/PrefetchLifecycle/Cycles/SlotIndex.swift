// SPDX-License-Identifier: Apache-2.0

/// A hash index of table slots in 64 parts, so that growing one part never stalls the writer for long.
struct SlotIndex: Sendable {
    /// The most slots of a table: an entry holds a slot in 24 bits.
    static let slotLimit = 1 << 24 - 1

    private static let partCount = 64

    private var parts: [SlotIndexPart]
    /// Increases with each change, so that a lookup can tell whether it still holds.
    private(set) var changes: UInt64 = 0

    /// - Parameter slots: the expected number of slots.
    init(slots: Int = 0) {
        let share = slots / Self.partCount
        // Hashes spread slots so evenly that a part hardly ever exceeds its share by 4 %.
        let room = share + share / 24 + 16
        parts = (0..<Self.partCount).map { _ in SlotIndexPart(slots: room) }
    }

    /// The memory of the entries, in bytes.
    var byteCount: Int { parts.reduce(0) { $0 + $1.byteCount } }

    /// The first candidate slot of a hash for which `matches` is true.
    @inline(__always)
    func slot(_ hash: UInt64, where matches: (Int) -> Bool) -> Int? {
        parts[Self.part(hash)].slot(hash, where: matches)
    }

    /// The next candidate slot of a search.
    func next(_ search: inout SlotSearch) -> Int? { parts[Self.part(search.hash)].next(&search) }

    /// The line that looking a hash up will read.
    @inline(__always)
    func address(of hash: UInt64) -> MemoryAddress { parts[Self.part(hash)].address(of: hash) }

    /// A slot that probably has a hash.
    @inline(__always)
    func candidate(_ hash: UInt64) -> Int? { parts[Self.part(hash)].candidate(hash) }

    /// The one slot that may have a hash; nil where there may be several.
    @inline(__always)
    func onlyCandidate(_ hash: UInt64) -> Int? { parts[Self.part(hash)].onlyCandidate(hash) }

    /// Whether a slot with a hash can be added; if not, `grow(for:hashAt:)` makes room. Apart from adding it, since what
    /// gives the hashes of slots is a copy of their table, whose references would be counted for each slot.
    @inline(__always)
    func hasRoom(for hash: UInt64) -> Bool { parts[Self.part(hash)].hasRoom }

    /// Makes room for a slot with a hash.
    mutating func grow(for hash: UInt64, hashAt: (Int) -> UInt64) {
        parts[Self.part(hash)].grow(hashAt: hashAt)
    }

    /// Adds a slot that is not indexed yet, where there is room.
    mutating func insert(_ slot: Int, _ hash: UInt64) {
        changes &+= 1
        parts[Self.part(hash)].insert(slot, hash)
    }

    /// Moves the entry of a hash to another slot.
    mutating func move(_ hash: UInt64, from old: Int, to new: Int) {
        changes &+= 1
        parts[Self.part(hash)].move(hash, from: old, to: new)
    }

    /// Removes a slot.
    mutating func remove(_ slot: Int, _ hash: UInt64) {
        changes &+= 1
        parts[Self.part(hash)].remove(slot, hash)
    }

    private static func part(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 40) & (partCount - 1) }
}

/// A search for all slots of a hash, while the index does not change. A closure for each would copy the table that it is called
/// in, and count the references of all its parts.
struct SlotSearch {
    let hash: UInt64
    /// The line that is searched and its candidates that are left; nil before the first.
    fileprivate var line: Int?
    fileprivate var candidates: UInt32 = 0

    init(_ hash: UInt64) {
        self.hash = hash
    }
}

/// One part of the index: 15 entries and a counter in each line of the cache, 57 to 86 % full once it is large.
///
/// An entry holds a slot and eight bits of its hash, so that few wrong slots are looked at. It is in the line that its
/// hash gives or, where that is full, in one behind it; the counter of a line says how many entries lie behind it that
/// looked for room there, so that a search ends where it is 0 or all lines were seen, and removing an entry touches no other
/// one. Full hashes are computed from the slots. Several slots may have the same hash; callers bound how many.
private struct SlotIndexPart: Sendable {
    private static let entriesPerLine = 15
    /// The place of the counter.
    private static let passed = 15
    private static let largestFillPercent = 86
    /// A smaller part doubles; a larger one grows by half, which saves memory and costs time.
    private static let smallPart = 256

    /// A free place is 0.
    private var lines: CacheLines<UInt32>
    private var count = 0

    /// - Parameter slots: the slots that fit without growing.
    init(slots: Int = 0) {
        lines = CacheLines(count: slots * 100 / (Self.largestFillPercent * Self.entriesPerLine) + 1)
    }

    /// The memory of the entries, in bytes.
    var byteCount: Int { lines.byteCount }

    /// The first candidate slot of a hash for which `matches` is true.
    @inline(__always)
    func slot(_ hash: UInt64, where matches: (Int) -> Bool) -> Int? {
        let tag = Self.tag(hash)
        let home = home(of: hash)
        var line = home
        repeat {
            var candidates = entries(in: line, tagged: tag)
            while candidates != 0 {
                let slot = Self.slot(lines[line, candidates.trailingZeroBitCount])
                if matches(slot) { return slot }
                candidates &= candidates &- 1
            }
            if lines[line, Self.passed] == 0 { return nil }
            line = next(line)
            // Entries may have passed every line, each while it was full.
        } while line != home
        return nil
    }

    /// The next candidate slot of a search.
    func next(_ search: inout SlotSearch) -> Int? {
        let home = home(of: search.hash)
        let tag = Self.tag(search.hash)
        var line = search.line ?? home
        if search.line == nil { search.candidates = entries(in: line, tagged: tag) }
        while search.candidates == 0 {
            // Entries may have passed every line, each while it was full.
            guard lines[line, Self.passed] != 0, next(line) != home else { return nil }
            line = next(line)
            search.candidates = entries(in: line, tagged: tag)
        }
        search.line = line
        let place = search.candidates.trailingZeroBitCount
        search.candidates &= search.candidates &- 1
        return Self.slot(lines[line, place])
    }

    @inline(__always)
    func address(of hash: UInt64) -> MemoryAddress { lines.address(ofLine: home(of: hash)) }

    /// The first slot in its first line that has the tag of a hash.
    @inline(__always)
    func candidate(_ hash: UInt64) -> Int? {
        let line = home(of: hash)
        let candidates = entries(in: line, tagged: Self.tag(hash))
        return candidates == 0 ? nil : Self.slot(lines[line, candidates.trailingZeroBitCount])
    }

    /// The slot of the only entry that has the tag of a hash; nil where there is none, or may be another.
    @inline(__always)
    func onlyCandidate(_ hash: UInt64) -> Int? {
        let line = home(of: hash)
        let candidates = entries(in: line, tagged: Self.tag(hash))
        guard candidates != 0, candidates & (candidates &- 1) == 0, lines[line, Self.passed] == 0 else { return nil }
        return Self.slot(lines[line, candidates.trailingZeroBitCount])
    }

    @inline(__always)
    var hasRoom: Bool { (count + 1) * 100 <= lines.count * Self.entriesPerLine * Self.largestFillPercent }

    /// Adds a slot that is not indexed yet.
    mutating func insert(_ slot: Int, _ hash: UInt64) {
        assert(hasRoom)
        count += 1
        enter(slot, hash)
    }

    /// Moves the entry of a hash to another slot.
    mutating func move(_ hash: UInt64, from old: Int, to new: Int) {
        let (line, place) = position(of: old, hash)
        lines[line, place] = Self.entry(new, hash)
    }

    /// Removes a slot.
    mutating func remove(_ slot: Int, _ hash: UInt64) {
        let (end, place) = position(of: slot, hash)
        lines[end, place] = 0
        var line = home(of: hash)
        while line != end {
            lines[line, Self.passed] -= 1
            line = next(line)
        }
        count -= 1
    }

    private static let tagMask: UInt32 = 0xFF00_0000
    private static let entryMask: UInt32 = 1 << UInt32(entriesPerLine) - 1

    /// The highest bits of a hash; never 0, so that no free place and no counter has it.
    @inline(__always)
    private static func tag(_ hash: UInt64) -> UInt32 {
        let tag = UInt32(truncatingIfNeeded: hash >> 32) & tagMask
        return tag == 0 ? tagMask : tag
    }

    @inline(__always)
    private static func entry(_ slot: Int, _ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: slot) | tag(hash) }

    @inline(__always)
    private static func slot(_ entry: UInt32) -> Int { Int(entry & ~tagMask) }

    /// The places of the entries in a line that have a tag, a bit each.
    @inline(__always)
    private func entries(in line: Int, tagged tag: UInt32) -> UInt32 {
        lines.places(in: line, of: tag, under: Self.tagMask) & Self.entryMask
    }

    /// The low half of the hash scaled to the number of lines; the high half gives the tag.
    @inline(__always)
    private func home(of hash: UInt64) -> Int {
        Int(truncatingIfNeeded: ((hash & 0xFFFF_FFFF) &* UInt64(lines.count)) >> 32)
    }

    @inline(__always)
    private func next(_ line: Int) -> Int { line &+ 1 == lines.count ? 0 : line &+ 1 }

    /// The line and the place of a slot that is indexed.
    private func position(of slot: Int, _ hash: UInt64) -> (line: Int, place: Int) {
        let entry = Self.entry(slot, hash)
        var line = home(of: hash)
        while true {
            let found = lines.places(in: line, of: entry) & Self.entryMask
            if found != 0 { return (line, found.trailingZeroBitCount) }
            line = next(line)
        }
    }

    private mutating func enter(_ slot: Int, _ hash: UInt64) {
        var line = home(of: hash)
        while true {
            let free = lines.places(in: line, of: 0) & Self.entryMask
            if free != 0 {
                lines[line, free.trailingZeroBitCount] = Self.entry(slot, hash)
                return
            }
            lines[line, Self.passed] += 1
            line = next(line)
        }
    }

    mutating func grow(hashAt: (Int) -> UInt64) {
        let old = lines
        let growth = old.count < Self.smallPart ? old.count : old.count / 2
        lines = CacheLines(count: old.count + growth)
        var hashes = InlineArray<15, UInt64>(repeating: 0)
        for line in 0..<old.count {
            // All of a line before they are entered, so that the processor waits for all of their slots at once.
            for place in 0..<Self.entriesPerLine where old[line, place] != 0 {
                hashes[place] = hashAt(Self.slot(old[line, place]))
            }
            for place in 0..<Self.entriesPerLine where old[line, place] != 0 {
                enter(Self.slot(old[line, place]), hashes[place])
            }
        }
    }
}
