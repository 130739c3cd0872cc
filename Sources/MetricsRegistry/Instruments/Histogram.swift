// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Observations counted into buckets, with their sum: into buckets of fixed bounds, into those of a native histogram, or
/// into both.
///
/// The count on a page is the sum of the buckets that it shows, so the two never disagree. The sum is a word of its
/// own: an observation made outside `MetricsRegistry.update(_:)` may be in one of them only when a scrape copies it.
public final class Histogram: Sendable {
    /// One value for each label name of the family, in their order.
    public let labelValues: [String]
    let limits: HistogramBounds
    let buckets: HistogramCells
    let sparse: SparseBuckets?
    private let sparseCounting: SparseCounting?
    let birth: Atomic<Int64>
    let ignoredValues: Counter?
    let exemplars = ExemplarShelf()

    init(_ seed: InstrumentSeed) {
        labelValues = seed.labelValues
        if case .histogram(let bounds) = seed.shape { limits = bounds } else { limits = .none }
        buckets = HistogramCells(count: limits.count + 1)
        sparse = limits.native.map { SparseBuckets($0) }
        sparseCounting = sparse.map { SparseCounting($0) }
        birth = Atomic(seed.created)
        ignoredValues = seed.ignoredValues
    }

    /// The finite upper bounds of the buckets; a value equal to a bound belongs to its bucket.
    public var bounds: [Double] { limits.values }

    /// The settings of the native buckets, if the histogram has any.
    public var nativeBuckets: NativeBuckets? { limits.native }

    /// Counts `value` into its bucket and adds it to the sum. One that is infinite or not a number is ignored, since
    /// the sum would never recover, and counted as such by the registry.
    public func observe(_ value: Double) {
        guard value.isFinite else {
            ignoredValues?.add()
            return
        }
        if let sparseCounting {
            // First, so that a scrape, which copies the native buckets last, never finds more in the others.
            sparseCounting.add(value)
            if !limits.isNativeOnly { buckets.addReleasing(1, at: limits.bucket(of: value)) }
            buckets.add(sum: value)
        } else {
            buckets.observe(value, bucket: limits.bucket(of: value))
        }
    }

    /// Counts `value`, and keeps `exemplar` as `attach(_:)` does; ignores both where `observe(_:)` ignores the value.
    public func observe(_ value: Double, exemplar: Exemplar) {
        observe(value)
        if value.isFinite { attach(exemplar) }
    }

    /// Keeps `exemplar` in place of an earlier one in the bucket that its own value belongs to, and counts nothing. For
    /// native buckets the latest ten are kept.
    public func attach(_ exemplar: Exemplar) {
        exemplars.keep(exemplar, at: limits.bucket(of: exemplar.value), of: buckets.count)
        if sparse != nil { exemplars.keepRecent(exemplar, of: buckets.count) }
    }

    /// The number of observations so far.
    public var count: UInt64 {
        if limits.isNativeOnly, let sparse { return sparse.count }
        return (0..<buckets.count).reduce(0) { $0 &+ buckets.load($1) }
    }

    /// The sum of the observations so far; it stops at the largest finite number of either sign.
    public var sum: Double {
        buckets.sum
    }

    /// The observations in each bucket of fixed bounds, not cumulative, the one for +Inf last.
    public var bucketCounts: [UInt64] {
        limits.isNativeOnly ? [count] : (0..<buckets.count).map { buckets.load($0) }
    }

    /// Microseconds since 1970 at which the histogram began empty.
    public var created: Int64 {
        birth.load(ordering: .relaxed)
    }
}

extension Histogram: Instrument {
    static var kind: MetricKind { .histogram }

    static func copy(_ members: Span<Histogram>, into words: inout MutableSpan<UInt64>, from start: Int) {
        var word = start
        for index in members.indices { members[index].copy(into: &words, at: &word) }
    }

    static func copyExemplars(_ members: Span<Histogram>, into exemplars: inout ScrapedExemplars) {
        for index in members.indices where members[index].exemplars.isUsed {
            members[index].exemplars.copy(series: index, into: &exemplars)
        }
    }

    private func copy(into words: inout MutableSpan<UInt64>, at word: inout Int) {
        if limits.isNativeOnly, let sparse {
            words[word] = sparse.count
            word += 1
        } else {
            for index in 0..<buckets.count {
                words[word] = buckets.load(index)
                word += 1
            }
        }
        words[word] = buckets.sum.bitPattern
        word += 1
    }
}

extension Histogram {
    /// Adds a batch's tally at once: a count for each bucket (not cumulative, the one for +Inf last) and the sum of
    /// the batch. Throws, and takes nothing, when there aren't `bounds.count + 1` counts. A sum that is infinite or
    /// not a number is ignored with its counts, and counted as such by the registry.
    ///
    /// A tally knows no more than its bounds. Native buckets count it at the upper bound of each, what is above the last
    /// one just above it, and where there are no bounds at the tally's mean.
    public func merge(counts: Span<UInt64>, sum: Double) throws(HistogramMismatch) {
        try check(counts.count)
        merge(checked: counts, sum: sum)
    }

    /// `merge(counts:sum:)` for an array.
    public func merge(counts: [UInt64], sum: Double) throws(HistogramMismatch) {
        let counts = ContiguousArray(counts)
        try merge(counts: counts.span, sum: sum)
    }

    func merge(checked counts: Span<UInt64>, sum: Double) {
        guard sum.isFinite else {
            ignoredValues?.add()
            return
        }
        for index in counts.indices where counts[index] != 0 {
            sparse?.add(counts[index], of: estimate(ofBucket: index, counts[index], sum: sum))
            buckets.addReleasing(counts[index], at: index)
        }
        buckets.add(sum: sum)
    }

    /// Continues a histogram of an earlier process: raises each bucket (not cumulative, the one for +Inf last) and the
    /// sum to what is given if they are lower (an empty histogram takes any sum), and takes over the time at which it
    /// began (microseconds since 1970), if given. Throws, and changes nothing, when there aren't `bounds.count + 1`
    /// counts.
    ///
    /// Native buckets count what is added as `merge(counts:sum:)` does; for what they were, see
    /// `restore(native:counts:sum:created:)`.
    public func restore(counts: [UInt64], sum: Double, created: Int64? = nil) throws(HistogramMismatch) {
        try check(counts.count)
        restore(checked: counts.span, sum: sum, created: created)
    }

    func restore(checked counts: Span<UInt64>, sum: Double, created: Int64?) {
        let wasEmpty = count == 0
        for index in counts.indices {
            if let sparse {
                let seen = limits.isNativeOnly ? sparse.count : buckets.load(index)
                let missing = counts[index] > seen ? counts[index] - seen : 0
                sparse.add(missing, of: estimate(ofBucket: index, counts[index], sum: sum))
            }
            buckets.raise(to: counts[index], at: index)
        }
        restore(sum: sum, created: created, wasEmpty: wasEmpty)
    }

    func restore(sum: Double, created: Int64?, wasEmpty: Bool) {
        if !sum.isFinite {
            ignoredValues?.add()
        } else if wasEmpty {
            buckets.store(sum: sum)
        } else {
            buckets.raise(sum: sum)
        }
        if let created { birth.store(created, ordering: .relaxed) }
    }

    func check(_ found: Int) throws(HistogramMismatch) {
        if found != buckets.count {
            throw HistogramMismatch(expected: buckets.count, found: found)
        }
    }

    private func estimate(ofBucket index: Int, _ count: UInt64, sum: Double) -> Double {
        if index < limits.count { return limits.values[index] }
        if let last = limits.values.last { return last.nextUp.isFinite ? last.nextUp : last }
        return sum.isFinite && count > 0 ? sum / Double(count) : 0
    }
}

extension Histogram {
    /// The native buckets as a page shows them now; nil when the histogram has none.
    public var nativeCounts: NativeCounts? {
        guard let sparse else { return nil }
        var words = ScrapedWords()
        words.append(atMost: sparse.copyRoom) { sparse.copy(into: &$0, at: $1) }
        var counts: NativeCounts?
        words.withWords { counts = NativeCounts(SparseRecord($0, at: 0), $0) }
        return counts
    }

    /// Continues an empty histogram of an earlier process with the native buckets that it showed, and the counts of the
    /// bounds beside them: raises what is lower, and takes over the time at which it began (microseconds since 1970),
    /// if given. Throws, and changes nothing, when there are no native buckets or not `bounds.count + 1` counts; without
    /// bounds, `counts` may be left out.
    ///
    /// Buckets of a coarser schema than the histogram's are counted at their upper bounds.
    public func restore(
        native: NativeCounts,
        counts: [UInt64] = [],
        sum: Double,
        created: Int64? = nil
    ) throws(HistogramMismatch) {
        guard let sparse else { throw HistogramMismatch(expected: buckets.count, found: 0) }
        if !limits.isNativeOnly { try check(counts.count) }
        let wasEmpty = count == 0
        sparse.raise(to: native)
        for (index, count) in counts.enumerated() where !limits.isNativeOnly { buckets.raise(to: count, at: index) }
        restore(sum: sum, created: created, wasEmpty: wasEmpty)
    }

    static func copySparseBuckets(_ members: Span<Histogram>, into words: inout ScrapedWords) {
        guard !members.isEmpty, members[0].sparse != nil else { return }
        atomicMemoryFence(ordering: .acquiring)
        let index = words.append(members.count) { _, _ in }
        for member in members.indices {
            guard let sparse = members[member].sparse else { continue }
            let start = words.count
            words.append(atMost: sparse.copyRoom) { all, room in
                all[index.lowerBound + member] = UInt64(start - index.lowerBound)
                return sparse.copy(into: &all, at: room)
            }
        }
    }
}

/// Bucket counts that don't fit the histogram they were meant for; nothing of them was taken.
public struct HistogramMismatch: Error, Sendable, Hashable {
    /// The number of counts that the histogram takes: one for each bound and one for +Inf.
    public let expected: Int
    /// The number of counts that were given.
    public let found: Int
}

extension HistogramMismatch: CustomStringConvertible {
    /// What was expected and found, and what to do.
    public var description: String {
        "expected \(expected) bucket counts (one a bound and one for +Inf), found \(found); "
            + "tally with the bounds that the histogram was registered with"
    }
}
