// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension Cycle {
    /// Applies an event to a cycle with inline facts, and counts it.
    ///
    /// - Returns: `.full` when the facts do not fit inline; only the closing time has changed then.
    mutating func apply(
        _ event: borrowing Event,
        _ terms: ClosingTerms,
        into totals: inout LifecycleTotals
    ) -> Insertion {
        postponeClosing(after: event.kind, terms)
        guard !flags.contains(.isLong) else { return .full }
        let before = OneTimeStages(self)
        let fact = Fact(event, base: base)
        var insertion = Insertion.known
        if let fact, addsInformation(fact) {
            let isMarked = terms.countsByArrival && fact.mayChangeFailure
            insertion = insert(
                isMarked ? withFacts { fact.arriving(after: $0, isWaiting: terms.waiting.contains(.failure)) } : fact
            )
            guard insertion != .full else { return .full }
        }
        record(event, waiting: terms.waiting)
        if insertion == .inserted, let fact, !(terms.waiting.isEmpty && countAlone(fact, into: &totals)) {
            var counted = counted
            withFacts { facts in
                let counts = StageCounts(facts, flags, isUsed: used.isKnown, isClosing: false)
                counted.count(counts, terms, into: &totals)
            }
            self.counted = counted
        }
        if used.isKnown, !terms.waiting.contains(.used) { countOnce(.used, into: &totals) }
        if terms.countsByArrival { countOneTimeStages(since: before, into: &totals) }
        return insertion
    }

    /// Whether a fact adds to the known ones; a summary that asserts only what was seen does not.
    private func addsInformation(_ fact: Fact) -> Bool {
        guard fact.stage == .summary else { return true }
        return isDistant(fact) || withFacts { fact.addsInformation(to: $0, of: self) }
    }

    /// Whether a fact without a notification time is so far from that of its cycle that it may be of another pass.
    func isDistant(_ fact: Fact) -> Bool {
        guard fact.isUndated, let due else { return false }
        return CycleTable.isDistant(fact.time(base: base), from: due)
    }

    /// Records what a cycle keeps once rather than as a fact.
    ///
    /// A fallback or a drift that waits is only a fact until `flagToldStages(_:)`; its flag says that it has been counted.
    mutating func record(_ event: borrowing Event, waiting: WaitingStages) {
        switch event.kind {
        case .prefetchScheduled:
            if let begin = event.earliestBeginDate { window.include(begin, base: base) }
            if let agrees = event.leadAgrees { details.insert(agrees ? .leadAgrees : .leadDiffers) }
        case .prefetchStarted: started.include(event.timestamp, base: base)
        case .contentCached: cached.include(event.timestamp, base: base)
        case .schedulePersisted: details.insert(.isPersisted)
        case .leadCapped: details.insert(.isLeadCapped)
        case .prefetchUsedForNotification:
            used.include(event.timestamp, base: base)
            if event.isAgeCounted, !isOnlyListed(event) { flags.insert(.ageCounted) }
        case .notificationDelivered:
            delivered.include(event.receiverTime, orElse: event.timestamp, base: base)
            if event.isSkewed { details.insert(.isDeliverySkewed) }
        case .contentMissing, .contentCacheFailed:
            if event.reportsFallback, !waiting.contains(.fallback) { flags.insert(.contentMissing) }
        case .notificationDrift: if !waiting.contains(.drifted) { flags.insert(.drifted) }
        default: break
        }
        if event.isTold { details.insert(.isTold) }
        guard event.opensCycle else { return }
        if let told = event.ageAtDelivery, !isOnlyListed(event) { age = max(age ?? 0, told) }
        // No rule compares the time of these.
        if event.isTimeAssumed, event.kind != .schedulePersisted, event.kind != .leadCapped {
            flags.insert(.hasAssumedTimes)
        }
    }

    /// Whether the age that an event tells is in its fact alone, since it may be that of another pass.
    private func isOnlyListed(_ event: borrowing Event) -> Bool {
        guard event.scheduledFor == nil, event.kind.keptOnce != nil, let due else { return false }
        return CycleTable.isDistant(event.timestamp, from: due)
    }

    /// Takes the ages that may have been those of another pass, once none will be told.
    mutating func takeListedAges(_ facts: Span<UInt64>) {
        for index in facts.indices {
            let fact = Fact(rawValue: facts[index])
            guard isDistant(fact), let told = fact.age else { continue }
            age = max(age ?? 0, told)
            if fact.isAgedUse { flags.insert(.ageCounted) }
        }
    }

    /// Flags the stages that waited and wait no more.
    mutating func flagToldStages(_ facts: Span<UInt64>, waiting: WaitingStages = []) {
        for index in facts.indices {
            switch Fact(rawValue: facts[index]).stage {
            case .contentMissing where !waiting.contains(.fallback): flags.insert(.contentMissing)
            case .drifted where !waiting.contains(.drifted): flags.insert(.drifted)
            default: continue
            }
        }
    }

    /// Whether its recorded times can be stored relative to another base.
    func hasRepresentableTimes(from other: Timestamp) -> Bool {
        [used, delivered].allSatisfy { kept in
            kept.time(base: base).map { Fact.isRepresentable($0, from: other) } ?? true
        }
    }

    /// Forgets what it kept once of facts that belong to another pass of its schedule.
    ///
    /// - Parameter rest: the facts that stay.
    mutating func forget(_ moved: [Fact], keeping rest: [UInt64], _ terms: ClosingTerms) {
        func earliest(_ stage: Fact.Stage, instead kept: EarliestTime) -> EarliestTime {
            var gone = EarliestTime()
            for fact in moved where fact.stage == stage { gone.include(fact.time(base: base), base: base) }
            guard gone.isKnown, gone == kept else { return kept }
            var left = EarliestTime()
            for word in rest where Fact(rawValue: word).stage == stage {
                left.include(Fact(rawValue: word).time(base: base), base: base)
            }
            return left
        }
        func isGone(_ stage: Fact.Stage) -> Bool {
            moved.contains { $0.stage == stage } && !rest.contains { Fact(rawValue: $0).stage == stage }
        }
        if moved.contains(where: { $0.stage == .scheduled && $0.begin.isKnown }) { window = earliestBegin(of: rest) }
        for stage in Self.keptOnce { self[kept: stage] = earliest(stage, instead: self[kept: stage]) }
        if moved.contains(where: \.isAgedUse), !rest.contains(where: { Fact(rawValue: $0).isAgedUse }) {
            flags.remove(.ageCounted)
        }
        if moved.contains(where: \.isSkewedDelivery), !rest.contains(where: { Fact(rawValue: $0).isSkewedDelivery }) {
            details.remove(.isDeliverySkewed)
        }
        let goneAge = moved.compactMap(\.age).max()
        if let goneAge, let age, CodedTTL(age).seconds == goneAge {
            self.age = rest.compactMap { Fact(rawValue: $0).age }.max()
        }
        if isGone(.contentMissing) { flags.remove(.contentMissing) }
        if isGone(.drifted) { flags.remove(.drifted) }
        guard flags.contains(.isEnding), !delivered.isKnown, isGone(.delivered) || isGone(.summary),
            !rest.contains(where: { Fact(rawValue: $0).stage == .summary })
        else { return }
        flags.remove(.isEnding)
        closesAt = max(closesAt, closing(terms))
    }

    /// The earliest begin of some of its submissions.
    private func earliestBegin(of facts: [UInt64]) -> EarliestTime {
        var earliest = EarliestTime()
        let window = window.time(base: base)
        for word in facts {
            let fact = Fact(rawValue: word)
            guard fact.stage == .scheduled,
                let begin = fact.begin.begin(at: fact.time(base: base), window: window, due: due)
            else { continue }
            earliest.include(begin, base: base)
        }
        return earliest
    }

    /// Gets no verdict of its own where another pass of its schedule has taken all that was told of it.
    mutating func forgetTold() {
        guard !used.isKnown, !delivered.isKnown, !started.isKnown, !cached.isKnown,
            flags.isDisjoint(with: [.contentMissing, .drifted])
        else { return }
        details.remove(.isTold)
    }

    /// Records what it keeps once of facts that another pass of its schedule gave up.
    mutating func record(_ moved: [Fact], from giver: Cycle, _ terms: ClosingTerms) {
        for fact in moved {
            let time = fact.time(base: giver.base)
            if let told = fact.age { age = max(age ?? 0, told) }
            switch fact.stage {
            case .scheduled:
                // To the second, unless it is the earliest one of the pass that gives it.
                if let begin = fact.begin.begin(at: time, window: nil, due: due) {
                    let known = giver.window.time(base: giver.base)
                    window.include(known?.wholeSeconds == begin.wholeSeconds ? known ?? begin : begin, base: base)
                }
            case .used:
                used.include(time, base: base)
                if fact.isAgedUse { flags.insert(.ageCounted) }
            case .delivered:
                delivered.include(time, base: base)
                if fact.isSkewedDelivery { details.insert(.isDeliverySkewed) }
            case .started: started.include(time, base: base)
            case .cached: cached.include(time, base: base)
            case .contentMissing: flags.insert(.contentMissing)
            case .drifted: flags.insert(.drifted)
            case .summary: flags.insert(.isEnding)
            default: continue
            }
            if fact.stage == .delivered { flags.insert(.isEnding) }
        }
        flags.formUnion(giver.flags.intersection(.hasAssumedTimes))
        details.insert(.isTold)
        closesAt = max(closesAt, closing(terms))
    }

    /// Merges what another half of the same cycle recorded.
    mutating func merge(_ other: Cycle) {
        if let time = other.used.time(base: other.base) { used.include(time, base: base) }
        if let time = other.delivered.time(base: other.base) { delivered.include(time, base: base) }
        if let time = other.window.time(base: other.base) { window.include(time, base: base) }
        if let time = other.started.time(base: other.base) { started.include(time, base: base) }
        if let time = other.cached.time(base: other.base) { cached.include(time, base: base) }
        details.formUnion(other.details)
        if let otherAge = other.age { age = max(age ?? 0, otherAge) }
        flags.formUnion(other.flags.intersection(.merged))
        closesAt = max(closesAt, other.closesAt)
        group = max(group, other.group)
    }
}

extension Fact {
    /// Whether it is a use that told the age of its content, which counts on arrival.
    fileprivate var isAgedUse: Bool { stage == .used && age != nil }
}

extension Cycle.Flags {
    /// The stages of which a flag says that they have been counted.
    var countedStages: WaitingStages {
        var stages: WaitingStages = []
        if contains(.contentMissing) { stages.insert(.fallback) }
        if contains(.drifted) { stages.insert(.drifted) }
        return stages
    }

    /// The flags that survive when two cycles are joined.
    fileprivate static let merged: Cycle.Flags = [
        .isEnding, .hasAssumedTimes, .contentMissing, .drifted, .contentMatches, .scheduleMatches, .ageKnown,
        .isSecond, .scheduledWhileDenied, .isReopened, .ageCounted,
    ]
}

extension Event {
    /// The age of used content in seconds, rounded up so that comparing it with a `ttl` in whole seconds is exact.
    var ageAtDelivery: Int64? {
        switch kind {
        case .prefetchUsedForNotification, .notificationDelivered, .prefetchCycleComplete:
            age.map { $0 / 1_000_000 + ($0 % 1_000_000 > 0 ? 1 : 0) }
        default: nil
        }
    }

    /// Whether its age counts on arrival, so that the cycle needs it only to detect stale content.
    var isAgeCounted: Bool { kind == .prefetchUsedForNotification && age != nil }

    /// The event time by the receiver's clock, where `sentAt` gave the clock skew (docs/lifecycle.md, Time).
    var receiverTime: Timestamp { Timestamp(microseconds: timestamp.microseconds &+ (clockSkew ?? 0)) }

    /// Whether the receiver's clock is more than a second from the device's.
    var isSkewed: Bool { (clockSkew ?? 0).magnitude > 1_000_000 }

    /// Whether it reports content fetched on demand.
    var reportsFallback: Bool { kind == .contentMissing || (kind == .contentCacheFailed && usedCached == false) }

    /// Whether it opens a cycle where none matches: what the verdict on a cycle depends on.
    var opensCycle: Bool { isToldByKind || opensUntold }

    /// Whether it tells of a cycle, which then gets a verdict: not one that only says more of a cycle that others tell of.
    var isTold: Bool { isToldByKind || isNamed }

    /// Whether it tells of a cycle by naming its schedule and its notification time, and nothing else of it may be kept: of
    /// a summary, what others tell.
    var isToldByNames: Bool { (!isToldByKind || kind == .prefetchCycleComplete) && isNamed }

    @inline(__always)
    private var isToldByKind: Bool { kind.opensCycle || reportsFallback || failsOnDevice }

    @inline(__always)
    private var isNamed: Bool { kind != .schedulePersisted && scheduledFor != nil && !scheduleId.isEmpty }

    /// Whether it opens a cycle that gets no verdict unless another event tells of it.
    private var opensUntold: Bool {
        switch kind {
        case .prefetchStarted, .schedulePersisted, .leadCapped: true
        default: false
        }
    }

    /// Whether a task could not be submitted on a device that is no simulator.
    var failsOnDevice: Bool { kind == .prefetchScheduleFailed && isSimulator == false }

    /// Whether a submission begins as long before its notification as it says itself, to the second; nil where it does not
    /// name all three.
    var leadAgrees: Bool? {
        guard kind == .prefetchScheduled, let minutes, let scheduledFor, let earliestBeginDate else { return nil }
        return LifecycleRules.isLead(minutes, from: earliestBeginDate, to: scheduledFor)
    }

    /// Whether it may carry something that is held against something at another time (`SideFacts`).
    var hasSideFacts: Bool {
        if !contentHash.isEmpty || !scheduleHash.isEmpty { return true }
        switch kind {
        case .prefetchSuccess: return status == 304
        case .contentMissing, .contentCacheFailed, .notificationDrift: return true
        case .prefetchUsedForNotification, .notificationDelivered, .prefetchStarted, .contentCached: return true
        case .prefetchScheduled: return ttl != nil || minutes != nil && leadAgrees == nil
        default: return ttl != nil
        }
    }
}

extension EventKind {
    fileprivate var opensCycle: Bool {
        switch self {
        case .prefetchScheduled, .prefetchExecuted, .prefetchSuccess, .prefetchFailure, .prefetchExpired,
            .prefetchMissed, .prefetchCompleted, .contentCached, .contentMissing, .prefetchUsedForNotification,
            .notificationDelivered, .notificationDenied, .notificationDrift, .prefetchCycleComplete:
            true
        default: false
        }
    }
}
