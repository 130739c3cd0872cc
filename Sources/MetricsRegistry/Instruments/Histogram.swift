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
