// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What is kept of an installation for the rules that look beyond one cycle (SPEC 5.1). 160 bytes, and some 220 more once
/// it has told its own counters.
struct Installation: Sendable {
    static let taskLimit = 3
    static let denialLimit = 3
    /// How long after a denial a scheduling is held against it, in microseconds.
    private static let denialWindow: Int64 = 60 * 1_000_000

    let fingerprint: UInt64
    /// The time of its latest event.
    var latest = Timestamp(microseconds: .min)
    /// When notifications were last denied, with a word about the cycle or without one; the latest first, 0 for none.
    var denials: InlineArray<3, Int64> = .init(repeating: 0)
    /// When a task was scheduled last.
    var scheduled = Timestamp(microseconds: .min)
    /// What is counted of it, by the places of `StageTally`.
    var counted: InlineArray<8, UInt32> = .init(repeating: 0)
    /// What is known of its own counters; empty until it tells of them.
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

    /// The tasks that were scheduled last.
    var tasks: [WaitingTask] { (0..<taskCount).map { held[$0] } }

    func task(due: Timestamp) -> WaitingTask? {
        for index in 0..<taskCount where held[index].due == due {
            return held[index]
        }
        return nil
    }

    /// Whether a task was scheduled while another one waited, as far as is known.
    func isSecond(_ task: WaitingTask) -> Bool {
        for index in 0..<taskCount where held[index].waits(while: task) { return true }
        return false
    }

    /// Notes when something happened.
    mutating func note(_ kind: EventKind, at time: Timestamp) {
        latest = max(latest, time)
        if kind == .prefetchScheduled { scheduled = max(scheduled, time) }
    }

    /// Notes a denial; of more than three the earliest is forgotten.
    mutating func note(denial time: Int64) {
        var time = time
        for index in 0..<Self.denialLimit {
            if denials[index] == time { return }
            if denials[index] < time { swap(&denials[index], &time) }
        }
    }

    /// Whether a task was scheduled within a minute after a denial that is remembered.
    func isDenied(_ scheduled: Timestamp) -> Bool {
        for index in 0..<Self.denialLimit where Self.follows(scheduled, denials[index]) { return true }
        return false
    }

    static func follows(_ scheduled: Timestamp, _ denied: Int64) -> Bool {
        scheduled.microseconds > denied && scheduled.microseconds - denied <= denialWindow
    }

    /// Tells that the task of a notification time has stopped waiting, if it is one of those that are held.
    mutating func free(due: Timestamp, at time: Timestamp) {
        for index in 0..<taskCount where held[index].due == due && held[index].scheduled <= time.microseconds {
            held[index].freed = min(held[index].freed, time.microseconds)
        }
    }

    /// Takes in what is now known of a task.
    ///
    /// - Returns: the task that had to make room, with the last word on whether it was a second one.
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

    /// Puts back a task from a checkpoint.
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
