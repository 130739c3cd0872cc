// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension CycleTable {
    /// Takes in what an event says about its cycle and counts it.
    ///
    /// - Parameters:
    ///   - event: an event whose time is within reach of the cycle's base.
    ///   - bytes: the bytes that the event was read from.
    ///   - terms: when it closes.
    ///   - limit: how many facts a cycle may have.
    /// - Returns: false when the cycle has as many facts as it may; nothing has been taken in then.
    mutating func tell(
        _ event: borrowing Event,
        in bytes: Span<UInt8>,
        at slot: Int,
        _ terms: ClosingTerms,
        limit: Int,
        into totals: inout LifecycleTotals
    ) -> Bool {
        switch take(event, at: slot, terms, into: &totals) {
        case .inserted, .known: break
        case .full:
            guard let fact = Fact(event, base: self[slot].base) else { return true }
            let insertion = add(fact, at: slot, limit: limit)
            guard insertion != .full else { return false }
            note(event, at: slot)
            if insertion == .inserted { count(slot, into: &totals) } else { countKept(slot, into: &totals) }
        }
        guard event.hasSides else { return true }
        if let sides = HashSides(event) { compare(Fact(sides, event, bytes), sides, at: slot, limit: limit) }
        if let age = event.ageAtDelivery, self[slot].ttl.map({ age > $0 }) ?? true {
            _ = add(Fact(.age, value: UInt64(age)), at: slot, limit: limit)
        }
        return true
    }

    /// Counts what the facts of a cycle tell beyond what was counted before.
    mutating func count(_ slot: Int, into totals: inout LifecycleTotals) {
        guard let facts = longList(at: slot) else { return update(slot) { $0.count(into: &totals) } }
        update(slot) { cycle in
            let counts = StageCounts(facts.span, cycle.flags, isUsed: cycle.used.isKnown, isClosing: false)
            cycle.counted.count(counts, into: &totals)
            cycle.countKept(into: &totals)
        }
    }

    private mutating func countKept(_ slot: Int, into totals: inout LifecycleTotals) {
        update(slot) { $0.countKept(into: &totals) }
    }

    private mutating func add(_ fact: Fact, at slot: Int, limit: Int) -> Cycle.Insertion {
        if !self[slot].flags.contains(.isLong) {
            let insertion = update(slot) { $0.insert(fact) }
            guard insertion == .full else { return insertion }
            let facts = self[slot].factList
            updateLongList(slot) { $0 = facts }
            update(slot) { _ = $0.flags.insert(.isLong) }
        }
        return updateLongList(slot) { facts in
            var end = facts.count
            while end > 0, facts[end - 1] > fact.rawValue { end -= 1 }
            if end > 0, facts[end - 1] == fact.rawValue { return .known }
            guard facts.count < limit else { return .full }
            facts.insert(fact.rawValue, at: end)
            return .inserted
        }
    }

    /// Compares a hash with those of the other side: once one matches, the check is passed; until then they are kept.
    private mutating func compare(_ fact: Fact, _ sides: HashSides, at slot: Int, limit: Int) {
        guard !self[slot].flags.contains(sides.passed) else { return }
        let counterpart = Fact(sides.other, value: fact.value)
        let match = withFacts(at: slot) { facts in facts.indices.first { facts[$0] == counterpart.rawValue } }
        guard let match else {
            _ = add(fact, at: slot, limit: limit)
            return
        }
        let isLong = self[slot].flags.contains(.isLong)
        if isLong { updateLongList(slot) { _ = $0.remove(at: match) } }
        update(slot) { cycle in
            cycle.flags.insert(sides.passed)
            if !isLong { cycle.removeFact(at: match) }
        }
    }

    /// Joins two cycles that turn out to be one: the union of what they know, the sum of what was counted of them.
    ///
    /// - Returns: the slot of the joined cycle; nil when they are too far apart or too long, and nothing was changed.
    mutating func join(_ slot: Int, with other: Int, limit: Int, into totals: inout LifecycleTotals) -> Int? {
        let base = self[slot].base
        let taken = self[other]
        let facts = withFacts(at: other) { facts in facts.indices.map { Fact(rawValue: facts[$0]) } }
        let own = withFacts(at: slot) { $0.count }
        let isNear = facts.allSatisfy { !$0.hasTime || Fact.canTell($0.time(base: taken.base), from: base) }
        guard isNear, taken.canTellTimes(from: base), own + facts.count <= limit, let due = taken.due else {
            return nil
        }
        let joined = slot == count - 1 ? other : slot
        remove(other)
        learn(due: due, at: joined)
        for fact in facts {
            guard let stage = fact.stage else { continue }
            if let sides = HashSides(stage) {
                compare(fact, sides, at: joined, limit: limit)
            } else if fact.hasTime {
                let time = fact.time(base: taken.base)
                _ = add(Fact(stage, detail: fact.detail.rawValue, at: time, base: base), at: joined, limit: limit)
            } else {
                _ = add(fact, at: joined, limit: limit)
            }
        }
        update(joined) { $0.take(taken) }
        count(joined, into: &totals)
        return joined
    }
}
