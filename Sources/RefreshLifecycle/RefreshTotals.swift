// SPDX-License-Identifier: Apache-2.0

public import LifecycleState
public import TelemetryEvents

/// The sums of all runs: what the metrics of the background refresh show (docs/metrics.md).
public struct RefreshTotals: Hashable, Sendable {
    private var runs = [UInt64](repeating: 0, count: RunOutcome.allCases.count)
    private var skips = [UInt64](repeating: 0, count: RefreshSkipReason.allCases.count + 1)
    private var schedules = [UInt64](repeating: 0, count: RefreshSchedule.allCases.count)
    private var notifications = [UInt64](repeating: 0, count: RefreshNotification.allCases.count)
    private var checks: [UInt64] = [0, 0]
    private var violations = [UInt64](repeating: 0, count: RefreshViolationKind.allCases.count)
    /// How long runs took, as their completions tell.
    public internal(set) var duration = RefreshHistogram(.duration)
    /// The days since the last test, as checks tell.
    public internal(set) var daysSinceTest = RefreshHistogram(.daysSinceTest)
    /// Runs that were closed before their time, because too much would have been open.
    public internal(set) var evictedRuns: UInt64 = 0
    /// Installations that were forgotten, because there were too many.
    public internal(set) var evictedInstallations: UInt64 = 0

    /// Nothing.
    public init() {}

    /// The closed runs and those with an end, by outcome.
    public func runs(_ outcome: RunOutcome) -> UInt64 { runs[Int(outcome.rawValue)] }
    /// The skipped runs by reason.
    public func skipped(_ reason: RefreshSkipReason) -> UInt64 { skips[Int(reason.rawValue)] }
    /// The schedules by result.
    public func schedules(_ result: RefreshSchedule) -> UInt64 { schedules[Int(result.rawValue)] }
    /// The notifications by what became of them.
    public func notifications(_ result: RefreshNotification) -> UInt64 { notifications[Int(result.rawValue)] }
    /// The checks by whether a test is available.
    public func checks(isAvailable: Bool) -> UInt64 { checks[isAvailable ? 1 : 0] }
    /// The violations by rule.
    public func violations(_ kind: RefreshViolationKind) -> UInt64 { violations[Int(kind.rawValue)] }

    mutating func count(_ outcome: RunOutcome) { runs[Int(outcome.rawValue)] += 1 }

    mutating func count(_ verdict: RefreshVerdict) {
        guard verdict.broken != 0 else { return }
        for index in violations.indices where verdict.broken >> UInt16(index) & 1 == 1 { violations[index] += 1 }
    }

    /// Counts a moment that a fact stands for.
    mutating func count(_ fact: RefreshFact) {
        switch fact.kind {
        case .checked:
            checks[fact.truth == true ? 1 : 0] += 1
            if let days = fact.number { daysSinceTest.observe(days) }
        case .skipped: skips[Int(fact.reason?.rawValue ?? 0)] += 1
        case .scheduled: schedules[Int(RefreshSchedule.scheduled.rawValue)] += 1
        case .scheduleFailed: schedules[Int(RefreshSchedule.failed.rawValue)] += 1
        case .notificationSent: notifications[Int(RefreshNotification.sent.rawValue)] += 1
        case .notificationFailed: notifications[Int(RefreshNotification.failed.rawValue)] += 1
        case .notificationSkipped:
            let result = fact.reason == .notAuthorized ? RefreshNotification.notAuthorized : .alreadyNotified
            notifications[Int(result.rawValue)] += 1
        case .started, .expired, .completed: break
        }
    }

    /// Adds other sums.
    public mutating func add(_ other: RefreshTotals) {
        for family in Self.families {
            for index in self[keyPath: family].indices { self[keyPath: family][index] += other[keyPath: family][index] }
        }
        duration.add(sum: other.duration.sum)
        daysSinceTest.add(sum: other.daysSinceTest.sum)
        evictedRuns += other.evictedRuns
        evictedInstallations += other.evictedInstallations
    }

    // MARK: Checkpoints

    private static var families: [WritableKeyPath<RefreshTotals, [UInt64]>] {
        [
            \.runs, \.skips, \.schedules, \.notifications, \.checks, \.violations, \.duration.counts,
            \.daysSinceTest.counts,
        ]
    }

    func append(to writer: inout StateWriter) {
        for family in Self.families { for count in self[keyPath: family] { writer.append(count) } }
        writer.append(duration.sum)
        writer.append(daysSinceTest.sum)
        writer.append(evictedRuns)
        writer.append(evictedInstallations)
    }

    mutating func restore(_ reader: inout StateReader) throws(StateError) {
        for family in Self.families {
            for index in self[keyPath: family].indices { self[keyPath: family][index] = try reader.count() }
        }
        duration.sum = try reader.word()
        daysSinceTest.sum = try reader.word()
        evictedRuns = try reader.count()
        evictedInstallations = try reader.count()
    }
}

/// The sums of one platform and app version.
public struct RefreshGroup: Sendable {
    /// The platform and the version.
    public let name: EventGroup
    /// The sums of its events.
    public internal(set) var totals = RefreshTotals()
}

/// A histogram of whole numbers, whose sum does not depend on the order.
public struct RefreshHistogram: Hashable, Sendable {
    /// What is observed, which gives the bounds of the buckets.
    public enum Measure: UInt8, CaseIterable, Sendable {
        /// The duration of a run: the target is 20 s, and the operating system gives 30 s.
        case duration
        /// The days since the last test: one is due from 90 days on.
        case daysSinceTest

        /// The upper bounds of the buckets, in seconds or days.
        public var bounds: [Double] {
            switch self {
            case .duration: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 25, 30, 60]
            case .daysSinceTest: [0, 1, 7, 30, 60, 89, 90, 100, 120, 180, 365]
            }
        }

        /// How many of the observed units are one of the bounds': microseconds of a second, or days.
        fileprivate var unit: Double {
            switch self {
            case .duration: 1e6
            case .daysSinceTest: 1
            }
        }
    }

    /// What is observed.
    public let measure: Measure
    /// The observations in each bucket, not cumulative; the last bucket has no bound.
    public internal(set) var counts: [UInt64]
    /// The sum of the observations, in microseconds or days.
    var sum: UInt64 = 0

    private let bounds: [Int64]

    init(_ measure: Measure) {
        self.measure = measure
        bounds = measure.bounds.map { Int64($0 * measure.unit) }
        counts = [UInt64](repeating: 0, count: bounds.count + 1)
    }

    /// The number of observations.
    public var count: UInt64 { counts.reduce(0, +) }

    /// The sum of the observations, in seconds or days.
    public var total: Double { Double(sum) / measure.unit }

    mutating func observe(_ value: Int64) {
        let value = max(value, 0)
        var bucket = 0
        while bucket < bounds.count, value > bounds[bucket] { bucket += 1 }
        counts[bucket] += 1
        add(sum: UInt64(value))
    }

    /// Adds to the sum, which ends at the most that it can hold and never falls.
    mutating func add(sum other: UInt64) {
        let (next, isOver) = sum.addingReportingOverflow(other)
        sum = isOver ? .max : next
    }
}
