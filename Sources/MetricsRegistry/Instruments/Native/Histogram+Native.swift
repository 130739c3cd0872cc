// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

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
