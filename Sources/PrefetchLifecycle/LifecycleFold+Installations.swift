// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension LifecycleFold {
    /// How long after a denial a scheduling is held against it, in microseconds.
    private static let denialWindow: Int64 = 60 * 1_000_000

    /// Whether the rules that look beyond one cycle apply to this installation.
    private func isOne(_ installation: UInt64) -> Bool { installation != 0 || anonymousIsOneInstallation }

    /// What is known of an installation, for judging.
    func installation(_ fingerprint: UInt64) -> Installation? {
        isOne(fingerprint) ? installations.find(fingerprint) : nil
    }

    /// Notes the time of an event with its installation, and what it says about a task that waits there.
    ///
    /// - Parameter due: the notification time of the event's cycle.
    mutating func note(_ event: borrowing Event, of fingerprint: UInt64, due: Timestamp?) {
        let time = event.timestamp
        let kind = event.kind
        let isAssumed = event.isTimeAssumed
        if !isAssumed { latest = max(latest, time) }
        guard isOne(fingerprint) else { return }
        installations.update(fingerprint) { installation in
            if !isAssumed { installation.note(kind, at: time) }
            if let due, kind.freesTask { installation.free(due: due, at: time) }
        }
        groups[0].evictedInstallations = installations.evicted
    }

    /// Holds a denial against the tasks that were scheduled right after it, whichever of them comes first.
    mutating func noteDenial(_ event: borrowing Event, _ fingerprint: UInt64) {
        guard !event.isTimeAssumed, isOne(fingerprint) else { return }
        let time = event.timestamp
        let tasks = installations.update(fingerprint) { installation in
            installation.denied = max(installation.denied, time)
            return installation.tasks
        }
        for task in tasks where Self.follows(Timestamp(microseconds: task.scheduled), time) {
            mark(task, of: fingerprint, .scheduledWhileDenied)
        }
    }

    private static func follows(_ scheduled: Timestamp, _ denied: Timestamp) -> Bool {
        scheduled > denied && scheduled.microseconds <= denied.microseconds + denialWindow
    }

    private mutating func mark(_ task: WaitingTask, of fingerprint: UInt64, _ flag: Cycle.Flags) {
        guard let slot = cycles.slot(installation: fingerprint, due: task.due) else { return }
        cycles.update(slot) { _ = $0.flags.insert(flag) }
    }

    /// Tells the installation that a task was scheduled.
    mutating func noteTask(of slot: Int, by event: borrowing Event) {
        noteTask(of: slot)
        guard !event.isTimeAssumed, let denied = installation(cycles[slot].installation)?.denied else { return }
        guard Self.follows(event.timestamp, denied) else { return }
        cycles.update(slot) { _ = $0.flags.insert(.scheduledWhileDenied) }
    }

    /// Tells the installation what is known of the task of a cycle.
    mutating func noteTask(of slot: Int) {
        let cycle = cycles[slot]
        guard isOne(cycle.installation), cycle.flags.contains(.hasDue) else { return }
        guard let task = cycles.withFacts(at: slot, { WaitingTask(cycle, $0) }) else { return }
        let oldest = installations.update(cycle.installation) { $0.update(task) }
        if let oldest, oldest.isSecond { mark(oldest, of: cycle.installation, .isSecond) }
    }
}

extension EventKind {
    /// Whether an event of this kind says that its task does not wait any more.
    fileprivate var freesTask: Bool {
        switch self {
        case .prefetchExecuted, .prefetchSuccess, .prefetchFailure, .prefetchExpired, .prefetchCompleted,
            .prefetchMissed, .notificationDelivered, .prefetchUsedForNotification:
            true
        default: false
        }
    }
}
