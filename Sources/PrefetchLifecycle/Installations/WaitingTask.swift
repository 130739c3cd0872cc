// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// A task from its scheduling until it has run, been delivered or rescheduled (SPEC 5.1, one active task).
struct WaitingTask: Hashable, Sendable {
    var scheduled: Int64
    /// When it stopped waiting; `.max` while nothing tells so.
    var freed: Int64
    /// When its notification is due, in whole milliseconds.
    private let dueSecond: UInt32
    private let dueMillisecond: UInt16
    /// Whether it was scheduled while another one waited.
    var isSecond = false
    /// Whether its times only order it.
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
        for kept in [cycle.used, cycle.delivered] {
            if let time = kept.time(base: cycle.base)?.microseconds, time >= scheduled { freed = min(freed, time) }
        }
        self.scheduled = scheduled
        self.freed = freed
        dueSecond = UInt32(clamping: due.microseconds / 1_000_000)
        dueMillisecond = UInt16(truncatingIfNeeded: due.microseconds / 1_000 % 1_000)
        hasAssumedTimes = cycle.flags.contains(.hasAssumedTimes)
    }

    init(scheduled: Int64, freed: Int64, due: Timestamp, isSecond: Bool, hasAssumedTimes: Bool) {
        self.scheduled = scheduled
        self.freed = freed
        dueSecond = UInt32(clamping: due.microseconds / 1_000_000)
        dueMillisecond = UInt16(truncatingIfNeeded: due.microseconds / 1_000 % 1_000)
        self.isSecond = isSecond
        self.hasAssumedTimes = hasAssumedTimes
    }

    var due: Timestamp {
        Timestamp(microseconds: Int64(dueSecond) * 1_000_000 + Int64(dueMillisecond) * 1_000)
    }

    /// Whether it waited while the other one was scheduled. Of two scheduled at once the one that is due first is first.
    func waits(while other: WaitingTask) -> Bool {
        guard due != other.due, freed > other.scheduled else { return false }
        guard (scheduled, due) < (other.scheduled, other.due) else { return false }
        return hasAssumedTimes || other.hasAssumedTimes || due.microseconds > other.scheduled
    }
}
