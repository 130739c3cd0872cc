// SPDX-License-Identifier: Apache-2.0

/// A set of 64-bit hashes at 9.1 to 10.2 bytes each once it is large, eight in a line of the cache.
///
/// A hash is in the line that its share of the 64-bit range gives or, where that is full, in the next one with room.
/// Inserting reads 1.2 lines on average while the table is less than 88 % full; looking up reads two, which lie side by
/// side. Growing reads and writes in memory order, because the home of a hash grows with the hash.
struct IdentityTable: Sendable {
    private static let lineSize = CacheLines<UInt64>.wordsPerLine
    private static let largestFillPercent = 88

    private(set) var count = 0
    /// A free place is 0. Lines fill up from their first place, and nothing is removed.
    private var lines = CacheLines<UInt64>(count: 2)

    /// The memory of the lines, in bytes.
    var byteCount: Int { lines.byteCount }

    /// How many lines a search mostly reads.
    static let linesRead = 2

    /// Those lines.
    @inline(__always)
    func address(of hash: UInt64) -> MemoryAddress { lines.address(ofLine: home(of: Swift.max(hash, 1))) }

    @inline(__always)
    func contains(_ hash: UInt64) -> Bool { contains(hash, mayBeBehind: mayBeBehind(hash)) }

    /// Whether the first two lines of a hash are full, so that it may be in one behind them.
    @inline(__always)
    func mayBeBehind(_ hash: UInt64) -> Bool {
        let home = home(of: Swift.max(hash, 1))
        let isFull = lines[home, Self.lineSize &- 1] != 0
        let isNextFull = lines[next(home), Self.lineSize &- 1] != 0
        return isFull && isNextFull
    }

    /// - Parameter mayBeBehind: what `mayBeBehind(_:)` said.
    @inline(__always)
    func contains(_ hash: UInt64, mayBeBehind: Bool) -> Bool {
        let hash = Swift.max(hash, 1)
        let home = home(of: hash)
        let next = next(home)
        return lines.contains(hash, in: home) || lines.contains(hash, in: next) || mayBeBehind && isBehind(next, hash)
    }

    /// Whether a hash is in a line behind a full one.
    private func isBehind(_ line: Int, _ hash: UInt64) -> Bool {
        var line = line
        repeat {
            line = next(line)
            if lines.contains(hash, in: line) { return true }
        } while lines[line, Self.lineSize &- 1] != 0
        return false
    }

    /// Inserts a hash; false for a duplicate.
    @inline(__always)
    mutating func insert(_ hash: UInt64) -> Bool {
        let hash = Swift.max(hash, 1)
        var line = home(of: hash)
        while true {
            if lines.contains(hash, in: line) { return false }
            if lines[line, Self.lineSize &- 1] == 0 { break }
            line = next(line)
        }
        // After the duplicates, so that the memory depends on what was inserted alone and a restart takes as much.
        if (count + 1) * 100 > lines.count * Self.lineSize * Self.largestFillPercent {
            grow()
            enter(hash, from: home(of: hash))
        } else {
            enter(hash, from: line)
        }
        count &+= 1
        return true
    }

    /// Empties the table; releases its memory only where it is large.
    mutating func removeAll() {
        guard count > 0 else { return }
        if byteCount > 1 << 19 {
            self = IdentityTable()
        } else {
            for line in 0..<lines.count { for place in 0..<Self.lineSize { lines[line, place] = 0 } }
            count = 0
        }
    }

    @inline(__always)
    private func home(of hash: UInt64) -> Int { Self.home(of: hash, in: lines.count) }

    @inline(__always)
    private static func home(of hash: UInt64, in lines: Int) -> Int {
        Int(truncatingIfNeeded: hash.multipliedFullWidth(by: UInt64(lines)).high)
    }

    @inline(__always)
    private func next(_ line: Int) -> Int { line &+ 1 == lines.count ? 0 : line &+ 1 }

    /// Enters a new hash in the first line with room.
    @inline(__always)
    private mutating func enter(_ hash: UInt64, from line: Int) {
        var line = line
        while lines[line, Self.lineSize &- 1] != 0 { line = next(line) }
        lines[line, Self.lineSize &- lines.count(of: 0, in: line)] = hash
    }

    /// Tables below this size double; larger ones grow by an eighth, which saves memory and costs time.
    private static let smallTable = 1_024

    @inline(never)
    private mutating func grow() {
        let old = lines
        var new = CacheLines<UInt64>(count: old.count + (old.count < Self.smallTable ? old.count : old.count / 8))
        // The hashes of each line, so that its places are not searched.
        var filled = [UInt8](repeating: 0, count: new.count)
        for oldLine in 0..<old.count {
            for oldPlace in 0..<Self.lineSize {
                let hash = old[oldLine, oldPlace]
                if hash == 0 { break }
                var line = Self.home(of: hash, in: new.count)
                while filled[line] == Self.lineSize { line = line &+ 1 == new.count ? 0 : line &+ 1 }
                new[line, Int(filled[line])] = hash
                filled[line] &+= 1
            }
        }
        lines = new
    }
}
