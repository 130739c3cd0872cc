// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

extension LifecycleFold {
    /// The grain in which a closed schedule is remembered without its notification time, in seconds.
    private static let closedPeriod: Int64 = 4 * 3_600
    /// The periods in which a schedule was due that an event of some period may belong to.
    private static let closedPeriods: ClosedRange<Int64> = -3...1

    /// Closes every cycle: the input has ended. What is known to have come is the time of the latest event.
    public mutating func finish() {
        for slot in 0..<cycles.count { judge(slot, known: nil) }
        cycles.removeAll()
    }

    /// How many cycles one tick closes at most, so that it holds up the writer for some milliseconds; a part of what
    /// the rows of the ledger mean.
    static let closingsPerTick = 2_048

    /// The cycles that a tick closes: those whose time has come by the ledger's clock, the first ones of the table.
    private mutating func due(at second: UInt32) -> [Int] {
        cycles.due(at: second, limit: Self.closingsPerTick)
    }

    /// Closes the cycles whose time has come by the ledger's clock.
    mutating func closeDue(at second: UInt32) {
        let due = due(at: second)
        for slot in due { judge(slot, known: clock) }
        for slot in due.reversed() { cycles.remove(slot) }
    }

    /// The cycles that break a rule among those that `tick(to:)` would close at this time, judged as it will judge them,
    /// in the order in which it will close them. Nothing is closed or counted.
    public mutating func violations(closingAt now: Timestamp) -> [ClosedCycle] {
        let known = max(clock, now)
        return due(at: seconds(known)).compactMap { slot in
            guard let judgement = judgement(of: slot, known: known), judgement.broken != 0 else { return nil }
            return ClosedCycle(judgement)
        }
    }

    /// Closes a cycle to make room, or because it can take no more.
    mutating func closeEarly(_ slot: Int) {
        judge(slot, known: nil)
        cycles.remove(slot)
        groups[0].evictedCycles += 1
    }

    /// The verdict on a cycle that closes now; nil for one that was closed and judged before.
    ///
    /// - Parameter known: the time that is known to have come; nil for that of the latest event.
    private func judgement(of slot: Int, known: Timestamp?) -> Judgement? {
        let cycle = cycles[slot]
        guard !cycle.flags.contains(.isReopened) else { return nil }
        let installation = installation(cycle.installation)
        let now = known ?? installation?.latest ?? latest
        return cycles.withFacts(at: slot) { Judgement(cycle, $0, installation: installation, known: now) }
    }

    /// Counts what was held back of a cycle, and judges it unless that was done when it was closed before.
    private mutating func judge(_ slot: Int, known: Timestamp?) {
        let cycle = cycles[slot]
        var counted = cycles.counted(at: slot)
        let group = Int(cycle.group)
        let before = groups.tally(of: group)
        let isUsed = cycle.used.isKnown
        let counts = cycles.withFacts(at: slot) { StageCounts($0, cycle.flags, isUsed: isUsed, isClosing: true) }
        let kept = KeptStages(cycle, used: counted.used)
        counted.count(counts, into: &groups[group])
        cycle.countKept(&counted, since: kept, into: &groups[group])
        cycle.countRest(counted, into: &groups[group])
        let last = cycles.lastTime(at: slot)
        let tally = groups.tally(of: group) - before
        settle(tally, atEndOf: cycle, at: last)
        remember(closed: cycle, until: last)
        let judgement = judgement(of: slot, known: known)
        keep(tally, judgement, atEndOf: cycle)
        guard let judgement else { return }
        groups[group].add(judgement)
        if keepsClosedCycles { closedCycles.append(ClosedCycle(judgement)) }
    }
}

extension LifecycleFold {
    /// Remembers a cycle for as long as identities are, so that it is not judged again.
    private mutating func remember(closed cycle: Cycle, until last: Timestamp) {
        guard deduplicates else { return }
        if let due = cycle.due {
            identities.insert(exactKey(of: cycle, due))
            if cycle.installation != 0 { identities.insert(timeKey(of: cycle, due)) }
        }
        guard cycle.schedule != 0 else { return }
        if let due = cycle.due { return identities.insert(periodKey(of: cycle.schedule, Self.period(of: due))) }
        identities.insert(periodKey(of: ~cycle.schedule, Self.period(of: cycle.base)))
        identities.insert(periodKey(of: ~cycle.schedule, Self.period(of: last)))
    }

    /// Whether a cycle was closed and judged before, and is told of again.
    ///
    /// Without a notification time that is taken for granted from 4 hours before a closed cycle of the same schedule was due
    /// until 12 hours after, and for what is scheduled until then. If that had none either, the same holds of when it was
    /// told of, and what is scheduled begins anew.
    func wasClosed(_ cycle: Cycle, isScheduled: Bool = false) -> Bool {
        guard deduplicates else { return false }
        if let due = cycle.due {
            if identities.contains(exactKey(of: cycle, due)) { return true }
            guard cycle.installation != 0 else { return false }
            return identities.contains(cycle.schedule == 0 ? timeKey(of: cycle, due) : namelessKey(of: cycle, due))
        }
        let period = Self.period(of: cycle.base)
        if isScheduled { return isRemembered(cycle.schedule, period, 0...Self.closedPeriods.upperBound) }
        return isRemembered(cycle.schedule, period, Self.closedPeriods)
            || isRemembered(~cycle.schedule, period, Self.closedPeriods)
    }

    private func isRemembered(_ schedule: UInt64, _ period: Int64, _ periods: ClosedRange<Int64>) -> Bool {
        periods.contains { identities.contains(periodKey(of: schedule, period + $0)) }
    }

    private static func period(of time: Timestamp) -> Int64 { time.microseconds / 1_000_000 / closedPeriod }

    private func exactKey(of cycle: Cycle, _ due: Timestamp) -> UInt64 {
        cycle.schedule == 0
            ? namelessKey(of: cycle, due) : key.hash(cycle.schedule, UInt64(bitPattern: due.microseconds))
    }

    /// By which an event of the same installation and time is known that names no schedule.
    private func timeKey(of cycle: Cycle, _ due: Timestamp) -> UInt64 {
        key.hash(cycle.installation, ~UInt64(bitPattern: due.microseconds))
    }

    /// By which a cycle is known that named no schedule.
    private func namelessKey(of cycle: Cycle, _ due: Timestamp) -> UInt64 {
        key.hash(~cycle.installation, UInt64(bitPattern: due.microseconds))
    }

    private func periodKey(of schedule: UInt64, _ period: Int64) -> UInt64 {
        key.hash(schedule, UInt64(bitPattern: period))
    }
}
