// SPDX-License-Identifier: Apache-2.0

/// The populated buckets of a native histogram at one time.
public struct NativeCounts: Sendable, Hashable {
    /// A populated bucket.
    public struct Bucket: Sendable, Hashable {
        /// Bucket k of schema n holds magnitudes above 2^((k-1)/2^n) and up to 2^(k/2^n).
        public var index: Int
        /// The observations in it.
        public var count: UInt64

        /// A bucket of that index and count.
        public init(index: Int, count: UInt64) {
            self.index = index
            self.count = count
        }
    }

    /// The resolution: 2^`schema` buckets for each power of two.
    public var schema: Int
    /// The magnitude up to which values are counted as zero.
    public var zeroThreshold: Double
    /// The observations counted as zero.
    public var zeroCount: UInt64
    /// The buckets of negative values, by rising magnitude.
    public var negative: [Bucket]
    /// The buckets of positive values, by rising magnitude.
    public var positive: [Bucket]

    /// Counts kept from an earlier process.
    public init(schema: Int, zeroThreshold: Double, zeroCount: UInt64, negative: [Bucket], positive: [Bucket]) {
        self.schema = schema
        self.zeroThreshold = zeroThreshold
        self.zeroCount = zeroCount
        self.negative = negative
        self.positive = positive
    }

    /// All observations.
    public var count: UInt64 {
        (negative + positive).reduce(zeroCount) { $0 &+ $1.count }
    }

    init(_ record: SparseRecord, _ words: Span<UInt64>) {
        func buckets(_ range: Range<Int>) -> [Bucket] {
            stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
                Bucket(index: Int(Int64(bitPattern: words[$0])), count: words[$0 + 1])
            }
        }
        schema = record.schema
        zeroThreshold = record.zeroThreshold
        zeroCount = record.zeroCount
        negative = buckets(record.negative)
        positive = buckets(record.positive)
    }
}

extension SparseBuckets {
    /// Raises the counts to those of an earlier process; ignores buckets that hold no double.
    func raise(to counts: NativeCounts) {
        guard NativeBuckets.schemas.contains(counts.schema) else { return }
        raiseZero(to: counts.zeroCount)
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
}
