// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The verdict on a closed cycle: a pure function of its facts and of its installation.
///
/// `judge...` methods hold one rule per call; the rules are those of docs/lifecycle.md, their limits in `LifecycleRules`.
struct CycleEvaluation {
    let cycle: Cycle
    let account: CycleAccount
    /// Its times by the clock that planned times follow, for the rules about them.
    let planned: PlannedTimes
    /// Whether the clock was warped for one of its events.
    let isTimeWarped: Bool
    /// The launches that broke a rule; nil where its installation told of nothing that they are judged by.
    let launches: LaunchRules?
    /// The time until which its installation was heard of.
    let heardOf: Timestamp
    /// The end of the window of a submission that was not executed in it, where it is over.
    let missedEnd: Timestamp?
    /// How far a delivery may be from its time, in microseconds.
    let toleratedDrift: Int64
    /// What became of its content.
    private(set) var content: CycleContent
    /// Whether the content that was used is that of an earlier cycle.
    private(set) var isContentOlder = false
    /// The `ttl` of content that an earlier cycle fetched, in seconds, and whether its hash is that of the content used.
    private(set) var olderContent: (ttl: Int64?, hashMatches: Bool?) = (nil, nil)
    /// The first two stages that were stamped in the wrong order.
    private(set) var disorder: CycleOrder.Pair?
    /// A submission whose lead is not the one that was told, and that one in minutes.
    private(set) var differingLead: (begin: Timestamp, minutes: Int64)?
    private(set) var outcome = CycleOutcome.incomplete
    /// A scheduling, and the denial before it, where their times are remembered.
    private(set) var denial: (scheduled: Timestamp, denied: Timestamp)?
    /// The violated rules, by the bit of their raw value.
    private(set) var broken: UInt64 = 0

    /// - Parameters:
    ///   - installation: what its installation told; an empty one where it is not remembered, or the rules
    ///     across cycles do not apply.
    ///   - heardOf: the time until which its installation was heard of.
    ///   - known: the time of the verdict.
    init(
        _ cycle: Cycle,
        _ facts: Span<UInt64>,
        installation: borrowing Installation,
        heardOf: Timestamp,
        known: Timestamp,
        toleratedDrift: Int64
    ) {
        self.cycle = cycle
        self.toleratedDrift = toleratedDrift
        self.heardOf = heardOf
        account = CycleAccount(facts, of: cycle)
        let used = cycle.used.time(base: cycle.base)
        content = CycleContent(facts, of: cycle, used: used, account, told: installation.content)
        // None or one: an array, which is not copied with the lists in it.
        let history = installation.history
        let clock = history.isEmpty ? nil : history[0].clock
        if let clock, let warped = cycle.warped(by: clock, facts) {
            isTimeWarped = true
            let warpedAccount = CycleAccount(warped.facts.span, of: warped.cycle)
            planned = PlannedTimes(warped.cycle, warpedAccount)
            content.takeLoss(
                of: CycleContent(warped.facts.span, of: warped.cycle, used: nil, warpedAccount, told: ToldContent())
            )
        } else {
            isTimeWarped = false
            planned = PlannedTimes(cycle, account)
        }
        let now = clock?.warped(known) ?? known
        let scheduled = account.firstScheduled
        func isCancelled(before end: Timestamp) -> Bool {
            guard let scheduled, !history.isEmpty else { return false }
            return history[0].cancels(cycle.schedule, from: scheduled, through: end)
        }
        if let skipped = planned.skippedBegin {
            missedEnd = skipped.endOfWindow
        } else if scheduled != nil, let end = planned.waitingBegin?.endOfWindow, now > end, !isCancelled(before: end) {
            missedEnd = end
        } else {
            missedEnd = nil
        }
        launches = history.isEmpty ? nil : LaunchRules(cycle, facts, account, copy installation)
        let end = planned.waitingBegin?.endOfWindow ?? cycle.due
        outcome = judgedOutcome(isOver: end.map { now > $0 && !isCancelled(before: $0) } ?? false)
        isContentOlder = isOlder(installation.content)
        judgeOrder()
        takeOlderContent(installation.content)
        judgeIntegrity()
        judgeTasks(facts, of: installation)
        judgeTiming()
        judgeLaunches()
        judgePlan(facts, told: installation.content)
        judgeContent()
        guard hasTimes else { return }
        disorder = CycleOrder(facts, of: cycle, isContentOlder: isContentOlder).broken
        judge(.outOfOrder, disorder != nil)
        judge(.ranTooLong, account.longRun != nil)
    }

    /// Whether its times are real, so that the rules about time apply.
    @inline(__always) var hasTimes: Bool { !cycle.flags.contains(.hasAssumedTimes) }
    @inline(__always) var used: Timestamp? { account.used(of: cycle) }
    var success: Timestamp? {
        account.firstSuccess ?? account.impliedSuccess
    }
    var delivered: Timestamp? { cycle.delivered.time(base: cycle.base) }

    /// The age of the content when it was shown and its `ttl`, both in microseconds; nil where only a summary tells that it
    /// was used, and no age.
    @inline(__always) var ages: (age: Int64, ttl: Int64)? {
        guard used != nil, cycle.used.isKnown || cycle.age != nil, let ttl = account.ttl ?? olderContent.ttl,
            let age = age(at: planned.shown)
        else { return nil }
        return (age, ttl * 1_000_000)
    }

    var drift: Int64? { planned.drift }

    /// The age of the content that was told, or else at a time, in microseconds, where known.
    @inline(__always)
    private func age(at time: Timestamp?) -> Int64? {
        if let age = cycle.age { return age * 1_000_000 }
        guard hasTimes, let time, let success = planned.usedSuccess else { return nil }
        return time.microseconds - success.microseconds
    }

    /// Calls `body` with each duration that counts at the close, in microseconds.
    func eachTime(_ body: (TimeHistogram.Measure, Int64) -> Void) {
        if isTimeWarped { return }
        if !cycle.flags.contains(.ageCounted), let age = age(at: planned.used) { body(.contentAge, age) }
        guard hasTimes else { return }
        for duration in account.durations { body(.fetchDuration, duration) }
        if let startDelay = account.startDelay { body(.startDelay, startDelay) }
        if let drift { body(.drift, abs(drift)) }
    }

    /// Calls `body` with each violated rule, in the order of `ViolationKind`.
    @inline(__always)
    func eachBrokenKind(_ body: (ViolationKind) -> Void) {
        var rest = broken
        while rest != 0 {
            if let kind = ViolationKind(rawValue: UInt8(rest.trailingZeroBitCount)) { body(kind) }
            rest &= rest - 1
        }
    }

    private mutating func judge(_ kind: ViolationKind, _ isBroken: Bool) {
        if isBroken { broken |= 1 << UInt64(kind.rawValue) }
    }

    /// - Parameter isOver: whether the time in which its task should have run is over, by the clock of the verdict.
    private func judgedOutcome(isOver: Bool) -> CycleOutcome {
        if used != nil { return .used }
        if delivered != nil, cycle.flags.contains(.contentMissing) { return .fallback }
        if account.endsInFailure, delivered == nil { return .failed }
        let isLaterSeen =
            account.hasBegun || delivered != nil || cycle.started.isKnown || cycle.cached.isKnown
            || !cycle.flags.isDisjoint(with: [.contentMissing, .drifted, .isEnding])
        guard account.firstScheduled != nil, !isLaterSeen else { return .incomplete }
        if account.missed != nil { return .missed }
        return hasTimes && isOver ? .missed : .incomplete
    }

    private mutating func judgeOrder() {
        let isExecuted = account.firstExecuted != nil
        judge(.executedWithoutScheduled, isExecuted && account.firstScheduled == nil)
        judge(.successWithoutExecuted, !isExecuted && account.firstSuccess != nil)
        judge(.failureWithoutExecuted, !isExecuted && account.failure != nil && !account.isFailedSubmission)
        judge(.usedWithoutSuccess, cycle.used.isKnown && success == nil && !isContentOlder)
        judge(.duplicateTerminal, account.contradiction != nil)
        judge(.taskNotCompleted, account.unfinishedExecution != nil)
    }

    /// Whether the age of the content shows that it was fetched for an earlier notification: before the task of this cycle was
    /// scheduled, or before it ran, where such a fetch was told. Without times: before its task could begin.
    private func isOlder(_ told: ToldContent) -> Bool {
        guard let used, let age = cycle.age else { return false }
        guard hasTimes else {
            guard let due = cycle.due, let begin = account.firstBegin else { return false }
            return due.microseconds - age * 1_000_000 < begin.microseconds
        }
        guard let scheduled = account.firstScheduled else { return false }
        let fetched = Timestamp(microseconds: used.microseconds - age * 1_000_000)
        if fetched < scheduled { return true }
        // An age is rounded to whole seconds.
        guard let executed = account.firstExecuted, fetched.microseconds + 1_000_000 < executed.microseconds else {
            return false
        }
        return told.hasFetch(about: fetched)
    }

    /// Takes what was told of the content at the time at which its age says that an earlier cycle fetched it.
    private mutating func takeOlderContent(_ told: ToldContent) {
        guard hasTimes, success == nil, isContentOlder, let used, let age = cycle.age else { return }
        let fetched = Timestamp(microseconds: used.microseconds - age * 1_000_000)
        olderContent.ttl = told.fetched(.ttl, about: fetched).flatMap { CodedTTL(rawValue: $0).seconds }
        if let usedHash = account.usedHash, let hash = told.fetched(.hash, about: fetched) {
            olderContent.hashMatches = usedHash == hash
        }
    }

    private mutating func judgeIntegrity() {
        judge(.contentHashMismatch, contentHashMatches == false)
        judge(.scheduleHashMismatch, scheduleHashMatches == false)
        judge(.staleContentUsed, ages.map { $0.age > $0.ttl } ?? false)
    }

    var contentHashMatches: Bool? {
        account.contentHashMatches ?? olderContent.hashMatches ?? (cycle.flags.contains(.contentMatches) ? true : nil)
    }

    var scheduleHashMatches: Bool? {
        account.scheduleHashMatches ?? (cycle.flags.contains(.scheduleMatches) ? true : nil)
    }

    private mutating func judgeTasks(_ facts: Span<UInt64>, of installation: borrowing Installation) {
        var isSecond = cycle.flags.contains(.isSecond)
        if !isSecond, let task = WaitingTask(cycle, facts) {
            isSecond = installation.task(due: task.due)?.isSecond ?? false || installation.isSecond(task)
        }
        judge(.secondActiveTask, isSecond)
        denial = denial(of: facts, installation.permissions)
        judge(.scheduledWhileDenied, denial != nil || cycle.flags.contains(.scheduledWhileDenied))
        guard hasTimes, let executed = account.lastExecuted else { return }
        let end = executed.microseconds + LifecycleRules.nextTaskMicroseconds
        guard installation.latest.microseconds > end else { return }
        let isAlone = installation.submissions.areMissing(
            from: executed.wholeSeconds,
            through: Timestamp(microseconds: end).wholeSeconds
        )
        judge(.nextNotScheduled, isAlone)
    }

    /// The first scheduling that follows a denial of its cycle, or of the installation, that no grant has ended. Times that
    /// are assumed from the order of lines tell as much.
    private func denial(
        of facts: Span<UInt64>,
        _ permissions: ToldPermissions
    ) -> (scheduled: Timestamp, denied: Timestamp)? {
        var denied: Timestamp?
        for index in facts.indices {
            let fact = Fact(rawValue: facts[index])
            let time = fact.time(base: cycle.base)
            switch fact.stage {
            case .denied: denied = time
            case .granted: denied = nil
            case .scheduled:
                // A line that tells of the scheduling before a denial is no scheduling behind it.
                if hasTimes, facts.repeatsSubmission(index) { continue }
                if let denied, !permissions.hasGrant(from: denied, through: time) { return (time, denied) }
                if let told = permissions.denial(before: time) { return (time, told) }
            default: continue
            }
        }
        return nil
    }

    private mutating func judgeTiming() {
        judge(.expired, account.expired != nil)
        judge(
            .driftExceeded,
            cycle.flags.contains(.drifted)
                || (drift.map { LifecycleRules.isDrift($0, beyond: toleratedDrift) } ?? false)
        )
        judge(.missedWindow, account.missed != nil)
        guard hasTimes else { return }
        judge(.leadBelowMinimum, planned.lead.map(LifecycleRules.isBelowMinimum(lead:)) ?? false)
        if let started = planned.lastStarted, let due = cycle.due {
            judge(.executedAfterNotification, started > due)
        }
        judge(.missedWindow, planned.lateStart != nil || missedEnd != nil)
    }

    private mutating func judgeLaunches() {
        guard hasTimes, let launches else { return }
        judge(.missedNotRescheduled, launches.launchAfterMiss != nil)
        judge(.pendingScheduleLost, launches.launchWithoutSchedule != nil)
        judge(.notRescheduledAfterLaunch, launches.launchWithoutTask != nil)
        judge(.pendingLimitExceeded, launches.pendingLimitExceeded != nil)
        judge(.countersOutOfPattern, launches.countersOutOfPattern != nil)
    }

    private mutating func judgeContent() {
        judge(.ttlDiffers, content.ttls != nil)
        judge(.notModifiedWithoutETag, content.call != nil)
        guard hasTimes else { return }
        judge(.cachedContentLost, content.lost != nil)
        judge(.clearedContentUsed, content.cleared != nil)
    }

    private mutating func judgePlan(_ facts: Span<UInt64>, told: ToldContent) {
        judge(.scheduleTimeDiffers, cycle.details.contains(.timeDiffers))
        if account.firstScheduled != nil, !cycle.details.contains(.isPersisted) {
            judge(.scheduledNotPersisted, told.lacksPersisted(cycle.schedule))
        }
        // By what the submission names, whenever it was.
        guard let due = cycle.due, !cycle.details.contains(.isLeadCapped) else { return }
        differingLead = Self.differingLead(facts, of: cycle, due: due)
        judge(.leadDiffers, differingLead != nil || cycle.details.contains(.leadDiffers))
    }

    /// The first submission that does not begin one of the leads that were told before its notification.
    ///
    /// A submission that names its lead, its begin and its notification is judged by itself; one of these that agrees says
    /// that the lead is not the usual one.
    private static func differingLead(
        _ facts: Span<UInt64>,
        of cycle: Cycle,
        due: Timestamp
    ) -> (begin: Timestamp, minutes: Int64)? {
        guard cycle.details.isDisjoint(with: [.leadAgrees, .leadDiffers]) else { return nil }
        let window = cycle.window.time(base: cycle.base)
        var told: Int64?
        for index in facts.indices where told == nil { told = Fact(rawValue: facts[index]).lead }
        for index in facts.indices {
            let fact = Fact(rawValue: facts[index])
            guard fact.stage == .scheduled, !cycle.isDistant(fact), !fact.begin.isCut(at: fact.time(base: cycle.base)),
                let begin = fact.begin.begin(at: fact.time(base: cycle.base), window: window, due: due)
            else { continue }
            var agrees = told == nil && begins(begin, LifecycleRules.defaultLeadMinutes, before: due, window)
            for other in facts.indices {
                guard let lead = Fact(rawValue: facts[other]).lead else { continue }
                agrees = agrees || begins(begin, lead, before: due, window)
            }
            if !agrees { return (begin, told ?? LifecycleRules.defaultLeadMinutes) }
        }
        return nil
    }

    /// Whether a begin is some minutes before the notification. Only the earliest one is known to more than a second.
    private static func begins(
        _ begin: Timestamp,
        _ minutes: Int64,
        before due: Timestamp,
        _ window: Timestamp?
    ) -> Bool {
        if LifecycleRules.isLead(minutes, from: begin, to: due) { return true }
        guard begin != window else { return false }
        return LifecycleRules.isLead(minutes, from: Timestamp(microseconds: begin.microseconds + 999_999), to: due)
    }
}

extension ClosedCycle {
    init(_ evaluation: CycleEvaluation) {
        let cycle = evaluation.cycle
        let account = evaluation.account
        schedule = cycle.schedule == 0 ? nil : cycle.schedule
        installation = cycle.installation
        notificationTime = cycle.due
        outcome = evaluation.outcome
        stages = CycleStages()
        stages.scheduled = account.firstScheduled
        stages.executed = account.firstExecuted
        stages.success = evaluation.success
        stages.failure = account.failure
        stages.used = evaluation.used
        stages.delivered = evaluation.delivered
        failureReason = account.failureReason
        violations = evaluation.violations
        attempts = account.attempts
        contentHashMatches = evaluation.contentHashMatches
        scheduleHashMatches = evaluation.scheduleHashMatches
        hasAssumedTimes = !evaluation.hasTimes
        isTimeWarped = evaluation.isTimeWarped
        group = Int(cycle.group)
        earliestBegin = cycle.window.time(base: cycle.base)
        if hasAssumedTimes { stages.keepOrderOfLines() }
    }
}

extension CycleStages {
    /// Puts the stages that are kept in milliseconds behind the lines of the same millisecond before them.
    ///
    /// Lines without stamps get times a microsecond apart, which only order them.
    fileprivate mutating func keepOrderOfLines() {
        let earlier = [scheduled, executed, success, failure].compactMap(\.self).max()
        func placed(_ kept: Timestamp?) -> Timestamp? {
            guard let kept, let earlier, kept < earlier, earlier.microseconds - kept.microseconds < 1_000 else {
                return kept
            }
            return earlier
        }
        used = placed(used)
        delivered = placed(delivered)
    }
}
