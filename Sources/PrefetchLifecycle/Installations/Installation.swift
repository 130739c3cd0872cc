// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The state of an installation for the rules across cycles: 160 bytes, and about 220 more with client counters.
struct Installation: Sendable {
    static let taskLimit = 3
    static let denialLimit = 3

    let fingerprint: UInt64
    /// Its latest event time.
    var latest = Timestamp(microseconds: .min)
    /// The latest denials of notifications, in a cycle or outside one, latest first; 0 for none.
    var denials: InlineArray<3, Int64> = .init(repeating: 0)
    /// The latest scheduling of a task.
    var scheduled = Timestamp(microseconds: .min)
    /// What is counted of it, indexed like `StageTally`.
    var counted: InlineArray<8, UInt32> = .init(repeating: 0)
    /// The baseline of its own counters; empty until its first snapshot. An array keeps installations without one small.
    var client: [ClientBaseline] = []
    private var held: InlineArray<3, WaitingTask> = .init(repeating: .none)

    init(fingerprint: UInt64) {
        self.fingerprint = fingerprint
    }

    private var taskCount: Int {
        var count = 0
        while count < Self.taskLimit, held[count].isTask { count += 1 }
        return count
    }

    /// The latest scheduled tasks, at most `taskLimit`.
    var tasks: [WaitingTask] { (0..<taskCount).map { held[$0] } }

    func task(due: Timestamp) -> WaitingTask? {
        for index in 0..<taskCount where held[index].due == due {
            return held[index]
        }
        return nil
    }

    /// Whether a task was scheduled while a remembered one was waiting.
    func isSecond(_ task: WaitingTask) -> Bool {
        for index in 0..<taskCount where held[index].waits(while: task) { return true }
        return false
    }

    /// Records the time of an event.
    mutating func recordEvent(_ kind: EventKind, at time: Timestamp) {
        latest = max(latest, time)
        if kind == .prefetchScheduled { scheduled = max(scheduled, time) }
    }

    /// Records a denial; of more than `denialLimit` the earliest is dropped.
    mutating func recordDenial(at time: Int64) {
        var time = time
        for index in 0..<Self.denialLimit {
            if denials[index] == time { return }
            if denials[index] < time { swap(&denials[index], &time) }
        }
    }

    /// The latest remembered denial that a scheduling follows soon.
    func denial(before scheduled: Timestamp) -> Timestamp? {
        for index in 0..<Self.denialLimit where Self.follows(scheduled, denials[index]) {
            return Timestamp(microseconds: denials[index])
        }
        return nil
    }

    /// Whether a scheduling comes after a denial, within `LifecycleRules.denialWindowMicroseconds`.
    static func follows(_ scheduled: Timestamp, _ denied: Int64) -> Bool {
        scheduled.microseconds > denied && scheduled.microseconds - denied <= LifecycleRules.denialWindowMicroseconds
    }

    /// Ends the waiting of the task of a notification time, if it is remembered.
    mutating func free(due: Timestamp, at time: Timestamp) {
        for index in 0..<taskCount where held[index].due == due && held[index].scheduled <= time.microseconds {
            held[index].freed = min(held[index].freed, time.microseconds)
        }
    }

    /// Adds or updates a task.
    ///
    /// - Returns: the evicted task, with the final verdict on whether it was a second one.
    mutating func update(_ task: WaitingTask) -> WaitingTask? {
        for index in 0..<taskCount where held[index].due == task.due {
            let isSecond = held[index].isSecond
            held[index] = task
            held[index].isSecond = isSecond
            return nil
        }
        guard taskCount == Self.taskLimit else {
            held[taskCount] = task
            return nil
        }
        var oldest = task
        var place: Int?
        for index in 0..<taskCount where held[index].scheduled < oldest.scheduled {
            oldest = held[index]
            place = index
        }
        if let place { held[place] = task }
        for index in 0..<taskCount where oldest.waits(while: held[index]) { held[index].isSecond = true }
        oldest.isSecond = oldest.isSecond || isSecond(oldest)
        return oldest
    }

    /// Restores a task from a checkpoint.
    mutating func restore(_ task: WaitingTask) {
        guard taskCount < Self.taskLimit else { return }
        held[taskCount] = task
    }
}

extension WaitingTask {
    fileprivate static let none = WaitingTask(
        scheduled: .min,
        freed: 0,
        due: Timestamp(microseconds: 0),
        isSecond: false,
        hasAssumedTimes: false
    )

    fileprivate var isTask: Bool { scheduled != .min }
}

/// A scheduled task, which waits until it has run, was delivered or missed its window.
///
/// An installation may have one waiting task at a time (`secondActiveTask`).
struct WaitingTask: Hashable, Sendable {
    var scheduled: Int64
    /// The time its waiting ended; `.max` while it waits.
    var freed: Int64
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

    /// Whether it was waiting when the other one was scheduled. Of two scheduled at once, the one due first is the first.
    func waits(while other: WaitingTask) -> Bool {
        guard due != other.due, freed > other.scheduled else { return false }
        guard (scheduled, due) < (other.scheduled, other.due) else { return false }
        return hasAssumedTimes || other.hasAssumedTimes || due.microseconds > other.scheduled
    }
}
