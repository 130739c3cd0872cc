// SPDX-License-Identifier: Apache-2.0

/// What must be counted and judged of the runs of a device.
struct RunTruth: Sendable {
    private static let second: Int64 = 1_000_000
    private static let day: Int64 = 86_400 * second
    private static let cadence: Int64 = 90

    /// A run, from its start on.
    private struct Run {
        let begun: Int64
        var checked: Int64?
        var completed: Int64?
        var succeeded: Int64?
        /// The days that the last check tells, and whether a test is available by the first.
        var days: Int64 = 0
        var isAvailable: Bool?
        var isAvailabilityWrong = false
        var end: (time: Int64, outcome: TrueRunOutcome)?
        var skipped: Int64?
        var hasWorkedAfterSkip = false
        var notified: Int64?
        var isNotifiedAgain = false
        var isNotifiedTooSoon = false
        var isNotificationSkipped = false
        var told: Int64?
        var scheduled: Int64?
    }

    private var run: Run?
    /// When a run before succeeded and notified last, also as a skip told it, and whether that was not permitted.
    private var succeededAt: Int64?
    private var notifiedAt: Int64?
    private var toldNotifiedAt: Int64?
    /// The least days ago that a skip told of the last notification.
    private var leastDaysAgo: Int64?
    private var isDenied = false
    private var latest = Int64.min

    mutating func take(_ step: StoryStep, hasTimes: Bool, _ truth: inout FleetTruth) {
        if step.kind == .runStarted {
            close(next: step.time, hasTimes: hasTimes, &truth)
            run = Run(begun: step.time)
        }
        latest = max(latest, step.time)
        guard var run else { return }
        let time = step.time
        let isAfterSkip = run.skipped != nil
        switch step.kind {
        case .runChecked:
            if run.checked == nil { (run.checked, run.isAvailable) = (time, step.flag) }
            if step.flag != (step.amount >= Self.cadence) { run.isAvailabilityWrong = true }
            run.days = step.amount
            run.hasWorkedAfterSkip = run.hasWorkedAfterSkip || isAfterSkip
        case .runSkipped:
            run.skipped = time
            run.end = run.end ?? (time, .skipped)
        case .runExpired: run.end = run.end ?? (time, .expired)
        case .runCompleted:
            run.completed = run.completed ?? time
            if step.flag { run.succeeded = run.succeeded ?? time }
            run.told = step.amount * 10_000
            run.end = run.end ?? (time, step.flag ? .completed : .failed)
            run.hasWorkedAfterSkip = run.hasWorkedAfterSkip || isAfterSkip
        case .runNotified:
            if let first = run.notified {
                run.isNotifiedAgain = hasTimes ? time - first > Self.second : true
            } else {
                run.notified = time
                run.isNotifiedTooSoon = run.checked != nil && run.days < Self.cadence
            }
            run.hasWorkedAfterSkip = run.hasWorkedAfterSkip || isAfterSkip
        case .runNotNotified:
            run.isNotificationSkipped = true
            if step.amount >= 0 {
                toldNotifiedAt = max(toldNotifiedAt ?? .min, run.begun - step.amount * Self.day)
                leastDaysAgo = min(leastDaysAgo ?? .max, step.amount)
            } else {
                isDenied = true
            }
        case .runScheduled, .runRefused: run.scheduled = run.scheduled ?? time
        default: break
        }
        self.run = run
    }

    /// Ends the story.
    mutating func finish(hasTimes: Bool, _ truth: inout FleetTruth) {
        close(next: nil, hasTimes: hasTimes, &truth)
        run = nil
    }

    /// Judges the run, which the next one ends.
    private mutating func close(next: Int64?, hasTimes: Bool, _ truth: inout FleetTruth) {
        guard let run else { return }
        truth.add(run.end?.outcome ?? .incomplete)
        if run.isAvailabilityWrong { truth.add(.availabilityWrong) }
        if run.hasWorkedAfterSkip { truth.add(.workedAfterSkip) }
        if run.isNotifiedTooSoon { truth.add(.notifiedTooSoon) }
        if hasTimes, run.skipped == nil, let succeededAt {
            let earliest = succeededAt + 4 * 3_600 * Self.second
            if (run.checked ?? .max) < earliest || (run.completed ?? .max) < earliest { truth.add(.refreshedTooSoon) }
        }
        judgeNotification(run, hasTimes: hasTimes, &truth)
        judgeEnd(run, next: next, hasTimes: hasTimes, &truth)
        succeededAt = run.succeeded ?? succeededAt
        if let notified = run.notified { (notifiedAt, isDenied) = (notified, false) }
    }

    private func judgeNotification(_ run: Run, hasTimes: Bool, _ truth: inout FleetTruth) {
        if let notified = run.notified {
            let isSoon = notifiedAt.map { notified - $0 < Self.cadence * Self.day } ?? false
            // What a skip tells of may have been a day earlier.
            let isToldSoon = toldNotifiedAt.map { notified - $0 < (Self.cadence - 1) * Self.day } ?? false
            if run.isNotifiedAgain || hasTimes && (isSoon || isToldSoon) { truth.add(.notifiedAgain) }
        }
        guard run.isAvailable == true, run.end?.outcome == .completed, !isDenied, run.notified == nil,
            !run.isNotificationSkipped
        else { return }
        if !wasNotified(before: run, hasTimes: hasTimes) { truth.add(.notNotified) }
    }

    /// Whether the user was notified within the days before a run; without times all runs are of one moment.
    private func wasNotified(before run: Run, hasTimes: Bool) -> Bool {
        guard hasTimes else { return notifiedAt != nil || leastDaysAgo.map { $0 < Self.cadence } ?? false }
        let last = [notifiedAt, toldNotifiedAt].compactMap(\.self).max()
        return last.map { run.begun - $0 < Self.cadence * Self.day } ?? false
    }

    private func judgeEnd(_ run: Run, next: Int64?, hasTimes: Bool, _ truth: inout FleetTruth) {
        guard let end = run.end else { return truth.add(.runNotEnded) }
        if hasTimes, end.time - run.begun > 35 * Self.second { truth.add(.runNotEnded) }
        let limit = end.time + 4 * 3_600 * Self.second + 15 * 60 * Self.second
        let isNextMissing =
            if let scheduled = run.scheduled { hasTimes && scheduled > limit } else {
                next != nil || hasTimes && latest > limit
            }
        if isNextMissing { truth.add(.nextNotScheduled as BrokenRunRule) }
        var isExpired = end.outcome == .expired
        if let length = run.told ?? (hasTimes ? end.time - run.begun : nil) {
            if length > 20 * Self.second { truth.add(.ranTooLong as BrokenRunRule) }
            isExpired = isExpired || length > 30 * Self.second
        }
        if isExpired { truth.add(.expired as BrokenRunRule) }
    }
}
