// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// One run of the background refresh, made of the facts of its installation.
struct RefreshRun {
    /// The time of its start, or of its first fact.
    let begin: Int64
    /// Whether its start was told.
    let hasStart: Bool
    /// The places of its facts.
    var members: UInt128 = 0
    /// The time of its latest fact.
    var latest: Int64
    /// Whether a time is assumed, so that no rule about time applies.
    var hasAssumedTimes = false
    /// Whether its outcome is counted.
    var isOutcomeCounted = false
    /// Whether it was judged.
    var isJudged = false
    /// Whether lines tell of it, which say when the next run is scheduled; analytics events do not.
    var isToldByLines = false

    /// The first fact that ends it.
    var end: (time: Int64, place: Int, kind: RefreshFact.Kind)?
    /// Whether a completion is told as successful.
    var success: Bool?
    /// The time of the first completion, of the first successful one, and of the first check.
    var completedAt: Int64?
    var succeededAt: Int64?
    var checkedAt: Int64?
    /// The longest duration that a completion tells, in microseconds.
    var duration: Int64?
    /// What the first check tells, and whether any contradicts itself.
    var days: Int64?
    var isAvailable: Bool?
    var isAvailabilityWrong = false
    /// The days that the last check before the notification tells.
    var daysWhenNotified: Int64?
    /// The time of the first notification, of the last one, and of one at another moment than the first.
    var notifiedAt: Int64?
    var lastNotifiedAt: Int64?
    var notifiedAgainAt: Int64?
    var isNotificationFailed = false
    var notificationSkip: RefreshSkipReason?
    var isNotificationSkipped = false
    var notifiedDaysAgo: Int64?
    var skippedAt: Int64?
    var skipReason: RefreshSkipReason?
    var workedAfterSkip = false
    /// The first time from its beginning on at which the next run was scheduled, or could not be.
    var scheduledAt: Int64?
    /// When the next run begins.
    var nextBegin: Int64?

    init(_ fact: RefreshFact) {
        begin = fact.time
        latest = fact.time
        hasStart = fact.kind == .started
    }

    var outcome: RunOutcome {
        switch end?.kind {
        case .skipped?: .skipped
        case .expired?: .expired
        case .completed?: success == false ? .failed : .completed
        default: .incomplete
        }
    }

    /// How long it took, as told or else between its start and its end; nil where neither is known.
    var length: Int64? {
        if let duration { return duration }
        guard hasStart, !hasAssumedTimes, let end else { return nil }
        return end.time - begin
    }

    /// Whether a fact that is no start belongs to it.
    func includes(_ fact: RefreshFact) -> Bool {
        if hasStart { return fact.time - begin <= RefreshRules.reach }
        guard let end else { return fact.time - begin <= RefreshRules.runLimit }
        return fact.time - end.time <= RefreshRules.trailing
    }

    mutating func add(_ fact: RefreshFact, at place: Int) {
        members |= 1 << UInt128(place)
        latest = max(latest, fact.time)
        if fact.isAssumed { hasAssumedTimes = true }
        if fact.has(RefreshFact.outcomeCounted) { isOutcomeCounted = true }
        if fact.has(RefreshFact.judged) { isJudged = true }
        if fact.isEnd, end == nil { end = (fact.time, place, fact.kind) }
        switch fact.kind {
        case .started: isToldByLines = true
        case .checked:
            isToldByLines = true
            addCheck(fact)
            addWork(fact)
        case .completed:
            addCompletion(fact)
            addWork(fact)
        case .notificationSent:
            addNotification(fact)
            addWork(fact)
        case .notificationFailed: isNotificationFailed = true
        case .notificationSkipped:
            isToldByLines = true
            isNotificationSkipped = true
            notificationSkip = notificationSkip ?? fact.reason
            notifiedDaysAgo = notifiedDaysAgo ?? fact.number
        case .skipped:
            isToldByLines = true
            skippedAt = skippedAt ?? fact.time
            skipReason = skipReason ?? fact.reason
            // Facts of one time come with the skip behind the work: a run that has both of them contradicts itself.
            if checkedAt == fact.time || notifiedAt == fact.time { workedAfterSkip = true }
        case .expired, .scheduled, .scheduleFailed: break
        }
    }

    private mutating func addWork(_ fact: RefreshFact) {
        if let skippedAt, fact.time >= skippedAt { workedAfterSkip = true }
    }

    private mutating func addCheck(_ fact: RefreshFact) {
        if checkedAt == nil { (checkedAt, days, isAvailable) = (fact.time, fact.number, fact.truth) }
        if let days = fact.number, let isAvailable = fact.truth, isAvailable != (days >= RefreshRules.cadenceDays) {
            isAvailabilityWrong = true
        }
        if notifiedAt == nil || daysWhenNotified == nil { daysWhenNotified = fact.number ?? daysWhenNotified }
    }

    private mutating func addCompletion(_ fact: RefreshFact) {
        if completedAt == nil { completedAt = fact.time }
        if success == nil { success = fact.truth }
        if fact.truth == true, succeededAt == nil { succeededAt = fact.time }
        if let told = fact.number { duration = max(duration ?? 0, told) }
    }

    private mutating func addNotification(_ fact: RefreshFact) {
        guard let first = notifiedAt else {
            notifiedAt = fact.time
            lastNotifiedAt = fact.time
            return
        }
        let isAgain = hasAssumedTimes ? fact.time > first : fact.time - first > RefreshRules.moment
        if isAgain, notifiedAgainAt == nil { notifiedAgainAt = fact.time }
        lastNotifiedAt = fact.time
    }
}

/// Divides the facts of an installation into runs, in order.
struct RefreshRunCursor {
    private var next = 0
    private var current: RefreshRun?
    /// Facts of the time of a start that belong to the run before it.
    private var claimed: UInt128 = 0

    init() {}

    /// The next run; nil after the last one.
    mutating func nextRun(in facts: [RefreshFact]) -> RefreshRun? {
        while next < facts.count {
            let place = next
            let fact = facts[place]
            if claimed >> UInt128(place) & 1 == 1 {
                next += 1
                continue
            }
            if fact.isOfSchedule {
                next += 1
                if current?.scheduledAt == nil { current?.scheduledAt = fact.time }
                continue
            }
            if fact.kind == .started {
                claim(from: facts, at: place)
            } else if let run = current, run.includes(fact) {
                next += 1
                current?.add(fact, at: place)
                continue
            }
            next += 1
            var ended = current
            ended?.nextBegin = fact.time
            var run = RefreshRun(fact)
            run.add(fact, at: place)
            current = run
            if let ended { return ended }
        }
        defer { current = nil }
        return current
    }

    /// Gives the run before a start what is told at the very time of the start and completes that run. Stamps are often
    /// whole seconds, so a run may end in the second in which the next one begins.
    private mutating func claim(from facts: [RefreshFact], at start: Int) {
        guard let run = current else { return }
        let time = facts[start].time
        let group = facts[(start + 1)...].prefix { $0.time == time }
        if run.scheduledAt == nil, group.contains(where: \.isOfSchedule) { current?.scheduledAt = time }
        let hasWorked =
            run.checkedAt != nil || run.notifiedAt != nil
            || group.contains { $0.kind == .checked || $0.kind == .notificationSent }
        // A run that has worked completes or expires; another one was skipped.
        let end =
            group.firstIndex { $0.isEnd && ($0.kind != .skipped) == hasWorked } ?? group.firstIndex { $0.isEnd }
        guard run.end == nil, time - run.begin <= RefreshRules.runLimit, let end else { return }
        for other in group.indices {
            let isOfRun =
                switch facts[other].kind {
                case .checked: run.checkedAt == nil && facts[end].kind != .skipped
                case .notificationSent, .notificationSkipped, .notificationFailed:
                    run.notifiedAt == nil && !run.isNotificationSkipped && !run.isNotificationFailed
                        && facts[end].kind != .skipped
                default: other == end
                }
            guard isOfRun else { continue }
            claimed |= 1 << UInt128(other)
            current?.add(facts[other], at: other)
        }
    }
}
