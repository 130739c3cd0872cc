// SPDX-License-Identifier: Apache-2.0

/// The header of a native histogram in the words of a scrape; the populated buckets follow as pairs of words, key and
/// count, in ascending order of keys.
struct SparseRecord {
    static var headerWords: Int { 8 }

    let schema: Int
    let zeroThreshold: Double
    let zeroCount: UInt64
    /// All observations: the sum of the buckets and the zero bucket.
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

    /// Writes the header to `start` and returns the end of the record.
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

/// The populated buckets of a scrape while they are reduced to the schema on the page: pairs of words, key and count,
/// in ascending order of keys.
struct SparseRuns {
    var schema: Int
    var zeroThreshold: Double
    var zeroCount: UInt64
    var negative: Range<Int>
    var positive: Range<Int>

    init(schema: Int, zeroThreshold: Double, zeroCount: UInt64, start: Int) {
        self.schema = schema
        self.zeroThreshold = zeroThreshold
        self.zeroCount = zeroCount
        negative = start..<start
        positive = start..<start
    }

    /// The end of the used words.
    var end: Int { max(negative.upperBound, positive.upperBound) }

    /// The number of populated buckets.
    var buckets: Int { (negative.count + positive.count) / 2 }

    /// Merges pairs of buckets until there are at most `maximum`; at the coarsest schema widens the zero bucket.
    mutating func reduce(to maximum: Int, _ words: inout MutableSpan<UInt64>) {
        while buckets > maximum {
            if schema > NativeBuckets.schemas.lowerBound { halve(&words) } else { widenZero(words) }
        }
    }

    /// Reduces the resolution by one schema.
    mutating func halve(_ words: inout MutableSpan<UInt64>) {
        negative = Self.merge(negative, &words) { ($0 + 1) >> 1 }
        positive = Self.merge(positive, &words) { ($0 + 1) >> 1 }
        schema -= 1
    }

    /// Adds the coarse buckets. This allocates, but only values of extreme magnitudes lead here.
    mutating func addSorted(_ more: borrowing SparseSides, in words: inout MutableSpan<UInt64>, room: Range<Int>) {
        var sides: [[(key: Int64, count: UInt64)]] = []
        for (isNegative, run) in [(true, negative), (false, positive)] {
            let added = more.copy(isNegative: isNegative, into: &words, at: end..<room.upperBound)
            let pairs =
                (Array(stride(from: run.lowerBound, to: run.upperBound, by: 2))
                + Array(stride(from: added.lowerBound, to: added.upperBound, by: 2)))
                .map { (Int64(bitPattern: words[$0]), words[$0 + 1]) }
            sides.append(pairs.sorted { $0.0 < $1.0 })
        }
        var place = negative.lowerBound
        for (index, side) in sides.enumerated() {
            let start = place
            for (key, count) in side where room.upperBound - place >= 2 {
                words[place] = UInt64(bitPattern: key)
                words[place + 1] = count
                place += 2
            }
            let run = Self.merge(start..<place, &words) { $0 }
            if index == 0 { negative = run } else { positive = run }
        }
    }

    /// Adds the populated buckets of the smallest magnitude to the zero bucket.
    private mutating func widenZero(_ words: borrowing MutableSpan<UInt64>) {
        let keys = [negative, positive].filter { !$0.isEmpty }.map { Int64(bitPattern: words[$0.lowerBound]) }
        guard let smallest = keys.min() else { return }
        zeroThreshold = ExponentialScale.upperBound(of: Int(smallest), schema: schema)
        negative = absorb(negative, smallest, words)
        positive = absorb(positive, smallest, words)
    }

    private mutating func absorb(
        _ run: Range<Int>,
        _ key: Int64,
        _ words: borrowing MutableSpan<UInt64>
    ) -> Range<Int> {
        guard let first = run.first, Int64(bitPattern: words[first]) == key else { return run }
        zeroCount &+= words[first + 1]
        return first + 2..<run.upperBound
    }

    /// Maps the keys of the buckets and adds up those that become equal.
    private static func merge(
        _ run: Range<Int>,
        _ words: inout MutableSpan<UInt64>,
        _ key: (Int64) -> Int64
    ) -> Range<Int> {
        var end = run.lowerBound
        for place in stride(from: run.lowerBound, to: run.upperBound, by: 2) {
            let merged = UInt64(bitPattern: key(Int64(bitPattern: words[place])))
            let count = words[place + 1]
            if end > run.lowerBound, words[end - 2] == merged {
                words[end - 1] &+= count
            } else {
                words[end] = merged
                words[end + 1] = count
                end += 2
            }
        }
        return run.lowerBound..<end
    }
}
