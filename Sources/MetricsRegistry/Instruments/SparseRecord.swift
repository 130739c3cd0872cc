// SPDX-License-Identifier: Apache-2.0

/// The head of a native histogram in the words of a scrape; the populated buckets lie behind it, as pairs of words, key
/// and count, in ascending order of keys.
struct SparseRecord {
    static var headerWords: Int { 8 }

    let schema: Int
    let zeroThreshold: Double
    let zeroCount: UInt64
    /// All observations, which is what the buckets and the zero bucket add up to.
    let count: UInt64
    /// Where the pairs of each side are.
    let negative: Range<Int>
    let positive: Range<Int>

    init(_ runs: SparseRuns, _ words: borrowing MutableSpan<UInt64>) {
        schema = runs.schema
        zeroThreshold = runs.zeroThreshold
        zeroCount = runs.zeroCount
        negative = runs.negative
        positive = runs.positive
        var count = runs.zeroCount
        for run in [runs.negative, runs.positive] {
            for place in stride(from: run.lowerBound, to: run.upperBound, by: 2) { count &+= words[place + 1] }
        }
        self.count = count
    }

    /// Reads the record that begins at `start`.
    init(_ words: Span<UInt64>, at start: Int) {
        func range(_ place: Int) -> Range<Int> {
            let first = start + Int(truncatingIfNeeded: words[place])
            return first..<first + Int(truncatingIfNeeded: words[place + 1])
        }
        schema = Int(Int64(bitPattern: words[start]))
        zeroThreshold = Double(bitPattern: words[start + 1])
        zeroCount = words[start + 2]
        count = words[start + 3]
        negative = range(start + 4)
        positive = range(start + 6)
    }

    /// Writes the head to `start` and returns where the record ends.
    func write(to words: inout MutableSpan<UInt64>, at start: Int) -> Int {
        words[start] = UInt64(bitPattern: Int64(schema))
        words[start + 1] = zeroThreshold.bitPattern
        words[start + 2] = zeroCount
        words[start + 3] = count
        words[start + 4] = UInt64(negative.lowerBound - start)
        words[start + 5] = UInt64(negative.count)
        words[start + 6] = UInt64(positive.lowerBound - start)
        words[start + 7] = UInt64(positive.count)
        return max(negative.upperBound, positive.upperBound)
    }
}
