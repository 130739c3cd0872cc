// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The rules that hold a cycle against the launches of its app, and against what its installation told beside its cycles
/// (docs/lifecycle.md, Launches).
struct LaunchRules {
    private let cycle: Cycle
    private let account: CycleAccount
    private let installation: Installation
    private let history: InstallationHistory
    private let clock: WarpedClock

    /// Nil where the installation told nothing that the rules need.
    init?(_ cycle: Cycle, _ account: CycleAccount, _ installation: Installation?) {
        guard let installation, let history = installation.history.first else { return nil }
        self.cycle = cycle
        self.account = account
        self.installation = installation
        self.history = history
        clock = history.clock
    }

    /// Whether the task was cancelled before a moment.
    func isCancelled(before time: Timestamp) -> Bool {
        guard let scheduled = account.firstScheduled else { return false }
        return history.cancels(cycle.schedule, from: scheduled, through: time)
    }

    /// The launch after the missed window of a task that never ran, where nothing was said or done about it.
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

    /// The launch that told of no pending schedule while this one lay ahead.
    var launchWithoutSchedule: Timestamp? {
        guard let scheduled = account.firstScheduled, let planned = cycle.due ?? account.waitingBegin else {
            return nil
        }
        let delivered = cycle.delivered.time(base: cycle.base)
        return history.launches.moments.first { launch in
            launch.value == LaunchKind.nothingPending.rawValue && launch.time > scheduled
                && clock.warped(launch.time) < planned && delivered.map { $0 > launch.time } ?? true
                && !isCancelled(before: launch.time)
        }?.time
    }

    /// The launch that told of pending schedules while no task was waiting or running, and none was scheduled soon.
    ///
    /// The cycle of the latest submission before the launch stands for it.
    var launchWithoutTask: Timestamp? {
        history.launches.moments.first { launch in
            launch.value == LaunchKind.pending.rawValue && isKnown(after: launch.time)
                && isLatest(at: launch.time) && !hasTask(at: launch.time) && !isScheduled(near: launch.time)
        }?.time
    }

    /// Whether the installation went on long enough for a reaction to a launch to be seen.
    private func isKnown(after launch: Timestamp) -> Bool {
        installation.latest.microseconds >= launch.microseconds + LifecycleRules.reactionMicroseconds
    }

    private func isScheduled(near launch: Timestamp) -> Bool {
        let reaction = LifecycleRules.reactionMicroseconds / 1_000_000
        return installation.submissions.hasAny(
            from: launch.wholeSeconds - reaction,
            through: launch.wholeSeconds + reaction
        )
    }

    /// Whether a task waited or may have run at a moment.
    private func hasTask(at time: Timestamp) -> Bool {
        installation.hasTask(at: time, plannedBy: clock, besidesRunsOf: cycle.due)
            || account.lastExecuted.map {
                $0 <= time && time.microseconds < $0.microseconds + LifecycleRules.longestRun
            }
                ?? false
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

    /// Whether an event that belongs to no cycle broke a rule while this cycle was the latest one.
    func breaches(_ kind: ViolationKind) -> Timestamp? {
        history.breaches.moments.first { $0.value == Int64(kind.rawValue) && isLatest(at: $0.time) }?.time
    }
}
