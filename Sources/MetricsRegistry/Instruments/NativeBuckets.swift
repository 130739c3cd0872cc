// SPDX-License-Identifier: Apache-2.0

/// How a Prometheus native histogram divides its observations: into buckets whose bounds grow by a constant factor, of
/// which only populated ones exist.
///
/// A histogram keeps its finest buckets for as long as it lives. A page shows the finest standard resolution with at
/// most `maximumBuckets` populated buckets, so that a page that became coarser stays so.
public struct NativeBuckets: Sendable, Hashable {
    /// The range of resolutions: `schema` n has 2^n buckets per power of two.
    public static let schemas = -4...8

    /// The finest resolution shown, within `schemas`.
    public let schema: Int
    /// The maximum number of buckets on a page, positive and negative together, from 4 to 1,000.
    public let maximumBuckets: Int
    /// The magnitude up to which a value counts as zero; a page raises it if even the coarsest buckets are too many.
    public let zeroThreshold: Double

    /// Chooses the resolution with the largest growth that is at most `growthFactor`, or the finest, of about 1.0027.
    ///
    /// - Parameters:
    ///   - growthFactor: The ratio of a bound to the previous one; 1.1 by default, which gives the resolution of
    ///     1.0905.
    ///   - maximumBuckets: The maximum number of buckets on a page, clamped to 4 to 1,000.
    ///   - zeroThreshold: The magnitude up to which a value counts as zero; a negative, infinite or NaN one is
    ///     replaced by the default, 2^-128.
    public init(growthFactor: Double = 1.1, maximumBuckets: Int = 160, zeroThreshold: Double = 0x1p-128) {
        let fitting = Self.schemas.first { ExponentialScale.growthFactor(ofSchema: $0) <= growthFactor }
        self.init(
            schema: fitting ?? Self.schemas.upperBound,
            maximumBuckets: maximumBuckets,
            zeroThreshold: zeroThreshold
        )
    }

    /// Uses the resolution of `schema`, clamped to `schemas`; see `init(growthFactor:…)` for the rest.
    public init(schema: Int, maximumBuckets: Int = 160, zeroThreshold: Double = 0x1p-128) {
        self.schema = min(max(schema, Self.schemas.lowerBound), Self.schemas.upperBound)
        self.maximumBuckets = min(max(maximumBuckets, 4), 1_000)
        self.zeroThreshold = zeroThreshold >= 0 && zeroThreshold.isFinite ? zeroThreshold : 0x1p-128
    }

    /// The settings in a message.
    static func text(_ settings: NativeBuckets?) -> String {
        guard let settings else { return "no native buckets" }
        return "native buckets of schema \(settings.schema), at most \(settings.maximumBuckets), "
            + "zero up to \(settings.zeroThreshold)"
    }
}

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

    /// The resolution: 2^`schema` buckets per power of two.
    public var schema: Int
    /// The magnitude up to which values are counted as zero.
    public var zeroThreshold: Double
    /// The observations counted as zero.
    public var zeroCount: UInt64
    /// The buckets of negative values, by rising magnitude.
    public var negative: [Bucket]
    /// The buckets of positive values, by rising magnitude.
    public var positive: [Bucket]

    /// Creates counts kept from an earlier process.
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
