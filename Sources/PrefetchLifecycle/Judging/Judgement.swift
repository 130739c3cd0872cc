// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The verdict on a cycle that is closed (SPEC 5.1): a pure function of what was told of it and of its installation.
struct Judgement {
    /// How much later than its earliest begin a task may be executed, in microseconds.
    static let windowLength: Int64 = 15 * 60 * 1_000_000
    /// How far a delivery may be from its time, in microseconds.
    static let toleratedDrift: Int64 = 180 * 1_000_000
    /// How far ahead of its earliest begin a task must be scheduled, in seconds.
    static let minimumLead: Int64 = 60
    /// How long an installation may go on without another task, in microseconds.
    static let nextTask: Int64 = 24 * 3_600 * 1_000_000

    let cycle: Cycle
    let account: CycleAccount
    let installation: Installation?
    /// The latest time that is known to have come.
    let known: Timestamp
    private(set) var outcome = CycleOutcome.incomplete
    /// The broken rules, by the bit of their raw value.
    private(set) var broken: UInt32 = 0

    init(_ cycle: Cycle, _ facts: Span<UInt64>, installation: Installation?, known: Timestamp) {
        self.cycle = cycle
        self.installation = installation
        self.known = known
        account = CycleAccount(facts, base: cycle.base, used: cycle.used.time(base: cycle.base))
        outcome = judgedOutcome
        judgeOrder()
        judgeIntegrity()
        judgeTasks(facts)
        judgeTiming()
    }

    /// Whether its times may be compared.
    var hasTimes: Bool { !cycle.flags.contains(.hasAssumedTimes) }
    var used: Timestamp? {
        cycle.used.time(base: cycle.base) ?? (account.asserted.contains(.usedCached) ? account.summed : nil)
    }
    var success: Timestamp? {
        account.firstSuccess ?? (account.asserted.contains(.fetched) ? account.summed : nil)
    }
    var delivered: Timestamp? { cycle.delivered.time(base: cycle.base) }
    var window: Timestamp? { cycle.window.time(base: cycle.base) }

    /// The end of the time in which the task is to be executed.
    var windowEnd: Timestamp? { window.map { Timestamp(microseconds: $0.microseconds + Self.windowLength) } }

    /// How old the content was when it was used, and how old it might be, both in microseconds.
    var ages: (age: Int64, ttl: Int64)? {
        guard let used, let ttl = cycle.ttl else { return nil }
        if cycle.flags.contains(.ageKnown) { return account.age.map { ($0 * 1_000_000, ttl * 1_000_000) } }
        guard hasTimes, let success = account.usedSuccess else { return nil }
        return (used.microseconds - success.microseconds, ttl * 1_000_000)
    }

    var drift: Int64? { cycle.drift }

    /// How old the content was when it was used, in microseconds, where that is known.
    var age: Int64? {
        if cycle.flags.contains(.ageKnown), let age = account.age { return age * 1_000_000 }
        guard hasTimes, let used, let success = account.usedSuccess else { return nil }
        return used.microseconds - success.microseconds
    }

    /// From the earliest begin of the task to its first execution, in microseconds.
    var startDelay: Int64? {
        guard let window, let started = account.firstStarted else { return nil }
        return started.microseconds - window.microseconds
    }

    /// Calls `body` for each length of time that counts now, in microseconds.
    func eachTime(_ body: (TimeHistogram.Measure, Int64) -> Void) {
        if !cycle.flags.contains(.ageCounted), let age { body(.contentAge, age) }
        guard hasTimes else { return }
        for duration in account.durations { body(.fetchDuration, duration) }
        if let startDelay { body(.startDelay, startDelay) }
        if let drift { body(.drift, abs(drift)) }
    }

    func breaks(_ kind: ViolationKind) -> Bool { broken & 1 << UInt32(kind.rawValue) != 0 }

    private mutating func judge(_ kind: ViolationKind, _ isBroken: Bool) {
        if isBroken { broken |= 1 << UInt32(kind.rawValue) }
    }

    private var judgedOutcome: CycleOutcome {
        if used != nil { return .used }
        if delivered != nil, cycle.flags.contains(.contentMissing) { return .fallback }
        if account.endsInFailure, delivered == nil { return .failed }
        guard account.firstScheduled != nil, account.firstExecuted == nil else { return .incomplete }
        if account.missed != nil { return .missed }
        guard hasTimes, let end = windowEnd ?? cycle.due else { return .incomplete }
        return known > end ? .missed : .incomplete
    }

    private mutating func judgeOrder() {
        let isExecuted = account.firstExecuted != nil
        judge(.executedWithoutScheduled, isExecuted && account.firstScheduled == nil)
        judge(.successWithoutExecuted, !isExecuted && account.firstSuccess != nil)
        judge(.failureWithoutExecuted, !isExecuted && account.failure != nil)
        judge(.usedWithoutSuccess, used != nil && success == nil && !isContentOlder)
        judge(.duplicateTerminal, account.contradictsItself)
        judge(.taskNotCompleted, account.left != nil)
    }

    /// Whether the age of the content tells that it was fetched before this cycle, for an earlier notification. An age
    /// within a `ttl` that was told is not always kept, and so never tells it.
    private var isContentOlder: Bool {
        guard hasTimes, let used, let age = account.age, let scheduled = account.firstScheduled else { return false }
        if let ttl = cycle.ttl, age <= ttl { return false }
        return used.microseconds - age * 1_000_000 < scheduled.microseconds
    }

    private mutating func judgeIntegrity() {
        judge(.contentHashMismatch, contentHashMatches == false)
        judge(.scheduleHashMismatch, scheduleHashMatches == false)
        judge(.staleContentUsed, ages.map { $0.age > $0.ttl } ?? false)
    }

    var contentHashMatches: Bool? {
        if cycle.flags.contains(.contentMatches) { return true }
        return account.hashes.cached && account.hashes.used ? false : nil
    }

    var scheduleHashMatches: Bool? {
        if cycle.flags.contains(.scheduleMatches) { return true }
        return account.hashes.scheduled && account.hashes.executed ? false : nil
    }

    private mutating func judgeTasks(_ facts: Span<UInt64>) {
        var isSecond = cycle.flags.contains(.isSecond)
        if !isSecond, let installation, let task = WaitingTask(cycle, facts) {
            isSecond = installation.task(due: task.due)?.isSecond ?? false || installation.isSecond(task)
        }
        judge(.secondActiveTask, isSecond)
        let isDenied = if let denied = account.denied, let last = account.lastScheduled { last > denied } else { false }
        judge(.scheduledWhileDenied, isDenied || cycle.flags.contains(.scheduledWhileDenied))
        guard hasTimes, let installation else { return }
        judge(
            .scheduledWhileDenied,
            facts.indices.contains { index in
                scheduledWhileDenied(Fact(rawValue: facts[index]), installation)
            }
        )
        guard let executed = account.lastExecuted else { return }
        let isAlone = installation.scheduled <= executed
        judge(
            .nextNotScheduled,
            isAlone && installation.latest.microseconds > executed.microseconds + Self.nextTask
        )
    }

    private func scheduledWhileDenied(_ fact: Fact, _ installation: Installation) -> Bool {
        fact.stage == .scheduled && installation.isDenied(fact.time(base: cycle.base))
    }

    private mutating func judgeTiming() {
        judge(.expired, account.expired != nil)
        judge(.driftExceeded, cycle.flags.contains(.drifted) || (drift.map { abs($0) > Self.toleratedDrift } ?? false))
        judge(.missedWindow, account.missed != nil)
        guard hasTimes else { return }
        judge(.leadBelowMinimum, account.lead.map { $0 < Self.minimumLead } ?? false)
        if let started = account.lastStarted, let due = cycle.due {
            judge(.executedAfterNotification, started > due)
        }
        if account.firstScheduled != nil, let windowEnd {
            judge(.missedWindow, (account.firstStarted ?? known) > windowEnd)
        }
    }
}
