// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

// Which cycle an event belongs to, and what becomes of cycles that turn out to be one, are too many or too full.
extension LifecycleFold {
    /// What an event changes about the names of its cycle.
    struct NameChange {
        /// It is a pass of a schedule with other ones, which is known from now on.
        var isNewPass = false
        /// It has both names from now on, and stages of it may have waited for that.
        var hasWaited = false
    }

    /// The cycle of an event, completed by the event's address; opens one where needed. Nil for an event that belongs to no
    /// cycle and opens none.
    ///
    /// - Parameter lookup: what was looked up about it.
    mutating func slot(
        for event: borrowing Event,
        at address: CycleAddress,
        _ lookup: EventWindow.CycleLookup
    ) -> (Int, NameChange)? {
        if let candidate = lookup.slot, cycles.isExact(candidate, address), evictUnlessWithinReach(event, candidate) {
            return (candidate, NameChange())
        }
        if let known = cycles.latestOpened.slot(of: address, in: cycles), evictUnlessWithinReach(event, known) {
            return (known, NameChange())
        }
        let opens = event.opensCycle
        while true {
            switch cycles.match(address, at: event.timestamp, limit: limits.cyclesPerSchedule) {
            case .found(let slot):
                guard evictUnlessWithinReach(event, slot) else { continue }
                return (slot, NameChange())
            case .learnsDue(let slot):
                guard evictUnlessWithinReach(event, slot) else { continue }
                if let due = address.due { cycles.learn(due: due, at: slot) }
                let hasWaited = closeHalf(.undated, at: slot)
                return (addressChanged(slot), NameChange(hasWaited: hasWaited))
            case .learnsSchedule(let slot):
                guard evictUnlessWithinReach(event, slot) else { continue }
                cycles.learn(schedule: address.schedule, at: slot)
                let hasWaited = closeHalf(.timed, at: slot)
                return (addressChanged(slot), NameChange(isNewPass: true, hasWaited: hasWaited))
            case .learnsScheduleEvicting(_, let oldest):
                evict(oldest)
            case .joins(let slot, let other):
                guard evictUnlessWithinReach(event, slot) else { continue }
                guard let joined = join(slot, with: other) else {
                    evict(other)
                    continue
                }
                _ = closeHalf(.undated, at: joined)
                _ = closeHalf(.timed, at: joined)
                return (addressChanged(joined), NameChange(isNewPass: true))
            case .none(let isFirst):
                guard address.hasBoth || opens else { return nil }
                let slot = open(address, base: event.timestamp, lookup)
                if isFirst { cycles.latestOpened = OpenedCycle(address.schedule, slot, in: cycles) }
                return (slot, NameChange(isNewPass: !isFirst))
            case .noneEvicting(let slot):
                guard address.hasBoth || opens else { return nil }
                evict(slot)
                return (open(address, base: event.timestamp), NameChange(isNewPass: true))
            }
        }
    }

    /// Notes that a cycle is no longer known by this name alone, unless it still is; returns whether stages of it may have
    /// waited, and wait no more.
    private mutating func closeHalf(_ half: CycleHalf, at slot: Int) -> Bool {
        guard isReceiver, cycles.half(at: slot) != half else { return false }
        return installations.update(cycles[slot].installation) { installation in
            defer { installation.halves.close(half) }
            return installation.halves.mayWait
        }
    }

    /// Notes what a cycle known by one name has counted.
    ///
    /// - Parameter isOpen: whether it is noted that there is such a cycle.
    mutating func countHalf(_ half: CycleHalf, at slot: Int, isOpen: Bool) {
        guard isOpen || cycles.half(at: slot) == half else { return }
        let stages = cycles.countedStagesOfHalf(at: slot)
        guard !stages.isEmpty || !isOpen else { return }
        installations.update(cycles[slot].installation) { installation in
            if !isOpen { installation.halves.open(half) }
            installation.halves.count(stages, of: half)
        }
    }

    /// Counts what waited until the cycle had both names.
    mutating func countWaiting(at slot: Int, _ terms: ClosingTerms, in group: Int) {
        let before = groups.tally(of: group)
        var terms = terms
        terms.waiting = installations.waiting(.undated, of: cycles[slot].installation)
        cycles.countWaiting(at: slot, terms, into: &groups[group])
        reconcile(groups.tally(of: group) - before, byStageAt: slot, in: group)
    }

    /// Moves to a pass what is nearer to it than to the other passes of its schedule.
    mutating func takeNearer(to slot: Int, _ terms: ClosingTerms, in group: Int) {
        let before = groups.tally(of: group)
        var terms = terms
        if isReceiver { terms.waiting = installations.waiting(.undated, of: cycles[slot].installation) }
        let wasHalf = cycles.half(at: slot) != nil
        let givers = cycles.takeNearer(to: slot, limit: factLimit, terms, into: &groups[group])
        guard !givers.isEmpty else { return }
        reconcile(groups.tally(of: group) - before, byStageAt: slot, from: givers.map(\.slot), in: group)
        for giver in givers where giver.wasHalf { _ = closeHalf(.undated, at: giver.slot) }
        if isReceiver, !wasHalf, let half = cycles.half(at: slot) { countHalf(half, at: slot, isOpen: false) }
        for giver in givers { forgetTask(of: giver.slot) }
        for slot in givers.map(\.slot) + [slot] { updateTask(of: slot) }
    }

    /// Joins two cycles and counts what their union adds; nil when they cannot be joined.
    mutating func join(_ slot: Int, with other: Int) -> Int? {
        let group = Int(cycles[slot].group)
        let before = groups.tally(of: group)
        var terms = closingTerms
        if isReceiver { terms.waiting = installations.waiting(.undated, of: cycles[slot].installation) }
        guard let (joined, waited) = cycles.join(slot, with: other, limit: factLimit, terms, into: &groups[group])
        else { return nil }
        reconcile(groups.tally(of: group) - before, byStageAt: joined, waited, in: group)
        if !isReceiver { takeBackRepeated(at: joined) }
        return joined
    }

    /// Takes back in a run over files what two halves counted of the same, before a client's counters are compared with it.
    private mutating func takeBackRepeated(at slot: Int) {
        guard let (correction, cycle) = cycles.correct(at: slot) else { return }
        apply(correction, of: cycle, at: slot)
    }

    /// Evicts a cycle whose base is too far from an event to store the event's time; returns whether it stays.
    private mutating func evictUnlessWithinReach(_ event: borrowing Event, _ slot: Int) -> Bool {
        if Fact.isRepresentable(event.timestamp, from: cycles[slot].base) { return true }
        evict(slot)
        return false
    }

    /// The slot to evict: the oldest of 16 samples spread over the table; each eviction moves the samples on.
    private var evictionCandidate: Int {
        let start = Int(groups[0].evictedCycles % UInt64(cycles.count))
        let step = max(1, cycles.count / 16)
        var oldest = start
        var slot = start
        for _ in 1..<max(2, min(16, cycles.count)) {
            slot += step
            if slot >= cycles.count { slot -= cycles.count }
            if cycles[slot].base < cycles[oldest].base { oldest = slot }
        }
        return oldest
    }

    /// Opens a cycle; closes another one before its time where too many are open.
    mutating func open(
        _ address: CycleAddress,
        base: Timestamp,
        _ lookup: EventWindow.CycleLookup = EventWindow.CycleLookup()
    ) -> Int {
        if cycles.count >= openCycleLimit, cycles.count > 0 {
            evict(evictionCandidate)
        }
        let slot = cycles.open(address, base: base)
        if wasClosed(cycles[slot], lookup) { cycles.update(slot) { _ = $0.flags.insert(.isReopened) } }
        if isReceiver, let half = cycles[slot].half {
            installations.update(address.installation) { $0.halves.open(half) }
        }
        return slot
    }

    /// Judges a reopened cycle again where it is a new one: scheduled after an earlier one of its schedule closed.
    mutating func resumeJudging(_ slot: Int) {
        let cycle = cycles[slot]
        guard cycle.flags.contains(.isReopened), cycle.due == nil, !wasClosed(cycle, isScheduled: true) else { return }
        cycles.update(slot) { _ = $0.flags.remove(.isReopened) }
    }

    /// Checks again whether a cycle was closed before, once its address is more complete.
    private mutating func addressChanged(_ slot: Int) -> Int {
        let wasClosed = wasClosed(cycles[slot])
        cycles.update(slot) { cycle in
            if wasClosed { cycle.flags.insert(.isReopened) } else { cycle.flags.remove(.isReopened) }
        }
        updateTask(of: slot)
        return slot
    }
}
