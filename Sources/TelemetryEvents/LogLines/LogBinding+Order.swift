// SPDX-License-Identifier: Apache-2.0

/// Finds the cycle of a line that names neither schedule nor notification time: the one that its stream is in.
extension LogBinding {
    /// How long after its notification time a cycle's task may still begin or run, in microseconds: half a day, since
    /// later ones are nearer to the next day's notification.
    fileprivate static let latestTask: Int64 = 43_200_000_000
    /// How far from its notification time a line of a delivery may be, in microseconds: the tolerated drift and a minute.
    private static let latestDelivery: UInt64 = 240_000_000
    /// How long before its notification time a task may begin, in microseconds.
    private static let longestLead: Int64 = 86_400_000_000
    /// How far from its notification time a run may be that only its id and its time tell, in microseconds.
    private static let longestNamedLead: UInt64 = 1_800_000_000

    func cycleInOrder(
        _ message: LogMessage,
        _ phase: LogRule.Phase,
        _ context: Int?,
        _ device: Int,
        _ stream: Int,
        _ time: Timestamp?,
        mayOpen: Bool
    ) -> Int? {
        switch phase {
        case .plugin: return nil
        case .scheduling:
            if message.form.kind == .prefetchMissed { return missedCycle(context, device, time) }
            if message.form.kind == .leadCapped { return cappedCycle(context, device) }
            return scheduledCycle(message.begin, context, device)
        case .execution:
            if message.form.kind == .prefetchExecuted { return nextToExecute(device, streams[stream], time) }
            return runningCycle(context, device, time)
        case .delivery, .summary:
            if let context,
                !devices[device].cycles[context].isDelivered || streams[stream].isBackInDelivered
                    || message.form.kind == .notificationDrift,
                devices[device].cycles[context].isNear(time)
            {
                return context
            }
            let next =
                nearest(device, time) { !$0.isDelivered && $0.isNear(time) }
                ?? nearest(device, time) { !$0.isDelivered }
            // What would open no cycle is a line that was read before.
            if mayOpen, let context, isOfDelivery(context, ratherThan: next, device, time) { return context }
            return next ?? (message.form.kind == .notificationDrift ? devices[device].cycles.indices.last : nil)
        }
    }

    /// The cycle without an id that a line of a delivery or a summary names: the undelivered one of the same process whose
    /// notification time is nearest, within half a day.
    func cycleToName(_ device: Int, _ stream: Int, _ time: Timestamp?) -> Int? {
        let process = streams[stream].process
        let found = nearest(device, time) {
            $0.idHash == 0 && $0.due != nil && !$0.isDelivered && $0.process == process
        }
        guard let found, let time else { return found }
        return devices[device].cycles[found].distance(to: time) <= UInt64(Self.latestTask) ? found : nil
    }

    /// The pass of a schedule that a line of a delivery tells of, where several are known: the one whose notification time is
    /// nearest, within half a day. Nil for a schedule with one pass, of which the order of lines knows enough.
    func nearestPass(_ idHash: UInt64, _ device: Int, _ stream: Int, _ time: Timestamp?) -> Int? {
        guard let time, devices[device].cycles.count(where: { $0.idHash == idHash && $0.due != nil }) > 1 else {
            return nil
        }
        let process = streams[stream].process
        let pass = nearest(device, time) {
            $0.idHash == idHash && $0.due != nil && self.mayBeOfOneApp($0.process, process, device)
        }
        return pass.flatMap { devices[device].cycles[$0].distance(to: time) <= UInt64(Self.latestTask) ? $0 : nil }
    }

    /// Whether a line near the notification time of a delivered cycle is a late or repeated one of its delivery, and not
    /// the first of the next cycle, which is due later.
    private func isOfDelivery(_ delivered: Int, ratherThan next: Int?, _ device: Int, _ time: Timestamp?) -> Bool {
        let cycles = devices[device].cycles
        guard let time, let due = cycles[delivered].due, due.distance(to: time) <= Self.latestDelivery else {
            return false
        }
        guard let next else { return true }
        return cycles[next].due.map { $0.distance(to: time) > due.distance(to: time) } ?? false
    }

    /// The cycle that an execution belongs to that no later line named, and that nothing followed: the one before it, whose
    /// late or repeated run it is.
    ///
    /// - Parameter phantom: the cycle that the execution opened.
    func cycleBefore(_ phantom: Int, _ device: Int, _ time: Timestamp?) -> Int? {
        let serial = devices[device].cycles[phantom].serial
        let process = devices[device].cycles[phantom].process
        return nearestOrLast(device, time) {
            $0.serial < serial && self.mayStillRun($0, at: time) && self.mayBeOfOneApp($0.process, process, device)
        }
    }

    // MARK: Scheduling

    /// The cycle whose task a line says is scheduled.
    private func scheduledCycle(_ begin: Timestamp?, _ context: Int?, _ device: Int) -> Int? {
        let state = devices[device]
        guard let begin else { return context.flatMap { state.cycles[$0].isDelivered ? nil : $0 } }
        guard let context else { return fittingCycle(begin, in: state) }
        let cycle = state.cycles[context]
        if mayBegin(cycle, at: begin) || (cycle.begin == begin && !cycle.isDelivered) { return context }
        guard let due = cycle.due else {
            if cycle.isDelivered { return nil }
            if cycle.progress.contains(.missed) { return context }
            let isRunning = state.held.contains { $0.isTentative && $0.cycle == cycle.serial }
            return isRunning || cycle.progress.contains(.executed) ? nil : context
        }
        if begin > due, let other = fittingCycle(begin, in: state) { return other }
        return begin.microseconds - due.microseconds <= Self.latestTask ? context : nil
    }

    /// The cycle whose lead was capped, which the app does before it schedules: not one that has run.
    private func cappedCycle(_ context: Int?, _ device: Int) -> Int? {
        context.flatMap { index in
            let cycle = devices[device].cycles[index]
            return cycle.isDelivered || cycle.progress.contains(.executed) ? nil : index
        }
    }

    /// The cycle that waits for a task of this time, or lacks one and may have it.
    private func fittingCycle(_ begin: Timestamp, in device: LogDevice) -> Int? {
        device.lastIndex { $0.begin == begin && $0.isWaiting }
            ?? device.lastIndex { $0.begin == nil && $0.due != nil && self.mayBegin($0, at: begin) }
    }

    /// Whether a cycle whose task is not yet scheduled may have it begin at this time.
    private func mayBegin(_ cycle: KnownCycle, at begin: Timestamp) -> Bool {
        guard let due = cycle.due, !cycle.progress.contains(.scheduled) else { return false }
        return begin <= due && due.microseconds - begin.microseconds <= Self.longestLead
    }

    /// The cycle whose window was missed: the latest one that should have begun by the time of the line and did not run.
    /// The task that waits for a later time is not meant, however near its notification is.
    private func missedCycle(_ context: Int?, _ device: Int, _ time: Timestamp?) -> Int? {
        guard let time else {
            return devices[device].lastIndex {
                $0.isDelivered && $0.progress.contains(.scheduled)
                    && $0.progress.isDisjoint(with: [.executed, .missed])
            } ?? nearest(device, nil, where: \.isWaiting) ?? context
        }
        return latestBegun(device, time) { $0.progress.isDisjoint(with: [.executed, .missed]) }
            ?? latestBegun(device, time) { !$0.progress.contains(.executed) }
            ?? latestBegun(device, time) { _ in true }
            ?? nearest(device, time, where: \.isWaiting) ?? context
    }

    /// The matching cycle whose scheduled task should have begun last before a time.
    private func latestBegun(_ device: Int, _ time: Timestamp, _ matches: (KnownCycle) -> Bool) -> Int? {
        let cycles = devices[device].cycles
        var latest: (index: Int, begin: Timestamp)?
        for index in cycles.indices where cycles[index].progress.contains(.scheduled) && matches(cycles[index]) {
            guard let begin = cycles[index].begin ?? cycles[index].due, begin <= time else { continue }
            if latest.map({ begin >= $0.begin }) ?? true { latest = (index, begin) }
        }
        return latest?.index
    }

    // MARK: Execution

    /// The cycle that the system runs next, preferring those of this process; a late one before one whose time has not
    /// come; else a retry of the last one.
    private func nextToExecute(_ device: Int, _ stream: LogStream, _ time: Timestamp?) -> Int? {
        let due =
            nearest(device, time) { $0.mayHaveBegun(by: time) && $0.isWaiting && $0.process == stream.process }
            ?? nearest(device, time) { $0.mayHaveBegun(by: time) && $0.isWaiting }
        if let due { return due }
        if time != nil, let late = lateCycle(device, stream.process, time) { return late }
        let waiting =
            nearest(device, time) { $0.isWaiting && $0.process == stream.process }
            ?? nearest(device, time, where: \.isWaiting)
        if let waiting { return waiting }
        return cycleToRunAgain(device, stream, time) ?? lateCycle(device, stream.process, time)
    }

    /// The cycle that ran last, for another attempt: it is not delivered, or ran after its delivery.
    private func cycleToRunAgain(_ device: Int, _ stream: LogStream, _ time: Timestamp?) -> Int? {
        if let last = devices[device].index(of: stream.execution) {
            let cycle = devices[device].cycles[last]
            let ranLate = time != nil && stream.phase == .execution
            if !cycle.isDelivered || ranLate, mayRunAgain(cycle, device, at: time) { return last }
        }
        return devices[device].lastIndex { !$0.isDelivered && self.mayRunAgain($0, device, at: time) }
    }

    /// Whether a run may be another attempt of a cycle: it is within half a day; true where times are unknown.
    private func mayRunAgain(_ cycle: KnownCycle, _ device: Int, at time: Timestamp?) -> Bool {
        guard let time, let known = cycle.due ?? cycle.begin ?? cycle.seen else { return true }
        return known.distance(to: time) <= UInt64(Self.latestTask)
    }

    /// The cycle whose run a line tells of: that of its stream, else one that has no result yet.
    private func runningCycle(_ context: Int?, _ device: Int, _ time: Timestamp?) -> Int? {
        if let context { return cycleBegun(since: context, device, time) ?? context }
        return devices[device].lastIndex { $0.progress.contains(.executed) && !$0.progress.contains(.ended) }
            ?? devices[device].lastIndex { !$0.isDelivered && $0.mayHaveRun(by: time) }
    }

    /// The cycle whose task was to begin since the last one ended, which is delivered or lies half a day back: the line of
    /// its execution is missing, or comes later.
    private func cycleBegun(since last: Int, _ device: Int, _ time: Timestamp?) -> Int? {
        let cycle = devices[device].cycles[last]
        guard let time, cycle.progress.contains(.ended), cycle.due != nil || cycle.begin != nil else { return nil }
        let distance = cycle.distance(to: time)
        guard cycle.isDelivered || distance > UInt64(Self.latestTask) else { return nil }
        return nearest(device, time) {
            $0.isWaiting && $0.begin != nil && $0.mayHaveBegun(by: time) && $0.distance(to: time) < distance
        }
    }

    /// The cycle at the head of a log of which only a run is known, for a line of a delivery that names its notification
    /// time: half a day away, or half an hour where lines of the run name an id, so that a device may have several.
    func unplannedRun(dueAt due: Timestamp, _ device: Int, _ process: UInt64) -> Int? {
        nearestOrLast(device, due) { cycle in
            guard cycle.isUnplannedRun, self.mayBeOfOneApp(cycle.process, process, device) else { return false }
            guard let seen = cycle.seen else { return !cycle.progress.contains(.released) }
            let limit = cycle.idHash == 0 ? UInt64(Self.latestTask) : Self.longestNamedLead
            return seen.distance(to: due) <= limit
        }
    }

    /// The cycle whose notification was delivered before its task ran.
    private func lateCycle(_ device: Int, _ process: UInt64, _ time: Timestamp?) -> Int? {
        nearestOrLast(device, time) {
            $0.isDelivered && !$0.progress.contains(.executed) && self.mayStillRun($0, at: time)
                && self.mayBeOfOneApp($0.process, process, device)
        }
    }

    /// Whether two processes are one, or the same app relaunched.
    private func mayBeOfOneApp(_ process: UInt64, _ other: UInt64, _ device: Int) -> Bool {
        process == other || !lifetimes.overlap(device: devices[device].name, process, other)
    }

    /// Whether a task may run at a time for a cycle whose notification may be over; true where times are unknown.
    private func mayStillRun(_ cycle: KnownCycle, at time: Timestamp?) -> Bool {
        guard let time, let known = cycle.due ?? cycle.begin ?? cycle.seen else { return true }
        return known.distance(to: time) <= UInt64(Self.latestTask)
    }

    /// The matching cycle nearest to the line's time, or the earliest if the line has none.
    private func nearest(_ device: Int, _ time: Timestamp?, where matches: (KnownCycle) -> Bool) -> Int? {
        let cycles = devices[device].cycles
        var first: Int?
        for index in cycles.indices where matches(cycles[index]) {
            guard let known = first else {
                first = index
                continue
            }
            let isNearer =
                time.map { cycles[index].distance(to: $0) < cycles[known].distance(to: $0) }
                ?? (cycles[index].order < cycles[known].order)
            if isNearer { first = index }
        }
        return first
    }

    private func nearestOrLast(_ device: Int, _ time: Timestamp?, where matches: (KnownCycle) -> Bool) -> Int? {
        time == nil ? devices[device].lastIndex(where: matches) : nearest(device, time, where: matches)
    }
}

extension KnownCycle {
    /// How much a clock may be off, in microseconds.
    private static let clockTolerance: Int64 = 60_000_000

    /// Whether its task may have begun by a time; true where one is unknown.
    fileprivate func mayHaveBegun(by time: Timestamp?) -> Bool {
        guard let time, let begin else { return true }
        return begin.microseconds - time.microseconds <= Self.clockTolerance
    }

    /// Whether its task may have run by a time: not where it is half a day away.
    fileprivate func mayHaveRun(by time: Timestamp?) -> Bool {
        guard let time, let planned = begin ?? due else { return true }
        return planned.microseconds - time.microseconds <= LogBinding.latestTask
    }

    /// Whether a time is within half a day of its planned times, or of its last line; true where that is not known.
    fileprivate func isNear(_ time: Timestamp?) -> Bool {
        guard let time, due != nil || begin != nil || seen != nil else { return true }
        func isNear(_ known: Timestamp?) -> Bool {
            known.map { $0.distance(to: time) <= UInt64(LogBinding.latestTask) } ?? false
        }
        return isNear(due) || isNear(begin) || isNear(seen)
    }

    /// Whether lines of a run are all that is known of it, and perhaps its id.
    fileprivate var isUnplannedRun: Bool {
        due == nil && begin == nil && !progress.isDisjoint(with: [.executed, .ended])
            && progress.isDisjoint(with: [.scheduled, .delivered])
    }
}
