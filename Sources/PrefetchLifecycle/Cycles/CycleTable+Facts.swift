// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension CycleTable {
    /// Within this distance of its notification time an event without one belongs to a pass, whatever other passes of the
    /// schedule are told later.
    static let ownMicroseconds: UInt64 = 6 * 3_600 * 1_000_000

    /// Applies an event to its cycle and counts it.
    ///
    /// - Parameters:
    ///   - event: an event whose time is representable relative to the cycle's base.
    ///   - bytes: the bytes that the event was read from.
    ///   - terms: when the cycle closes.
    ///   - limit: the most facts of a cycle.
    /// - Returns: false when the cycle is full; the event was not applied then.
    mutating func apply(
        _ event: borrowing Event,
        in bytes: Span<UInt8>,
        at slot: Int,
        _ terms: ClosingTerms,
        limit: Int,
        into totals: inout LifecycleTotals
    ) -> Bool {
        var former = KeptOnce()
        if let stage = event.kind.keptOnce { former = KeptOnce(stage, of: self[slot]) }
        var mayMoveFailures = false
        if event.mayMoveFailures, terms.countsByArrival, !terms.waiting.contains(.failure) {
            mayMoveFailures = hasFacts(after: event.timestamp, at: slot)
        }
        if mayMoveFailures { keepCountedReasons(at: slot) }
        if applyInline(event, at: slot, terms, into: &totals) == .full {
            lengthen(slot)
            guard applyLong(event, at: slot, terms, limit: limit, into: &totals) else { return false }
        }
        if mayMoveFailures { keepCountedReasons(at: slot) }
        if event.isToldByNames, !hasDatedFact(at: slot) {
            add(Fact(.told, at: event.timestamp, base: self[slot].base), at: slot, limit: limit)
        }
        if event.hasSideFacts { addSideFacts(of: event, in: bytes, at: slot, former, limit: limit) }
        if terms.countsByArrival { countShown(at: slot, into: &totals) }
        return true
    }

    /// Counts the delivery with prefetched content, once nothing of it may be of another pass.
    mutating func countShown(at slot: Int, into totals: inout LifecycleTotals) {
        guard self[slot].delivered.isKnown, !self[slot].details.contains(.isShownCounted) else { return }
        let cycle = self[slot]
        guard counted(at: slot).used > 0, withFacts(at: slot, { cycle.isShown($0) }) else { return }
        totals.count(.prefetched)
        update(slot) { _ = $0.details.insert(.isShownCounted) }
    }

    /// Adds what an event tells beside its stage.
    ///
    /// - Parameter former: what the cycle kept before the event.
    private mutating func addSideFacts(
        of event: borrowing Event,
        in bytes: Span<UInt8>,
        at slot: Int,
        _ former: KeptOnce,
        limit: Int
    ) {
        var isListed = mayBelongElsewhere(event, slot)
        if let stage = event.kind.keptOnce {
            if isListed {
                list(former, as: stage, at: slot, limit: limit)
            } else {
                isListed = has(stage, at: slot)
            }
        }
        let side = SideFacts(event, bytes, base: self[slot].base, isListed: isListed)
        for index in 0..<side.count { add(side.facts[index], at: slot, limit: limit) }
    }

    private func hasDatedFact(at slot: Int) -> Bool {
        withFacts(at: slot) { facts in
            facts.indices.contains { !Fact(rawValue: facts[$0]).isUndated }
        }
    }

    /// Whether an event may belong to another pass of its schedule, whose notification time is not known yet.
    func mayBelongElsewhere(_ event: borrowing Event, _ slot: Int) -> Bool {
        guard event.scheduledFor == nil else { return false }
        guard let due = self[slot].due else { return true }
        return Self.isDistant(event.timestamp, from: due)
    }

    /// Whether an event that names no notification time is so far from that of a pass that it may be of another one.
    static func isDistant(_ time: Timestamp, from due: Timestamp) -> Bool {
        (time.microseconds &- due.microseconds).magnitude > ownMicroseconds
    }

    /// Lists what the cycle has kept once, before others are listed with it of which one may be moved.
    mutating func list(_ kept: KeptOnce, as stage: Fact.Stage, at slot: Int, limit: Int) {
        let base = self[slot].base
        guard let time = kept.time.time(base: base), !has(stage, at: slot) else { return }
        add(Fact(stage, detail: kept.detail, at: time, base: base), at: slot, limit: limit)
    }
}

extension Event {
    /// Whether it may change which attempt or which line a failure before it is counted for, where it arrives late.
    fileprivate var mayMoveFailures: Bool {
        switch kind {
        case .prefetchExecuted, .prefetchFailure, .prefetchExpired, .prefetchCompleted: true
        default: false
        }
    }
}

extension LongCycle {
    /// Applies an event to a cycle with these facts, and counts it; false when they are full.
    mutating func apply(
        _ event: borrowing Event,
        to cycle: inout Cycle,
        _ terms: ClosingTerms,
        limit: Int,
        into totals: inout LifecycleTotals
    ) -> Bool {
        let before = OneTimeStages(cycle)
        var insertion = Cycle.Insertion.known
        if let fact = Fact(event, base: cycle.base),
            fact.stage != .summary || cycle.isDistant(fact) || fact.addsInformation(to: facts.span, of: cycle)
        {
            let arrived =
                terms.countsByArrival
                ? fact.arriving(after: facts.span, isWaiting: terms.waiting.contains(.failure)) : fact
            insertion = insert(arrived, limit: limit)
            guard insertion != .full else { return false }
        }
        cycle.record(event, waiting: terms.waiting)
        if insertion == .inserted { count(cycle, terms, into: &totals) }
        if !terms.waiting.contains(.used) { cycle.countUse(&counted, into: &totals) }
        if terms.countsByArrival { cycle.countOneTimeStages(since: before, into: &totals) }
        return true
    }

    /// Counts what its facts give beyond what was counted.
    private mutating func count(_ cycle: Cycle, _ terms: ClosingTerms, into totals: inout LifecycleTotals) {
        let counts = StageCounts(
            facts.span,
            cycle.flags,
            isUsed: cycle.used.isKnown,
            isClosing: false,
            droppedRetries: Int(droppedRetries)
        )
        counted.count(counts, terms, into: &totals)
    }
}
