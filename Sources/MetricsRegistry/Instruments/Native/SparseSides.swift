// SPDX-License-Identifier: Apache-2.0

/// The positive and negative counts of one schema, by bucket.
struct SparseSides: ~Copyable, Sendable {
    private let pages: SparsePages
    /// The lowest bucket that holds a double.
    private let lowest: Int
    /// The number of buckets that hold doubles.
    private let buckets: Int
    /// Counters of one side; those of the negative one come first.
    private let side: Int

    init(schema: Int, maximumBlocks: Int) {
        let steps = ExponentialScale.finestSchema - schema
        let scale = ExponentialScale.shared
        lowest = ExponentialScale.key(scale.finestKey(of: .leastNonzeroMagnitude), down: steps)
        let highest = ExponentialScale.key(scale.finestKey(of: .greatestFiniteMagnitude), down: steps)
        buckets = highest - lowest + 1
        side = (buckets + SparsePages.nodeCells - 1) / SparsePages.nodeCells * SparsePages.nodeCells
        pages = SparsePages(count: 2 * side, maximumBlocks: maximumBlocks)
    }

    var isEmpty: Bool { pages.isEmpty }
    var madeCells: Int { pages.madeCells }

    /// Adds to a bucket that holds doubles; false, and nothing done, when there is no room.
    @inline(__always)
    func add(_ amount: UInt64, key: Int, isNegative: Bool) -> Bool {
        pages.add(amount, at: key - lowest + (isNegative ? 0 : side))
    }

    /// Raises a bucket; false, and nothing done, when there is no room. Buckets that hold no double are ignored.
    func raise(to count: UInt64, key: Int, isNegative: Bool) -> Bool {
        guard 0..<buckets ~= key - lowest else { return true }
        return pages.raise(to: count, at: key - lowest + (isNegative ? 0 : side))
    }

    var total: UInt64 {
        var total: UInt64 = 0
        pages.forEachCount(in: 0..<2 * side) { total &+= $1 }
        return total
    }

    /// Writes key and count of the populated buckets of a side in ascending order, as far as there is room, and returns
    /// where they are.
    func copy(isNegative: Bool, into words: inout MutableSpan<UInt64>, at room: Range<Int>) -> Range<Int> {
        let first = isNegative ? 0 : side
        var end = room.lowerBound
        pages.forEachCount(in: first..<first + side) { index, count in
            if room.upperBound - end < 2 { return }
            words[end] = UInt64(bitPattern: Int64(index - first + lowest))
            words[end + 1] = count
            end += 2
        }
        return room.lowerBound..<end
    }
}
