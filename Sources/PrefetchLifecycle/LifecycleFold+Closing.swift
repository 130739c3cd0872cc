// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

extension LifecycleFold {
    /// How long after its time a closed schedule is known again without a notification time, in seconds.
    private static let closedPeriod: Int64 = 12 * 3_600

    /// Closes every cycle: the input has ended. What is known to have come is the time of the latest event.
    public mutating func finish() {
        for slot in 0..<cycles.count { judge(slot, known: nil) }
        cycles.removeAll()
    }

    /// How many cycles one tick closes at most, so that it holds up the writer for some milliseconds; a part of what
    /// the rows of the ledger mean.
    static let closingsPerTick = 8_192

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
        settle(groups.tally(of: group) - before, atEndOf: cycle)
        remember(closed: cycle, until: cycles.lastTime(at: slot))
        guard let judgement = judgement(of: slot, known: known) else { return }
        groups[group].add(judgement)
        if keepsClosedCycles { closedCycles.append(ClosedCycle(judgement)) }
    }
}

extension LifecycleFold {
    /// Remembers a cycle for as long as identities are, so that it is not judged again.
    private mutating func remember(closed cycle: Cycle, until last: Timestamp) {
        guard deduplicates else { return }
        if let due = cycle.due { identities.insert(exactKey(of: cycle, due)) }
        guard cycle.schedule != 0 else { return }
        if let due = cycle.due { return identities.insert(periodKey(of: cycle.schedule, Self.period(of: due))) }
        identities.insert(periodKey(of: ~cycle.schedule, Self.period(of: cycle.base)))
        identities.insert(periodKey(of: ~cycle.schedule, Self.period(of: last)))
    }

    /// Whether a cycle was closed and judged before, and is told of again.
    ///
    /// Without a notification time that is taken for granted until half a day after a closed cycle of the same schedule was
    /// due. If that had none either, it is until half a day after it was last told of, and what is scheduled begins anew.
    func wasClosed(_ cycle: Cycle, isScheduled: Bool = false) -> Bool {
        guard deduplicates else { return false }
        if let due = cycle.due { return identities.contains(exactKey(of: cycle, due)) }
        let period = Self.period(of: cycle.base)
        return isRemembered(cycle.schedule, period) || !isScheduled && isRemembered(~cycle.schedule, period)
    }

    private func isRemembered(_ schedule: UInt64, _ period: Int64) -> Bool {
        identities.contains(periodKey(of: schedule, period)) || identities.contains(periodKey(of: schedule, period - 1))
    }

    private static func period(of time: Timestamp) -> Int64 { time.microseconds / 1_000_000 / closedPeriod }

    private func exactKey(of cycle: Cycle, _ due: Timestamp) -> UInt64 {
        key.hash(cycle.schedule == 0 ? ~cycle.installation : cycle.schedule, UInt64(bitPattern: due.microseconds))
    }

    private func periodKey(of schedule: UInt64, _ period: Int64) -> UInt64 {
        key.hash(schedule, UInt64(bitPattern: period))
    }
}
