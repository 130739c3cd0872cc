// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The moments that break a rule about the launches of the app, or about what its installation told beside its cycles
/// (docs/lifecycle.md, Launches).
struct LaunchRules {
    /// The launch after the missed window of a task that never ran, where nothing was said or done about it.
    let launchAfterMiss: Timestamp?
    /// The launch that told of no pending schedule while this one lay ahead.
    let launchWithoutSchedule: Timestamp?
    /// The launch that told of pending schedules while no task was waiting or running, and none was scheduled soon.
    let launchWithoutTask: Timestamp?
    /// When more notifications were pending than the limit allows, while this cycle was the latest one.
    let pendingLimitExceeded: Timestamp?
    /// When the client's counters contradicted each other, while this cycle was the latest one.
    let countersOutOfPattern: Timestamp?

    /// Nil where the installation told nothing that the rules need.
    init?(
        _ cycle: Cycle,
        _ facts: Span<UInt64>,
        _ account: borrowing CycleAccount,
        _ installation: Installation
    ) {
        guard let history = installation.history.first else { return nil }
        let judge = LaunchJudge(cycle: cycle, account: copy account, installation: installation, history: history)
        launchAfterMiss = judge.launchAfterMiss
        launchWithoutSchedule = judge.launchWithoutSchedule
        launchWithoutTask = judge.launchWithoutTask(facts)
        pendingLimitExceeded = judge.breach(of: .pendingLimitExceeded)
        countersOutOfPattern = judge.breach(of: .countersOutOfPattern)
    }
}

/// Holds a cycle against what its installation told beside its cycles.
private struct LaunchJudge {
    let cycle: Cycle
    let account: CycleAccount
    let installation: Installation
    let history: InstallationHistory
    let clock: WarpedClock

    init(cycle: Cycle, account: CycleAccount, installation: Installation, history: InstallationHistory) {
        self.cycle = cycle
        self.account = account
        self.installation = installation
        self.history = history
        clock = history.clock
    }

    /// When the task was first scheduled, or else its notification persisted: the system may refuse the task alone.
    private var firstScheduled: Timestamp? {
        account.firstScheduled ?? installation.content.persisted(cycle.schedule)
    }

    /// Whether the task was cancelled before a moment.
    private func isCancelled(before time: Timestamp) -> Bool {
        guard let scheduled = firstScheduled else { return false }
        return history.cancels(cycle.schedule, from: scheduled, through: time)
    }

    var launchAfterMiss: Timestamp? {
        guard account.firstExecuted == nil, account.firstSuccess == nil, account.failure == nil else { return nil }
        guard account.firstScheduled != nil, let end = account.waitingBegin?.endOfWindow else { return nil }
        guard let launch = firstLaunch(afterPlanned: end), isKnown(after: launch) else { return nil }
        let limit = launch.microseconds + LifecycleRules.reactionMicroseconds
        if let missed = account.missed, missed.microseconds <= limit { return nil }
        if isCancelled(before: launch) { return nil }
        // By the device's clock, which submissions are remembered by.
        let start = max(end.microseconds - clock.offset(at: launch), account.lastScheduled?.microseconds ?? .min)
        let isAlone = installation.submissions.areMissing(
            from: Timestamp(microseconds: start).wholeSeconds + 1,
            through: Timestamp(microseconds: limit).wholeSeconds
        )
        return isAlone ? launch : nil
    }

    /// The first launch later than a planned time; nil where an earlier one may have been forgotten.
    private func firstLaunch(afterPlanned time: Timestamp) -> Timestamp? {
        let launches = history.launches
        guard let place = launches.moments.firstIndex(where: { clock.warped($0.time) > time }),
            place > 0 || !launches.hasDropped
        else { return nil }
        return launches.moments[place].time
    }

    var launchWithoutSchedule: Timestamp? {
        guard let scheduled = firstScheduled, let planned = cycle.due ?? account.waitingBegin else { return nil }
        let delivered = cycle.delivered.time(base: cycle.base)
        return history.launches.moments.first { launch in
            launch.value == LaunchKind.nothingPending.rawValue && launch.time > scheduled
                && clock.warped(launch.time) < planned && delivered.map { $0 > launch.time } ?? true
                && !isCancelled(before: launch.time)
        }?.time
    }

    /// The cycle of the latest submission before the launch stands for it.
    func launchWithoutTask(_ facts: Span<UInt64>) -> Timestamp? {
        for launch in history.launches.moments where launch.value == LaunchKind.pending.rawValue {
            let time = launch.time
            guard isKnown(after: time), isLatest(at: time), !isScheduled(near: time),
                !installation.hasTask(at: time, plannedBy: clock, besidesRunsOf: cycle.due),
                !runs(near: time, facts)
            else { continue }
            return time
        }
        return nil
    }

    /// Whether the installation went on long enough for a reaction to a launch to be seen.
    private func isKnown(after launch: Timestamp) -> Bool {
        installation.latest.microseconds >= launch.microseconds + LifecycleRules.reactionMicroseconds
    }

    /// Whether a task was scheduled within the time of a reaction, and since all were cancelled.
    private func isScheduled(near launch: Timestamp) -> Bool {
        let reaction = LifecycleRules.reactionMicroseconds / 1_000_000
        let cancelled = history.cancellations.moments.last { $0.time < launch && $0.value == 0 }?.time.wholeSeconds
        return installation.submissions.hasAny(
            from: max(launch.wholeSeconds - reaction, cancelled ?? .min),
            through: launch.wholeSeconds + reaction
        )
    }

    /// Whether the task may have run at a launch, or ran within the time of a reaction to it, so that it waited. Each
    /// execution counts, because others may follow later.
    private func runs(near launch: Timestamp, _ facts: Span<UInt64>) -> Bool {
        let after = launch.microseconds - LifecycleRules.longestRun
        let limit = launch.microseconds + LifecycleRules.reactionMicroseconds
        for index in facts.indices {
            let fact = Fact(rawValue: facts[index])
            guard fact.stage == .executed else { continue }
            let executed = fact.time(base: cycle.base).microseconds
            if executed > after, executed <= limit { return true }
        }
        return false
    }

    /// Whether the latest submission until a moment is one of this cycle; before the first one, that.
    private func isLatest(at time: Timestamp) -> Bool {
        guard let first = account.firstScheduled, let last = account.lastScheduled,
            let second = installation.submissions.latest(until: time.wholeSeconds)
        else { return false }
        // Of two in one second, the one due later.
        return first.wholeSeconds <= second && second <= last.wholeSeconds
            && !installation.hasTask(scheduledIn: second, dueAfter: cycle.due)
    }

    /// When an event that belongs to no cycle broke a rule while this cycle was the latest one.
    func breach(of kind: ViolationKind) -> Timestamp? {
        history.breaches.moments.first { $0.value == Int64(kind.rawValue) && isLatest(at: $0.time) }?.time
    }
}
