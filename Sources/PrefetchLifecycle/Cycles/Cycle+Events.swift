// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension Cycle {
    /// Moves the time at which it closes (SPEC 5.1).
    mutating func postpone(by kind: EventKind, _ terms: ClosingTerms) {
        if kind == .notificationDelivered || kind == .prefetchCycleComplete { flags.insert(.isEnding) }
        let grace = terms.clock &+ terms.grace
        let open = (dueSecond ?? terms.clock) &+ terms.open
        closesAt = flags.contains(.isEnding) ? grace : max(closesAt, open, grace)
    }

    /// Takes in an event and counts it.
    ///
    /// - Returns: `.full` when it is long, or becomes so by the fact that the event tells; nothing has been taken in then but
    ///   the time.
    mutating func take(
        _ event: borrowing Event,
        _ terms: ClosingTerms,
        into totals: inout LifecycleTotals
    ) -> Insertion {
        postpone(by: event.kind, terms)
        guard !flags.contains(.isLong) else { return .full }
        var counted = counted
        let before = KeptStages(self, used: counted.used)
        var insertion = Insertion.known
        if let fact = Fact(event, base: base), isNews(fact) {
            insertion = insert(fact)
            guard insertion != .full else { return .full }
        }
        note(event)
        if insertion == .inserted {
            withFacts { counted.count(StageCounts($0, flags, isUsed: used.isKnown, isClosing: false), into: &totals) }
        }
        countKept(&counted, since: before, into: &totals)
        self.counted = counted
        return insertion
    }

    /// Whether a fact can tell more than is known: a summary that asserts only what was seen cannot (SPEC 5.2).
    func isNews(_ fact: Fact) -> Bool {
        withFacts { fact.isNews(beside: $0, isUsed: used.isKnown) }
    }

    /// Takes in what of an event is kept once.
    mutating func note(_ event: borrowing Event) {
        switch event.kind {
        case .prefetchScheduled:
            if let begin = event.earliestBeginDate { window.take(begin, base: base) }
        case .prefetchUsedForNotification:
            used.take(event.timestamp, base: base)
            if event.isAgeCounted { flags.insert(.ageCounted) }
        case .notificationDelivered: delivered.take(event.receiverTime, orElse: event.timestamp, base: base)
        case .contentMissing, .contentCacheFailed: if event.tellsFallback { flags.insert(.contentMissing) }
        case .notificationDrift: flags.insert(.drifted)
        default: break
        }
        guard event.opensCycle else { return }
        if let told = event.ttl { ttl = max(ttl ?? 0, told) }
        if event.ageAtDelivery != nil { flags.insert(.ageKnown) }
        if event.isTimeAssumed { flags.insert(.hasAssumedTimes) }
    }

    /// Whether what it keeps once can be told relative to another base.
    func canTellTimes(from other: Timestamp) -> Bool {
        [used, delivered].allSatisfy { kept in kept.time(base: base).map { Fact.canTell($0, from: other) } ?? true }
    }

    /// Takes in what another cycle, which turned out to be this one, keeps once.
    mutating func take(_ other: Cycle) {
        if let time = other.used.time(base: other.base) { used.take(time, base: base) }
        if let time = other.delivered.time(base: other.base) { delivered.take(time, base: base) }
        if let time = other.window.time(base: other.base) { window.take(time, base: base) }
        if let told = other.ttl { ttl = max(ttl ?? 0, told) }
        flags.formUnion(other.flags.intersection(.joining))
        closesAt = max(closesAt, other.closesAt)
        group = max(group, other.group)
    }
}

/// When cycles close, in seconds.
struct ClosingTerms {
    /// The ledger's clock.
    var clock: UInt32
    /// How long a cycle stays open after its delivery or its summary.
    var grace: UInt32
    /// How long a cycle stays open after its notification time.
    var open: UInt32
}

extension Cycle.Flags {
    /// What a cycle keeps when it joins another one.
    static let joining: Cycle.Flags = [
        .isEnding, .hasAssumedTimes, .contentMissing, .drifted, .contentMatches, .scheduleMatches, .ageKnown,
        .isSecond, .scheduledWhileDenied, .isReopened, .ageCounted,
    ]
}

extension Event {
    /// The age of content that was used for a notification, in seconds, rounded up so that comparing it with a whole
    /// number is exact.
    var ageAtDelivery: Int64? {
        switch kind {
        case .prefetchUsedForNotification, .notificationDelivered, .prefetchCycleComplete:
            age.map { $0 / 1_000_000 + ($0 % 1_000_000 > 0 ? 1 : 0) }
        default: nil
        }
    }

    /// Whether the age that it tells counts as soon as it comes, so that the cycle needs it only to find stale content.
    var isAgeCounted: Bool { kind == .prefetchUsedForNotification && age != nil }

    /// When it happened by the receiver's clock, as far as the sender told its own (SPEC 5.5).
    var receiverTime: Timestamp { Timestamp(microseconds: timestamp.microseconds &+ (clockSkew ?? 0)) }

    /// Whether it says that content is fetched on demand.
    var tellsFallback: Bool { kind == .contentMissing || (kind == .contentCacheFailed && usedCached == false) }

    /// Whether it says something about its cycle that the cycle's end depends on.
    var opensCycle: Bool { kind.opensCycle || tellsFallback }

    /// Whether the event may tell a hash or an age.
    var hasSides: Bool { !contentHash.isEmpty || !scheduleHash.isEmpty || age != nil }
}

extension EventKind {
    fileprivate var opensCycle: Bool {
        switch self {
        case .prefetchScheduled, .prefetchExecuted, .prefetchSuccess, .prefetchFailure, .prefetchExpired,
            .prefetchMissed, .prefetchCompleted, .contentCached, .contentMissing, .prefetchUsedForNotification,
            .notificationDelivered, .notificationDenied, .notificationDrift, .prefetchCycleComplete:
            true
        case .prefetchRegistered, .prefetchScheduleFailed, .prefetchStarted, .contentCacheFailed,
            .notificationScheduled, .timezoneChanged, .leadCapped, .pluginStarted, .telemetrySnapshot:
            false
        }
    }
}

/// What of a cycle counts once and needs no facts, before an event is taken in.
struct KeptStages {
    let isFallback: Bool
    let hasDrifted: Bool
    /// Whether it is known to have been delivered with prefetched content.
    let isShown: Bool

    init(_ cycle: Cycle, used: UInt8) {
        isFallback = cycle.flags.contains(.contentMissing)
        hasDrifted = cycle.flags.contains(.drifted)
        isShown = cycle.delivered.isKnown && used > 0
    }
}

extension Cycle {
    /// Counts what it keeps once and nothing can take back any more.
    ///
    /// - Parameters:
    ///   - before: what it kept before.
    ///   - counted: how much of it has been counted.
    func countKept(_ counted: inout CountedStages, since before: KeptStages, into totals: inout LifecycleTotals) {
        if used.isKnown, counted.used == 0 {
            counted.used = 1
            totals.used += 1
        }
        let now = KeptStages(self, used: counted.used)
        if now.isFallback, !before.isFallback { totals.fallbacks += 1 }
        if now.hasDrifted, !before.hasDrifted { totals.driftExceeded += 1 }
        if now.isShown, !before.isShown { totals.count(.prefetched) }
    }

    /// Counts what had to wait for its end: a delivery without prefetched content, and a drift that the app did not tell of.
    func countRest(_ counted: CountedStages, into totals: inout LifecycleTotals) {
        if !flags.contains(.drifted), let drift, abs(drift) > Judgement.toleratedDrift { totals.driftExceeded += 1 }
        guard delivered.isKnown, counted.used == 0 else { return }
        totals.count(flags.contains(.contentMissing) ? .onDemand : .none)
    }

    /// How far from its time the notification was delivered, in microseconds.
    var drift: Int64? {
        guard !flags.contains(.hasAssumedTimes), let time = delivered.time(base: base), let due else { return nil }
        return time.microseconds - due.microseconds
    }
}

extension LifecycleTotals {
    fileprivate mutating func count(_ content: DeliveredContent) {
        delivered[Int(content.rawValue)] += 1
    }
}

extension KeptStages {
    /// What was kept of any of several cycles.
    init(_ all: [KeptStages]) {
        isFallback = all.contains { $0.isFallback }
        hasDrifted = all.contains { $0.hasDrifted }
        isShown = all.contains { $0.isShown }
    }
}
