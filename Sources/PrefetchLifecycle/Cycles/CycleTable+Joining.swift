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
        let kept = [slot, other].map { OneTimeStages(self[$0]) }
        let dropped = droppedRetries(at: slot) &+ droppedRetries(at: other)
        var waited = StageTimes()
        for half in [slot, other] { note(&waited, at: half) }
        let joined = slot == count - 1 ? other : slot
        remove(other)
        learn(due: due, at: joined)
        var moved = facts.map { $0.moved(from: taken.base, to: base) }
        for stage in Cycle.keptOnce {
            if moved.contains(where: { $0.stage == stage }) {
                list(KeptOnce(stage, of: self[joined]), as: stage, at: joined, limit: limit)
            } else if has(stage, at: joined) {
                let kept = KeptOnce(stage, of: taken)
                guard let time = kept.time.time(base: taken.base) else { continue }
                moved.append(Fact(stage, detail: kept.detail, at: time, base: base))
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
            updateLongCycle(joined) { $0.droppedRetries = dropped }
        }
        var sum = counted[0]
        sum.add(counted[1])
        countAgain(joined, sum, since: OneTimeStages(kept), terms, into: &totals)
        if terms.countsByArrival { countShown(at: joined, into: &totals) }
        if terms.countsByArrival { keepCountedReasons(at: joined) }
        return (joined, waited)
    }

    /// Lowers what was counted of a cycle to what its facts give now; nil where that is no less.
    mutating func correct(at slot: Int) -> (StageCorrection, Cycle)? {
        var counted = counted(at: slot)
        let counts = stageCounts(at: slot, isClosing: false)
        guard !counted.isWithin(counts) else { return nil }
        let correction = counted.correct(to: counts)
        setCounted(counted, at: slot)
        return (correction, self[slot])
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
        countAgain(slot, counted, since: OneTimeStages(self[slot]), terms, into: &totals)
        if terms.countsByArrival { countShown(at: slot, into: &totals) }
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
        var passes: [(slot: Int, due: Timestamp)] = []
        var search = SlotSearch(self[slot].schedule)
        while let other = next(&search) {
            if other != slot, let due = self[other].due { passes.append((other, due)) }
        }
        // By their times: the order in the index is that of its growth, which a restart changes.
        passes.sort { $0.due < $1.due }
        let others = passes.map(\.slot)
        if terms.countsByArrival { for changed in others + [slot] { keepCountedReasons(at: changed) } }
        var counted = counted(at: slot)
        let kept = OneTimeStages(self[slot])
        let givers = others.compactMap { take(from: $0, to: slot, due, limit: limit, terms) }
        guard !givers.isEmpty else { return [] }
        let wanted = stageCounts(at: slot, isClosing: false)
        var left: [OneTimeStages] = []
        for giver in givers {
            // What the giver's facts no longer give, at its close at the latest, was counted for what has moved.
            let (remaining, surplus) = giver.counted.split(
                leaving: stageCounts(at: giver.slot, isClosing: false),
                atClosing: stageCounts(at: giver.slot, isClosing: true),
                wanted: wanted,
                beyond: counted,
                only: giver.stages
            )
            counted.add(surplus)
            left.append(OneTimeStages(self[giver.slot]))
            countAgain(giver.slot, remaining, since: left[left.count - 1], terms, into: &totals)
        }
        let since = OneTimeStages([kept] + givers.map(\.kept), without: left)
        countAgain(slot, counted, since: since, terms, into: &totals)
        if terms.countsByArrival {
            takeShown(from: givers.map(\.slot), to: slot)
            countShown(at: slot, into: &totals)
        }
        if terms.countsByArrival { for changed in givers.map(\.slot) + [slot] { keepCountedReasons(at: changed) } }
        return givers.map { ($0.slot, $0.wasHalf) }
    }

    /// Takes over that a delivery with prefetched content has been counted, where what was counted has moved.
    private mutating func takeShown(from givers: [Int], to slot: Int) {
        func isShown(_ slot: Int) -> Bool { self[slot].delivered.isKnown && counted(at: slot).used > 0 }
        guard isShown(slot), !self[slot].details.contains(.isShownCounted),
            let giver = givers.first(where: { self[$0].details.contains(.isShownCounted) && !isShown($0) })
        else { return }
        update(giver) { _ = $0.details.remove(.isShownCounted) }
        update(slot) { _ = $0.details.insert(.isShownCounted) }
    }

    /// A cycle that facts were taken from, as it was before.
    private struct Giver {
        let slot: Int
        let wasHalf: Bool
        let counted: CountedStages
        let kept: OneTimeStages
        /// The stages that the taken facts may count in.
        let stages: WaitingStages
    }

    /// Moves what is nearer to the notification time of another pass, and counts nothing; nil where nothing is.
    private mutating func take(
        from other: Int,
        to slot: Int,
        _ due: Timestamp,
        limit: Int,
        _ terms: ClosingTerms
    ) -> Giver? {
        let (giver, taker) = (self[other], self[slot])
        guard let formerDue = giver.due else { return nil }
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
        guard !moved.isEmpty, own + moved.count <= limit else { return nil }
        let counted = counted(at: other)
        let before = Giver(
            slot: other,
            wasHalf: half(at: other) != nil,
            counted: counted,
            kept: OneTimeStages(giver),
            stages: moved.reduce(into: []) { $0.formUnion($1.stages) }
        )
        replaceFacts(at: other, rest)
        update(other) { $0.forget(moved, keeping: rest, terms) }
        // What is moved may be of yet another pass: its own is kept beside it.
        for fact in moved {
            guard let stage = fact.stage else { continue }
            list(KeptOnce(stage, of: taker), as: stage, at: slot, limit: limit)
        }
        for fact in moved { add(fact.moved(from: giver.base, to: taker.base), at: slot, limit: limit) }
        update(slot) { $0.record(moved, from: giver, terms) }
        for stage in [Fact.Stage.started, .cached] where !moved.contains(where: { $0.stage == stage }) {
            guard !has(stage, at: other), let time = giver[kept: stage].time(base: giver.base),
                PassDistance(due, time) < PassDistance(formerDue, time)
            else { continue }
            update(other) { $0[kept: stage] = EarliestTime() }
            update(slot) { $0[kept: stage].include(time, base: $0.base) }
        }
        if rest.isEmpty { update(other) { $0.forgetTold() } }
        return before
    }

    /// Counts what the facts of a cycle give beyond what was counted of them.
    ///
    /// - Parameters:
    ///   - counted: what was counted of them, in all parts of the cycle.
    ///   - kept: the stages that count once, of all parts.
    ///   - terms: what waits only does so where the cycle is a half.
    private mutating func countAgain(
        _ slot: Int,
        _ counted: CountedStages,
        since kept: OneTimeStages,
        _ terms: ClosingTerms,
        into totals: inout LifecycleTotals
    ) {
        var terms = terms
        if !terms.waiting.isEmpty { terms.waiting.formIntersection(stagesOfHalf(at: slot)) }
        var (cycle, counted) = (self[slot], counted)
        withFacts(at: slot) { cycle.flagToldStages($0, waiting: terms.waiting) }
        update(slot) { $0.flags = cycle.flags }
        counted.count(stageCounts(at: slot, isClosing: false), terms, into: &totals)
        if !terms.waiting.contains(.used) { cycle.countUse(&counted, into: &totals) }
        if terms.countsByArrival { cycle.countOneTimeStages(since: kept, into: &totals) }
        setCounted(counted, at: slot)
    }

    private mutating func setCounted(_ counted: CountedStages, at slot: Int) {
        if !self[slot].flags.contains(.isLong), PackedStages.fits(counted) {
            return update(slot) { $0.counted = counted }
        }
        lengthen(slot)
        updateLongCycle(slot) { $0.counted = counted }
    }
}
