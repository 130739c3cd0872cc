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
        var former = KeptTimes()
        switch event.kind {
        case .prefetchUsedForNotification: former.used = self[slot].used
        case .notificationDelivered: former.delivered = self[slot].delivered
        default: break
        }
        if applyInline(event, at: slot, terms, into: &totals) == .full {
            guard applyLong(event, at: slot, terms, limit: limit, into: &totals) else { return false }
        }
        if event.hasSideFacts { addSideFacts(of: event, in: bytes, at: slot, former, limit: limit) }
        return true
    }

    /// Applies an event to a cycle that is or becomes long; false when it is full.
    private mutating func applyLong(
        _ event: borrowing Event,
        at slot: Int,
        _ terms: ClosingTerms,
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
            let arrived = terms.countsByArrival ? fact.arriving(after: long.facts.span) : fact
            insertion = long.insert(arrived, limit: limit)
            guard insertion != .full else { return false }
        }
        cycle.record(event, waiting: terms.waiting)
        if insertion == .inserted { long.count(cycle, terms.waiting, into: &totals) }
        if !terms.waiting.contains(.used) { cycle.countUse(&long.counted, into: &totals) }
        if terms.countsByArrival { cycle.countOneTimeStages(long.counted, since: before, into: &totals) }
        update(slot) { $0 = cycle }
        updateLongCycle(slot, long)
        return true
    }

    /// Adds what an event tells beside its stage.
    ///
    /// - Parameter former: what the cycle kept before the event.
    private mutating func addSideFacts(
        of event: borrowing Event,
        in bytes: Span<UInt8>,
        at slot: Int,
        _ former: KeptTimes,
        limit: Int
    ) {
        var isListed = mayBelongElsewhere(event, slot)
        switch event.kind {
        case .prefetchUsedForNotification:
            if isListed {
                list(former.used, as: .used, at: slot, limit: limit)
            } else {
                isListed = has(.used, at: slot)
            }
        case .notificationDelivered:
            if isListed {
                list(former.delivered, as: .delivered, at: slot, limit: limit)
            } else {
                isListed = has(.delivered, at: slot)
            }
        default: break
        }
        let side = SideFacts(event, bytes, base: self[slot].base, isListed: isListed)
        for index in 0..<side.count { add(side.facts[index], at: slot, limit: limit) }
    }

    private func has(_ stage: Fact.Stage, at slot: Int) -> Bool {
        withFacts(at: slot) { $0.has(stage) }
    }

    /// Lists a time that the cycle has kept once, before others are listed with it of which one may be moved.
    private mutating func list(_ kept: EarliestTime, as stage: Fact.Stage, at slot: Int, limit: Int) {
        let base = self[slot].base
        guard let time = kept.time(base: base), !has(stage, at: slot) else { return }
        add(Fact(stage, at: time, base: base), at: slot, limit: limit)
    }

    /// Adds a fact that no stage counts; drops it where the cycle is full.
    private mutating func add(_ fact: Fact, at slot: Int, limit: Int) {
        if !self[slot].flags.contains(.isLong) {
            guard update(slot, { $0.insert(fact) }) == .full else { return }
            lengthen(slot)
        }
        var long = longCycle(at: slot)
        _ = long.insert(fact, limit: limit)
        updateLongCycle(slot, long)
    }

    /// How often each stage of a cycle counts when it closes.
    func closingCounts(at slot: Int) -> StageCounts {
        let cycle = self[slot]
        let dropped = cycle.flags.contains(.isLong) ? longCycle(at: slot).droppedRetries : 0
        return withFacts(at: slot) { facts in
            StageCounts(
                facts,
                cycle.flags,
                isUsed: cycle.used.isKnown,
                isClosing: true,
                droppedRetries: Int(dropped)
            )
        }
    }

    /// The latest event time of a cycle.
    func lastTime(at slot: Int) -> Timestamp {
        let cycle = self[slot]
        let kept = [cycle.used, cycle.delivered].compactMap { $0.time(base: cycle.base) }
        return withFacts(at: slot) { facts in
            var last = cycle.base
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                last = fact.time(base: cycle.base)
            }
            return kept.reduce(last, max)
        }
    }

    /// When a stage of a cycle was told: the first and the last time. Where only others imply it, the time of those; that of
    /// the latest event where nothing shows it.
    func times(of stage: LifecycleStage, at slot: Int) -> ClosedRange<Timestamp> {
        let cycle = self[slot]
        if stage == .used, let used = cycle.used.time(base: cycle.base) { return used...used }
        let told = withFacts(at: slot) { facts in
            var told: ClosedRange<Timestamp>?
            var implied: ClosedRange<Timestamp>?
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                let time = fact.time(base: cycle.base)
                if fact.tells(stage) { told = (told?.lowerBound ?? time)...time }
                if fact.implies(stage) { implied = (implied?.lowerBound ?? time)...time }
            }
            return told ?? implied
        }
        return told ?? lastTime(at: slot)...lastTime(at: slot)
    }

    /// The time of the failure of the latest attempt before a time, which may have waited for its reason; nil without one.
    func pendingFailure(at slot: Int, before end: Timestamp) -> Timestamp? {
        let base = self[slot].base
        return withFacts(at: slot) { facts in
            var failed: Timestamp?
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                guard fact.time(base: base) < end else { break }
                if fact.stage == .executed { failed = nil }
                if fact.stage == .failure, !fact.detail.contains(.willRetry) {
                    failed = failed ?? fact.time(base: base)
                }
            }
            return failed
        }
    }

    /// How many stages like that of an event a cycle knows and has not counted, because they may be those of another half.
    func waitingStages(like kind: EventKind, at slot: Int) -> Int {
        let cycle = self[slot]
        let counted = counted(at: slot)
        return withFacts(at: slot) { facts in
            let told = StageCounts(facts, cycle.flags, isUsed: cycle.used.isKnown, isClosing: false)
            return switch kind {
            case .prefetchScheduled: told.scheduled - Int(counted.scheduled)
            case .prefetchExecuted: told.executed - Int(counted.executed)
            case .prefetchSuccess: told.success - Int(counted.success)
            case .prefetchFailure, .prefetchExpired: told.failureTotal - counted.failureTotal
            case .prefetchMissed: told.missed - Int(counted.missed)
            case .prefetchUsedForNotification: told.used - Int(counted.used)
            case .contentMissing: !cycle.flags.contains(.contentMissing) && facts.has(.contentMissing) ? 1 : 0
            case .notificationDrift: !cycle.flags.contains(.drifted) && facts.has(.drifted) ? 1 : 0
            default: 0
            }
        }
    }

    /// Whether the last attempt of a cycle has failed for good and waits for a reason before it counts.
    func hasWaitingFailure(at slot: Int) -> Bool {
        withFacts(at: slot) { facts in
            var attempt = Attempt()
            var executions = 0
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                guard fact.stage == .executed else {
                    attempt.add(fact)
                    continue
                }
                if executions > 0 { attempt = Attempt() }
                executions += 1
            }
            return attempt.hasFinalFailure && attempt.failure(hasEnded: false, isClosing: false) == nil
        }
    }

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
            if isTakenListed { list(own, as: stage, at: joined, limit: limit) }
            if !isTakenListed, has(stage, at: joined), let time = other.time(base: taken.base) {
                moved.append(Fact(stage, at: time, base: base))
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
        countAgain(joined, counted, since: OneTimeStages(kept), terms, into: &totals)
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
        add(withFacts(at: slot) { fact.arriving(after: $0) }, at: slot, limit: limit)
    }

    /// Counts what waited because the cycle was known by one name alone.
    mutating func countWaiting(at slot: Int, _ terms: ClosingTerms, into totals: inout LifecycleTotals) {
        let counted = counted(at: slot)
        countAgain(slot, [counted], since: OneTimeStages(self[slot], used: counted.used), terms, into: &totals)
    }

    private func droppedRetries(at slot: Int) -> UInt16 {
        self[slot].flags.contains(.isLong) ? longCycle(at: slot).droppedRetries : 0
    }

    /// Counts what the facts of a cycle give beyond what was counted of them.
    ///
    /// - Parameters:
    ///   - counted: what was counted, of each part.
    ///   - kept: the stages that count once, of all parts.
    private mutating func countAgain(
        _ slot: Int,
        _ counted: [CountedStages],
        since kept: OneTimeStages,
        _ terms: ClosingTerms,
        into totals: inout LifecycleTotals
    ) {
        var sum = CountedStages()
        for stages in counted { sum.add(stages) }
        var cycle = self[slot]
        withFacts(at: slot) { cycle.flagToldStages($0) }
        update(slot) { $0.flags = cycle.flags }
        let dropped = Int(droppedRetries(at: slot))
        let counts = withFacts(at: slot) { facts in
            StageCounts(facts, cycle.flags, isUsed: cycle.used.isKnown, isClosing: false, droppedRetries: dropped)
        }
        sum.count(counts, into: &totals)
        cycle.countUse(&sum, into: &totals)
        if terms.countsByArrival { cycle.countOneTimeStages(sum, since: kept, into: &totals) }
        if !cycle.flags.contains(.isLong), PackedStages.fits(sum) { return update(slot) { $0.counted = sum } }
        lengthen(slot)
        var long = longCycle(at: slot)
        long.counted = sum
        updateLongCycle(slot, long)
    }
}

extension CycleTable {
    /// Within this distance of its notification time an event without one belongs to a pass, whatever other passes of the
    /// schedule are told later.
    private static let ownMicroseconds: Int64 = 6 * 3_600 * 1_000_000

    /// Whether an event may belong to another pass of its schedule, whose notification time is not known yet.
    private func mayBelongElsewhere(_ event: borrowing Event, _ slot: Int) -> Bool {
        guard event.scheduledFor == nil else { return false }
        guard let due = self[slot].due else { return true }
        return (event.timestamp.microseconds &- due.microseconds).magnitude > UInt64(Self.ownMicroseconds)
    }

    /// Moves to a cycle that has learnt its notification time what is nearer to it than to the other passes of its
    /// schedule, and counts what that adds.
    ///
    /// An event that names no notification time belongs to the nearest pass, also where that is told later. O(facts of the
    /// open passes).
    ///
    /// - Returns: the cycles that something was moved from.
    mutating func takeNearer(
        to slot: Int,
        limit: Int,
        _ terms: ClosingTerms,
        into totals: inout LifecycleTotals
    ) -> [Int] {
        guard let due = self[slot].due, self[slot].schedule != 0 else { return [] }
        var others: [Int] = []
        _ = self.slot(schedule: self[slot].schedule) { other in
            if other != slot, self[other].due != nil { others.append(other) }
            return false
        }
        var givers: [Int] = []
        for other in others where take(from: other, to: slot, due, limit: limit, terms, into: &totals) {
            givers.append(other)
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

        // What the giver's facts no longer give was counted for what has moved.
        let (isUsed, dropped) = (self[other].used.isKnown, Int(droppedRetries(at: other)))
        let left = withFacts(at: other) { facts in
            StageCounts(facts, giver.flags, isUsed: isUsed, isClosing: false, droppedRetries: dropped)
        }
        let (remaining, surplus) = counted[0].split(leaving: left)
        let after = OneTimeStages(self[other], used: remaining.used)
        countAgain(other, [remaining], since: after, terms, into: &totals)
        countAgain(slot, [counted[1], surplus], since: OneTimeStages(kept, without: after), terms, into: &totals)
        return true
    }

    private mutating func replaceFacts(at slot: Int, _ facts: [UInt64]) {
        guard !self[slot].flags.contains(.isLong) else {
            var long = longCycle(at: slot)
            long.replaceFacts(facts)
            return updateLongCycle(slot, long)
        }
        update(slot) { cycle in
            cycle.removeFacts()
            for fact in facts { _ = cycle.insert(Fact(rawValue: fact)) }
        }
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
}

extension Span<UInt64> {
    /// Whether one of these facts is of a stage.
    fileprivate func has(_ stage: Fact.Stage) -> Bool {
        for index in indices where Fact(rawValue: self[index]).stage == stage { return true }
        return false
    }
}

extension Fact {
    fileprivate func tells(_ other: LifecycleStage) -> Bool {
        switch other {
        case .scheduled: stage == .scheduled
        case .executed: stage == .executed
        case .success: stage == .success
        case .failure: stage == .failure || (stage == .completed && detail.contains(.unsuccessful))
        default: false
        }
    }

    /// Whether it is a summary that asserts a stage, or a completion that may resolve a failure that was retried.
    fileprivate func implies(_ other: LifecycleStage) -> Bool {
        switch (stage, other) {
        case (.summary, .success): detail.contains(.fetched)
        case (.summary, .used): detail.contains(.usedCached)
        case (.completed, .success): !detail.contains(.unsuccessful)
        default: false
        }
    }
}

/// What a cycle keeps once of its uses and deliveries.
private struct KeptTimes {
    var used = EarliestTime()
    var delivered = EarliestTime()
}

extension LongCycle {
    /// Counts what its facts give beyond what was counted.
    fileprivate mutating func count(_ cycle: Cycle, _ waiting: WaitingStages, into totals: inout LifecycleTotals) {
        let counts = StageCounts(
            facts.span,
            cycle.flags,
            isUsed: cycle.used.isKnown,
            isClosing: false,
            droppedRetries: Int(droppedRetries)
        )
        counted.count(counts, into: &totals, waiting: waiting)
    }
}
