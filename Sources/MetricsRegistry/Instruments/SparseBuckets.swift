// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The counts of a native histogram at its finest schema. Nothing is ever lost, moved or reset.
///
/// The pages of the counts take up to 256 KiB. Values beyond that, which span more than a hundred powers of two, are
/// counted in coarse buckets (at most 35 KiB, so they always fit), and the exposition is then as coarse as those.
final class SparseBuckets: Sendable {
    /// Pages and nodes of 512 bytes.
    private static var maximumBlocks: Int { 512 }
    /// The schema of what exceeds the limit of pages.
    private static var coarseSchema: Int { 0 }

    private let settings: NativeBuckets
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

    /// Raises the counts to those of an earlier process; ignores buckets that hold no double.
    func raise(to counts: NativeCounts) {
        guard NativeBuckets.schemas.contains(counts.schema) else { return }
        zero.raise(to: counts.zeroCount)
        let steps = ExponentialScale.finestSchema - counts.schema
        let down = ExponentialScale.finestSchema - settings.schema
        for (isNegative, buckets) in [(true, counts.negative), (false, counts.positive)] {
            var merged: [Int: UInt64] = [:]
            for bucket in buckets where bucket.index.magnitude < 1 << 20 {
                let key = ExponentialScale.key(bucket.index << steps, down: down)
                merged[key, default: 0] &+= bucket.count
            }
            for (key, count) in merged { raise(to: count, finestKey: key << down, isNegative: isNegative) }
        }
    }

    /// Raises the count of a bucket at the finest schema; ignores buckets that hold no double.
    private func raise(to count: UInt64, finestKey: Int, isNegative: Bool) {
        if fine.raise(to: count, key: ExponentialScale.key(finestKey, down: steps), isNegative: isNegative) { return }
        let steps = ExponentialScale.finestSchema - Self.coarseSchema
        _ = coarse.raise(to: count, key: ExponentialScale.key(finestKey, down: steps), isNegative: isNegative)
    }

    // MARK: Copying

    /// The maximum words of a copy, unless many pages are added meanwhile.
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

    /// Adds to a bucket that holds doubles; false, and no change, if the limit of pages is reached.
    @inline(__always)
    func add(_ amount: UInt64, key: Int, isNegative: Bool) -> Bool {
        pages.add(amount, at: key - lowest + (isNegative ? 0 : side))
    }

    /// Raises a bucket; false, and no change, if the limit of pages is reached. Ignores buckets that hold no double.
    func raise(to count: UInt64, key: Int, isNegative: Bool) -> Bool {
        guard 0..<buckets ~= key - lowest else { return true }
        return pages.raise(to: count, at: key - lowest + (isNegative ? 0 : side))
    }

    var total: UInt64 {
        var total: UInt64 = 0
        pages.forEachCount(in: 0..<2 * side) { total &+= $1 }
        return total
    }

    /// Writes key and count of the populated buckets of a side in ascending order, as far as `room` allows, and
    /// returns their range.
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

/// An unowned reference to the sparse buckets of a histogram, for observations. The histogram owns them; retaining and
/// releasing would take longer than counting the value.
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
