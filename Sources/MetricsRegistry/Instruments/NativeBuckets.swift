// SPDX-License-Identifier: Apache-2.0

/// How a native histogram of Prometheus divides its observations: into buckets whose bounds grow by a constant factor,
/// of which only those with observations exist.
///
/// A histogram keeps the finest buckets it was given for as long as it lives. A page shows the finest of the standard
/// resolutions in which at most `maximumBuckets` are populated, so that once it got coarser it stays so.
public struct NativeBuckets: Sendable, Hashable {
    /// The resolutions there are: `schema` n has 2^n buckets for each power of two.
    public static let schemas = -4...8

    /// The finest resolution shown, within `schemas`.
    public let schema: Int
    /// Buckets that a page shows at most, positive and negative together, from 4 to 1,000.
    public let maximumBuckets: Int
    /// The magnitude up to which a value counts as zero. Raised on a page where even the coarsest buckets are too many.
    public let zeroThreshold: Double

    /// The resolution with the largest growth that is at most `growthFactor`; the finest, of about 1.0027, when there
    /// is none.
    ///
    /// - Parameters:
    ///   - growthFactor: How much a bucket's bound is larger than the one before; 1.1 unless told, which is the
    ///     resolution of 1.0905.
    ///   - maximumBuckets: Buckets that a page shows at most; brought within 4 to 1,000.
    ///   - zeroThreshold: The magnitude up to which a value counts as zero; one that is negative, infinite or not a
    ///     number is the default, 2^-128.
    public init(growthFactor: Double = 1.1, maximumBuckets: Int = 160, zeroThreshold: Double = 0x1p-128) {
        let fitting = Self.schemas.first { ExponentialScale.growthFactor(ofSchema: $0) <= growthFactor }
        self.init(
            schema: fitting ?? Self.schemas.upperBound,
            maximumBuckets: maximumBuckets,
            zeroThreshold: zeroThreshold
        )
    }

    /// The resolution of `schema`, brought within `schemas`; for the rest see `init(growthFactor:…)`.
    public init(schema: Int, maximumBuckets: Int = 160, zeroThreshold: Double = 0x1p-128) {
        self.schema = min(max(schema, Self.schemas.lowerBound), Self.schemas.upperBound)
        self.maximumBuckets = min(max(maximumBuckets, 4), 1_000)
        self.zeroThreshold = zeroThreshold >= 0 && zeroThreshold.isFinite ? zeroThreshold : 0x1p-128
    }

    /// What a message says of the settings.
    static func text(_ settings: NativeBuckets?) -> String {
        guard let settings else { return "no native buckets" }
        return "native buckets of schema \(settings.schema), at most \(settings.maximumBuckets), "
            + "zero up to \(settings.zeroThreshold)"
    }
}
