// SPDX-License-Identifier: Apache-2.0

/// Lengths of time counted into buckets, with their sum in whole microseconds, so that it is the same in any order.
public struct TimeHistogram: Hashable, Sendable {
    /// What is observed, which gives the bounds of the buckets.
    public enum Measure: UInt8, CaseIterable, Sendable {
        /// How long a fetch took.
        case fetchDuration
        /// From the earliest begin of a task to its execution; the system may take 15 minutes.
        case startDelay
        /// How old content was when it was used.
        case contentAge
        /// How far from its time a notification was delivered; iOS tolerates 180 s.
        case drift
        /// How far a sender's clock is from ours, either way.
        case clockSkew
        /// From an event to its arrival.
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
    /// The observations in each bucket, not cumulative, the one beyond all bounds last.
    public internal(set) var counts: [UInt64]
    /// The sum of the observations, in microseconds.
    public internal(set) var microseconds: UInt64 = 0

    private let bounds: [Int64]

    init(_ measure: Measure) {
        self.measure = measure
        bounds = measure.microseconds
        counts = [UInt64](repeating: 0, count: bounds.count + 1)
    }

    /// How many observations there are.
    public var count: UInt64 { counts.reduce(0, +) }

    /// The sum of the observations, in seconds.
    public var seconds: Double { Double(microseconds) / 1e6 }

    /// The longest time that is told from others, in microseconds, so that no sender can spoil the sum: ten years.
    static let longest: Int64 = 10 * 365 * 86_400 * 1_000_000

    /// Counts a length of time in microseconds; a negative one as 0, one of more than ten years as ten years.
    @discardableResult
    mutating func observe(_ length: Int64) -> CountedTime {
        let length = Self.counted(length)
        let bucket = Self.bucket(of: length, within: bounds)
        counts[bucket] += 1
        microseconds = microseconds.addingSaturated(UInt64(length))
        return CountedTime(measure: measure, bucket: bucket, microseconds: length)
    }

    /// As what a length of time counts.
    static func counted(_ length: Int64) -> Int64 { min(max(length, 0), longest) }

    /// The bucket in which a length of time counts.
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

/// A length of time that was counted, and in which bucket.
struct CountedTime {
    let measure: TimeHistogram.Measure
    let bucket: Int
    let microseconds: Int64
}
