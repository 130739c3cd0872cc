// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// Cycles that turn out to be one, or of which one has taken what belongs to another pass of its schedule.
extension CycleTable {
    /// Joins two halves of one cycle: the union of their facts, the sum of their counts.
    ///
    /// - Returns: the slot of the joined cycle, and when the half that waited was told of its stages; nil, with nothing
    ///   changed, when they are too far apart or too long.
    mutating func join(
        _ slot: Int,
        with other: Int,
        limit: Int,
        _ terms: ClosingTerms,
        into totals: inout LifecycleTotals
    ) -> (slot: Int, waited: StageTimes)? {
        if terms.countsByArrival { for half in [slot, other] { keepCountedReasons(at: half) } }
        let base = self[slot].base
        let taken = self[other]
        let facts = withFacts(at: other) { facts in facts.indices.map { Fact(rawValue: facts[$0]) } }
        let own = withFacts(at: slot) { $0.count }
        let isNear = facts.allSatisfy { Fact.isRepresentable($0.time(base: taken.base), from: base) }
        guard isNear, taken.hasRepresentableTimes(from: base), own + facts.count <= limit, let due = taken.due else {
            return nil
        }
        let counted = [slot, other].map { self.counted(at: $0) }
        let kept = [(slot, counted[0]), (other, counted[1])].map { OneTimeStages(self[$0.0], used: $0.1.used) }
        let dropped = droppedRetries(at: slot) &+ droppedRetries(at: other)
        var waited = StageTimes()
        for half in [slot, other] { note(&waited, at: half) }
        let joined = slot == count - 1 ? other : slot
        remove(other)
        learn(due: due, at: joined)
        var moved = facts.map { $0.moved(from: taken.base, to: base) }
        for (stage, own, other) in [
            (Fact.Stage.used, self[joined].used, taken.used), (.delivered, self[joined].delivered, taken.delivered),
        ] {
            let isTakenListed = moved.contains { $0.stage == stage }
            let ages = stage == .used ? (self[joined].age, taken.age) : (nil, nil)
            if isTakenListed { list(own, ages.0, as: stage, at: joined, limit: limit) }
            if !isTakenListed, has(stage, at: joined), let time = other.time(base: taken.base) {
                let age = ages.1.map { CodedTTL($0).rawValue } ?? 0
                moved.append(Fact(stage, detail: age, at: time, base: base))
            }
        }
        if terms.countsByArrival, counted[1].hasFailures, !counted[0].hasFailures {
            // The other half's failure was counted first.
            let later = withFacts(at: joined) { facts in facts.indices.map { Fact(rawValue: facts[$0]) } }
            replaceFacts(at: joined, [])
            for fact in moved { add(fact, at: joined, limit: limit) }
            for fact in later { addArriving(fact, at: joined, limit: limit) }
        } else {
            for fact in moved {
                terms.countsByArrival
                    ? addArriving(fact, at: joined, limit: limit) : add(fact, at: joined, limit: limit)
            }
        }
        update(joined) { $0.merge(taken) }
        if dropped > 0 {
            lengthen(joined)
            var long = longCycle(at: joined)
            long.droppedRetries = dropped
            updateLongCycle(joined, long)
        }
        let isWaiting = countAgain(joined, counted, since: OneTimeStages(kept), terms, into: &totals)
        if terms.countsByArrival, !isWaiting { keepCountedReasons(at: joined) }
        return (joined, waited)
    }

    /// Notes when a cycle was told of the stages that it has not counted.
    private func note(_ waited: inout StageTimes, at slot: Int) {
        let cycle = self[slot]
        let counted = counted(at: slot)
        let told = withFacts(at: slot) { StageCounts($0, cycle.flags, isUsed: cycle.used.isKnown, isClosing: false) }
        for place in 0..<StageTally.count where told[place] > counted[place] {
            waited[place] = times(of: StageTally.stage(place), at: slot).upperBound
        }
    }

    /// Adds a fact as one that arrives after those that its cycle has.
    private mutating func addArriving(_ fact: Fact, at slot: Int, limit: Int) {
        add(withFacts(at: slot) { fact.arriving(after: $0, isWaiting: false) }, at: slot, limit: limit)
    }

    /// Counts what waited because the cycle was known by one name alone.
    mutating func countWaiting(at slot: Int, _ terms: ClosingTerms, into totals: inout LifecycleTotals) {
        let counted = counted(at: slot)
        _ = countAgain(slot, [counted], since: OneTimeStages(self[slot], used: counted.used), terms, into: &totals)
    }

    /// Moves to a cycle that has learnt its notification time what is nearer to it than to the other passes of its
    /// schedule, and counts what that adds.
    ///
    /// An event that names no notification time belongs to the nearest pass, also where that is told later. O(facts of the
    /// open passes).
    ///
    /// - Returns: the cycles that something was moved from, and whether each was known by its schedule alone before.
    mutating func takeNearer(
        to slot: Int,
        limit: Int,
        _ terms: ClosingTerms,
        into totals: inout LifecycleTotals
    ) -> [(slot: Int, wasHalf: Bool)] {
        guard let due = self[slot].due, self[slot].schedule != 0 else { return [] }
        var others: [Int] = []
        _ = self.slot(schedule: self[slot].schedule) { other in
            if other != slot, self[other].due != nil { others.append(other) }
            return false
        }
        var givers: [(slot: Int, wasHalf: Bool)] = []
        for other in others {
            let wasHalf = half(at: other) != nil
            if take(from: other, to: slot, due, limit: limit, terms, into: &totals) { givers.append((other, wasHalf)) }
        }
        return givers
    }

    private mutating func take(
        from other: Int,
        to slot: Int,
        _ due: Timestamp,
        limit: Int,
        _ terms: ClosingTerms,
        into totals: inout LifecycleTotals
    ) -> Bool {
        if terms.countsByArrival { for changed in [other, slot] { keepCountedReasons(at: changed) } }
        let (giver, taker) = (self[other], self[slot])
        guard let formerDue = giver.due else { return false }
        var moved: [Fact] = []
        var rest: [UInt64] = []
        withFacts(at: other) { facts in
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                let time = fact.time(base: giver.base)
                let isNearer = PassDistance(due, time) < PassDistance(formerDue, time)
                if fact.isUndated, isNearer, Fact.isRepresentable(time, from: taker.base) {
                    moved.append(fact)
                } else {
                    rest.append(facts[index])
                }
            }
        }
        let own = withFacts(at: slot) { $0.count }
        guard !moved.isEmpty, own + moved.count <= limit else { return false }
        let counted = [counted(at: other), counted(at: slot)]
        let kept = [OneTimeStages(giver, used: counted[0].used), OneTimeStages(taker, used: counted[1].used)]
        replaceFacts(at: other, rest)
        update(other) { $0.forget(moved, keeping: rest, terms) }
        for fact in moved { add(fact.moved(from: giver.base, to: taker.base), at: slot, limit: limit) }
        update(slot) { $0.record(moved, from: giver, terms) }

        // What the giver's facts no longer give, at its close at the latest, was counted for what has moved.
        let (remaining, surplus) = counted[0].split(
            leaving: stageCounts(at: other, isClosing: false),
            atClosing: stageCounts(at: other, isClosing: true),
            wanted: stageCounts(at: slot, isClosing: false),
            beyond: counted[1]
        )
        let after = OneTimeStages(self[other], used: remaining.used)
        let since = OneTimeStages(kept, without: after)
        let isGiverWaiting = countAgain(other, [remaining], since: after, terms, into: &totals)
        let isTakerWaiting = countAgain(slot, [counted[1], surplus], since: since, terms, into: &totals)
        guard terms.countsByArrival else { return true }
        if !isGiverWaiting { keepCountedReasons(at: other) }
        if !isTakerWaiting { keepCountedReasons(at: slot) }
        return true
    }

    /// Counts what the facts of a cycle give beyond what was counted of them.
    ///
    /// - Parameters:
    ///   - counted: what was counted, of each part.
    ///   - kept: the stages that count once, of all parts.
    ///   - terms: what waits only does so where the cycle is a half.
    /// - Returns: whether its failures wait.
    private mutating func countAgain(
        _ slot: Int,
        _ counted: [CountedStages],
        since kept: OneTimeStages,
        _ terms: ClosingTerms,
        into totals: inout LifecycleTotals
    ) -> Bool {
        var terms = terms
        if !terms.waiting.isEmpty { terms.waiting.formIntersection(stagesOfHalf(at: slot)) }
        var sum = CountedStages()
        for stages in counted { sum.add(stages) }
        var cycle = self[slot]
        withFacts(at: slot) { cycle.flagToldStages($0, waiting: terms.waiting) }
        update(slot) { $0.flags = cycle.flags }
        sum.count(stageCounts(at: slot, isClosing: false), terms, into: &totals)
        if !terms.waiting.contains(.used) { cycle.countUse(&sum, into: &totals) }
        if terms.countsByArrival { cycle.countOneTimeStages(sum, since: kept, into: &totals) }
        if !cycle.flags.contains(.isLong), PackedStages.fits(sum) {
            update(slot) { $0.counted = sum }
        } else {
            lengthen(slot)
            var long = longCycle(at: slot)
            long.counted = sum
            updateLongCycle(slot, long)
        }
        return terms.waiting.contains(.failure)
    }
}
