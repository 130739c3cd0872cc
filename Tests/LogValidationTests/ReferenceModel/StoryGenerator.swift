// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Histories of chance: what devices tell of their schedules, good and bad, in the order of arrival.
///
/// A history is a function of its seed. It holds what made verdicts go wrong: retries, two reasons in one attempt, ids that
/// are told late, several passes under one id, snapshots between events, submissions told anew, denials and grants, many
/// schedules at once, events doubled after delivery and several devices in one input.
struct StoryGenerator {
    /// 2025-11-15T00:00:00Z.
    private static let start = 1_763_164_800
    private static let day = 86_400
    /// MD5 sums.
    private static let hashes = ["1", "2", "3"].map { String(repeating: $0, count: 32) }

    private var random: SplitMix64

    /// A schedule's pass, and by which names its events call it.
    private struct Plan {
        enum Naming { case both, mixed, byId, byTime }

        var id: String
        var due: Int
        var begin: Int
        var naming = Naming.mixed
        /// Whether another pass has the same id.
        var sharesItsId = false
    }

    private init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// The events of one to three devices.
    static func history(seed: UInt64) -> [ToldEvent] {
        var generator = StoryGenerator(seed: seed)
        let devices = generator.pick([1, 1, 1, 2, 3])
        let isAnonymous = generator.chance(30)
        var events: [ToldEvent] = []
        for device in 1...devices {
            events += generator.stream(of: isAnonymous && device == 1 ? nil : "device-\(device)")
        }
        // Sorting by time is stable only with the place in mind.
        events = events.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(
            \.element
        )
        if generator.chance(30) {
            events += (0..<generator.pick([1, 3])).map { _ in generator.pick(events) }
        }
        return events
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    private mutating func stream(of installation: String?) -> [ToldEvent] {
        var events: [ToldEvent] = []
        for plan in plans() {
            for event in cycle(plan) { events.append(named(event, plan)) }
        }
        let first = events.map(\.time).min() ?? Self.start
        let last = events.map(\.time).max() ?? Self.start
        events += permissions(around: events.filter { $0.kind == "prefetch_scheduled" })
        if chance(30) { events.append(ToldEvent("plugin_started", first - 5)) }
        if chance(60) { events.append(ToldEvent("plugin_started", last + pick([3_600, 90_000, 200_000]))) }
        events = Self.withDistinctIdentities(events).map { $0.with { $0.installation = installation } }
        if installation != nil, chance(35) { events += snapshots(of: events) }
        return events
    }

    /// Schedules of their own, or daily passes under one id.
    private mutating func plans() -> [Plan] {
        let lead = pick([300, 300, 600, 1_200])
        if chance(35) {
            let passes = Int.random(in: 1...3, using: &random)
            return (1...passes).map { number in
                let due = Self.start + number * Self.day + 43_200
                return Plan(id: "daily", due: due, begin: due - lead, sharesItsId: passes > 1)
            }
        }
        let gap = pick([Self.day, 14_400, 3_600, 1_200])
        return (1...pick([1, 1, 1, 2, 3, 5])).map { number in
            let due = Self.start + Self.day + number * gap + number
            let naming = pick([Plan.Naming.both, .mixed, .mixed, .mixed, .byId, .byTime])
            return Plan(id: "notif-\(number)", due: due, begin: due - lead, naming: naming)
        }
    }

    /// Gives an event the names of its cycle, or one of them.
    private mutating func named(_ event: ToldEvent, _ plan: Plan) -> ToldEvent {
        var event = event
        // Far from its time an event of one pass could be meant for another.
        let isFar = plan.sharesItsId && (event.kind == "prefetch_scheduled" || abs(event.time - plan.due) > 3 * 3_600)
        let form = isFar || event.kind == "notification_scheduled" ? 2 : pick([0, 1, 2])
        switch plan.naming {
        case .byId: event.id = plan.id
        case .byTime: event.due = plan.due
        case .both: (event.id, event.due) = (plan.id, plan.due)
        case .mixed:
            if form != 0 { event.id = plan.id }
            if form != 1 { event.due = plan.due }
        }
        return event
    }

    /// A pass from its scheduling to its notification.
    private mutating func cycle(_ plan: Plan) -> [ToldEvent] {
        var told = submissions(plan)
        let begin = told.compactMap(\.begin).max() ?? plan.begin
        if chance(80) {
            let before = pick([100, 3_600])
            told.append(ToldEvent("notification_scheduled", plan.begin - before))
        }
        var time = pick([begin, begin + 5, begin + 60, begin + 899, begin + 900, begin + 901, plan.due, plan.due + 1])
        for _ in 0..<pick([0, 1, 1, 1, 1, 2, 3]) {
            told += attempt(at: time)
            time += Int.random(in: 100...200, using: &random)
        }
        let end = max(plan.due, told.map(\.time).max() ?? plan.due) + 7
        if chance(55) { told += uses(at: end, told) }
        if chance(20) { told.append(ToldEvent("content_missing", end + 1)) }
        if chance(65) {
            let drift = pick([-181, -180, 0, 2, 180, 181, 5_000])
            told.append(ToldEvent("notification_delivered", plan.due + drift))
        }
        if chance(8) { told.append(ToldEvent("notification_drift", end + 4)) }
        if chance(10) { told.append(ToldEvent("prefetch_missed", end + 5)) }
        if chance(30) {
            let (fetched, used) = (pick([true, true, false]), pick([true, false, nil]))
            told.append(
                ToldEvent("prefetch_cycle_complete", end + 9).with {
                    $0.fetched = fetched
                    $0.usedCached = used
                }
            )
        }
        return told
    }

    /// The submissions of a task: told once, twice, in another form, or anew with another earliest begin.
    private mutating func submissions(_ plan: Plan) -> [ToldEvent] {
        guard chance(92) else { return [] }
        let time = plan.begin - pick([59, 60, 61, 600, 3_600, 40_000])
        let begin: Int? = chance(92) ? plan.begin : nil
        let hash: String? = chance(40) ? pick(Self.hashes) : nil
        let submission = ToldEvent("prefetch_scheduled", time).with {
            $0.begin = begin
            $0.scheduleHash = hash
        }
        var told = [submission]
        if chance(15) {
            let later = pick([1, 20])
            told.append(submission.with { $0.time += later })
        }
        if chance(10) { told.append(submission.with { ($0.time, $0.begin, $0.scheduleHash) = (time + 2, nil, nil) }) }
        if chance(20) {
            let anew = plan.begin + pick([-30, 120, 1_000])
            let newHash: String? = chance(50) ? pick(Self.hashes) : hash
            told.append(
                submission.with { ($0.time, $0.begin, $0.scheduleHash) = (anew, anew + 180, newHash) }
            )
        }
        return told
    }

    /// One execution and what comes of it.
    private mutating func attempt(at time: Int) -> [ToldEvent] {
        let hash: String? = chance(40) ? pick(Self.hashes) : nil
        var told = [ToldEvent("prefetch_executed", time).with { $0.scheduleHash = hash }]
        if chance(30) { told.append(ToldEvent("prefetch_started", time + 1)) }
        for retry in 0..<pick([0, 0, 0, 1, 2]) {
            told.append(failure(time + 2 + 3 * retry).with { $0.willRetry = true })
            if chance(20) {
                told.append(told[told.count - 1].with { ($0.time, $0.willRetry, $0.status) = ($0.time + 1, nil, nil) })
            }
        }
        let completed = ToldEvent("prefetch_completed", time + 20)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3:
            told += success(time + 12)
            if chance(60) { told.append(completed.with { $0.fetched = true }) }
            if chance(8) { told.append(failed(completed, "NETWORK")) }
        case 4, 5:
            told.append(failure(time + 13).with { $0.willRetry = false })
            let reason = pick(["NETWORK", "NETWORK", "AUTH", nil])
            if chance(50) { told.append(failed(completed, reason)) }
        case 6:
            let reason = pick(["NETWORK", "AUTH", "SYSTEM"])
            told.append(ToldEvent("prefetch_failure", time + 13))
            if chance(70) { told.append(failed(completed, reason)) }
        case 7:
            if chance(40) { told.append(failure(time + 13)) }
            told.append(ToldEvent("prefetch_expired", time + 30))
        case 8: told.append(completed.with { $0.fetched = true })
        case 9:
            let reason = pick(["NETWORK", nil])
            told.append(failed(completed, reason))
        case 10:
            told.append(failure(time + 13))
            told += success(time + 15)
        default: break
        }
        return told
    }

    private func failed(_ completed: ToldEvent, _ reason: String?) -> ToldEvent {
        completed.with { ($0.fetched, $0.reason) = (false, reason) }
    }

    /// A failure that names its reason, implies it or knows none.
    private mutating func failure(_ time: Int) -> ToldEvent {
        let failure = ToldEvent("prefetch_failure", time)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return failure.with { $0.status = 503 }
        case 1: return failure.with { ($0.error, $0.status) = ("AuthError", 401) }
        case 2: return failure.with { $0.reason = "SYSTEM" }
        case 3: return failure
        default: return failure.with { $0.reason = "NETWORK" }
        }
    }

    private mutating func success(_ time: Int) -> [ToldEvent] {
        let ttl: Int? = pick([nil, 60, 300, 86_400])
        var told = [ToldEvent("prefetch_success", time).with { $0.ttl = ttl }]
        if chance(50) {
            let (hash, ttl): (String, Int?) = (pick(Self.hashes), pick([nil, nil, 60, 300]))
            told.append(ToldEvent("content_cached", time + 2).with { ($0.contentHash, $0.ttl) = (hash, ttl) })
        }
        return told
    }

    private mutating func uses(at time: Int, _ told: [ToldEvent]) -> [ToldEvent] {
        let fetch = told.last { $0.kind == "prefetch_success" }?.time
        let age: Int? = chance(50) ? pick([60, 61, 300, 301, max(0, time - (fetch ?? time))]) : nil
        let hash: String? = chance(50) ? pick(Self.hashes) : nil
        let use = ToldEvent("prefetch_used_for_notification", time).with { ($0.age, $0.contentHash) = (age, hash) }
        return chance(25) ? [use, use.with { ($0.time, $0.age, $0.contentHash) = (time + 1, nil, nil) }] : [use]
    }

    /// Denials and grants around some submissions, of the installation or of one schedule.
    private mutating func permissions(around submissions: [ToldEvent]) -> [ToldEvent] {
        var told: [ToldEvent] = []
        for submission in submissions where chance(12) {
            let general = ToldEvent("notification_denied", submission.time - pick([1, 30, 4_000, -5]))
            let hasName = chance(40)
            told.append(hasName ? general.with { ($0.id, $0.due) = (submission.id, submission.due) } : general)
            if chance(40), ReferenceModel.knowsGrants {
                told.append(ToldEvent("permission_granted", general.time + pick([-10, 10, 2_000])))
            }
        }
        return told
    }

    /// Snapshots of counters that include the events before them, and more that were lost.
    private mutating func snapshots(of events: [ToldEvent]) -> [ToldEvent] {
        let taken = Set(events.map(\.time))
        let times = (0..<pick([1, 1, 2, 3])).map { _ in pick(events).time + pick([3, 40, 2_000]) }
        var claimed: [String: Int] = [:]
        var lost: [String: Int] = [:]
        var told: [ToldEvent] = []
        for time in Set(times).subtracting(taken).sorted() {
            let counts = ReferenceModel().expectation(of: events.filter { $0.time < time }).counts
            for stage in ["scheduled", "executed", "success", "used", "failure NETWORK"] {
                guard let counter = ReferenceModel.counter(of: stage) else { continue }
                lost[stage, default: 0] += chance(25) ? pick([1, 2]) : 0
                claimed[counter] = max(claimed[counter] ?? 0, (counts[stage]?.lowerBound ?? 0) + (lost[stage] ?? 0))
            }
            let telemetry = claimed
            told.append(
                ToldEvent("telemetry_snapshot", time).with {
                    ($0.installation, $0.telemetry) = (events.first?.installation, telemetry)
                }
            )
        }
        return told
    }

    /// Two events of one kind and name never share a second, unless they are the same.
    private static func withDistinctIdentities(_ events: [ToldEvent]) -> [ToldEvent] {
        var known: Set<String> = []
        return events.map { event in
            var event = event
            while !known.insert("\(event.kind) \(event.id ?? "") \(event.time)").inserted { event.time += 1 }
            return event
        }
    }
}
