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
        var counted = counted
        let before = OneTimeStages(self, used: counted.used)
        var insertion = Insertion.known
        if let fact = Fact(event, base: base), addsInformation(fact) {
            insertion = insert(fact)
            guard insertion != .full else { return .full }
        }
        record(event)
        if insertion == .inserted {
            withFacts { counted.count(StageCounts($0, flags, isUsed: used.isKnown, isClosing: false), into: &totals) }
        }
        countOneTimeStages(&counted, since: before, into: &totals)
        self.counted = counted
        return insertion
    }

    /// Whether a fact adds to the known ones; a summary that asserts only what was seen does not.
    private func addsInformation(_ fact: Fact) -> Bool {
        withFacts { fact.addsInformation(to: $0, isUsed: used.isKnown) }
    }

    /// Records what a cycle keeps once rather than as a fact.
    mutating func record(_ event: borrowing Event) {
        switch event.kind {
        case .prefetchScheduled:
            if let begin = event.earliestBeginDate { window.include(begin, base: base) }
        case .prefetchUsedForNotification:
            used.include(event.timestamp, base: base)
            if event.isAgeCounted { flags.insert(.ageCounted) }
        case .notificationDelivered: delivered.include(event.receiverTime, orElse: event.timestamp, base: base)
        case .contentMissing, .contentCacheFailed: if event.reportsFallback { flags.insert(.contentMissing) }
        case .notificationDrift: flags.insert(.drifted)
        default: break
        }
        guard event.opensCycle else { return }
        if let eventTTL = event.ttl { ttl = max(ttl ?? 0, eventTTL) }
        if event.ageAtDelivery != nil { flags.insert(.ageKnown) }
        if event.isTimeAssumed { flags.insert(.hasAssumedTimes) }
    }

    /// Whether its recorded times can be stored relative to another base.
    func hasRepresentableTimes(from other: Timestamp) -> Bool {
        [used, delivered].allSatisfy { kept in
            kept.time(base: base).map { Fact.isRepresentable($0, from: other) } ?? true
        }
    }

    /// Merges what another half of the same cycle recorded.
    mutating func merge(_ other: Cycle) {
        if let time = other.used.time(base: other.base) { used.include(time, base: base) }
        if let time = other.delivered.time(base: other.base) { delivered.include(time, base: base) }
        if let time = other.window.time(base: other.base) { window.include(time, base: base) }
        if let otherTTL = other.ttl { ttl = max(ttl ?? 0, otherTTL) }
        flags.formUnion(other.flags.intersection(.merged))
        closesAt = max(closesAt, other.closesAt)
        group = max(group, other.group)
    }
}

extension Cycle.Flags {
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

    /// Whether it reports content fetched on demand.
    var reportsFallback: Bool { kind == .contentMissing || (kind == .contentCacheFailed && usedCached == false) }

    /// Whether it opens a cycle where none matches: what the verdict on a cycle depends on.
    var opensCycle: Bool { kind.opensCycle || reportsFallback }

    /// Whether it carries a hash or an age.
    var hasHashOrAge: Bool { !contentHash.isEmpty || !scheduleHash.isEmpty || age != nil }
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

/// The stages that count once in a cycle and need no facts, as they were before an event.
struct OneTimeStages {
    let isFallback: Bool
    let hasDrifted: Bool
    /// Whether the notification was delivered with prefetched content.
    let isShown: Bool

    init(_ cycle: Cycle, used: UInt8) {
        isFallback = cycle.flags.contains(.contentMissing)
        hasDrifted = cycle.flags.contains(.drifted)
        isShown = cycle.delivered.isKnown && used > 0
    }
}

extension Cycle {
    /// Counts the stages that count once and that no later event can revoke.
    ///
    /// - Parameters:
    ///   - before: the stages before the event.
    ///   - counted: what has been counted of the cycle.
    func countOneTimeStages(
        _ counted: inout CountedStages,
        since before: OneTimeStages,
        into totals: inout LifecycleTotals
    ) {
        if used.isKnown, counted.used == 0 {
            counted.used = 1
            totals.used += 1
            totals.increments += 1
        }
        let now = OneTimeStages(self, used: counted.used)
        if now.isFallback, !before.isFallback {
            totals.fallbacks += 1
            totals.increments += 1
        }
        if now.hasDrifted, !before.hasDrifted { totals.countDrift() }
        if now.isShown, !before.isShown { totals.count(.prefetched) }
    }

    /// Counts what waits for the close: a delivery without prefetched content, and a drift that the app did not report.
    func countAtClosing(_ counted: CountedStages, into totals: inout LifecycleTotals) {
        if !flags.contains(.drifted), let drift, abs(drift) > LifecycleRules.toleratedDriftMicroseconds {
            totals.countDrift()
        }
        guard delivered.isKnown, counted.used == 0 else { return }
        totals.count(flags.contains(.contentMissing) ? .onDemand : .none)
    }

    /// The delivery minus the notification time, in microseconds.
    var drift: Int64? {
        guard !flags.contains(.hasAssumedTimes), let time = delivered.time(base: base), let due else { return nil }
        return time.microseconds - due.microseconds
    }
}

extension LifecycleTotals {
    fileprivate mutating func count(_ content: DeliveredContent) {
        delivered[Int(content.rawValue)] += 1
        increments += 1
    }

    fileprivate mutating func countDrift() {
        driftExceeded += 1
        increments += 1
    }
}

extension OneTimeStages {
    /// The union over several cycles.
    init(_ all: [OneTimeStages]) {
        isFallback = all.contains { $0.isFallback }
        hasDrifted = all.contains { $0.hasDrifted }
        isShown = all.contains { $0.isShown }
    }
}
