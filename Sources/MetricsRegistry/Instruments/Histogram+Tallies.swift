// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

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
