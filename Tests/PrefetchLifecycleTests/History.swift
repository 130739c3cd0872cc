// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The events of some installations, by chance and of every kind, as they happen without faults in the telling:
///
/// - each schedule has one notification time, and an event that is told in several forms names both of them once;
/// - each attempt has one result, and a failure without a reason gets none later;
/// - the events of an installation name the same platform and version, or none;
/// - an installation is denied notifications once, and has three tasks at most.
struct History {
    var random: SplitMix64
    private(set) var events: [Told] = []

    init(seed: UInt64) {
        random = SplitMix64(state: seed)
        for installation in 0..<UInt64.random(in: 1...3, using: &random) { add(installation) }
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }

    /// Adds the events of an installation; that with the number 0 tells no id.
    private mutating func add(_ installation: UInt64) {
        var told: [Told] = []
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
    private mutating func addressed(_ told: [Told], of cycle: Int) -> [Told] {
        told.map { event in
            let hasBoth = event.event.fetched == false
            let hasSchedule = hasBoth || chance(60)
            let hasDue = hasBoth || !hasSchedule || chance(30)
            return event.addressed(
                id: hasSchedule ? "cycle-\(cycle)" : nil,
                due: hasDue ? Double(cycle) * 86_400 + 900 : nil
            )
        }
    }

    /// The events of a cycle that name both its schedule and its time.
    private mutating func whole(_ cycle: Int) -> [Told] {
        let day = Double(cycle) * 86_400
        var told = [Told(.notificationScheduled, day)]
        if chance(30) { told += [Told(.prefetchUsedForNotification, day + 901.4).aged(Double(pick([5, 60, 800])))] }
        if chance(30) { told += [Told(.notificationDelivered, day + 903)] }
        if chance(20) { told += [Told(.contentMissing, day + 903)] }
        if chance(20) { told += [Told(.contentCacheFailed, day + 70).with { $0.usedCached = false }] }
        if chance(20) { told += [Told(.contentCacheFailed, day + 71)] }
        if chance(20) { told += [Told(.prefetchMissed, day + 1_001)] }
        if chance(20) {
            let summary = Told(.prefetchCycleComplete, day + 905).summing(fetched: chance(50), used: chance(50))
            told += [chance(50) ? summary.aged(31.25) : summary]
        }
        return told.map { $0.addressed(id: "cycle-\(cycle)", due: day + 900) }
    }

    /// Events of no cycle.
    private mutating func unbound() -> [Told] {
        var told: [Told] = []
        if chance(30) { told += [Told(.pluginStarted, 3 * 86_400 + 200_000)] }
        if chance(30) { told += [Told(.prefetchScheduleFailed, 5).failing(pick(["scheduling_failed", "Code=1", ""]))] }
        if chance(30) { told += [Told(.leadCapped, 6)] }
        if chance(30) { told += [Told(.notificationDenied, pick([-70, -10, 86_380]))] }
        if chance(20) { told += [Told(.timezoneChanged, 8)] }
        if chance(20) { told += [Told(.prefetchRegistered, -30)] }
        if chance(20) { told += [Told(.contentCacheFailed, 80)] }
        return told.map { $0.addressed(id: nil, due: nil) }
    }
}
