// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What an event says about its cycle, in eight bytes that sort in event order.
///
/// | bits | what |
/// | --- | --- |
/// | 63-22 | microseconds since the cycle's base, plus 2^41; the value of a fact without a time |
/// | 21-16 | stage, which puts simultaneous facts into lifecycle order |
/// | 15-0 | detail |
///
/// Only what can repeat with each attempt, or is rare, is a fact; the rest has members of its own in `Cycle`.
struct Fact: Comparable, Sendable {
    enum Stage: UInt8 {
        case scheduled = 1
        case executed = 2
        case success = 3
        case failure = 4
        case completed = 5
        case summary = 6
        case missed = 7
        case denied = 8
        // Stages from here on have a value instead of a time: a hash, or an age in seconds.
        case scheduleHashScheduled = 16
        case scheduleHashExecuted = 17
        case contentHashCached = 18
        case contentHashUsed = 19
        case age = 20
    }

    /// The detail of a failure, a completion or a summary.
    struct Detail: OptionSet {
        var rawValue: UInt16
        static let reasonMask = Detail(rawValue: 0b11)
        static let reasonKnown = Detail(rawValue: 1 << 2)
        static let willRetry = Detail(rawValue: 1 << 3)
        static let unsuccessful = Detail(rawValue: 1 << 4)
        static let fetched = Detail(rawValue: 1 << 5)
        static let usedCached = Detail(rawValue: 1 << 6)
        static let expired = Detail(rawValue: 1 << 7)
        /// It carried the duration of its fetch.
        static let timed = Detail(rawValue: 1 << 8)
        /// It said that there is no retry; a failure may also leave that open.
        static let willNotRetry = Detail(rawValue: 1 << 9)
    }

    /// The longest distance of a time from its cycle's base: 24 days, which 42 bits hold in microseconds.
    private static let reachMicroseconds: Int64 = 24 * 86_400 * 1_000_000
    /// The number of values that a fact without a time can hold.
    static let values: UInt64 = 1 << 42

    private static let bias: Int64 = 1 << 41
    private static let noLead: Int64 = -1 << 15
    /// Longer leads are stored as this one, in seconds.
    static let largestLead = UInt64(Int16.max)

    var rawValue: UInt64

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    init(_ stage: Stage, detail: UInt16 = 0, value: UInt64) {
        rawValue = value << 22 | UInt64(stage.rawValue) << 16 | UInt64(detail)
    }

    /// A fact at a time near the base; farther ones are clamped.
    init(_ stage: Stage, detail: UInt16 = 0, at time: Timestamp, base: Timestamp) {
        let offset = min(max(time.microseconds &- base.microseconds, -Self.reachMicroseconds), Self.reachMicroseconds)
        self.init(stage, detail: detail, value: UInt64(offset + Self.bias))
    }

    /// Whether a time is near enough to a cycle's base to be stored exactly.
    static func isRepresentable(_ time: Timestamp, from base: Timestamp) -> Bool {
        abs(time.microseconds &- base.microseconds) <= reachMicroseconds
    }

    var stage: Stage? { Stage(rawValue: UInt8(truncatingIfNeeded: rawValue >> 16 & 0x3F)) }
    var hasTime: Bool { rawValue >> 16 & 0x3F < 16 }
    var value: UInt64 { rawValue >> 22 }
    var detail: Detail { Detail(rawValue: UInt16(truncatingIfNeeded: rawValue)) }

    func time(base: Timestamp) -> Timestamp {
        Timestamp(microseconds: base.microseconds + Int64(value) - Self.bias)
    }

    /// The reason of a failure or a completion, where known.
    var reason: FailureReason? {
        guard detail.contains(.reasonKnown) else { return nil }
        return FailureReason(rawValue: UInt8(truncatingIfNeeded: detail.intersection(.reasonMask).rawValue))
    }

    /// The whole seconds from the scheduling to the earliest begin, where known; capped at 9 hours.
    var lead: Int64? {
        let seconds = Int64(Int16(truncatingIfNeeded: rawValue))
        return seconds == Self.noLead ? nil : seconds
    }

    /// The receiver's clock minus the sender's at an execution, in whole seconds; capped at 9 hours.
    var skew: Int64 { Int64(Int16(truncatingIfNeeded: rawValue)) }

    static func skewDetail(of event: borrowing Event) -> UInt16 {
        UInt16(bitPattern: Int16(clamping: (event.clockSkew ?? 0) / 1_000_000))
    }

    static func leadDetail(of event: borrowing Event) -> UInt16 {
        guard let begin = event.earliestBeginDate else { return UInt16(truncatingIfNeeded: noLead) }
        let microseconds = begin.microseconds &- event.timestamp.microseconds
        let seconds = microseconds / 1_000_000 - (microseconds % 1_000_000 < 0 ? 1 : 0)
        return UInt16(truncatingIfNeeded: min(max(seconds, noLead + 1), -noLead - 1))
    }

    /// Whether it adds to the known facts; a summary that asserts only what was seen does not.
    func addsInformation(to facts: Span<UInt64>, isUsed: Bool) -> Bool {
        guard stage == .summary else { return true }
        if detail.contains(.usedCached), !isUsed { return true }
        guard detail.contains(.fetched) else { return false }
        for index in facts.indices where Fact(rawValue: facts[index]).stage == .success { return false }
        return true
    }

    static func < (left: Fact, right: Fact) -> Bool { left.rawValue < right.rawValue }
}

extension Fact {
    /// The timed fact of an event; nil for a kind that has none.
    init?(_ event: borrowing Event, base: Timestamp) {
        let time = event.timestamp
        switch event.kind {
        case .prefetchScheduled: self.init(.scheduled, detail: Self.leadDetail(of: event), at: time, base: base)
        case .prefetchExecuted: self.init(.executed, detail: Self.skewDetail(of: event), at: time, base: base)
        case .prefetchSuccess:
            self.init(.success, detail: event.duration == nil ? 0 : Detail.timed.rawValue, at: time, base: base)
        case .prefetchFailure: self.init(.failure, detail: Self.failure(event).rawValue, at: time, base: base)
        case .prefetchExpired:
            let detail: Detail = [.reasonKnown, .expired, Detail(rawValue: UInt16(FailureReason.system.rawValue))]
            self.init(.failure, detail: detail.rawValue, at: time, base: base)
        case .prefetchCompleted:
            let detail = event.fetched == false ? Self.failure(event).union(.unsuccessful) : []
            self.init(.completed, detail: detail.rawValue, at: time, base: base)
        case .prefetchCycleComplete:
            var detail: Detail = []
            if event.fetched == true { detail.insert(.fetched) }
            if event.usedCached == true { detail.insert(.usedCached) }
            self.init(.summary, detail: detail.rawValue, at: time, base: base)
        case .prefetchMissed: self.init(.missed, at: time, base: base)
        case .notificationDenied: self.init(.denied, at: time, base: base)
        default: return nil
        }
    }

    private static func failure(_ event: borrowing Event) -> Detail {
        var detail: Detail = []
        if let reason = event.reason { detail = [.reasonKnown, Detail(rawValue: UInt16(reason.rawValue))] }
        if let willRetry = event.willRetry { detail.insert(willRetry ? .willRetry : .willNotRetry) }
        if event.duration != nil { detail.insert(.timed) }
        return detail
    }
}

/// A comparison of two hashes, seen from one of them: of the schedule between scheduling and execution, or of the content
/// between caching and use (docs/lifecycle.md, Integrity).
struct HashComparison {
    let own: Fact.Stage
    let other: Fact.Stage
    /// The flag that a match sets.
    let matchFlag: Cycle.Flags

    init?(_ stage: Fact.Stage) {
        own = stage
        switch stage {
        case .scheduleHashScheduled: (other, matchFlag) = (.scheduleHashExecuted, .scheduleMatches)
        case .scheduleHashExecuted: (other, matchFlag) = (.scheduleHashScheduled, .scheduleMatches)
        case .contentHashCached: (other, matchFlag) = (.contentHashUsed, .contentMatches)
        case .contentHashUsed: (other, matchFlag) = (.contentHashCached, .contentMatches)
        default: return nil
        }
    }

    fileprivate var isOfSchedule: Bool { matchFlag == .scheduleMatches }

    /// Nil for an event without a compared hash.
    init?(_ event: borrowing Event) {
        switch event.kind {
        case .prefetchScheduled where !event.scheduleHash.isEmpty: self.init(.scheduleHashScheduled)
        case .prefetchExecuted where !event.scheduleHash.isEmpty: self.init(.scheduleHashExecuted)
        case .prefetchSuccess where !event.contentHash.isEmpty: self.init(.contentHashCached)
        case .contentCached where !event.contentHash.isEmpty: self.init(.contentHashCached)
        case .prefetchUsedForNotification where !event.contentHash.isEmpty: self.init(.contentHashUsed)
        default: return nil
        }
    }
}

extension Fact {
    /// The fact of a hash: its fingerprint.
    init(_ comparison: HashComparison, _ event: borrowing Event, _ bytes: Span<UInt8>) {
        let hash = comparison.isOfSchedule ? event.scheduleHash : event.contentHash
        self.init(comparison.own, value: HashFingerprint(hash, in: bytes).value % Fact.values)
    }
}
