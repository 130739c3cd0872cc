// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// Stages of which a cycle known by one name alone counts nothing yet, because one known by the other name has counted
/// them and may be the same cycle.
struct WaitingStages: OptionSet, Sendable {
    var rawValue: UInt16
    static let scheduled = WaitingStages(rawValue: 1 << 0)
    static let executed = WaitingStages(rawValue: 1 << 1)
    static let success = WaitingStages(rawValue: 1 << 2)
    static let used = WaitingStages(rawValue: 1 << 3)
    static let failure = WaitingStages(rawValue: 1 << 4)
    static let retries = WaitingStages(rawValue: 1 << 5)
    static let expired = WaitingStages(rawValue: 1 << 6)
    static let missed = WaitingStages(rawValue: 1 << 7)
    static let fallback = WaitingStages(rawValue: 1 << 8)
    static let drifted = WaitingStages(rawValue: 1 << 9)
    static let all = WaitingStages(rawValue: 1 << 10 - 1)
}

/// How often each stage of a cycle has been counted; a counter never goes back.
struct CountedStages: Hashable, Sendable {
    var scheduled: UInt8 = 0
    var executed: UInt8 = 0
    var success: UInt8 = 0
    var used: UInt8 = 0
    var failureNetwork: UInt8 = 0
    var failureAuth: UInt8 = 0
    var failureSystem: UInt8 = 0
    var failureOther: UInt8 = 0
    var retries: UInt8 = 0
    var expired: UInt8 = 0
    var missed: UInt8 = 0

    /// How many counts there are. A checkpoint stores them by their places: those of `StageTally`, then retries, expired and
    /// missed.
    static let count = 11

    /// The stage of the count at a place.
    static func stage(_ place: Int) -> WaitingStages {
        switch place {
        case 0: .scheduled
        case 1: .executed
        case 2: .success
        case 3: .used
        case 8: .retries
        case 9: .expired
        case 10: .missed
        default: .failure
        }
    }

    /// The count at a place. A switch: key paths would take most of the time of a checkpoint.
    subscript(place: Int) -> UInt8 {
        @inline(__always)
        get {
            switch place {
            case 0: scheduled
            case 1: executed
            case 2: success
            case 3: used
            case 4: failureNetwork
            case 5: failureAuth
            case 6: failureSystem
            case 7: failureOther
            case 8: retries
            case 9: expired
            default: missed
            }
        }
        set {
            switch place {
            case 0: scheduled = newValue
            case 1: executed = newValue
            case 2: success = newValue
            case 3: used = newValue
            case 4: failureNetwork = newValue
            case 5: failureAuth = newValue
            case 6: failureSystem = newValue
            case 7: failureOther = newValue
            case 8: retries = newValue
            case 9: expired = newValue
            default: missed = newValue
            }
        }
    }

    /// The stages that have been counted.
    var stages: WaitingStages {
        var stages: WaitingStages = []
        if scheduled > 0 { stages.insert(.scheduled) }
        if executed > 0 { stages.insert(.executed) }
        if success > 0 { stages.insert(.success) }
        if used > 0 { stages.insert(.used) }
        if failureTotal > 0 { stages.insert(.failure) }
        if retries > 0 { stages.insert(.retries) }
        if expired > 0 { stages.insert(.expired) }
        if missed > 0 { stages.insert(.missed) }
        return stages
    }

    var hasFailures: Bool { failureTotal > 0 }

    /// Adds to the totals what the facts give beyond what was counted before, and remembers it, but for the stages that do
    /// not count yet by the terms.
    ///
    /// What only a summary asserts is known in a run over files when the cycle closes, `LifecycleTotals.countImplied(_:)`.
    mutating func count(_ counts: StageCounts, _ terms: ClosingTerms, into totals: inout LifecycleTotals) {
        guard terms.waiting.isEmpty else { return countSome(counts, terms, into: &totals) }
        let submissions = Self.raise(&scheduled, to: counts.scheduled)
        totals.scheduled += submissions
        let executions = Self.raise(&executed, to: counts.executed)
        totals.executed += executions
        let successes = Self.raise(&success, to: counts.success)
        totals.success += successes
        let uses = Self.raise(&used, to: counts.used)
        totals.used += uses
        if terms.countsByArrival {
            if successes > 0, counts.success == 1, counts.isSuccessImplied { totals.impliedSuccess += 1 }
            if uses > 0, counts.isUseImplied { totals.impliedUsed += 1 }
        }
        let repetitions = Self.raise(&retries, to: counts.retries)
        totals.retries += repetitions
        let expiries = Self.raise(&expired, to: counts.expired)
        totals.expired += expiries
        let misses = Self.raise(&missed, to: counts.missed)
        totals.missedWindow += misses
        totals.increments += submissions + executions + successes + uses + repetitions + expiries + misses
        countFailures(counts, into: &totals)
    }

    private mutating func countSome(_ counts: StageCounts, _ terms: ClosingTerms, into totals: inout LifecycleTotals) {
        var (counts, terms) = (counts, terms)
        counts.drop(terms.waiting)
        terms.waiting = []
        count(counts, terms, into: &totals)
    }

    /// Adds the counts of a cycle that is joined with this one.
    mutating func add(_ other: CountedStages) {
        scheduled = Self.sum(scheduled, other.scheduled)
        executed = Self.sum(executed, other.executed)
        success = Self.sum(success, other.success)
        used = Self.sum(used, other.used)
        for reason in FailureReason.allCases { self[reason] = Self.sum(self[reason], other[reason]) }
        retries = Self.sum(retries, other.retries)
        expired = Self.sum(expired, other.expired)
        missed = Self.sum(missed, other.missed)
    }

    /// What stays with a cycle that some facts were taken from, and what goes with the facts.
    ///
    /// - Parameters:
    ///   - now: what its facts give now.
    ///   - closing: what they give when it closes. The difference stays, unless the other cycle wants it.
    ///   - wanted: what the facts of the other cycle give now.
    ///   - taken: what was counted of that one.
    ///   - stages: the stages that the taken facts may count in.
    func split(
        leaving now: StageCounts,
        atClosing closing: StageCounts,
        wanted: StageCounts,
        beyond taken: CountedStages,
        only stages: WaitingStages
    ) -> (remaining: CountedStages, surplus: CountedStages) {
        var (remaining, surplus) = (self, CountedStages())
        let (now, closing, wanted) = (CountedStages(now), CountedStages(closing), CountedStages(wanted))
        for place in 0..<Self.count where stages.contains(Self.stage(place)) {
            let count = self[place]
            let least = min(count, now[place])
            let most = max(least, min(count, closing[place]))
            let lacking = wanted[place] - min(wanted[place], taken[place])
            surplus[place] = min(max(lacking, count - most), count - least)
            remaining[place] = count - surplus[place]
        }
        return (remaining, surplus)
    }

    init() {}

    private init(_ counts: StageCounts) {
        scheduled = UInt8(clamping: counts.scheduled)
        executed = UInt8(clamping: counts.executed)
        success = UInt8(clamping: counts.success)
        used = UInt8(clamping: counts.used)
        retries = UInt8(clamping: counts.retries)
        expired = UInt8(clamping: counts.expired)
        missed = UInt8(clamping: counts.missed)
        for reason in FailureReason.allCases {
            self[reason] = UInt8(clamping: counts.failures[Int(reason.rawValue)])
        }
    }

    private static func sum(_ left: UInt8, _ right: UInt8) -> UInt8 {
        UInt8(clamping: Int(left) + Int(right))
    }

    /// Counts new failures, under reasons that are not counted yet.
    private mutating func countFailures(_ counts: StageCounts, into totals: inout LifecycleTotals) {
        var missing = counts.failureTotal - failureTotal
        guard missing > 0 else { return }
        for reason in FailureReason.allCases {
            while missing > 0, counts.failures[Int(reason.rawValue)] > Int(self[reason]), self[reason] < .max {
                self[reason] += 1
                totals.addFailure(reason)
                missing -= 1
            }
        }
    }

    /// Takes back what was counted beyond what the facts give, as in a run over files, whose counters nobody has seen yet:
    /// there a failure counts by its event time, and halves of a cycle that were counted apart count once.
    ///
    /// - Returns: by how much the counters change; a failure may change its reason.
    mutating func correct(to counts: StageCounts) -> StageCorrection {
        var correction = StageCorrection()
        correction.lowered[0] = Self.lower(&scheduled, to: counts.scheduled)
        correction.lowered[1] = Self.lower(&executed, to: counts.executed)
        correction.lowered[2] = Self.lower(&success, to: counts.success)
        correction.lowered[3] = Self.lower(&used, to: counts.used)
        for reason in FailureReason.allCases {
            let target = UInt8(clamping: counts.failures[Int(reason.rawValue)])
            let place = StageTally.failures + Int(reason.rawValue)
            if target < self[reason] {
                correction.lowered[place] = UInt64(self[reason] - target)
            } else {
                correction.raised[place] = UInt64(target - self[reason])
            }
            self[reason] = target
        }
        correction.retries = Self.lower(&retries, to: counts.retries)
        correction.expired = Self.lower(&expired, to: counts.expired)
        correction.missed = Self.lower(&missed, to: counts.missed)
        return correction
    }

    /// Whether nothing was counted that the facts do not give.
    func isWithin(_ counts: StageCounts) -> Bool {
        Int(scheduled) <= counts.scheduled && Int(executed) <= counts.executed && Int(success) <= counts.success
            && Int(used) <= counts.used && Int(retries) <= counts.retries && Int(expired) <= counts.expired
            && Int(missed) <= counts.missed
            && FailureReason.allCases.allSatisfy {
                UInt8(clamping: counts.failures[Int($0.rawValue)]) == self[$0]
            }
    }

    /// Lowers a count; returns by how much.
    private static func lower(_ count: inout UInt8, to target: Int) -> UInt64 {
        guard Int(count) > target else { return 0 }
        defer { count = UInt8(clamping: target) }
        return UInt64(count) - UInt64(clamping: target)
    }

    var failureTotal: Int {
        Int(failureNetwork) + Int(failureAuth) + Int(failureSystem) + Int(failureOther)
    }

    private subscript(reason: FailureReason) -> UInt8 {
        get { self[StageTally.failures + Int(reason.rawValue)] }
        set { self[StageTally.failures + Int(reason.rawValue)] = newValue }
    }

    private static func raise<Count: FixedWidthInteger>(_ count: inout Count, to target: Int) -> UInt64 {
        let target = Count(clamping: target)
        guard target > count else { return 0 }
        defer { count = target }
        return UInt64(target - count)
    }
}

extension LifecycleTotals {
    /// Counts the stages of a closed cycle that only a summary asserts, whatever arrived first.
    mutating func countImplied(_ counts: StageCounts) {
        if counts.isSuccessImplied { impliedSuccess += 1 }
        if counts.isUseImplied { impliedUsed += 1 }
    }
}

/// By how much counters change where nobody has seen them yet.
struct StageCorrection {
    var lowered = StageTally()
    var raised = StageTally()
    var retries: UInt64 = 0
    var expired: UInt64 = 0
    var missed: UInt64 = 0
}

/// The stages that an event may make its cycle count once, by their place in `PackedStages`.
enum CountedOnce: UInt32 {
    case scheduled = 0
    case executed = 3
    case success = 6
    case used = 30
}

/// The `CountedStages` of a cycle with inline facts, in three bits each.
///
/// Such a cycle has at most four facts; two joined ones count at most eight, where 7 also stands for 8.
struct PackedStages: Sendable {
    private static let limit: UInt8 = 7

    private var bits: UInt32 = 0

    init() {}

    /// Whether all counts fit into three bits.
    static func fits(_ stages: CountedStages) -> Bool {
        (0..<CountedStages.count).allSatisfy { stages[$0] <= limit } && stages.used <= 1
    }

    init(_ stages: CountedStages) {
        bits = Self.packed(stages.scheduled, 0) | Self.packed(stages.executed, 3) | Self.packed(stages.success, 6)
        bits |= Self.packed(stages.failureNetwork, 9) | Self.packed(stages.failureAuth, 12)
        bits |= Self.packed(stages.failureSystem, 15) | Self.packed(stages.failureOther, 18)
        bits |= Self.packed(stages.retries, 21) | Self.packed(stages.expired, 24) | Self.packed(stages.missed, 27)
        bits |= UInt32(min(stages.used, 1)) << 30
    }

    var stages: CountedStages {
        var stages = CountedStages()
        stages.scheduled = count(0)
        stages.executed = count(3)
        stages.success = count(6)
        stages.failureNetwork = count(9)
        stages.failureAuth = count(12)
        stages.failureSystem = count(15)
        stages.failureOther = count(18)
        stages.retries = count(21)
        stages.expired = count(24)
        stages.missed = count(27)
        stages.used = used
        return stages
    }

    var used: UInt8 { UInt8(truncatingIfNeeded: bits >> 30 & 1) }

    /// Counts a stage, unless it has been counted; returns whether it did.
    @inline(__always)
    mutating func countOnce(_ stage: CountedOnce) -> Bool {
        guard bits >> stage.rawValue & UInt32(stage == .used ? 1 : Self.limit) == 0 else { return false }
        bits |= 1 << stage.rawValue
        return true
    }

    private static func packed(_ count: UInt8, _ shift: UInt32) -> UInt32 { UInt32(min(count, limit)) << shift }

    private func count(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: bits >> shift & 7) }
}
