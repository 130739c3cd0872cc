// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension CycleTable {
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
        if applyInline(event, at: slot, terms, into: &totals) == .full {
            guard applyLong(event, at: slot, limit: limit, into: &totals) else { return false }
        }
        guard event.hasHashOrAge else { return true }
        if let comparison = HashComparison(event) {
            compare(Fact(comparison, event, bytes), comparison, at: slot, limit: limit)
        }
        if let age = event.ageAtDelivery, !event.isAgeCounted || self[slot].ttl.map({ age > $0 }) ?? true {
            add(Fact(.age, value: UInt64(age)), at: slot, limit: limit)
        }
        return true
    }

    /// Applies an event to a cycle that is or becomes long; false when it is full.
    private mutating func applyLong(
        _ event: borrowing Event,
        at slot: Int,
        limit: Int,
        into totals: inout LifecycleTotals
    ) -> Bool {
        lengthen(slot)
        var cycle = self[slot]
        var long = longCycle(at: slot)
        let before = OneTimeStages(cycle, used: long.counted.used)
        var insertion = Cycle.Insertion.known
        if let fact = Fact(event, base: cycle.base),
            fact.addsInformation(to: long.facts.span, isUsed: cycle.used.isKnown)
        {
            insertion = long.insert(fact, limit: limit)
            guard insertion != .full else { return false }
        }
        cycle.record(event)
        if insertion == .inserted {
            let counts = StageCounts(long.facts.span, cycle.flags, isUsed: cycle.used.isKnown, isClosing: false)
            long.counted.count(counts, into: &totals)
        }
        cycle.countOneTimeStages(&long.counted, since: before, into: &totals)
        update(slot) { $0 = cycle }
        updateLongCycle(slot, long)
        return true
    }

    /// Adds a fact that no stage counts.
    private mutating func add(_ fact: Fact, at slot: Int, limit: Int) {
        if !self[slot].flags.contains(.isLong) {
            guard update(slot, { $0.insert(fact) }) == .full else { return }
            lengthen(slot)
        }
        var long = longCycle(at: slot)
        _ = long.insert(fact, limit: limit)
        updateLongCycle(slot, long)
    }

    /// Compares a hash with those of the other side. The first match passes the check; until then the hashes are kept.
    private mutating func compare(_ fact: Fact, _ comparison: HashComparison, at slot: Int, limit: Int) {
        guard !self[slot].flags.contains(comparison.matchFlag) else { return }
        let counterpart = Fact(comparison.other, value: fact.value)
        let match = withFacts(at: slot) { facts in facts.indices.first { facts[$0] == counterpart.rawValue } }
        guard let match else { return add(fact, at: slot, limit: limit) }
        update(slot) { _ = $0.flags.insert(comparison.matchFlag) }
        guard self[slot].flags.contains(.isLong) else { return update(slot) { $0.removeFact(at: match) } }
        var long = longCycle(at: slot)
        long.removeFact(at: match)
        updateLongCycle(slot, long)
        if long.isShort { shorten(slot) }
    }

    /// The latest event time of a cycle.
    func lastTime(at slot: Int) -> Timestamp {
        let cycle = self[slot]
        let kept = [cycle.used, cycle.delivered].compactMap { $0.time(base: cycle.base) }
        return withFacts(at: slot) { facts in
            var last = cycle.base
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                if fact.hasTime { last = fact.time(base: cycle.base) }
            }
            return kept.reduce(last, max)
        }
    }

    /// The time of the failure of the latest attempt before a time, which may have waited for its reason; nil without one.
    func pendingFailure(at slot: Int, before end: Timestamp) -> Timestamp? {
        let base = self[slot].base
        return withFacts(at: slot) { facts in
            var failed: Timestamp?
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                guard fact.hasTime else { continue }
                guard fact.time(base: base) < end else { break }
                if fact.stage == .executed { failed = nil }
                if fact.stage == .failure, !fact.detail.contains(.willRetry) {
                    failed = failed ?? fact.time(base: base)
                }
            }
            return failed
        }
    }

    /// Whether the last attempt of a cycle has failed for good and waits for a reason before it counts.
    func hasWaitingFailure(at slot: Int) -> Bool {
        withFacts(at: slot) { facts in
            var attempt = Attempt()
            var executions = 0
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                switch fact.stage {
                case .executed:
                    if executions > 0 { attempt = Attempt() }
                    executions += 1
                case .success: attempt.addSuccess(fact)
                case .failure: attempt.addFailure(fact)
                case .completed: attempt.addCompletion(fact)
                default: break
                }
            }
            return attempt.hasFinalFailure && attempt.failure(hasEnded: false, isClosing: false) == nil
        }
    }

    /// Joins two halves of one cycle: the union of their facts, the sum of their counts.
    ///
    /// - Returns: the slot of the joined cycle; nil, with nothing changed, when they are too far apart or too long.
    mutating func join(_ slot: Int, with other: Int, limit: Int, into totals: inout LifecycleTotals) -> Int? {
        let base = self[slot].base
        let taken = self[other]
        let facts = withFacts(at: other) { facts in facts.indices.map { Fact(rawValue: facts[$0]) } }
        let own = withFacts(at: slot) { $0.count }
        let isNear = facts.allSatisfy { !$0.hasTime || Fact.isRepresentable($0.time(base: taken.base), from: base) }
        guard isNear, taken.hasRepresentableTimes(from: base), own + facts.count <= limit, let due = taken.due else {
            return nil
        }
        let counted = [slot, other].map { self.counted(at: $0) }
        let kept = [(slot, counted[0]), (other, counted[1])].map { OneTimeStages(self[$0.0], used: $0.1.used) }
        let joined = slot == count - 1 ? other : slot
        remove(other)
        learn(due: due, at: joined)
        for fact in facts {
            guard let stage = fact.stage else { continue }
            if let comparison = HashComparison(stage) {
                compare(fact, comparison, at: joined, limit: limit)
            } else if fact.hasTime {
                let time = fact.time(base: taken.base)
                add(Fact(stage, detail: fact.detail.rawValue, at: time, base: base), at: joined, limit: limit)
            } else {
                add(fact, at: joined, limit: limit)
            }
        }
        update(joined) { $0.merge(taken) }
        countJoined(joined, counted, kept, into: &totals)
        return joined
    }

    /// Counts what the union of two cycles gives beyond what was counted of each.
    private mutating func countJoined(
        _ slot: Int,
        _ counted: [CountedStages],
        _ kept: [OneTimeStages],
        into totals: inout LifecycleTotals
    ) {
        var sum = CountedStages()
        for stages in counted { sum.add(stages) }
        let cycle = self[slot]
        let counts = withFacts(at: slot) { StageCounts($0, cycle.flags, isUsed: cycle.used.isKnown, isClosing: false) }
        sum.count(counts, into: &totals)
        cycle.countOneTimeStages(&sum, since: OneTimeStages(kept), into: &totals)
        if !cycle.flags.contains(.isLong), PackedStages.fits(sum) { return update(slot) { $0.counted = sum } }
        lengthen(slot)
        var long = longCycle(at: slot)
        long.counted = sum
        updateLongCycle(slot, long)
    }
}

extension CycleTable {
    /// What has been counted of a cycle.
    func counted(at slot: Int) -> CountedStages {
        self[slot].flags.contains(.isLong) ? longCycle(at: slot).counted : self[slot].counted
    }

    /// Moves the facts of a cycle into a `LongCycle`, unless they are in one.
    private mutating func lengthen(_ slot: Int) {
        guard !self[slot].flags.contains(.isLong) else { return }
        let long = LongCycle(facts: self[slot].factList, counted: self[slot].counted)
        update(slot) { cycle in
            cycle.removeFacts()
            cycle.flags.insert(.isLong)
        }
        updateLongCycle(slot, long)
    }

    /// Moves the facts of a long cycle back inline.
    private mutating func shorten(_ slot: Int) {
        guard let long = removeLongCycle(slot) else { return }
        update(slot) { cycle in
            cycle.flags.remove(.isLong)
            cycle.counted = long.counted
            for fact in long.facts { _ = cycle.insert(Fact(rawValue: fact)) }
        }
    }
}
