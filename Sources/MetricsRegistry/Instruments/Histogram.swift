// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Observations counted into buckets of fixed bounds, with their sum.
///
/// The count on a page is the sum of the buckets that it shows, so the two never disagree. The sum is a word of its
/// own: an observation made outside `MetricsRegistry.update(_:)` may be in one of them only when a scrape copies it.
public final class Histogram: Sendable {
    /// One value for each label name of the family, in their order.
    public let labelValues: [String]
    private let limits: HistogramBounds
    private let buckets: AtomicCells
    private let total = AtomicDouble(0)
    private let birth: Atomic<Int64>
    private let ignoredValues: Counter?
    private let exemplars = ExemplarShelf()

    init(_ seed: InstrumentSeed) {
        labelValues = seed.labelValues
        if case .histogram(let bounds) = seed.shape { limits = bounds } else { limits = .none }
        buckets = AtomicCells(count: limits.count + 1)
        birth = Atomic(seed.created)
        ignoredValues = seed.ignoredValues
    }

    /// The finite upper bounds of the buckets; a value equal to a bound belongs to its bucket.
    public var bounds: [Double] { limits.values }

    /// Counts `value` into its bucket and adds it to the sum. One that is infinite or not a number is ignored, since
    /// the sum would never recover, and counted as such by the registry.
    public func observe(_ value: Double) {
        guard value.isFinite else {
            ignoredValues?.add()
            return
        }
        buckets.add(1, at: limits.bucket(of: value))
        total.add(value)
    }

    /// Counts `value`, and keeps `exemplar` as `attach(_:)` does; ignores both where `observe(_:)` ignores the value.
    public func observe(_ value: Double, exemplar: Exemplar) {
        observe(value)
        if value.isFinite { attach(exemplar) }
    }

    /// Keeps `exemplar` in place of an earlier one in the bucket that its own value belongs to, and counts nothing.
    public func attach(_ exemplar: Exemplar) {
        exemplars.keep(exemplar, at: limits.bucket(of: exemplar.value), of: buckets.count)
    }

    /// Adds a batch's tally at once: a count for each bucket (not cumulative, the one for +Inf last) and the sum of
    /// the batch. Throws, and takes nothing, when there aren't `bounds.count + 1` counts. A sum that is infinite or
    /// not a number is ignored with its counts, and counted as such by the registry.
    public func merge(counts: Span<UInt64>, sum: Double) throws(HistogramMismatch) {
        try check(counts.count)
        merge(checked: counts, sum: sum)
    }

    func merge(checked counts: Span<UInt64>, sum: Double) {
        guard sum.isFinite else {
            ignoredValues?.add()
            return
        }
        for index in counts.indices where counts[index] != 0 {
            buckets.add(counts[index], at: index)
        }
        total.add(sum)
    }

    /// `merge(counts:sum:)` for an array.
    public func merge(counts: [UInt64], sum: Double) throws(HistogramMismatch) {
        let counts = ContiguousArray(counts)
        try merge(counts: counts.span, sum: sum)
    }

    /// The number of observations so far.
    public var count: UInt64 {
        (0..<buckets.count).reduce(0) { $0 &+ buckets.load($1) }
    }

    /// The sum of the observations so far.
    public var sum: Double {
        total.value
    }

    /// The observations in each bucket, not cumulative, the one for +Inf last.
    public var bucketCounts: [UInt64] {
        (0..<buckets.count).map { buckets.load($0) }
    }

    /// Microseconds since 1970 at which the histogram began empty.
    public var created: Int64 {
        birth.load(ordering: .relaxed)
    }

    /// Continues a histogram of an earlier process: raises each bucket (not cumulative, the one for +Inf last) and the
    /// sum to what is given if they are lower (an empty histogram takes any sum), and takes over the time at which it began (microseconds since 1970),
    /// if given. Throws, and changes nothing, when there aren't `bounds.count + 1` counts.
    public func restore(counts: [UInt64], sum: Double, created: Int64? = nil) throws(HistogramMismatch) {
        try check(counts.count)
        restore(checked: counts.span, sum: sum, created: created)
    }

    func restore(checked counts: Span<UInt64>, sum: Double, created: Int64?) {
        let wasEmpty = count == 0
        for index in counts.indices {
            buckets.raise(to: counts[index], at: index)
        }
        if !sum.isFinite {
            ignoredValues?.add()
        } else if wasEmpty {
            total.store(sum)
        } else {
            total.raise(to: sum)
        }
        if let created { birth.store(created, ordering: .relaxed) }
    }

    func check(_ found: Int) throws(HistogramMismatch) {
        if found != buckets.count {
            throw HistogramMismatch(expected: buckets.count, found: found)
        }
    }
}

extension Histogram: Instrument {
    static var kind: MetricKind { .histogram }

    static func copy(_ members: Span<Histogram>, into words: inout MutableSpan<UInt64>, from start: Int) {
        var word = start
        for index in members.indices { members[index].copy(into: &words, at: &word) }
    }

    static func copyExemplars(_ members: Span<Histogram>, into exemplars: inout ScrapedExemplars) {
        for index in members.indices { members[index].exemplars.copy(series: index, into: &exemplars) }
    }

    private func copy(into words: inout MutableSpan<UInt64>, at word: inout Int) {
        for index in 0..<buckets.count {
            words[word] = buckets.load(index)
            word += 1
        }
        words[word] = total.pattern
        word += 1
    }
}
