// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension LifecycleFold {
    /// Folds an event into its cycle and its installation.
    mutating func fold(_ event: borrowing Event, schedule: UInt64?, in bytes: Span<UInt8>) {
        let installation = event.installation?.fingerprint ?? 0
        let told = groups.place(of: event, in: bytes)
        let time = groups[told ?? 0].count(event, in: bytes, receivedAt: isReceiver ? clock : nil)
        note(time, of: event, in: told ?? 0)
        if let address = CycleAddress(event, schedule: schedule, installation: installation),
            var slot = slot(for: event, at: address)
        {
            let terms = closingTerms
            let group = group(of: slot, told)
            var before = groups.tally(of: group)
            if !cycles.tell(event, in: bytes, at: slot, terms, limit: factLimit, into: &groups[group]) {
                closeEarly(slot)
                slot = open(address, base: event.timestamp)
                cycles.update(slot) { $0.group = UInt8(group) }
                before = groups.tally(of: group)
                _ = cycles.tell(event, in: bytes, at: slot, terms, limit: factLimit, into: &groups[group])
            }
            let counted = groups.tally(of: group) - before
            note(counted, by: event, at: slot, in: group, bytes)
            settle(counted, by: event, at: slot, in: group)
            note(event, of: installation, due: cycles[slot].due)
            if event.kind == .prefetchScheduled {
                noteTask(of: slot, by: event)
                beginAnew(slot)
            }
        } else {
            note(event, of: installation, due: nil)
        }
        if event.kind == .notificationDenied { noteDenial(event, installation) }
        if !event.clientCounters.isEmpty { apply(snapshot: event, of: installation, in: told ?? 0, bytes) }
    }

    /// The group that a cycle counts in: the one that an event told last, where one did.
    private mutating func group(of slot: Int, _ told: Int?) -> Int {
        guard let told else { return Int(cycles[slot].group) }
        if cycles[slot].group != UInt8(told) { cycles.update(slot) { $0.group = UInt8(told) } }
        return told
    }

    private var closingTerms: ClosingTerms {
        ClosingTerms(
            clock: seconds(clock),
            grace: UInt32(clamping: limits.graceSeconds),
            open: UInt32(clamping: limits.openSeconds)
        )
    }

    private var factLimit: Int { min(limits.factsPerCycle, 255) }

    /// The cycle that an event belongs to, which knows all that the event says of its address; nil for an event that
    /// belongs to none and tells nothing of one.
    private mutating func slot(for event: borrowing Event, at address: CycleAddress) -> Int? {
        let opens = event.opensCycle
        while true {
            switch cycles.place(of: address, at: event.timestamp, limit: limits.cyclesPerSchedule) {
            case .known(let slot):
                guard isWithinReach(event, slot) else { continue }
                return slot
            case .learnsDue(let slot):
                guard isWithinReach(event, slot) else { continue }
                if let due = address.due { cycles.learn(due: due, at: slot) }
                return told(slot)
            case .learnsSchedule(let slot):
                guard isWithinReach(event, slot) else { continue }
                cycles.learn(schedule: address.schedule, at: slot)
                return told(slot)
            case .learnsScheduleWithout(_, let oldest):
                closeEarly(oldest)
            case .joins(let slot, let other):
                guard isWithinReach(event, slot) else { continue }
                guard let joined = join(slot, with: other, at: event.timestamp) else {
                    closeEarly(other)
                    continue
                }
                return told(joined)
            case .none:
                guard address.hasBoth || opens else { return nil }
                return open(address, base: event.timestamp)
            case .noneWithout(let slot):
                guard address.hasBoth || opens else { return nil }
                closeEarly(slot)
                return open(address, base: event.timestamp)
            }
        }
    }

    /// Joins two cycles and counts what they tell together; nil when they have to stay apart.
    private mutating func join(_ slot: Int, with other: Int, at time: Timestamp) -> Int? {
        let group = Int(cycles[slot].group)
        let before = groups.tally(of: group)
        let joined = cycles.join(slot, with: other, limit: factLimit, into: &groups[group])
        if let joined {
            settle(groups.tally(of: group) - before, of: cycles[joined].installation, at: time, in: group)
        }
        return joined
    }

    /// Whether an event is near enough to a cycle to be told relative to it; if not, the cycle is closed.
    private mutating func isWithinReach(_ event: borrowing Event, _ slot: Int) -> Bool {
        if Fact.canTell(event.timestamp, from: cycles[slot].base) { return true }
        closeEarly(slot)
        return false
    }

    /// The slot of an old cycle: the one that began first of some that lie apart, others each time.
    private var oldOne: Int {
        let start = Int(groups[0].evictedCycles % UInt64(cycles.count))
        let step = max(1, cycles.count / 16)
        return (0..<min(16, cycles.count)).map { (start + $0 * step) % cycles.count }
            .min { cycles[$0].base < cycles[$1].base } ?? start
    }

    private mutating func open(_ address: CycleAddress, base: Timestamp) -> Int {
        if cycles.count >= min(limits.openCycles, CycleIndex.slotLimit), cycles.count > 0 {
            closeEarly(oldOne)
        }
        let slot = cycles.open(address, base: base)
        if wasClosed(cycles[slot]) { cycles.update(slot) { _ = $0.flags.insert(.isReopened) } }
        return slot
    }

    /// Judges a cycle after all that is scheduled after an earlier one of its schedule was closed.
    private mutating func beginAnew(_ slot: Int) {
        let cycle = cycles[slot]
        guard cycle.flags.contains(.isReopened), cycle.due == nil, !wasClosed(cycle, isScheduled: true) else { return }
        cycles.update(slot) { _ = $0.flags.remove(.isReopened) }
    }

    /// Looks again at a cycle that has learnt more of its address.
    private mutating func told(_ slot: Int) -> Int {
        let wasClosed = wasClosed(cycles[slot])
        cycles.update(slot) { cycle in
            if wasClosed { cycle.flags.insert(.isReopened) } else { cycle.flags.remove(.isReopened) }
        }
        noteTask(of: slot)
        return slot
    }
}
