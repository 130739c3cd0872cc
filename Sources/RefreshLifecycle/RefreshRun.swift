// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// One run of the background refresh, made of the facts of its installation.
struct RefreshRun {
    /// The time of its start, or of its first fact.
    let begin: Int64
    /// Whether its start was told.
    let hasStart: Bool
    /// What the reach of its start counts from: where that has no time of its own, from the first fact that has one.
    private var reachesFrom: Int64?
    /// The place of its first fact, and the place behind its last one but for those in `claimed`.
    let first: Int
    var endPlace: Int
    /// The facts of the time of its start that belong to the run before it, and those of the time of the next start that
    /// belong to it.
    let unclaimed: ClaimedFacts
    var claimed = ClaimedFacts()
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
    /// That fact, and whether a line and an analytics event have told of it.
    private var endFact: RefreshFact?
    private var isEndPaired = false
    /// How many facts tell of its end.
    private(set) var ends = 0
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
    /// The first notification, until a line and an analytics event have told of it.
    private var unpairedNotification: RefreshFact?
    var isNotificationFailed = false
    var notificationSkip: RefreshSkipReason?
    var isNotificationSkipped = false
    var notifiedDaysAgo: Int64?
    var skippedAt: Int64?
    var skipReason: RefreshSkipReason?
    var workedAfterSkip = false
    /// The first time from its beginning on at which the next run was scheduled, or could not be.
    var scheduledAt: Int64?
    /// The last time at which the operating system took the schedule, and whether it ever refused one.
    var acceptedAt: Int64?
    var isScheduleRefused = false
    /// When the next run begins, and whether a launch follows before a schedule: a run without a start is none.
    var nextBegin: Int64?
    var isNextLaunched = false

    init(_ fact: RefreshFact, at place: Int, without unclaimed: ClaimedFacts = ClaimedFacts()) {
        first = place
        endPlace = place + 1
        self.unclaimed = unclaimed
        begin = fact.time
        latest = fact.time
        hasStart = fact.kind == .started
        reachesFrom = fact.isAssumed ? nil : fact.time
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

    /// Whether it has not ended before a time, so that what is told then may complete it.
    func isOpen(at time: Int64) -> Bool {
        time - begin <= RefreshRules.runLimit && (end.map { $0.time == time } ?? true)
    }

    /// Whether a fact that is no start belongs to it.
    func includes(_ fact: RefreshFact) -> Bool { !isEnded(before: fact) && reaches(fact) }

    /// Whether a fact needs a run of its own, because this one has ended.
    ///
    /// Work after a skip belongs to the run that was skipped, and what an expired task still tells to the run that expired.
    private func isEnded(before fact: RefreshFact) -> Bool {
        guard let end, let endFact, fact.time > end.time, fact.isEnd || fact.kind == .checked else { return false }
        let isOfOneMoment = fact.isOfOneMoment(with: endFact)
        if fact.kind == end.kind {
            // An app may tell of one failure twice, by two analytics events too.
            let isOneFailure =
                fact.truth == false && endFact.truth == false && !fact.isAssumed
                && fact.time - end.time < RefreshRules.moment
            return !(isOfOneMoment && !isEndPaired || isOneFailure)
        }
        switch end.kind {
        case .skipped: return fact.kind == .expired
        case .expired: return fact.kind == .skipped || fact.time - end.time > RefreshRules.trailing
        default: return !isOfOneMoment
        }
    }

    private func reaches(_ fact: RefreshFact) -> Bool {
        if hasStart { return reachesFrom.map { fact.time - $0 <= RefreshRules.reach } ?? true }
        guard let end else { return fact.time - begin <= RefreshRules.runLimit }
        return fact.time - end.time <= RefreshRules.trailing
    }

    mutating func add(_ fact: RefreshFact, at place: Int) {
        latest = max(latest, fact.time)
        if !fact.isAssumed {
            reachesFrom = reachesFrom ?? fact.time
        } else if fact.kind != .checked || reachesFrom == nil {
            // Of a check among lines with stamps no rule compares the time.
            hasAssumedTimes = true
        }
        if fact.has(RefreshFact.outcomeCounted) { isOutcomeCounted = true }
        if fact.has(RefreshFact.judged) { isJudged = true }
        if !fact.isAnalytics { isToldByLines = true }
        if fact.isEnd { addEnd(fact, at: place) }
        switch fact.kind {
        case .checked:
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
            isNotificationSkipped = true
            notificationSkip = notificationSkip ?? fact.reason
            notifiedDaysAgo = notifiedDaysAgo ?? fact.number
        case .skipped:
            skippedAt = skippedAt ?? fact.time
            skipReason = skipReason ?? fact.reason
            // Facts of one time come with the skip behind the work: a run that has both of them contradicts itself.
            if checkedAt == fact.time || notifiedAt == fact.time { workedAfterSkip = true }
        case .started, .expired, .scheduled, .scheduleFailed: break
        }
    }

    mutating func addSchedule(_ fact: RefreshFact) {
        if scheduledAt == nil { scheduledAt = fact.time }
        if fact.kind == .scheduled { acceptedAt = fact.time } else { isScheduleRefused = true }
    }

    private mutating func addEnd(_ fact: RefreshFact, at place: Int) {
        ends += 1
        guard let endFact else {
            end = (max(fact.time, begin), place, fact.kind)
            endFact = fact
            return
        }
        if fact.kind == endFact.kind, fact.isOfOneMoment(with: endFact) { isEndPaired = true }
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
        defer { lastNotifiedAt = fact.time }
        if notifiedAt == nil {
            (notifiedAt, unpairedNotification) = (fact.time, fact)
        } else if let first = unpairedNotification, fact.isOfOneMoment(with: first) {
            unpairedNotification = nil
        } else {
            notifiedAgainAt = notifiedAgainAt ?? fact.time
        }
    }
}

extension RefreshRun {
    /// Whether a fact between its first one and `endPlace` is one of its own.
    func has(_ fact: RefreshFact, at place: Int) -> Bool { !fact.isOfSchedule && !unclaimed.contains(place) }
}

/// Facts of one time that belong to the run before the start of that time; at most 64 behind the start are looked at.
struct ClaimedFacts {
    private var start = 0
    private var bits: UInt64 = 0

    init() {}

    init(behind start: Int) {
        self.start = start + 1
    }

    var isEmpty: Bool { bits == 0 }
    var places: Range<Int> { isEmpty ? 0..<0 : start..<start + 64 - bits.leadingZeroBitCount }

    func contains(_ place: Int) -> Bool {
        place >= start && place < start + 64 && bits >> UInt64(place - start) & 1 == 1
    }

    mutating func insert(_ place: Int) {
        if place < start + 64 { bits |= 1 << UInt64(place - start) }
    }
}

/// Divides the facts of an installation into runs, in order.
struct RefreshRunCursor {
    private var next = 0
    private var current: RefreshRun?
    private var claimed = ClaimedFacts()
    /// The place of the start of a run that began with what a whole second stamps before it.
    private var startAhead: Int?

    /// - Parameter place: the place of a fact that begins a run or belongs to none.
    init(from place: Int = 0) {
        next = place
    }

    /// The next run; nil after the last one.
    mutating func nextRun(in facts: [RefreshFact]) -> RefreshRun? {
        while next < facts.count {
            let place = next
            let fact = facts[place]
            next += 1
            if fact.isOfSchedule {
                current?.addSchedule(fact)
            } else if place != startAhead, fact.kind == .started {
                claim(from: facts, at: place)
                if let ended = begin(fact, at: place) { return ended }
            } else if claimed.contains(place) {
                continue
            } else if let start = startBehind(place, in: facts), start != startAhead {
                startAhead = start
                claim(from: facts, at: start)
                if let ended = begin(fact, at: place, of: facts[start]) { return ended }
            } else if place == startAhead || current?.includes(fact) == true {
                current?.endPlace = place + 1
                current?.add(fact, at: place)
            } else {
                claimed = ClaimedFacts()
                addNextSchedule(from: facts, behind: place)
                if let ended = begin(fact, at: place) { return ended }
            }
        }
        defer { current = nil }
        return current
    }

    /// Gives a run the schedule or the launch that is told behind a run without a start of its own, which is no launch.
    private mutating func addNextSchedule(from facts: [RefreshFact], behind place: Int) {
        guard let run = current, run.isToldByLines, run.scheduledAt == nil else { return }
        let next = facts[place...].prefix(64).first { $0.isOfSchedule || $0.kind == .started }
        guard let next else { return }
        if next.isOfSchedule { current?.addSchedule(next) } else { current?.isNextLaunched = true }
    }

    /// Begins a run with its first fact and returns the run before it.
    private mutating func begin(_ fact: RefreshFact, at place: Int, of start: RefreshFact? = nil) -> RefreshRun? {
        var run = RefreshRun(start ?? fact, at: place, without: claimed)
        run.add(fact, at: place)
        var ended = current
        ended?.nextBegin = fact.time
        if run.hasStart { ended?.isNextLaunched = true }
        current = run
        return ended
    }

    /// The start next behind a fact whose stamp has no fraction, in the same second: an analytics event may be stamped
    /// before the start of its run. Nil where the fact may complete the run before, or tells again what that has told.
    private func startBehind(_ place: Int, in facts: [RefreshFact]) -> Int? {
        let fact = facts[place]
        guard fact.isWholeSecond,
            let start = facts[place...].prefix(64).firstIndex(where: { $0.time > fact.time }),
            facts[start].isStartWithinSecond, facts[start].time - fact.time < RefreshRules.second
        else { return nil }
        guard let run = current else { return start }
        let before = facts[run.first..<place].reversed().prefix { fact.time - $0.time < RefreshRules.moment }
        let isToldAgain = before.contains { $0.kind == fact.kind && $0.isOfOneMoment(with: fact) }
        return run.isOpen(at: fact.time) || isToldAgain ? nil : start
    }

    /// Gives the run before a start what is told at the very time of the start and completes that run. Stamps are often
    /// whole seconds, so a run may end in the second in which the next one begins.
    private mutating func claim(from facts: [RefreshFact], at start: Int) {
        claimed = ClaimedFacts(behind: start)
        guard let run = current else { return }
        let time = facts[start].time
        guard start + 1 < facts.count, facts[start + 1].time == time else { return }
        let group = facts[(start + 1)...].prefix { $0.time == time }.prefix(64)
        // The schedule of a run that ended long before is not told in the second of the next start.
        if run.scheduledAt == nil, run.end.map({ time - $0.time <= RefreshRules.trailing }) ?? true {
            for fact in group where fact.isOfSchedule { current?.addSchedule(fact) }
        }
        let hasWorked =
            run.checkedAt != nil || run.notifiedAt != nil
            || group.contains { $0.kind == .checked || $0.kind == .notificationSent }
        // A run that has worked completes or expires; another one was skipped.
        let end = group.firstIndex { $0.isEnd && ($0.kind != .skipped) == hasWorked } ?? group.firstIndex { $0.isEnd }
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
            claimed.insert(other)
            current?.add(facts[other], at: other)
        }
        current?.claimed = claimed
    }
}
