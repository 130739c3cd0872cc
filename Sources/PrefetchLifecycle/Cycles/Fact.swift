// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What an event says about its cycle, in eight bytes that sort in event order.
///
/// | bits | what |
/// | --- | --- |
/// | 63-22 | microseconds since the cycle's base, plus 2^41 |
/// | 21-17 | stage, which puts simultaneous facts into lifecycle order |
/// | 16 | whether its event named no notification time, so that it may belong to another pass of its schedule |
/// | 15-0 | detail |
///
/// Only what can repeat with each attempt, or is held against something at another time, is a fact; the rest has members
/// of its own in `Cycle`. Checkpoints hold facts: a new layout needs a new `LifecycleFold.stateVersion`.
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
        case granted = 9
        // The detail of a hash is its fingerprint. Of one time, the hash that is held against another follows it.
        case scheduleHashScheduled = 10
        case scheduleHashExecuted = 11
        case contentHashCached = 12
        case contentHashUsed = 13
        /// The `ttl` of content that another event than its success told.
        case ttl = 14
        // What a cycle keeps once, of events that may belong to another pass of its schedule; also `started` and `cached`.
        // The detail of a use or a delivery is the age of its content.
        case used = 15
        case delivered = 16
        case contentMissing = 17
        case drifted = 18
        /// The lead that a submission told without its earliest begin, in minutes.
        case lead = 19
        /// A task that could not be submitted on a device.
        case scheduleFailed = 20
        /// A dated event that tells of the cycle and is no other fact, where nothing else that is dated does yet: what is
        /// left of the cycle once its undated facts have moved to another pass.
        case told = 21
        /// A fetch was answered with status 304.
        case notModified = 22
        /// A fetch that was started, and content that was cached.
        case started = 23
        case cached = 24

        /// Its place in a set of stages.
        var bit: UInt32 { 1 &<< UInt32(rawValue) }
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
        /// It arrived after another reason of its attempt had been counted.
        static let arrivedLater = Detail(rawValue: 1 << 10)
        /// It arrived after the failure of its attempt had been counted without a reason.
        static let arrivedAfterUnknown = Detail(rawValue: 1 << 11)
        /// The failure of its attempt was counted for its reason when it arrived.
        static let counted = Detail(rawValue: 1 << 12)
        /// A failure that no retry was announced for. The highest bit, so that of one moment the announced retry comes
        /// first, whose failure such a line may tell again.
        static let final = Detail(rawValue: 1 << 15)
    }

    /// The stages that end an attempt, or say how it ended.
    static var results: UInt32 { Stage.success.bit | Stage.failure.bit | Stage.completed.bit | Stage.summary.bit }

    /// The longest distance of a time from its cycle's base: 24 days, which 42 bits hold in microseconds.
    private static let reachMicroseconds: Int64 = 24 * 86_400 * 1_000_000
    private static let bias: Int64 = 1 << 41
    static let undatedBit: UInt64 = 1 << 16
    private static let timedSuccess: UInt16 = 1 << 15
    private static let skewedDelivery: UInt16 = 1 << 15

    var rawValue: UInt64

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// - Parameter value: the time, as `value` has it.
    init(_ stage: Stage, detail: UInt16 = 0, value: UInt64, isUndated: Bool = false) {
        rawValue = value << 22 | UInt64(stage.rawValue) << 17 | (isUndated ? Self.undatedBit : 0) | UInt64(detail)
    }

    /// A fact at a time near the base; farther ones are clamped.
    init(_ stage: Stage, detail: UInt16 = 0, at time: Timestamp, base: Timestamp, isUndated: Bool = false) {
        self.init(stage, detail: detail, value: Self.value(of: time, base: base), isUndated: isUndated)
    }

    private static func value(of time: Timestamp, base: Timestamp) -> UInt64 {
        let offset = min(max(time.microseconds &- base.microseconds, -reachMicroseconds), reachMicroseconds)
        return UInt64(offset + bias)
    }

    /// Whether a time is near enough to a cycle's base to be stored exactly.
    static func isRepresentable(_ time: Timestamp, from base: Timestamp) -> Bool {
        abs(time.microseconds &- base.microseconds) <= reachMicroseconds
    }

    var stage: Stage? { Stage(rawValue: UInt8(truncatingIfNeeded: rawValue >> 17 & 0x1F)) }
    /// The place of its stage in a set of stages.
    var stageBit: UInt32 { 1 &<< UInt32(truncatingIfNeeded: rawValue >> 17 & 0x1F) }
    var value: UInt64 { rawValue >> 22 }
    var detail: Detail { Detail(rawValue: UInt16(truncatingIfNeeded: rawValue)) }
    var isUndated: Bool { rawValue & Self.undatedBit != 0 }
    /// Everything but its time.
    var meaning: UInt64 { rawValue & (1 << 22 - 1) }

    func time(base: Timestamp) -> Timestamp {
        Timestamp(microseconds: base.microseconds + Int64(value) - Self.bias)
    }

    /// The same fact relative to another base.
    func moved(from base: Timestamp, to other: Timestamp) -> Fact {
        Fact(rawValue: Self.value(of: time(base: base), base: other) << 22 | meaning)
    }

    /// The reason of a failure or a completion, where known.
    var reason: FailureReason? {
        guard detail.contains(.reasonKnown) else { return nil }
        return FailureReason(rawValue: UInt8(truncatingIfNeeded: detail.intersection(.reasonMask).rawValue))
    }

    /// The earliest begin of a submission.
    var begin: SubmittedBegin { SubmittedBegin(rawValue: detail.rawValue) }

    /// The receiver's clock minus the sender's at an execution, in whole seconds; capped at 9 hours.
    var skew: Int64 { Int64(Int16(truncatingIfNeeded: rawValue)) }

    static func skewDetail(of event: borrowing Event) -> UInt16 {
        UInt16(bitPattern: Int16(clamping: (event.clockSkew ?? 0) / 1_000_000))
    }

    /// Whether a success or a failure carried the duration of its fetch.
    var isTimed: Bool {
        stage == .success ? detail.rawValue & Self.timedSuccess != 0 : detail.contains(.timed)
    }

    /// The `ttl` that a success or a fact of its own tells, in seconds.
    var ttl: Int64? {
        switch stage {
        case .success, .ttl: CodedTTL(rawValue: detail.rawValue & ~Self.timedSuccess).seconds
        default: nil
        }
    }

    /// The age that a use or a delivery tells, in seconds.
    var age: Int64? {
        switch stage {
        case .used, .delivered: CodedTTL(rawValue: detail.rawValue & ~Self.skewedDelivery).seconds
        default: nil
        }
    }

    /// Whether it is a delivery at which the receiver's clock was more than a second from the device's.
    var isSkewedDelivery: Bool { stage == .delivered && detail.rawValue & Self.skewedDelivery != 0 }

    /// The detail of what a cycle keeps once.
    static func kept(age: Int64?, isSkewed: Bool) -> UInt16 {
        (age.map { CodedTTL($0).rawValue } ?? 0) | (isSkewed ? skewedDelivery : 0)
    }

    /// The lead that a submission tells without its begin, in minutes.
    var lead: Int64? { stage == .lead ? Int64(detail.rawValue) : nil }

    static func success(ttl: Int64?, isTimed: Bool) -> UInt16 {
        (ttl.map { CodedTTL($0).rawValue } ?? 0) | (isTimed ? timedSuccess : 0)
    }

    /// Whether a summary adds to the known facts: not one that asserts only what was seen of this pass.
    func addsInformation(to facts: Span<UInt64>, of cycle: Cycle) -> Bool {
        var (isFetched, isUsed) = (false, cycle.used.isKnown)
        for index in facts.indices {
            let fact = Fact(rawValue: facts[index])
            let time = fact.time(base: cycle.base)
            let isDistant = CycleTable.isDistant(time, from: cycle.due ?? self.time(base: cycle.base))
            switch fact.stage {
            case .success: isFetched = isFetched || !(fact.isUndated && isDistant)
            case .used: isUsed = isUsed && !(fact.isUndated && isDistant)
            default: continue
            }
        }
        return detail.contains(.usedCached) && !isUsed || detail.contains(.fetched) && !isFetched
    }

    static func < (left: Fact, right: Fact) -> Bool { left.rawValue < right.rawValue }
}

extension Fact {
    /// The fact of an event that stages are counted by; nil for a kind that has none.
    init?(_ event: borrowing Event, base: Timestamp) {
        let stage: Stage
        var detail: UInt16 = 0
        switch event.kind {
        case .prefetchScheduled:
            stage = .scheduled
            if let begin = event.earliestBeginDate {
                detail = SubmittedBegin(begin, at: event.timestamp, isTimeAssumed: event.isTimeAssumed).rawValue
            }
        case .prefetchExecuted: (stage, detail) = (.executed, Self.skewDetail(of: event))
        case .prefetchSuccess:
            (stage, detail) = (.success, Self.success(ttl: event.ttl, isTimed: event.duration != nil))
        case .prefetchFailure: (stage, detail) = (.failure, Self.failure(event).rawValue)
        case .prefetchExpired:
            let system = Detail(rawValue: UInt16(FailureReason.system.rawValue))
            (stage, detail) = (.failure, system.union([.reasonKnown, .expired, .final]).rawValue)
        case .prefetchCompleted: (stage, detail) = (.completed, Self.completion(event).rawValue)
        case .prefetchCycleComplete:
            var asserted: Detail = []
            if event.fetched == true { asserted.insert(.fetched) }
            if event.usedCached == true { asserted.insert(.usedCached) }
            (stage, detail) = (.summary, asserted.rawValue)
        case .prefetchMissed: stage = .missed
        case .notificationDenied: stage = .denied
        case .permissionGranted: stage = .granted
        case .prefetchScheduleFailed where event.isSimulator == false: stage = .scheduleFailed
        default: return nil
        }
        self.init(stage, detail: detail, at: event.timestamp, base: base, isUndated: event.scheduledFor == nil)
    }

    private static func failure(_ event: borrowing Event) -> Detail {
        var detail = reason(event)
        if let willRetry = event.willRetry { detail.insert(willRetry ? .willRetry : .willNotRetry) }
        if event.willRetry != true { detail.insert(.final) }
        if event.duration != nil { detail.insert(.timed) }
        return detail
    }

    /// A completion that names a reason tells of a failure, also where it does not say that it was unsuccessful.
    private static func completion(_ event: borrowing Event) -> Detail {
        switch event.fetched {
        case true?: return []
        case false?: return reason(event).union(.unsuccessful)
        case nil:
            let named = reason(event)
            return named.isEmpty ? [] : named.union(.unsuccessful)
        }
    }

    private static func reason(_ event: borrowing Event) -> Detail {
        event.reason.map { [.reasonKnown, Detail(rawValue: UInt16($0.rawValue))] } ?? []
    }

    /// The stage that it counts, where a first one of it counts by itself (`Cycle.countAlone(_:into:)`).
    var countedAlone: CountedOnce? {
        switch stage {
        case .scheduled: .scheduled
        case .executed: .executed
        case .success: .success
        default: nil
        }
    }

    /// Whether it arrived after the failure of its attempt had been counted, for another reason or without its retry.
    var hasArrivedLater: Bool { !detail.isDisjoint(with: [.arrivedLater, .arrivedAfterUnknown]) }

    /// Whether it names a reason that may count for its attempt, or announces a retry, which takes a failure back that has
    /// not been counted.
    var mayChangeFailure: Bool {
        switch stage {
        case .failure: !detail.isDisjoint(with: [.reasonKnown, .willRetry])
        case .completed: detail.isSuperset(of: [.reasonKnown, .unsuccessful])
        default: false
        }
    }

    /// The fact as it is kept when it arrives: marked where it made its attempt count a failure for its reason, which
    /// stands then, and where it would change a failure that was counted for none.
    ///
    /// - Parameters:
    ///   - facts: the facts of its cycle so far.
    ///   - isWaiting: whether its cycle counts no failures yet, because another half of it may have.
    func arriving(after facts: Span<UInt64>, isWaiting: Bool) -> Fact {
        guard mayChangeFailure else { return self }
        var (before, after) = (Attempt(), Attempt())
        var attempts = facts.untoldAttempts(with: self)
        var (isAdded, hasEnded) = (false, false)
        for index in facts.indices {
            let fact = Fact(rawValue: facts[index])
            if !isAdded, self < fact {
                after.add(self)
                isAdded = true
            }
            if fact.stage == .executed {
                hasEnded = fact.value > value && attempts > 0
                if hasEnded { break }
                if attempts > 0 { (before, after) = (Attempt(), Attempt()) }
                attempts += 1
            } else {
                before.add(fact)
                after.add(fact)
            }
        }
        if !isAdded { after.add(self) }
        let failure = after.failure(hasEnded: hasEnded, isClosing: false)
        guard let counted = before.failure(hasEnded: hasEnded, isClosing: false) else {
            return failure != nil && failure == reason && !isWaiting ? marked(.counted) : self
        }
        guard failure != counted else { return self }
        return marked(before.namesReason ? .arrivedLater : .arrivedAfterUnknown)
    }

    /// The fact with the mark that its reason was counted.
    var markedAsCounted: Fact { marked(.counted) }

    private func marked(_ mark: Detail) -> Fact { Fact(rawValue: rawValue | UInt64(mark.rawValue)) }
}
