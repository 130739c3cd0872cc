// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport

/// Random events of some installations and of every kind, as correct senders report them:
///
/// - each schedule has one notification time, or one a day, and an event that is sent in several forms names both of them once;
/// - each attempt has one result, and a failure without a reason gets none later;
/// - the events of an installation name the same platform and version, or none;
/// - an installation is denied notifications once, and has three tasks at most.
struct History {
    var random: SplitMix64
    private(set) var events: [TestEvent] = []
    /// Whether all cycles of an installation are passes of one schedule.
    private let isDaily: Bool

    init(seed: UInt64, isDaily: Bool = false) {
        self.isDaily = isDaily
        random = SplitMix64(seed: seed)
        for installation in 0..<UInt64.random(in: 1...3, using: &random) { add(installation) }
    }

    private func name(of cycle: Int) -> String { isDaily ? "daily" : "cycle-\(cycle)" }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }

    /// Adds the events of an installation; number 0 has no id.
    private mutating func add(_ installation: UInt64) {
        var told: [TestEvent] = []
        for cycle in 0..<Int.random(in: 1...3, using: &random) {
            told += addressed(events(ofCycleAt: Double(cycle) * 86_400), of: cycle)
            told += whole(cycle)
        }
        told += unbound()
        let (platform, version) = (pick([nil, "iOS", "android", "Symbian"]), pick([nil, "1.0", "2.3"]))
        let skew: Int64? = chance(60) ? pick([0, 400_000, 7_200_000_000, -90_000_000]) : nil
        for event in told {
            var event = event.from(platform, version)
            if installation > 0 { event = event.of(installation) }
            if let skew, chance(80) { event = event.skewed(skew + Int64.random(in: 0..<2_000_000, using: &random)) }
            events.append(event)
        }
    }

    /// Gives each event its schedule, its time or both.
    private mutating func addressed(_ told: [TestEvent], of cycle: Int) -> [TestEvent] {
        told.map { event in
            let hasBoth = event.event.fetched == false
            let hasSchedule = hasBoth || chance(60)
            let hasDue = hasBoth || !hasSchedule || chance(30)
            return event.addressed(
                id: hasSchedule ? name(of: cycle) : nil,
                due: hasDue ? Double(cycle) * 86_400 + 900 : nil
            )
        }
    }

    /// The events of a cycle that name both its schedule and its time.
    private mutating func whole(_ cycle: Int) -> [TestEvent] {
        let day = Double(cycle) * 86_400
        var told = [TestEvent(.notificationScheduled, day)]
        if chance(30) {
            told += [TestEvent(.prefetchUsedForNotification, day + 901.4).aged(Double(pick([5, 60, 800])))]
        }
        if chance(30) { told += [TestEvent(.notificationDelivered, day + 903)] }
        if chance(20) { told += [TestEvent(.contentMissing, day + 903)] }
        if chance(20) { told += [TestEvent(.contentCacheFailed, day + 70).with { $0.usedCached = false }] }
        if chance(20) { told += [TestEvent(.contentCacheFailed, day + 71)] }
        if chance(20) { told += [TestEvent(.contentCacheFailed, day + 69)] }
        if chance(20) { told += [TestEvent(.prefetchMissed, day + 1_001)] }
        if chance(20) { told += [TestEvent(.schedulePersisted, day + 1)] }
        if chance(20) { told += [TestEvent(.leadCapped, day + 2)] }
        if chance(20) {
            told += [TestEvent(.prefetchScheduleFailed, day + 3).failing("Code=1").with { $0.isSimulator = false }]
        }
        if chance(20) {
            let summary = TestEvent(.prefetchCycleComplete, day + 905).summing(fetched: chance(50), used: chance(50))
            told += [chance(50) ? summary.aged(31.25) : summary]
        }
        // A result that names another time than its schedule.
        let other =
            !isDaily && chance(10)
            ? [TestEvent(.prefetchSuccess, day + 64).addressed(id: name(of: cycle), due: day + 902)] : []
        return told.map { $0.addressed(id: name(of: cycle), due: day + 900) } + other
    }

    /// Events of no cycle.
    private mutating func unbound() -> [TestEvent] {
        var told: [TestEvent] = []
        if chance(30) { told += [TestEvent(.pluginStarted, 3 * 86_400 + 200_000)] }
        if chance(30) {
            told += [TestEvent(.prefetchScheduleFailed, 5).failing(pick(["scheduling_failed", "Code=1", ""]))]
        }
        if chance(30) { told += [TestEvent(.leadCapped, 6)] }
        if chance(30) { told += [TestEvent(.notificationDenied, pick([-70, -10, 86_380]))] }
        if chance(20) { told += [TestEvent(.timezoneChanged, 8)] }
        if chance(20) { told += [TestEvent(.prefetchRegistered, -30)] }
        if chance(20) { told += [TestEvent(.contentCacheFailed, 80)] }
        for day in [0.0, 86_400, 172_800] where chance(30) {
            told += [TestEvent(.cacheCleared, day + pick([50, 61.9, 62, 700]))]
        }
        for call in 0..<4 where chance(30) {
            let isConditional: Bool? = pick([true, false, nil])
            told += [TestEvent(.apiCall, 61 + Double(call) * 100).with { $0.isConditional = isConditional }]
        }
        return told.map { $0.addressed(id: nil, due: nil) }
    }
}

extension History {
    /// The events of a cycle whose notification is due 900 s after a time; their addresses come later.
    mutating func events(ofCycleAt day: Double) -> [TestEvent] {
        let early = day - 86_400 + pick([100, 650.000_2, 700, 900.251, 3_000])
        let scheduled = chance(30) ? early : day - 20 + Double(Int.random(in: 0..<40, using: &random))
        var told = [hashed(TestEvent(.prefetchScheduled, scheduled).begins(day + pick([30, 600])))]
        let attempts = Int.random(in: 0...3, using: &random)
        for attempt in 0..<attempts { told += self.attempt(day + 60 + Double(attempt) * 100, isFirst: attempt == 0) }
        if attempts > 0, chance(30) { told.append(TestEvent(.prefetchScheduled, day + 860).begins(day + 880)) }
        if chance(30) { told.append(TestEvent(.contentMissing, day + 900)) }
        if chance(50) { told.append(used(day + pick([900, 650.000_4]))) }
        if chance(70) { told.append(delivered(day + 900 + pick([-249.999_6, -181.5, -1, 0.25, 1, 180, 200, 20_000]))) }
        if chance(20) { told.append(TestEvent(.prefetchMissed, day + 1_000)) }
        if chance(20) { told.append(TestEvent(.notificationDenied, day - 10)) }
        if chance(10) { told.append(TestEvent(.notificationDrift, day + 1_100)) }
        if chance(40) { told.append(TestEvent(.prefetchStarted, day + 61)) }
        return told
    }

    /// One execution and what comes of it.
    private mutating func attempt(_ time: Double, isFirst: Bool) -> [TestEvent] {
        var told = [hashed(TestEvent(.prefetchExecuted, time))]
        if chance(30) { told.append(timed(TestEvent(.prefetchFailure, time + 1).retried().reason(.network))) }
        if chance(10) { told.append(TestEvent(.prefetchFailure, time + 1.5).retried().reason(.network)) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3:
            let status: Int64? = chance(30) ? 304 : nil
            told.append(
                timed(TestEvent(.prefetchSuccess, time + (isFirst ? pick([2, 2, -0.5]) : 2)).ttl(pick([700, 86_400])))
                    .with { $0.status = status }
            )
            if chance(60) { told.append(TestEvent(.contentCached, time + 2.5).content(pick(["aa", "bb"]))) }
            if chance(60) { told.append(TestEvent(.prefetchCompleted, time + pick([5, 1, 31]))) }
        case 4...6:
            let reason = pick([FailureReason.network, .auth, .system, .other])
            told.append(timed(TestEvent(.prefetchFailure, time + 3).reason(reason).final()))
            if reason != .other, chance(50) {
                told.append(TestEvent(.prefetchCompleted, time + 4).unsuccessful().reason(reason))
            }
        case 7: told.append(TestEvent(.prefetchExpired, time + 30))
        case 8: if chance(60) { told.append(TestEvent(.prefetchCompleted, time + 5)) }
        default: if chance(30) { told.append(TestEvent(.contentCached, time + 3).ttl(1_000)) }
        }
        return told
    }

    private mutating func timed(_ told: TestEvent) -> TestEvent {
        chance(50) ? told.lasting(pick([0.01, 0.05, 1.2, 70])) : told
    }

    private mutating func hashed(_ told: TestEvent) -> TestEvent {
        chance(60) ? told.schedule(pick(["01", "01", "02"])) : told
    }

    private mutating func used(_ time: Double) -> TestEvent {
        var told = TestEvent(.prefetchUsedForNotification, time)
        if chance(60) { told = told.aged(pick([699, 700.000_001, 701, 2_000, 90_000])) }
        if chance(60) { told = told.content(pick(["aa", "BB", "cc"])) }
        return told
    }

    private mutating func delivered(_ time: Double) -> TestEvent {
        let told = TestEvent(.notificationDelivered, time)
        return chance(30) ? told.aged(pick([300, 800])) : told
    }
}
