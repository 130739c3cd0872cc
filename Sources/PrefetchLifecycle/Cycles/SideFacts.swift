// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What an event tells beside its stage, and is held against something at another time.
struct SideFacts {
    /// The most facts of one event: a hash, a `ttl` and its stage.
    private(set) var facts: InlineArray<3, Fact> = .init(repeating: Fact(rawValue: 0))
    private(set) var count = 0

    /// - Parameter isListed: whether its use or delivery is a fact, because it or another one may belong to another pass of
    ///   the schedule.
    init(_ event: borrowing Event, _ bytes: Span<UInt8>, base: Timestamp, isListed: Bool) {
        let isUndated = event.scheduledFor == nil
        if let stage = Self.hash(event) {
            let hash = HashFingerprint(stage.isOfSchedule ? event.scheduleHash : event.contentHash, in: bytes)
            let detail = UInt16(truncatingIfNeeded: hash.value)
            append(Fact(stage, detail: detail, at: event.timestamp, base: base, isUndated: isUndated))
        }
        if let ttl = event.ttl, event.kind != .prefetchSuccess, event.opensCycle, event.isTold {
            append(Fact(.ttl, detail: CodedTTL(ttl).rawValue, at: event.timestamp, base: base, isUndated: isUndated))
        }
        if event.kind == .prefetchScheduled, let minutes = event.minutes, event.leadAgrees == nil {
            let lead = UInt16(clamping: minutes)
            append(Fact(.lead, detail: lead, at: event.timestamp, base: base, isUndated: isUndated))
        }
        if let stage = Self.once(event, isListed) {
            // A delivery is timed by the receiver's clock.
            var time = event.timestamp
            if stage == .delivered, Fact.isRepresentable(event.receiverTime, from: base) { time = event.receiverTime }
            let isSkewed = event.isSkewed
            let detail = Fact.kept(age: event.ageAtDelivery, isSkewed: isSkewed && stage == .delivered)
            append(Fact(stage, detail: detail, at: time, base: base, isUndated: isUndated))
        }
    }

    private mutating func append(_ fact: Fact) {
        facts[count] = fact
        count += 1
    }

    /// The stage of a hash that is compared; nil without one.
    private static func hash(_ event: borrowing Event) -> Fact.Stage? {
        switch event.kind {
        case .prefetchScheduled where !event.scheduleHash.isEmpty: .scheduleHashScheduled
        case .prefetchExecuted where !event.scheduleHash.isEmpty: .scheduleHashExecuted
        case .prefetchSuccess where !event.contentHash.isEmpty: .contentHashCached
        case .contentCached where !event.contentHash.isEmpty: .contentHashCached
        case .prefetchUsedForNotification where !event.contentHash.isEmpty: .contentHashUsed
        case .notificationDelivered where !event.contentHash.isEmpty: .contentHashUsed
        default: nil
        }
    }

    private static func once(_ event: borrowing Event, _ isListed: Bool) -> Fact.Stage? {
        switch event.kind {
        case .contentMissing, .contentCacheFailed: event.reportsFallback ? .contentMissing : nil
        case .notificationDrift: .drifted
        case .prefetchSuccess: event.status == 304 ? .notModified : nil
        default: isListed ? event.kind.keptOnce : nil
        }
    }
}

extension Fact.Stage {
    fileprivate var isOfSchedule: Bool { self == .scheduleHashScheduled || self == .scheduleHashExecuted }
}
