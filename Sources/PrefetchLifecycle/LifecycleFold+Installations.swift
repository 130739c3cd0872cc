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

    /// Notes when the installation's latest event was and when it scheduled a task last.
    mutating func noteTime(of event: Event, _ fingerprint: UInt64) {
        guard !event.isTimeAssumed else { return }
        let time = event.timestamp
        latest = max(latest, time)
        guard isOne(fingerprint) else { return }
        installations.update(fingerprint) { installation in
            installation.latest = max(installation.latest, time)
            if event.kind == .prefetchScheduled { installation.scheduled = max(installation.scheduled, time) }
        }
        totals.evictedInstallations = installations.evicted
    }

    /// Holds a denial against the tasks that were scheduled right after it, whichever of them comes first.
    mutating func noteDenial(_ event: Event, _ fingerprint: UInt64) {
        guard event.kind == .notificationDenied, !event.isTimeAssumed, isOne(fingerprint) else { return }
        let tasks = installations.update(fingerprint) { installation in
            installation.denied = max(installation.denied, event.timestamp)
            return installation.tasks
        }
        for task in tasks where Self.follows(Timestamp(microseconds: task.scheduled), event.timestamp) {
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

    /// Tells the installation what an event has changed about the task of a cycle.
    mutating func noteTask(of slot: Int, by event: Event) {
        switch event.kind {
        case .prefetchScheduled:
            noteTask(of: slot)
            let fingerprint = cycles[slot].installation
            guard !event.isTimeAssumed, let denied = installation(fingerprint)?.denied else { return }
            if Self.follows(event.timestamp, denied) {
                cycles.update(slot) { _ = $0.flags.insert(.scheduledWhileDenied) }
            }
        case .prefetchExecuted, .prefetchSuccess, .prefetchFailure, .prefetchExpired, .prefetchCompleted,
            .prefetchMissed, .notificationDelivered, .prefetchUsedForNotification:
            noteTask(of: slot)
        default: return
        }
    }

    mutating func noteTask(of slot: Int) {
        let cycle = cycles[slot]
        guard isOne(cycle.installation), cycle.flags.contains(.hasDue) else { return }
        guard let task = cycles.withFacts(at: slot, { WaitingTask(cycle, $0) }) else { return }
        let oldest = installations.update(cycle.installation) { $0.update(task) }
        if let oldest, oldest.isSecond { mark(oldest, of: cycle.installation, .isSecond) }
    }
}
