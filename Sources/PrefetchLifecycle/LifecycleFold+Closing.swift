// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

extension LifecycleFold {
    /// The resolution in which a closed schedule is remembered by period instead of by notification time.
    private static let closedPeriodSeconds: Int64 = 4 * 3_600
    /// The periods, relative to an event's own, in which its closed cycle may have been due: 12 hours before to 4 after.
    private static let closedPeriods: ClosedRange<Int64> = -3...1

    /// Closes every cycle at the end of the input, judged at the time of the latest event.
    public mutating func finish() { finish(heardUntil: latest) }

    /// Closes every cycle at the end of the input.
    ///
    /// - Parameter heard: the latest event time of all folds of the input, each of which has other installations.
    package mutating func finish(heardUntil heard: Timestamp) {
        latest = max(latest, heard)
        if !isReceiver { windows.finish(at: latest) }
        takeAllDifferingTimes()
        for slot in 0..<cycles.count { judge(slot, known: nil) }
        cycles.removeAll()
        rememberClosed()
        countEvictions()
    }

    /// The most cycles that one tick closes, which keeps the writer's pause to a few milliseconds.
    ///
    /// Ledger rows depend on it: replaying a tick must close the same cycles, so it cannot change between versions.
    static let closingsPerTick = 2_048

    /// The first cycles of the table that are due to close by the ledger's clock.
    private mutating func due(at second: UInt32) -> [Int] {
        cycles.due(at: second, limit: Self.closingsPerTick)
    }

    /// How far the ledger's clock may be ahead of a tick, which is more than clocks are slewed by: 5 minutes.
    ///
    /// Ledger rows depend on it, as on `closingsPerTick`.
    private static let toleratedLeadMicroseconds: Int64 = 5 * 60 * 1_000_000

    /// Whether the ledger's clock is so far ahead of a time that a tick at that time sets it back.
    func isAhead(of now: Timestamp) -> Bool {
        clock.microseconds &- now.microseconds > Self.toleratedLeadMicroseconds
    }

    /// The ledger's clock after a tick at a time.
    public func timeOfTick(at now: Timestamp) -> Timestamp {
        isAhead(of: now) ? now : max(clock, now)
    }

    /// Sets the ledger's clock back, and with it the closing times that the clock ahead has given.
    mutating func setBack(to now: Timestamp) {
        clock = now
        cycles.limitClosing(closingTerms)
    }

    /// Closes and judges the cycles that are due by the ledger's clock.
    mutating func closeDue(at second: UInt32) {
        takeDifferingTimes { $0.due(at: second, limit: Self.closingsPerTick) }
        let due = due(at: second)
        for slot in due { judge(slot, known: clock) }
        rememberClosed()
        for slot in due.reversed() {
            closeTask(of: cycles[slot])
            cycles.remove(slot)
        }
    }

    /// The cycles with violations among those that `tick(to:)` would close at this time, with the same verdicts and in the
    /// same order. Closes and counts nothing.
    public mutating func violations(closingAt now: Timestamp) -> [ClosedCycle] {
        let known = timeOfTick(at: now)
        let second = seconds(known)
        if cycles.differingTimes(among: due(at: second)) != nil {
            var fold = self
            fold.takeDifferingTimes { $0.due(at: second, limit: Self.closingsPerTick) }
            return fold.violations(ofCyclesDueAt: second, known: known)
        }
        return violations(ofCyclesDueAt: second, known: known)
    }

    private mutating func violations(ofCyclesDueAt second: UInt32, known: Timestamp) -> [ClosedCycle] {
        due(at: second).compactMap { slot in
            let cycle = closing(slot)
            guard cycle.isJudged else { return nil }
            let evaluation = evaluation(of: cycle, slot, known: known)
            return evaluation.broken == 0 ? nil : ClosedCycle(evaluation)
        }
    }

    /// Closes a cycle before its time: the table is full, or the cycle cannot hold another event.
    mutating func evict(_ slot: Int) {
        judge(slot, known: nil)
        rememberClosed()
        cycles.remove(slot)
        groups[0].evictedCycles += 1
    }

    /// The verdict on a cycle that closes now.
    ///
    /// - Parameter known: the current time by the ledger's clock; nil for the latest event time of its installation.
    private func evaluation(of cycle: Cycle, _ slot: Int, known: Timestamp?) -> CycleEvaluation {
        guard isTracked(cycle.installation), let told = installations.slot(of: cycle.installation) else {
            return evaluation(of: cycle, slot, Installation(fingerprint: 0), heardOf: nil, known: known)
        }
        // In place: a copy would count the references to each of its lists.
        return evaluation(of: cycle, slot, installations[told], heardOf: installations[told].latest, known: known)
    }

    private func evaluation(
        of cycle: Cycle,
        _ slot: Int,
        _ installation: borrowing Installation,
        heardOf: Timestamp?,
        known: Timestamp?
    ) -> CycleEvaluation {
        let known = known ?? heardOf ?? latest
        let toleratedDrift = groups.toleratedDrift(of: Int(cycle.group))
        return cycles.withFacts(at: slot) {
            CycleEvaluation(
                cycle,
                $0,
                installation: installation,
                heardOf: heardOf ?? known,
                known: known,
                toleratedDrift: toleratedDrift
            )
        }
    }

    /// A cycle as it closes: with the stages of which none waits any more.
    private func closing(_ slot: Int) -> Cycle {
        var cycle = cycles[slot]
        // A closure that captures the fold would copy it.
        let isReceiver = isReceiver
        cycles.withFacts(at: slot) { facts in
            if isReceiver { cycle.flagToldStages(facts) }
            cycle.takeListedAges(facts)
        }
        return cycle
    }

    /// Counts what waited for the end of a cycle, and judges the cycle unless it is a reopened one.
    private mutating func judge(_ slot: Int, known: Timestamp?) {
        let cycle = closing(slot)
        if isReceiver, let half = cycles.half(at: slot), installations.slot(of: cycle.installation) != nil {
            installations.update(cycle.installation) { $0.halves.close(half) }
        }
        guard cycle.details.contains(.isTold) else { return }
        var counted = cycles.counted(at: slot)
        let group = Int(cycle.group)
        let before = groups.tally(of: group)
        let counts = cycles.stageCounts(at: slot, isClosing: true)
        let kept = isReceiver ? OneTimeStages(cycles[slot]) : OneTimeStages()
        counted.count(counts, closingTerms, into: &groups[group])
        cycle.countUse(&counted, into: &groups[group])
        let tally = groups.tally(of: group) - before
        if !isReceiver {
            groups[group].countImplied(counts)
            if !counted.isWithin(counts) { apply(counted.correct(to: counts), of: cycle, at: slot) }
            countByOwnTime(of: cycle, at: slot)
        }
        cycle.countOneTimeStages(since: kept, into: &groups[group])
        cycle.countAtClosing(
            counted,
            warp: warp(ofDelivery: cycle),
            toleratedDrift: groups.toleratedDrift(of: group),
            into: &groups[group]
        )
        reconcile(tally, atEndOf: cycle, slot)
        noteClosed(cycle, at: slot)
        let id = isReceiver ? schedules.take(cycle.schedule) : nil
        if let id { observe(tally, atEndOf: id, in: group) }
        guard cycle.isJudged else { return }
        let evaluation = evaluation(of: cycle, slot, known: known)
        if let id { observeTimes(of: evaluation, id, in: group) }
        groups[group].add(evaluation)
        if keepsClosedCycles { closedCycles.append(ClosedCycle(evaluation)) }
    }

    /// How far the clock of its installation was warped when a cycle was delivered, in microseconds.
    private func warp(ofDelivery cycle: Cycle) -> Int64 {
        guard installations.hasWarps, let delivered = cycle.delivered.time(base: cycle.base),
            let history = installation(cycle.installation)?.history.first
        else { return 0 }
        return history.clock.offset(at: delivered)
    }
}

extension LifecycleFold {
    /// Notes the names of a closed cycle, which ``rememberClosed()`` remembers.
    private mutating func noteClosed(_ cycle: Cycle, at slot: Int) {
        guard deduplicates else { return }
        if let due = cycle.due {
            closedNames.append(exactKey(of: cycle.schedule, cycle.installation, due))
            if cycle.installation != 0 { closedNames.append(timeKey(of: cycle.installation, due)) }
        }
        guard cycle.schedule != 0 else { return }
        if let due = cycle.due {
            closedNames.append(periodKey(of: cycle.schedule, Self.period(of: due)))
        } else {
            closedNames.append(periodKey(of: ~cycle.schedule, Self.period(of: cycle.base)))
            closedNames.append(periodKey(of: ~cycle.schedule, Self.period(of: cycles.lastTime(at: slot))))
        }
    }

    /// Remembers the closed cycles among the identities, so that a late event does not judge one again.
    private mutating func rememberClosed() {
        guard !closedNames.isEmpty else { return }
        closings &+= 1
        identities.insert(closedNames)
        closedNames.removeAll(keepingCapacity: true)
    }

    /// The names by which a cycle with an address is remembered once it has closed: its own, and the one that it has where
    /// its schedule, or that of the closed cycle, was never told.
    func closedNames(of address: CycleAddress) -> (own: UInt64, other: UInt64)? {
        guard deduplicates, let due = address.due else { return nil }
        return closedNames(of: address.schedule, address.installation, due)
    }

    /// Whether a cycle that is opened was closed before.
    func wasClosed(_ cycle: Cycle, _ lookup: EventWindow.CycleLookup) -> Bool {
        if let (wasClosed, count) = lookup.wasClosed, count == closings { return wasClosed }
        return wasClosed(cycle)
    }

    /// Whether a cycle was closed and judged before, so that late events reopen it without another verdict.
    ///
    /// A cycle without a notification time matches a closed one of its schedule that was due at most 4 hours after it or
    /// 12 hours before it. If the closed one had no notification time either, the times of its events stand in, and a
    /// new scheduling starts a new cycle.
    func wasClosed(_ cycle: Cycle, isScheduled: Bool = false) -> Bool {
        guard deduplicates else { return false }
        if let due = cycle.due { return wasClosed(cycle.schedule, cycle.installation, due: due) }
        let period = Self.period(of: cycle.base)
        if isScheduled { return isRemembered(cycle.schedule, period, 0...Self.closedPeriods.upperBound) }
        return isRemembered(cycle.schedule, period, Self.closedPeriods)
            || isRemembered(~cycle.schedule, period, Self.closedPeriods)
    }

    private func wasClosed(_ schedule: UInt64, _ installation: UInt64, due: Timestamp) -> Bool {
        let names = closedNames(of: schedule, installation, due)
        return identities.contains(names.own) || identities.contains(names.other)
    }

    private func closedNames(
        of schedule: UInt64,
        _ installation: UInt64,
        _ due: Timestamp
    ) -> (own: UInt64, other: UInt64) {
        let own = exactKey(of: schedule, installation, due)
        guard installation != 0 else { return (own, own) }
        return (own, schedule == 0 ? timeKey(of: installation, due) : namelessKey(of: installation, due))
    }

    private func isRemembered(_ schedule: UInt64, _ period: Int64, _ periods: ClosedRange<Int64>) -> Bool {
        periods.contains { identities.contains(periodKey(of: schedule, period + $0)) }
    }

    private static func period(of time: Timestamp) -> Int64 { time.microseconds / 1_000_000 / closedPeriodSeconds }

    private func exactKey(of schedule: UInt64, _ installation: UInt64, _ due: Timestamp) -> UInt64 {
        schedule == 0 ? namelessKey(of: installation, due) : key.hash(schedule, UInt64(bitPattern: due.microseconds))
    }

    /// Matches late events that name the installation and the notification time, but no schedule.
    private func timeKey(of installation: UInt64, _ due: Timestamp) -> UInt64 {
        key.hash(installation, ~UInt64(bitPattern: due.microseconds))
    }

    /// Matches a closed cycle that never named a schedule.
    private func namelessKey(of installation: UInt64, _ due: Timestamp) -> UInt64 {
        key.hash(~installation, UInt64(bitPattern: due.microseconds))
    }

    private func periodKey(of schedule: UInt64, _ period: Int64) -> UInt64 {
        key.hash(schedule, UInt64(bitPattern: period))
    }
}

/// When a cycle closes: a grace period after its delivery or summary, else a while after its notification time
/// (docs/lifecycle.md, What closes a cycle).
///
/// The defaults are those of `LifecycleLimits`.
struct ClosingTerms {
    /// The ledger's clock, in seconds since 1970.
    var clockSeconds: UInt32
    /// How long a cycle stays open after its delivery or its summary.
    var graceSeconds: UInt32
    /// How long a cycle stays open after its notification time.
    var openSeconds: UInt32
    /// Whether counters are seen as they grow, so that what was counted stands; false for a run over files.
    var countsByArrival: Bool
    /// The stages that a cycle known by one name alone does not count yet.
    var waiting: WaitingStages = []
}

extension Cycle {
    /// Whether it gets a verdict when it closes: not a reopened one, which has its verdict.
    fileprivate var isJudged: Bool { !flags.contains(.isReopened) && details.contains(.isTold) }

    /// Moves the closing time after an event.
    ///
    /// A delivery or a summary sets it to the end of the grace period; any other event only moves it later.
    mutating func postponeClosing(after kind: EventKind, _ terms: ClosingTerms) {
        if kind == .notificationDelivered || kind == .prefetchCycleComplete { flags.insert(.isEnding) }
        let end = closing(terms)
        closesAt = flags.contains(.isEnding) ? end : max(closesAt, end)
    }

    /// When it closes if its last event arrives now; no closing time that the clock has given by now is later.
    func closing(_ terms: ClosingTerms) -> UInt32 {
        let grace = terms.clockSeconds &+ terms.graceSeconds
        let open = (dueSecond ?? terms.clockSeconds) &+ terms.openSeconds
        return flags.contains(.isEnding) ? grace : max(open, grace)
    }
}
