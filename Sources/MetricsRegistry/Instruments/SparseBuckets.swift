// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The counts of a native histogram, at the finest schema it was given. Nothing is ever lost, moved or reset.
///
/// The pages of the counts take up to 256 KiB. What would need more, which takes values of more than a hundred powers
/// of two, is counted in coarse buckets (at most 35 KiB, so always room), and pages are then as coarse as those.
final class SparseBuckets: Sendable {
    /// Pages and nodes of 512 bytes.
    private static var maximumBlocks: Int { 512 }
    /// The schema of what has no room.
    static var coarseSchema: Int { 0 }

    let settings: NativeBuckets
    private let zero = Atomic<UInt64>(0)
    private let zeroThreshold: Double
    private let scale = ExponentialScale.shared
    private let steps: Int
    private let fine: SparseSides
    private let coarse: SparseSides

    init(_ settings: NativeBuckets) {
        self.settings = settings
        zeroThreshold = settings.zeroThreshold
        steps = ExponentialScale.finestSchema - settings.schema
        fine = SparseSides(schema: settings.schema, maximumBlocks: Self.maximumBlocks)
        coarse = SparseSides(schema: Self.coarseSchema, maximumBlocks: .max)
    }

    /// Counts a finite value `amount` times.
    @inline(__always)
    func add(_ amount: UInt64 = 1, of value: Double) {
        let magnitude = value.magnitude
        if magnitude <= zeroThreshold {
            zero.wrappingAdd(amount, ordering: .relaxed)
            return
        }
        let key = scale.finestKey(of: magnitude)
        let isNegative = value < 0
        if !fine.add(amount, key: ExponentialScale.key(key, down: steps), isNegative: isNegative) {
            addCoarsely(amount, finestKey: key, isNegative: isNegative)
        }
    }

    @inline(never)
    private func addCoarsely(_ amount: UInt64, finestKey: Int, isNegative: Bool) {
        let steps = ExponentialScale.finestSchema - Self.coarseSchema
        _ = coarse.add(amount, key: ExponentialScale.key(finestKey, down: steps), isNegative: isNegative)
    }

    /// All observations.
    var count: UInt64 {
        zero.load(ordering: .acquiring) &+ fine.total &+ coarse.total
    }

    /// Bytes of all pages.
    var memory: Int { 8 * (fine.madeCells + coarse.madeCells) }

    // MARK: Restoring

    func raiseZero(to count: UInt64) {
        zero.raise(to: count)
    }

    /// Raises the count of a bucket at the finest schema; ignores buckets that hold no double.
    func raise(to count: UInt64, finestKey: Int, isNegative: Bool) {
        if fine.raise(to: count, key: ExponentialScale.key(finestKey, down: steps), isNegative: isNegative) { return }
        let steps = ExponentialScale.finestSchema - Self.coarseSchema
        _ = coarse.raise(to: count, key: ExponentialScale.key(finestKey, down: steps), isNegative: isNegative)
    }

    // MARK: Copying

    /// Words that a copy takes at most, unless many pages come meanwhile.
    var copyRoom: Int {
        SparseRecord.headerWords + 2 * (fine.madeCells + coarse.madeCells + 16 * SparsePages.pageCells)
    }

    /// Writes a record of the counts to `words[room]` and returns where it ends.
    func copy(into words: inout MutableSpan<UInt64>, at room: Range<Int>) -> Int {
        var runs = SparseRuns(
            schema: settings.schema,
            zeroThreshold: zeroThreshold,
            zeroCount: zero.load(ordering: .acquiring),
            start: room.lowerBound + SparseRecord.headerWords
        )
        let hasCoarse = !coarse.isEmpty
        runs.negative = fine.copy(isNegative: true, into: &words, at: runs.end..<room.upperBound)
        runs.positive = fine.copy(isNegative: false, into: &words, at: runs.end..<room.upperBound)
        if hasCoarse {
            while runs.schema > Self.coarseSchema { runs.halve(&words) }
            runs.addSorted(coarse, in: &words, room: room)
        }
        runs.reduce(to: settings.maximumBuckets, &words)
        return SparseRecord(runs, words).write(to: &words, at: room.lowerBound)
    }
}

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

/// The way to a histogram's sparse buckets for observations. The histogram owns the buckets; counting another owner in
/// and out would take longer than counting the value.
@safe
struct SparseCounting: Sendable {
    private let buckets: Unmanaged<SparseBuckets>

    init(_ buckets: SparseBuckets) {
        unsafe self.buckets = .passUnretained(buckets)
    }

    /// Counts a finite value.
    @inline(__always)
    func add(_ value: Double) {
        unsafe buckets._withUnsafeGuaranteedRef { $0.add(of: value) }
    }
}
