// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension LifecycleFold {
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
        let freed = event.freesTaskAt
        if !isAssumed { latest = max(latest, time) }
        guard isOne(fingerprint) else { return }
        installations.update(fingerprint) { installation in
            if !isAssumed { installation.note(kind, at: time) }
            if let due, let freed { installation.free(due: due, at: freed) }
        }
        groups[0].evictedInstallations = installations.evicted
    }

    /// Holds a denial against the tasks that were scheduled right after it, whichever of them comes first.
    mutating func noteDenial(_ event: borrowing Event, _ fingerprint: UInt64) {
        guard !event.isTimeAssumed, isOne(fingerprint) else { return }
        let denied = event.timestamp.microseconds
        let tasks = installations.update(fingerprint) { installation in
            installation.note(denial: denied)
            return installation.tasks
        }
        for task in tasks {
            guard let slot = cycles.slot(installation: fingerprint, due: task.due) else { continue }
            let cycle = cycles[slot]
            let isDenied = cycles.withFacts(at: slot) { facts in
                facts.indices.contains { index in
                    let fact = Fact(rawValue: facts[index])
                    return fact.stage == .scheduled
                        && Installation.follows(fact.time(base: cycle.base), denied)
                }
            }
            if isDenied { cycles.update(slot) { _ = $0.flags.insert(.scheduledWhileDenied) } }
        }
    }

    private mutating func mark(_ task: WaitingTask, of fingerprint: UInt64, _ flag: Cycle.Flags) {
        guard let slot = cycles.slot(installation: fingerprint, due: task.due) else { return }
        cycles.update(slot) { _ = $0.flags.insert(flag) }
    }

    /// Tells the installation that a task was scheduled.
    mutating func noteTask(of slot: Int, by event: borrowing Event) {
        noteTask(of: slot)
        guard !event.isTimeAssumed, installation(cycles[slot].installation)?.isDenied(event.timestamp) ?? false else {
            return
        }
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

extension Event {
    /// When its task stopped waiting, where it says so: by the time that its cycle keeps of it, so that it is the same
    /// whether the task or this event comes first.
    fileprivate var freesTaskAt: Timestamp? {
        switch kind {
        case .prefetchExecuted, .prefetchSuccess, .prefetchFailure, .prefetchExpired, .prefetchCompleted,
            .prefetchMissed:
            timestamp
        case .prefetchUsedForNotification: timestamp.wholeMilliseconds
        case .notificationDelivered: receiverTime.wholeMilliseconds
        default: nil
        }
    }
}

extension Timestamp {
    fileprivate var wholeMilliseconds: Timestamp { Timestamp(microseconds: microseconds / 1_000 * 1_000) }
}
