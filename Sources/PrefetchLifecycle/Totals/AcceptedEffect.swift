// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What an accepted event did to the counters of the lifecycle (docs/metrics.md, What accepted events did).
///
/// Every accepted event has exactly one effect, which is known when it is accepted and never changes. Raw values are
/// stored in checkpoints.
public enum AcceptedEffect: UInt8, CaseIterable, Sendable {
    /// It made a counter grow, or it will when its cycle closes.
    case counted = 0
    /// It tells of a stage that is counted already.
    case repeatedStage = 1
    /// It tells of no stage that a counter counts.
    case informational = 2
    /// It sums up a cycle that was closed before, so that it asserts nothing any more.
    case late = 3

    /// The label value.
    public var name: StaticString {
        switch self {
        case .counted: "counted"
        case .repeatedStage: "repeated_stage"
        case .informational: "informational"
        case .late: "late"
        }
    }
}

/// How many accepted events had each effect.
public struct EffectTally: Equatable, Sendable {
    private var counted: UInt64 = 0
    private var repeatedStage: UInt64 = 0
    private var informational: UInt64 = 0
    private var late: UInt64 = 0
    /// The counted events that made a counter grow when they were accepted. The counters of the others grow later.
    public internal(set) var countedAtOnce: UInt64 = 0
    /// By how much client counters made the counters grow.
    public internal(set) var recovered: UInt64 = 0

    /// No event.
    public init() {}

    /// All events.
    public var total: UInt64 { counted &+ repeatedStage &+ informational &+ late }

    /// The events with one effect.
    public subscript(effect: AcceptedEffect) -> UInt64 {
        switch effect {
        case .counted: counted
        case .repeatedStage: repeatedStage
        case .informational: informational
        case .late: late
        }
    }

    @inline(__always)
    mutating func add(_ effect: AcceptedEffect) {
        switch effect {
        case .counted: counted &+= 1
        case .repeatedStage: repeatedStage &+= 1
        case .informational: informational &+= 1
        case .late: late &+= 1
        }
    }
}

extension LifecycleFold {
    /// What the events applied since the last call did. Not part of a checkpoint: whoever counts it takes it after every
    /// batch.
    public mutating func takeEffects() -> EffectTally {
        defer { effects = EffectTally() }
        return effects
    }

    /// By how much all counters have grown that events count in, by events or without them.
    public var increments: UInt64 { groups.increments }

    /// Notes what an event did.
    ///
    /// - Parameters:
    ///   - increments: by how much it made the counters grow.
    ///   - slot: its cycle; nil where it belongs to none.
    ///   - waiting: what `waitingStages(like:at:_:)` said before it was applied.
    @inline(__always)
    mutating func note(
        _ event: borrowing Event,
        _ increments: UInt64,
        at slot: Int? = nil,
        waiting: Int = 0,
        _ terms: ClosingTerms? = nil
    ) {
        if increments > 0 {
            effects.add(.counted)
            effects.countedAtOnce &+= 1
        } else {
            let effect = effectWithoutIncrement(event, at: slot, waiting, terms)
            effects.add(effect)
        }
    }

    @inline(__always)
    private func effectWithoutIncrement(
        _ event: borrowing Event,
        at slot: Int?,
        _ waiting: Int,
        _ terms: ClosingTerms?
    ) -> AcceptedEffect {
        if event.kind == .contentCacheFailed { return .repeatedStage }
        guard let slot, let terms, event.tellsStage else { return .informational }
        if waitingStages(like: event, at: slot, terms) > waiting { return .counted }
        let isLate = event.kind == .prefetchCycleComplete && cycles[slot].flags.contains(.isReopened)
        return isLate ? .late : .repeatedStage
    }

    /// How many stages like that of the event a cycle knows that count only later: a delivery when the cycle closes, a
    /// failure without a reason at the end of its attempt, and what another half of the cycle may have counted.
    @inline(__always)
    func waitingStages(like event: borrowing Event, at slot: Int, _ terms: ClosingTerms) -> Int {
        switch event.kind {
        case .notificationDelivered: cycles[slot].delivered.isKnown ? 1 : 0
        case .prefetchFailure where event.lacksReason: cycles.hasWaitingFailure(at: slot) ? 1 : 0
        default: terms.waiting.isEmpty ? 0 : cycles.waitingStages(like: event.kind, at: slot)
        }
    }
}

extension Event {
    /// Whether it is a failure that may have to wait for its reason.
    fileprivate var lacksReason: Bool { reason == nil && willRetry != true }

    /// Whether it tells of a stage that a counter counts once.
    fileprivate var tellsStage: Bool {
        switch kind {
        case .prefetchScheduled, .prefetchExecuted, .prefetchSuccess, .prefetchFailure, .prefetchExpired,
            .prefetchMissed, .contentMissing, .prefetchUsedForNotification, .notificationDelivered,
            .notificationDrift:
            true
        case .prefetchCycleComplete: fetched == true || usedCached == true
        default: false
        }
    }
}
