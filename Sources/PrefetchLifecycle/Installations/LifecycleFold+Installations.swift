// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

extension LifecycleFold {
    /// Whether the rules across cycles apply to this installation.
    func isTracked(_ installation: UInt64) -> Bool { installation != 0 || anonymousIsOneInstallation }

    /// The state of an installation for judging; nil where the rules across cycles do not apply.
    func installation(_ fingerprint: UInt64) -> Installation? {
        isTracked(fingerprint) ? installations.find(fingerprint) : nil
    }

    /// Records the time of an event in its installation, and ends the waiting of the task that it frees.
    ///
    /// - Parameter due: the notification time of the event's cycle.
    mutating func updateInstallation(
        _ fingerprint: UInt64,
        with event: borrowing Event,
        due: Timestamp?,
        in bytes: Span<UInt8>
    ) {
        let time = event.timestamp
        let kind = event.kind
        let isAssumed = event.isTimeAssumed
        let freed = event.freesTaskAt
        let isAndroid = event.isOfAndroid(in: bytes)
        if !isAssumed { latest = max(latest, time) }
        guard isTracked(fingerprint) else { return }
        installations.update(fingerprint) { installation in
            if !isAssumed { installation.latest = max(installation.latest, time) }
            // Also one without a time of its own: that a task was submitted can only excuse a cycle.
            if kind == .prefetchScheduled { installation.submissions.note(UInt32(clamping: time.wholeSeconds)) }
            if let due, let freed { installation.free(due: due, at: freed) }
            if isAndroid { installation.isAndroid = true }
        }
    }

    /// Records whether notifications are permitted. Both are about the whole installation, whichever schedule is named.
    mutating func recordPermission(_ event: borrowing Event, _ fingerprint: UInt64) {
        guard isTracked(fingerprint) else { return }
        let isGranted = event.kind == .permissionGranted
        let time = event.timestamp
        installations.updateLists(fingerprint) { $0.permissions.record(isGranted: isGranted, at: time) }
    }

    /// Records what an event tells of its installation beside any cycle.
    ///
    /// - Parameter schedule: the hash of its schedule; nil without one.
    mutating func recordHistory(
        _ event: borrowing Event,
        of fingerprint: UInt64,
        schedule: UInt64?,
        in bytes: Span<UInt8>
    ) {
        guard isTracked(fingerprint) else { return }
        if event.kind == .rollingWindow, var window = event.rollingWindow(in: bytes) {
            if window.limit == nil, !event.isOfAndroid(in: bytes) { window.limit = LifecycleRules.pendingLimit }
            let seen = isReceiver ? clock : event.timestamp
            windows.record(window, of: fingerprint, at: event.timestamp, seen: seen)
        }
        // An assumed time orders a cancellation as it does the tasks, and a warp as the stamps behind it.
        if event.isTimeAssumed, event.kind != .prefetchCancelled, event.kind != .timeWarped { return }
        let time = event.timestamp
        func record(_ list: WritableKeyPath<InstallationHistory, LatestMoments>, _ value: Int64) {
            installations.updateLists(fingerprint) { $0.recordHistory { $0[keyPath: list].insert(value, at: time) } }
        }
        switch event.kind {
        case .pluginStarted: record(\.launches, LaunchKind(event.hasPendingSchedules).rawValue)
        case .prefetchCancelled: record(\.cancellations, Int64(bitPattern: schedule ?? 0))
        case .timeWarped:
            guard let minutes = event.minutes else { return }
            record(\.warps, minutes)
            installations.hasWarps = true
        case .rollingWindow where event.exceedsPendingLimit(in: bytes):
            record(\.breaches, Int64(ViolationKind.pendingLimitExceeded.rawValue))
        default: break
        }
        if !event.clientCounters.isEmpty, event.hasCountersOutOfPattern(in: bytes) {
            record(\.breaches, Int64(ViolationKind.countersOutOfPattern.rawValue))
        }
    }

    /// Whether the clock of an event's installation is warped, as far as it was told.
    func isWarped(_ event: borrowing Event) -> Bool {
        guard let history = installation(event.installation?.fingerprint ?? 0)?.history.first else {
            return false
        }
        return history.clock.offset(at: event.timestamp) != 0
    }

    /// Forgets the task of a cycle that has closed.
    mutating func closeTask(of cycle: Cycle) {
        guard let due = cycle.due, isTracked(cycle.installation), installations.remembersTasks(of: cycle.installation)
        else { return }
        installations.updateLists(cycle.installation) { $0.close(due: due) }
    }

    /// Forgets the task of an open cycle whose scheduling turned out to be of another pass.
    mutating func forgetTask(of slot: Int) {
        let cycle = cycles[slot]
        guard let due = cycle.due, isTracked(cycle.installation), !cycle.flags.contains(.isReopened),
            !cycles.has(.scheduled, at: slot)
        else { return }
        installations.updateLists(cycle.installation) { $0.forget(due: due, of: cycle.schedule) }
    }

    private mutating func mark(_ task: WaitingTask, of fingerprint: UInt64, _ flag: Cycle.Flags) {
        guard let slot = cycles.slot(installation: fingerprint, due: task.due) else { return }
        cycles.update(slot) { _ = $0.flags.insert(flag) }
    }

    /// Updates the task of a cycle in its installation.
    mutating func updateTask(of slot: Int) {
        let cycle = cycles[slot]
        guard isTracked(cycle.installation), cycle.flags.contains(.hasDue) else { return }
        guard let task = cycles.withFacts(at: slot, { WaitingTask(cycle, $0) }) else { return }
        let oldest = installations.updateLists(cycle.installation) { $0.update(task) }
        if let oldest, oldest.isSecond { mark(oldest, of: cycle.installation, .isSecond) }
    }
}

extension Event {
    /// The time at which it ends the waiting of its task, rounded as its cycle stores it, so that the order of arrival does
    /// not matter.
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

extension Event {
    /// Whether a client's own counters contradict each other: more successes than executions, or more of those than
    /// submissions.
    func hasCountersOutOfPattern(in bytes: Span<UInt8>) -> Bool {
        guard let snapshot = try? ClientSnapshot(self, in: bytes) else { return false }
        func exceeds(_ left: UInt64?, _ right: UInt64?) -> Bool {
            guard let left, let right else { return false }
            return left > right
        }
        return exceeds(snapshot[2], snapshot[1]) || exceeds(snapshot[1], snapshot[0])
    }

    /// Whether more notifications are pending than the limit it tells of, which is 64 on iOS.
    func exceedsPendingLimit(in bytes: Span<UInt8>) -> Bool {
        guard let window = rollingWindow(in: bytes), let pending = window.pending else { return false }
        guard let limit = window.limit ?? (isOfAndroid(in: bytes) ? nil : LifecycleRules.pendingLimit) else {
            return false
        }
        return pending > limit
    }
}

extension LifecycleFold {
    /// The open cycles without an installation, for a source that becomes a device of its own. O(open cycles).
    public func cyclesWithoutInstallation(now: Timestamp) -> CarriedCycles {
        var open: [CarriedCycles.Cycle] = []
        for slot in 0..<cycles.count where cycles[slot].installation == 0 {
            open.append(
                CarriedCycles.Cycle(schedule: cycles[slot].schedule, due: cycles[slot].due, base: cycles[slot].base)
            )
        }
        return CarriedCycles(open, now: now)
    }
}

extension Timestamp {
    fileprivate var wholeMilliseconds: Timestamp { Timestamp(microseconds: microseconds / 1_000 * 1_000) }
}

extension Event {
    /// Whether it tells something of its installation beside its cycle (`InstallationHistory`).
    var tellsHistory: Bool {
        switch kind {
        case .pluginStarted, .prefetchCancelled, .timeWarped, .rollingWindow: true
        default: !clientCounters.isEmpty
        }
    }

    /// Whether it names `android` as its platform, in ASCII of any case.
    func isOfAndroid(in bytes: Span<UInt8>) -> Bool {
        guard platform.count == 7 else { return false }
        var word: UInt64 = 0
        for index in platform { word = word << 8 | UInt64(bytes[index] | 0x20) }
        return word == 0x61_6E64_726F_6964
    }
}
