// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension Cycle {
    /// Takes in what of an event is kept once.
    mutating func note(_ event: Event) {
        switch event.kind {
        case .prefetchScheduled:
            if let begin = event.earliestBeginDate { window.take(begin, base: base) }
        case .prefetchUsedForNotification: used.take(event.timestamp, base: base)
        case .notificationDelivered: delivered.take(event.timestamp, base: base)
        case .contentMissing: flags.insert(.contentMissing)
        case .notificationDrift: flags.insert(.drifted)
        default: break
        }
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
        counted.add(other.counted)
    }
}

extension Cycle.Flags {
    /// What a cycle keeps when it joins another one.
    static let joining: Cycle.Flags = [
        .isEnding, .hasAssumedTimes, .contentMissing, .drifted, .contentMatches, .scheduleMatches, .ageKnown,
        .isSecond, .scheduledWhileDenied, .isReopened,
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

    /// Whether the event says something about its cycle that its end depends on.
    var opensCycle: Bool {
        switch kind {
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
