// SPDX-License-Identifier: Apache-2.0

/// A line that names neither schedule nor notification time, with what its stream and its order say of it.
struct LineInOrder {
    /// The phase that it is written in.
    let phase: LogRule.Phase
    /// The kind of its event; nil where it tells none.
    let kind: EventKind?
    /// The earliest begin of a task that it names.
    let begin: Timestamp?
    /// When it was written, if known.
    let time: Timestamp?
    /// The cycle that its stream is in, in this phase.
    let context: Int?
    /// Whether it may open a cycle; false for a line that was read before.
    let mayOpen: Bool
    /// Its stream.
    let stream: LogStream
}

/// Finds the cycle of a line that names neither schedule nor notification time: the one that its stream is in.
extension LogDevice {
    /// How long after its notification time a cycle's task may still begin or run, in microseconds: half a day, since
    /// later ones are nearer to the next day's notification.
    fileprivate static let latestTask: Int64 = 43_200_000_000
    /// How far from its notification time a line of a delivery may be, in microseconds: the tolerated drift and a minute.
    private static let latestDelivery: UInt64 = 240_000_000
    /// How long before its notification time a task may begin, in microseconds.
    private static let longestLead: Int64 = 86_400_000_000
    /// How far from its notification time a run may be that only its id and its time tell, in microseconds.
    private static let longestNamedLead: UInt64 = 1_800_000_000

    /// The cycle of a line, by its phase.
    func cycleInOrder(_ line: LineInOrder, _ lifetimes: LogLifetimes) -> Int? {
        switch (line.phase, line.kind) {
        case (.plugin, _): nil
        case (.scheduling, .prefetchMissed): missedCycle(line)
        case (.scheduling, .leadCapped): cappedCycle(line)
        case (.scheduling, _): scheduledCycle(line)
        case (.execution, .prefetchExecuted): nextToExecute(line, lifetimes)
        case (.execution, _): runningCycle(line)
        case (.delivery, _), (.summary, _): deliveredCycle(line)
        }
    }

    // MARK: Delivery

    /// The cycle whose delivery a line tells of: that of its stream, else the undelivered one whose notification time is
    /// nearest.
    private func deliveredCycle(_ line: LineInOrder) -> Int? {
        if let due = dueNow(line) { return due }
        let mayBeLater = line.stream.isBackInDelivered || line.kind == .notificationDrift
        if let context = line.context, !cycles[context].isDelivered || mayBeLater, cycles[context].isNear(line.time) {
            return context
        }
        let next =
            nearest(line.time) { !$0.isDelivered && $0.isNear(line.time) } ?? nearest(line.time) { !$0.isDelivered }
        if line.mayOpen, let context = line.context {
            if isOfDelivery(context, ratherThan: next, line.time) { return context }
            if isBehindDelivery(line, context, ratherThan: next) { return context }
        }
        return next ?? (line.kind == .notificationDrift ? cycles.indices.last : nil)
    }

    /// The undelivered cycle that is due at the time of a line, where that of its stream is due at another time: nobody told
    /// of the end of its delivery, or of anything of it shortly before. Far from that one also a delivered cycle, of which the
    /// line comes late. Without a time it is the cycle that the stream has just run.
    private func dueNow(_ line: LineInOrder) -> Int? {
        guard let time = line.time else {
            guard line.phase == .delivery, line.stream.phase == .execution, let run = index(of: line.stream.execution),
                !cycles[run].isDelivered,
                !cycles[run].progress.isDisjoint(with: [.executed, .ended])
            else { return nil }
            return run
        }
        guard let context = line.context, let due = cycles[context].due,
            due.distance(to: time) > Self.latestDelivery, !line.stream.isBackInDelivered
        else { return nil }
        if let seen = cycles[context].seen, seen.distance(to: time) <= Self.latestDelivery { return nil }
        func isDue(_ cycle: KnownCycle) -> Bool {
            cycle.due.map { $0.distance(to: time) <= Self.latestDelivery } ?? false
        }
        return nearest(time) { !$0.isDelivered && isDue($0) }
            ?? (cycles[context].isNear(time) ? nil : nearest(time, where: isDue))
    }

    /// The cycle without an id that a line of a delivery or a summary names: the undelivered one of the same process whose
    /// notification time is nearest, within half a day.
    func cycleToName(_ process: UInt64, _ time: Timestamp?) -> Int? {
        let found = nearest(time) {
            $0.idHash == 0 && $0.due != nil && !$0.isDelivered && $0.process == process
        }
        guard let found, let time else { return found }
        return cycles[found].distance(to: time) <= UInt64(Self.latestTask) ? found : nil
    }

    /// The pass of a schedule that a line of a delivery tells of, where several are known: the one whose notification time is
    /// nearest, within half a day. Nil for a schedule with one pass, of which the order of lines knows enough.
    func nearestPass(_ idHash: UInt64, _ process: UInt64, _ time: Timestamp?, _ lifetimes: LogLifetimes) -> Int? {
        guard let time, cycles.count(where: { $0.idHash == idHash && $0.due != nil }) > 1 else { return nil }
        let pass = nearest(time) {
            $0.idHash == idHash && $0.due != nil && self.mayBeOfOneApp($0.process, process, lifetimes)
        }
        return pass.flatMap { cycles[$0].distance(to: time) <= UInt64(Self.latestTask) ? $0 : nil }
    }

    /// Whether a line near the notification time of a delivered cycle is a late or repeated one of its delivery, and not
    /// the first of the next cycle, which is due later.
    private func isOfDelivery(_ delivered: Int, ratherThan next: Int?, _ time: Timestamp?) -> Bool {
        guard let time else { return false }
        guard let next else { return cycles[delivered].isNear(time) }
        // A warped clock moves its notification time away from its lines.
        let distances = [cycles[delivered].due, cycles[delivered].seen].compactMap { $0?.distance(to: time) }
        guard let distance = distances.min(), distance <= Self.latestDelivery else { return false }
        return cycles[next].due.map { $0.distance(to: time) > distance } ?? !cycles[next].isNear(time)
    }

    /// Whether a line without a time that follows the delivery of a cycle at once still tells of that cycle: not a second
    /// delivery and, where another cycle waits, only what that one cannot tell before its own task has run.
    private func isBehindDelivery(_ line: LineInOrder, _ delivered: Int, ratherThan next: Int?) -> Bool {
        guard line.time == nil, line.stream.phase == .delivery, cycles[delivered].isDelivered,
            line.kind != .notificationDelivered
        else { return false }
        guard let next else { return true }
        switch line.kind {
        case .prefetchCycleComplete, .prefetchUsedForNotification, .contentCached:
            return cycles[next].progress.isDisjoint(with: [.executed, .ended])
        default: return false
        }
    }

    /// The cycle that an execution belongs to that no later line named, and that nothing followed: the one before it, whose
    /// late or repeated run it is.
    ///
    /// - Parameter phantom: the cycle that the execution opened.
    func cycleBefore(_ phantom: Int, _ time: Timestamp?, _ lifetimes: LogLifetimes) -> Int? {
        let (serial, process) = (cycles[phantom].serial, cycles[phantom].process)
        return nearestOrLast(time) {
            $0.serial < serial && $0.mayRun(near: time) && self.mayBeOfOneApp($0.process, process, lifetimes)
        }
    }

    // MARK: Scheduling

    /// The cycle whose task a line says is scheduled.
    private func scheduledCycle(_ line: LineInOrder) -> Int? {
        guard let begin = line.begin else { return line.context.flatMap { cycles[$0].isDelivered ? nil : $0 } }
        guard let context = line.context else { return fittingCycle(begin) }
        let cycle = cycles[context]
        if mayBegin(cycle, at: begin) || (cycle.begin == begin && !cycle.isDelivered) { return context }
        guard let due = cycle.due else {
            if cycle.isDelivered { return nil }
            if cycle.progress.contains(.missed) { return context }
            let isRunning = held.contains { $0.isTentative && $0.cycle == cycle.serial }
            return isRunning || cycle.progress.contains(.executed) ? nil : context
        }
        if begin > due, let other = fittingCycle(begin) { return other }
        // It comes late, behind the scheduling of a later day.
        if due.microseconds - begin.microseconds > Self.longestLead,
            let other = lastIndex(where: { $0.begin == nil && $0.due != nil && self.isLead(to: $0.due, from: begin) })
        {
            return other
        }
        return begin.microseconds - due.microseconds <= Self.latestTask ? context : nil
    }

    /// The cycle whose lead was capped, which the app does before it schedules: not one that has run.
    private func cappedCycle(_ line: LineInOrder) -> Int? {
        line.context.flatMap { cycles[$0].isDelivered || cycles[$0].progress.contains(.executed) ? nil : $0 }
    }

    /// The cycle that waits for a task of this time, or lacks one and may have it.
    private func fittingCycle(_ begin: Timestamp) -> Int? {
        lastIndex { $0.begin == begin && $0.isWaiting }
            ?? lastIndex { $0.begin == nil && $0.due != nil && self.mayBegin($0, at: begin) }
    }

    /// Whether a cycle whose task is not yet scheduled may have it begin at this time.
    private func mayBegin(_ cycle: KnownCycle, at begin: Timestamp) -> Bool {
        guard let due = cycle.due, !cycle.progress.contains(.scheduled) else { return false }
        return isLead(to: due, from: begin)
    }

    /// Whether a task may begin so long before a notification; true where its time is not known.
    private func isLead(to due: Timestamp?, from begin: Timestamp) -> Bool {
        guard let due else { return true }
        return begin <= due && due.microseconds - begin.microseconds <= Self.longestLead
    }

    /// The cycle whose window was missed: the latest one that should have begun by the time of the line and did not run.
    /// The task that waits for a later time is not meant, however near its notification is.
    private func missedCycle(_ line: LineInOrder) -> Int? {
        guard let time = line.time else {
            return lastIndex {
                $0.isDelivered && $0.progress.contains(.scheduled)
                    && $0.progress.isDisjoint(with: [.executed, .missed])
            } ?? nearest(nil, where: \.isWaiting) ?? line.context
        }
        return latestBegun(time) { $0.progress.isDisjoint(with: [.executed, .missed]) }
            ?? latestBegun(time) { !$0.progress.contains(.executed) }
            ?? latestBegun(time) { _ in true }
            ?? nearest(time, where: \.isWaiting) ?? line.context
    }

    /// The matching cycle whose scheduled task should have begun last before a time.
    private func latestBegun(_ time: Timestamp, _ matches: (KnownCycle) -> Bool) -> Int? {
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
    private func nextToExecute(_ line: LineInOrder, _ lifetimes: LogLifetimes) -> Int? {
        let (time, process) = (line.time, line.stream.process)
        let due =
            nearest(time) { $0.mayHaveBegun(by: time) && $0.isWaiting && $0.process == process }
            ?? nearest(time) { $0.mayHaveBegun(by: time) && $0.isWaiting }
        if let due { return due }
        if time != nil, let late = lateCycle(process, time, lifetimes) { return late }
        let waiting =
            nearest(time) { $0.isWaiting && $0.process == process } ?? nearest(time, where: \.isWaiting)
        if let waiting { return waiting }
        return cycleToRunAgain(line) ?? lateCycle(process, time, lifetimes)
    }

    /// The cycle that ran last, for another attempt: it is not delivered, or ran after its delivery.
    private func cycleToRunAgain(_ line: LineInOrder) -> Int? {
        if let last = index(of: line.stream.execution) {
            let ranLate = line.time != nil && line.stream.phase == .execution
            if !cycles[last].isDelivered || ranLate, cycles[last].mayRun(near: line.time) { return last }
        }
        return lastIndex { !$0.isDelivered && $0.mayRun(near: line.time) }
    }

    /// The cycle whose run a line tells of: that of its stream, else one that has no result yet.
    private func runningCycle(_ line: LineInOrder) -> Int? {
        if let context = line.context {
            return cycleBegun(since: context, line.time) ?? cycleRun(besides: context, line.time) ?? context
        }
        return lastIndex { $0.progress.contains(.executed) && !$0.progress.contains(.ended) }
            ?? lastIndex { !$0.isDelivered && $0.mayHaveRun(by: line.time) }
    }

    /// The cycle whose task was to begin since the last one ended, which is delivered or lies half a day back: the line of
    /// its execution is missing, or comes later.
    private func cycleBegun(since last: Int, _ time: Timestamp?) -> Int? {
        let cycle = cycles[last]
        guard let time, cycle.progress.contains(.ended), cycle.due != nil || cycle.begin != nil else { return nil }
        let distance = cycle.distance(to: time)
        guard cycle.isDelivered || distance > UInt64(Self.latestTask) else { return nil }
        return nearest(time) {
            $0.isWaiting && $0.begin != nil && $0.mayHaveBegun(by: time) && $0.distance(to: time) < distance
        }
    }

    /// The cycle that ran at the time of a line, which is half a day or more from the run of its stream: it comes late, or
    /// one before it did.
    private func cycleRun(besides last: Int, _ time: Timestamp?) -> Int? {
        guard let time, !cycles[last].isNear(time) else { return nil }
        return nearest(time) {
            !$0.progress.isDisjoint(with: [.executed, .ended]) && $0.distance(to: time) <= UInt64(Self.latestTask)
        }
    }

    /// The cycle at the head of a log of which only a run is known, for a line of a delivery that names its notification
    /// time: half a day away, or half an hour where lines of the run name an id, so that a device may have several.
    private func unplannedRun(dueAt due: Timestamp, _ process: UInt64, _ lifetimes: LogLifetimes) -> Int? {
        nearestOrLast(due) { cycle in
            guard cycle.isUnplannedRun, self.mayBeOfOneApp(cycle.process, process, lifetimes) else { return false }
            guard let seen = cycle.seen else { return !cycle.progress.contains(.released) }
            let limit = cycle.idHash == 0 ? UInt64(Self.latestTask) : Self.longestNamedLead
            return seen.distance(to: due) <= limit
        }
    }

    /// The cycle of a run that a line of a delivery names the notification time of: one whose task began within the day
    /// before, else one of which only the run is known.
    func runToName(dueAt due: Timestamp, _ process: UInt64, _ lifetimes: LogLifetimes) -> Int? {
        let planned = nearest(due) { cycle in
            guard let begin = cycle.begin, cycle.due == nil, !cycle.isDelivered,
                !cycle.progress.isDisjoint(with: [.executed, .ended]),
                self.mayBeOfOneApp(cycle.process, process, lifetimes)
            else { return false }
            return self.isLead(to: due, from: begin)
        }
        return planned ?? unplannedRun(dueAt: due, process, lifetimes)
    }

    /// The cycle whose notification was delivered before its task ran.
    private func lateCycle(_ process: UInt64, _ time: Timestamp?, _ lifetimes: LogLifetimes) -> Int? {
        nearestOrLast(time) {
            $0.isDelivered && !$0.progress.contains(.executed) && $0.mayRun(near: time)
                && self.mayBeOfOneApp($0.process, process, lifetimes)
        }
    }

    /// Whether two processes are one, or the same app relaunched.
    private func mayBeOfOneApp(_ process: UInt64, _ other: UInt64, _ lifetimes: LogLifetimes) -> Bool {
        process == other || !lifetimes.overlap(device: name, process, other)
    }

    /// The matching cycle nearest to the line's time, or the earliest if the line has none.
    private func nearest(_ time: Timestamp?, where matches: (KnownCycle) -> Bool) -> Int? {
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

    private func nearestOrLast(_ time: Timestamp?, where matches: (KnownCycle) -> Bool) -> Int? {
        time == nil ? lastIndex(where: matches) : nearest(time, where: matches)
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
        return planned.microseconds - time.microseconds <= LogDevice.latestTask
    }

    /// Whether its task may run at a time, again or although its notification may be over: within half a day of its planned
    /// time; true where times are unknown.
    fileprivate func mayRun(near time: Timestamp?) -> Bool {
        guard let time, let known = due ?? begin ?? seen else { return true }
        return known.distance(to: time) <= UInt64(LogDevice.latestTask)
    }

    /// Whether a time is within half a day of its planned times, or of its last line; true where that is not known.
    fileprivate func isNear(_ time: Timestamp?) -> Bool {
        guard let time, due != nil || begin != nil || seen != nil else { return true }
        func isNear(_ known: Timestamp?) -> Bool {
            known.map { $0.distance(to: time) <= UInt64(LogDevice.latestTask) } ?? false
        }
        return isNear(due) || isNear(begin) || isNear(seen)
    }

    /// Whether lines of a run are all that is known of it, and perhaps its id.
    fileprivate var isUnplannedRun: Bool {
        due == nil && begin == nil && !progress.isDisjoint(with: [.executed, .ended])
            && progress.isDisjoint(with: [.scheduled, .delivered])
    }
}
