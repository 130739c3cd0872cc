// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Observations counted into buckets, with their sum: buckets of fixed bounds, native buckets, or both.
///
/// The count on a page is the sum of its buckets, so the two never disagree. The sum is a word of its own: a scrape
/// may copy an observation made outside `MetricsRegistry.update(_:)` in only one of them.
public final class Histogram: Sendable {
    /// One value for each label name of the family, in their order.
    public let labelValues: [String]
    private let limits: HistogramBounds
    private let buckets: HistogramCells
    let sparse: SparseBuckets?
    private let sparseCounting: SparseCounting?
    private let birth: Atomic<Int64>
    private let ignoredValues: Counter?
    private let exemplars = ExemplarStore()

    init(_ seed: InstrumentSeed) {
        labelValues = seed.labelValues
        if case .histogram(let bounds) = seed.shape { limits = bounds } else { limits = .none }
        buckets = HistogramCells(count: limits.count + 1)
        sparse = limits.native.map { SparseBuckets($0) }
        sparseCounting = sparse.map { SparseCounting($0) }
        birth = Atomic(seed.created)
        ignoredValues = seed.ignoredValues
    }

    /// The finite upper bounds of the buckets, inclusive.
    public var bounds: [Double] { limits.values }

    /// The settings of the native buckets, if the histogram has any.
    public var nativeBuckets: NativeBuckets? { limits.native }

    /// Counts `value` in its bucket and adds it to the sum.
    ///
    /// Infinite and NaN values are ignored, since the sum would never recover, and counted by the registry.
    public func observe(_ value: Double) {
        guard value.isFinite else {
            ignoredValues?.add()
            return
        }
        if let sparseCounting {
            // First, so that a scrape, which copies native buckets last, never finds more in the others.
            sparseCounting.add(value)
            if !limits.isNativeOnly { buckets.addReleasing(1, at: limits.bucket(of: value)) }
            buckets.add(sum: value)
        } else {
            buckets.observe(value, bucket: limits.bucket(of: value))
        }
    }

    /// Counts `value` and keeps `exemplar` as `attach(_:)` does; ignores both if `observe(_:)` ignores the value.
    public func observe(_ value: Double, exemplar: Exemplar) {
        observe(value)
        if value.isFinite { attach(exemplar) }
    }

    /// Keeps `exemplar` as the latest one of the bucket of its value and counts nothing. Native buckets keep the
    /// latest ten.
    public func attach(_ exemplar: Exemplar) {
        exemplars.keep(exemplar, at: limits.bucket(of: exemplar.value), of: buckets.count)
        if sparse != nil { exemplars.keepRecent(exemplar, of: buckets.count) }
    }

    /// The number of observations so far.
    public var count: UInt64 {
        if limits.isNativeOnly, let sparse { return sparse.count }
        return (0..<buckets.count).reduce(0) { $0 &+ buckets.load($1) }
    }

    /// The sum of the observations so far, saturating at the largest finite number of either sign.
    public var sum: Double {
        buckets.sum
    }

    /// The observations in each bucket of fixed bounds, not cumulative, +Inf last.
    public var bucketCounts: [UInt64] {
        limits.isNativeOnly ? [count] : (0..<buckets.count).map { buckets.load($0) }
    }

    /// When the histogram began empty, in microseconds since 1970.
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
    /// Adds the tally of a batch: a count per bucket (not cumulative, +Inf last) and the sum of the batch.
    ///
    /// Throws, and adds nothing, unless there are `bounds.count + 1` counts. An infinite or NaN sum is ignored with
    /// its counts, and counted by the registry.
    ///
    /// Native buckets count a tally at the upper bound of each fixed bucket, what is above the last bound just above
    /// it, and without bounds at the mean of the tally.
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

    /// Continues a histogram of an earlier process: raises each bucket (not cumulative, +Inf last) and the sum if they
    /// are lower (an empty histogram takes any sum), and adopts the creation time (microseconds since 1970), if given.
    ///
    /// Throws, and changes nothing, unless there are `bounds.count + 1` counts. Native buckets count what is added as
    /// `merge(counts:sum:)` does; `restore(native:counts:sum:created:)` restores them exactly.
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

    private func restore(sum: Double, created: Int64?, wasEmpty: Bool) {
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
    /// The native buckets as a page would show them; nil if the histogram has none.
    public var nativeCounts: NativeCounts? {
        guard let sparse else { return nil }
        var words = ScrapedWords()
        words.append(atMost: sparse.copyRoom) { sparse.copy(into: &$0, at: $1) }
        var counts: NativeCounts?
        words.withWords { counts = NativeCounts(SparseRecord($0, at: 0), $0) }
        return counts
    }

    /// Continues an empty histogram of an earlier process with its native buckets and the counts of its bounds: raises
    /// what is lower, and adopts the creation time (microseconds since 1970), if given.
    ///
    /// Throws, and changes nothing, unless there are native buckets and `bounds.count + 1` counts; without bounds,
    /// `counts` may be omitted. Buckets of a coarser schema than the histogram's are counted at their upper bounds.
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

/// Bucket counts that do not match the histogram; none of them was added.
public struct HistogramMismatch: Error, Sendable, Hashable {
    /// The number of counts that the histogram needs: one per bound and one for +Inf.
    public let expected: Int
    /// The number of counts passed.
    public let found: Int
}

extension HistogramMismatch: CustomStringConvertible {
    /// What was expected and found, and how to fix it.
    public var description: String {
        "expected \(expected) bucket counts (one per bound and one for +Inf), found \(found); "
            + "tally with the bounds that the histogram was registered with"
    }
}
