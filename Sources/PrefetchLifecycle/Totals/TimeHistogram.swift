// SPDX-License-Identifier: Apache-2.0

/// A histogram of durations, with an integer sum in microseconds that does not depend on the order.
public struct TimeHistogram: Hashable, Sendable {
    /// What is observed, which gives the bounds of the buckets.
    public enum Measure: UInt8, CaseIterable, Sendable {
        /// The duration of a fetch.
        case fetchDuration
        /// From the earliest begin of a task to its execution; the system may delay it by 15 minutes.
        case startDelay
        /// The age of content when it was used.
        case contentAge
        /// The distance of a delivery from its notification time; iOS tolerates 180 s.
        case drift
        /// The distance of a sender's clock from the receiver's, in either direction.
        case clockSkew
        /// From the event time to the arrival.
        case arrivalLag

        /// The upper bounds of the buckets, in seconds.
        public var bounds: [Double] { microseconds.map { Double($0) / 1e6 } }

        fileprivate var microseconds: [Int64] {
            switch self {
            case .fetchDuration: Self.fetchDurations
            case .startDelay: Self.startDelays
            case .contentAge: Self.contentAges
            case .drift: Self.drifts
            case .clockSkew: Self.clockSkews
            case .arrivalLag: Self.arrivalLags
            }
        }

        private static let minute: Int64 = 60_000_000
        private static let hour = 60 * minute
        private static let day = 24 * hour

        private static let fetchDurations: [Int64] = [
            50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 20_000_000, 30_000_000,
            minute,
        ]
        private static let startDelays: [Int64] = [
            1_000_000, 5_000_000, 15_000_000, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
            hour, 4 * hour, 12 * hour,
        ]
        private static let contentAges: [Int64] = [
            minute, 5 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 8 * hour, 12 * hour, day, 2 * day,
            7 * day,
        ]
        private static let drifts: [Int64] = [
            1_000_000, 5_000_000, 15_000_000, 30_000_000, minute, 2 * minute, 3 * minute, 5 * minute, 10 * minute,
            30 * minute, hour, 4 * hour,
        ]
        private static let clockSkews: [Int64] = [
            100_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 30_000_000, minute, 5 * minute,
            15 * minute, hour, 4 * hour, day,
        ]
        private static let arrivalLags: [Int64] = [
            1_000_000, 5_000_000, 15_000_000, minute, 5 * minute, 15 * minute, hour, 4 * hour, 12 * hour, day, 2 * day,
            7 * day, 30 * day,
        ]
    }

    /// What is observed.
    public let measure: Measure
    /// The observations in each bucket, not cumulative; the last bucket has no bound.
    public internal(set) var counts: [UInt64]
    /// The sum of the observations, in microseconds.
    public internal(set) var microseconds: UInt64 = 0

    private let bounds: [Int64]

    init(_ measure: Measure) {
        self.measure = measure
        bounds = measure.microseconds
        counts = [UInt64](repeating: 0, count: bounds.count + 1)
    }

    /// The number of observations.
    public var count: UInt64 { counts.reduce(0, +) }

    /// The sum of the observations, in seconds.
    public var seconds: Double { Double(microseconds) / 1e6 }

    /// Longer durations count as ten years, so that no sender can spoil the sum.
    private static let longestMicroseconds: Int64 = 10 * 365 * 86_400 * 1_000_000

    /// Counts a duration in microseconds, clamped to the range of 0 to ten years.
    @discardableResult
    mutating func observe(_ length: Int64) -> CountedTime {
        let length = Self.counted(length)
        let bucket = Self.bucket(of: length, within: bounds)
        counts[bucket] += 1
        microseconds = microseconds.addingSaturated(UInt64(length))
        return CountedTime(measure: measure, bucket: bucket, microseconds: length)
    }

    /// The value that a duration counts with.
    static func counted(_ length: Int64) -> Int64 { min(max(length, 0), longestMicroseconds) }

    /// The bucket of a duration.
    static func bucket(of length: Int64, _ measure: Measure) -> Int {
        bucket(of: counted(length), within: measure.microseconds)
    }

    @inline(__always)
    private static func bucket(of length: Int64, within bounds: [Int64]) -> Int {
        var bucket = 0
        while bucket < bounds.count, length > bounds[bucket] { bucket += 1 }
        return bucket
    }

    mutating func add(_ other: TimeHistogram) {
        for bucket in counts.indices { counts[bucket] += other.counts[bucket] }
        microseconds = microseconds.addingSaturated(other.microseconds)
    }
}

extension UInt64 {
    fileprivate func addingSaturated(_ other: UInt64) -> UInt64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? .max : sum
    }
}

/// A counted duration with its bucket.
struct CountedTime {
    let measure: TimeHistogram.Measure
    let bucket: Int
    let microseconds: Int64
}
