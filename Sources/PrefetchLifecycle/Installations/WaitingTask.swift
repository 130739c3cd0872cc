// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// A scheduled task, which waits until it has run, was delivered or missed its window.
///
/// An installation may have one waiting task at a time (`secondActiveTask`).
struct WaitingTask: Hashable, Sendable {
    var scheduled: Int64
    /// The time its waiting ended; `.max` while it waits.
    var freed: Int64
    /// The hash of installation and schedule id; 0 without an id.
    let schedule: UInt64
    /// The notification time, in whole milliseconds.
    private let dueSecond: UInt32
    private let dueMillisecond: UInt16
    /// Whether it was scheduled while another one was waiting.
    var isSecond = false
    /// Whether its times are assumed from the order of lines, and so only order events.
    var hasAssumedTimes: Bool

    /// The task of a cycle; nil without a notification time or a scheduling.
    init?(_ cycle: Cycle, _ facts: Span<UInt64>) {
        guard let due = cycle.due else { return nil }
        var scheduled: Int64?
        var freed = Int64.max
        for index in facts.indices {
            let fact = Fact(rawValue: facts[index])
            switch fact.stage {
            case .scheduled where scheduled == nil: scheduled = fact.time(base: cycle.base).microseconds
            case .executed, .success, .failure, .completed, .missed:
                guard scheduled != nil else { continue }
                freed = min(freed, fact.time(base: cycle.base).microseconds)
            default: continue
            }
        }
        guard let scheduled else { return nil }
        // Kept in milliseconds, in which lines without stamps are of one moment.
        let earliest = cycle.flags.contains(.hasAssumedTimes) ? scheduled / 1_000 * 1_000 : scheduled
        for kept in [cycle.used, cycle.delivered] {
            if let time = kept.time(base: cycle.base)?.microseconds, time >= earliest { freed = min(freed, time) }
        }
        self.scheduled = scheduled
        self.freed = freed
        schedule = cycle.schedule
        dueSecond = UInt32(clamping: due.microseconds / 1_000_000)
        dueMillisecond = UInt16(truncatingIfNeeded: due.microseconds / 1_000 % 1_000)
        hasAssumedTimes = cycle.flags.contains(.hasAssumedTimes)
    }

    init(
        scheduled: Int64,
        freed: Int64,
        schedule: UInt64,
        due: Timestamp,
        isSecond: Bool,
        hasAssumedTimes: Bool
    ) {
        self.scheduled = scheduled
        self.freed = freed
        self.schedule = schedule
        dueSecond = UInt32(clamping: due.microseconds / 1_000_000)
        dueMillisecond = UInt16(truncatingIfNeeded: due.microseconds / 1_000 % 1_000)
        self.isSecond = isSecond
        self.hasAssumedTimes = hasAssumedTimes
    }

    var due: Timestamp {
        Timestamp(microseconds: Int64(dueSecond) * 1_000_000 + Int64(dueMillisecond) * 1_000)
    }

    /// Whether it was waiting when the other one was scheduled. Of two scheduled at once, the one due first is the first.
    func waits(while other: WaitingTask) -> Bool {
        guard freed > other.scheduled, due != other.due else { return false }
        guard (scheduled, due) < (other.scheduled, other.due) else { return false }
        // Where both times only order, they may be those of reading, which say nothing about the notifications.
        return hasAssumedTimes && other.hasAssumedTimes || due.microseconds > other.scheduled
    }

    /// Whether they are of today's and of tomorrow's notification, which are scheduled at once on Android.
    func isOfWindow(with other: WaitingTask) -> Bool {
        LifecycleRules.androidWindowMicroseconds.contains(abs(due.microseconds - other.due.microseconds))
    }
}
