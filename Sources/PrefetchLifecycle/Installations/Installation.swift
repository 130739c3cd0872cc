// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The state of an installation for the rules across cycles: 208 bytes, about 60 for its task, and about 220 more with
/// client counters.
struct Installation: Sendable {
    /// The most tasks that are remembered, the latest scheduled ones, while their cycles are open.
    static let taskLimit = 16
    /// How many tasks are remembered after their cycles have closed.
    static let closedTaskLimit = 3

    let fingerprint: UInt64
    /// Its latest event time.
    var latest = Timestamp(microseconds: .min)
    /// The latest submissions of tasks.
    var submissions = RecentSubmissions()
    /// What is counted of it, indexed like `StageTally`.
    var counted: InlineArray<8, UInt32> = .init(repeating: 0)
    /// What was counted of its latest events, which a snapshot that is older than them does not include.
    var recent = RecentCounts()
    /// Its open cycles that are known by one name alone.
    var halves = OpenHalves()
    /// Whether notifications are permitted, as it was told.
    var permissions = ToldPermissions()
    /// What it told of its cache, its calls and its database.
    var content = ToldContent()
    /// The baseline of its own counters; empty until its first snapshot. An array keeps installations without one small.
    var client: [ClientBaseline] = []
    /// What it told beside its cycles; empty until then, as above.
    var history: [InstallationHistory] = []
    /// Whether it runs Android, where alarms are exact and a window of two days is scheduled.
    var isAndroid = false
    private(set) var tasks: [WaitingTask] = []

    init(fingerprint: UInt64) {
        self.fingerprint = fingerprint
    }

    func task(due: Timestamp) -> WaitingTask? { place(due: due).map { tasks[$0] } }

    /// The place of a task; the latest ones are looked at first, since most events are about them.
    private func place(due: Timestamp) -> Int? {
        var place = tasks.count - 1
        while place >= 0 {
            if tasks[place].due == due { return place }
            place -= 1
        }
        return nil
    }

    /// Whether a task was scheduled while a remembered one was waiting.
    func isSecond(_ task: WaitingTask) -> Bool {
        for index in 0..<tasks.count where isUnfinished(tasks[index], while: task) { return true }
        return false
    }

    /// Whether a task was waiting when another one was scheduled that should not have been.
    private func isUnfinished(_ task: WaitingTask, while other: WaitingTask) -> Bool {
        guard task.waits(while: other), !(isAndroid && task.isOfWindow(with: other)) else { return false }
        guard let history = history.first else { return true }
        let scheduled = Timestamp(microseconds: task.scheduled)
        let other = Timestamp(microseconds: other.scheduled)
        return !history.cancels(task.schedule, from: scheduled, through: other)
    }

    /// Whether a remembered task waited at a moment, or may have run then.
    ///
    /// - Parameters:
    ///   - clock: the clock that planned times follow.
    ///   - known: the notification time of a task whose runs are known better.
    func hasTask(at time: Timestamp, plannedBy clock: WarpedClock, besidesRunsOf known: Timestamp?) -> Bool {
        for index in 0..<tasks.count where tasks[index].scheduled <= time.microseconds {
            let task = tasks[index]
            if task.freed <= time.microseconds {
                guard task.due != known, task.freed > time.microseconds - LifecycleRules.longestRun else { continue }
            } else {
                guard task.due > clock.warped(time) else { continue }
            }
            let scheduled = Timestamp(microseconds: task.scheduled)
            if history.first?.cancels(task.schedule, from: scheduled, through: time) ?? false { continue }
            return true
        }
        return false
    }

    /// Whether a remembered task was scheduled in a second whose notification is due later than another.
    func hasTask(scheduledIn second: Int64, dueAfter due: Timestamp?) -> Bool {
        for index in 0..<tasks.count where Timestamp(microseconds: tasks[index].scheduled).wholeSeconds == second {
            if let due, tasks[index].due > due { return true }
        }
        return false
    }

    /// Changes what it told beside its cycles.
    mutating func recordHistory(_ body: (inout InstallationHistory) -> Void) {
        if history.isEmpty { history = [InstallationHistory()] }
        body(&history[0])
    }

    /// Ends the waiting of the task of a notification time, if it is remembered.
    mutating func free(due: Timestamp, at time: Timestamp) {
        guard let place = place(due: due), tasks[place].scheduled <= time.microseconds else { return }
        tasks[place].freed = min(tasks[place].freed, time.microseconds)
    }

    /// Adds or updates a task.
    ///
    /// - Returns: the evicted task, with the final verdict on whether it was a second one.
    mutating func update(_ task: WaitingTask) -> WaitingTask? {
        if let place = place(due: task.due) {
            let isSecond = tasks[place].isSecond
            tasks[place] = task
            tasks[place].isSecond = isSecond
            return nil
        }
        guard tasks.count >= Self.taskLimit else {
            tasks.append(task)
            return nil
        }
        var oldest = task
        var oldestPlace: Int?
        for index in 0..<tasks.count where tasks[index].scheduled < oldest.scheduled {
            oldest = tasks[index]
            oldestPlace = index
        }
        if let oldestPlace {
            tasks.remove(at: oldestPlace)
            tasks.append(task)
        }
        markSeconds(of: oldest)
        oldest.isSecond = oldest.isSecond || isSecond(oldest)
        return oldest
    }

    /// Forgets the task of a schedule for a notification time that has none.
    mutating func forget(due: Timestamp, of schedule: UInt64) {
        if let place = place(due: due), tasks[place].schedule == schedule { tasks.remove(at: place) }
    }

    /// Marks the tasks that were scheduled while one waited that is no longer remembered.
    private mutating func markSeconds(of task: WaitingTask) {
        for index in 0..<tasks.count where isUnfinished(task, while: tasks[index]) {
            tasks[index].isSecond = true
        }
    }

    /// Forgets the task of a cycle that has closed, unless it is one of the latest.
    mutating func close(due: Timestamp) {
        guard tasks.count > Self.closedTaskLimit, let place = place(due: due) else { return }
        let closed = tasks[place]
        guard tasks.count(where: { $0.scheduled > closed.scheduled }) >= Self.closedTaskLimit else { return }
        tasks.remove(at: place)
        markSeconds(of: closed)
    }

    /// Restores a task from a checkpoint.
    mutating func restore(_ task: WaitingTask) {
        guard tasks.count < Self.taskLimit else { return }
        tasks.append(task)
    }
}

/// The seconds of the latest eight submissions of an installation, by event time.
struct RecentSubmissions: Sendable {
    static let limit = 8

    private(set) var seconds: InlineArray<8, UInt32> = .init(repeating: 0)

    /// Notes a submission in the place of the earliest one.
    mutating func note(_ second: UInt32) {
        var earliest = 0
        for index in 0..<Self.limit {
            if seconds[index] == second { return }
            if seconds[index] < seconds[earliest] { earliest = index }
        }
        seconds[earliest] = max(seconds[earliest], second)
    }

    /// Whether a task was submitted from a second on and until another.
    func hasAny(from start: Int64, through end: Int64) -> Bool {
        (0..<Self.limit).contains { (start...max(start, end)).contains(Int64(seconds[$0])) }
    }

    /// The latest second until another in which a task was submitted; the first one where all are later. Nil where an
    /// earlier one may have been forgotten.
    func latest(until end: Int64) -> Int64? {
        var latest: Int64?
        var first: Int64?
        var isFull = true
        for index in 0..<Self.limit {
            let second = Int64(seconds[index])
            guard second > 0 else {
                isFull = false
                continue
            }
            if second <= end { latest = max(latest ?? second, second) }
            first = min(first ?? second, second)
        }
        return latest ?? (isFull ? nil : first)
    }

    /// Whether no task was submitted from a second on and until another. Of what is before the known ones nothing is said.
    func areMissing(from start: Int64, through end: Int64) -> Bool {
        var isKnown = false
        for index in 0..<Self.limit {
            let second = Int64(seconds[index])
            if second >= start, second <= end { return false }
            isKnown = isKnown || second < start
        }
        return isKnown
    }
}

/// When notifications were denied and granted, told for the whole installation (docs/lifecycle.md, Permission).
struct ToldPermissions: Sendable {
    private static let limit = 16

    /// Ascending; of one moment a denial before a grant. A word is the time in microseconds, twice, and 1 for a grant.
    private(set) var words: [Int64] = []

    /// Records a telling. Past the limit one is dropped that says the same as those around it, else the earliest.
    mutating func record(isGranted: Bool, at time: Timestamp) { restore(time.microseconds &* 2 | (isGranted ? 1 : 0)) }

    /// Records a telling from a checkpoint.
    mutating func restore(_ word: Int64) {
        var place = words.count
        while place > 0, words[place - 1] >= word {
            if words[place - 1] == word { return }
            place -= 1
        }
        words.insert(word, at: place)
        guard words.count > Self.limit else { return }
        let repeated = (1..<words.count - 1).first { place in
            let isOther = (words[place - 1] ^ words[place]) | (words[place] ^ words[place + 1])
            return isOther & 1 == 0
        }
        words.remove(at: repeated ?? 0)
    }

    /// The denial that was the last word on permission when something happened; nil after a grant, also one of the same
    /// moment.
    func denial(before time: Timestamp) -> Timestamp? {
        for word in words.reversed() {
            let told = word >> 1
            if word & 1 == 1, told <= time.microseconds { return nil }
            if word & 1 == 0, told < time.microseconds { return Timestamp(microseconds: told) }
        }
        return nil
    }

    /// Whether a grant was told between two moments, or in one of them.
    func hasGrant(from start: Timestamp, through end: Timestamp) -> Bool {
        words.contains { $0 & 1 == 1 && $0 >> 1 >= start.microseconds && $0 >> 1 <= end.microseconds }
    }
}

/// The open cycles of an installation that are known by one name alone, and what they have counted.
///
/// A cycle known by its schedule and one known by its time may turn out to be the same. What one of them has counted, the
/// other does not count before it is closed or has both names.
struct OpenHalves: Sendable {
    private var undated: UInt16 = 0
    private var undatedStages: UInt16 = 0
    private var timed: UInt16 = 0
    private var timedStages: UInt16 = 0

    init() {}

    /// Restores what `word` has.
    init(word: UInt64) {
        undated = UInt16(truncatingIfNeeded: word)
        undatedStages = UInt16(truncatingIfNeeded: word >> 16)
        timed = UInt16(truncatingIfNeeded: word >> 32)
        timedStages = UInt16(truncatingIfNeeded: word >> 48)
    }

    var word: UInt64 {
        UInt64(undated) | UInt64(undatedStages) << 16 | UInt64(timed) << 32 | UInt64(timedStages) << 48
    }

    mutating func open(_ half: CycleHalf) {
        switch half {
        case .undated: undated = undated == .max ? .max : undated + 1
        case .timed: timed = timed == .max ? .max : timed + 1
        }
    }

    mutating func close(_ half: CycleHalf) {
        switch half {
        case .undated:
            undated = max(undated, 1) - 1
            if undated == 0 { undatedStages = 0 }
        case .timed:
            timed = max(timed, 1) - 1
            if timed == 0 { timedStages = 0 }
        }
    }

    mutating func count(_ stages: WaitingStages, of half: CycleHalf) {
        switch half {
        case .undated: undatedStages |= stages.rawValue
        case .timed: timedStages |= stages.rawValue
        }
    }

    /// What a cycle does not count yet because the other half of it may have.
    func waiting(_ half: CycleHalf) -> WaitingStages {
        WaitingStages(rawValue: half == .undated ? timedStages : undatedStages)
    }

    /// Whether there are halves of both kinds, so that something may wait.
    var mayWait: Bool { undated > 0 && timed > 0 }
}

/// The stages that were counted of the latest eight events, by event time.
struct RecentCounts: Sendable {
    static let limit = 8

    /// Ascending. A word is the time in microseconds, eight times, and the index of the stage in `StageTally`.
    private(set) var words: InlineArray<8, Int64> = .init(repeating: .min)

    mutating func note(_ counted: StageTally, at time: Timestamp, failedAt failureTime: Timestamp) {
        for place in counted.places {
            let time = place >= StageTally.failures ? failureTime : time
            for _ in 0..<min(counted[place], UInt64(Self.limit)) { note(place, at: time) }
        }
    }

    /// Notes one count of the stage at an index of `StageTally`.
    mutating func note(_ place: Int, at time: Timestamp) {
        guard time.microseconds > .min / 8 else { return }
        note(time.microseconds &* 8 | Int64(place))
    }

    /// Notes a count instead of the earliest one.
    mutating func note(_ word: Int64) {
        guard word > words[0] else { return }
        var place = 1
        while place < Self.limit, words[place] < word {
            words[place - 1] = words[place]
            place += 1
        }
        words[place - 1] = word
    }

    /// Whether a stage of an event of this time is among what was noted.
    func has(_ place: Int, at time: Timestamp) -> Bool {
        for index in 0..<Self.limit where words[index] == time.microseconds &* 8 | Int64(place) { return true }
        return false
    }

    /// Forgets that a stage of an event of this time was counted.
    mutating func forget(_ place: Int, at time: Timestamp) {
        let word = time.microseconds &* 8 | Int64(place)
        guard var index = (0..<Self.limit).first(where: { words[$0] == word }) else { return }
        while index > 0 {
            words[index] = words[index - 1]
            index -= 1
        }
        words[0] = .min
    }

    /// What was counted of events later than a time.
    func counted(after time: Timestamp) -> StageTally {
        var tally = StageTally()
        for index in 0..<Self.limit where words[index] >> 3 > time.microseconds {
            tally[Int(words[index] & 7)] += 1
        }
        return tally
    }
}
