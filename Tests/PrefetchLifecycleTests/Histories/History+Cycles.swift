// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension History {
    /// The events of a cycle whose notification is due 900 s after a time; their addresses come later.
    mutating func events(ofCycleAt day: Double) -> [Told] {
        let early = day - 86_400 + pick([100, 650.000_2, 700, 900.251, 3_000])
        let scheduled = chance(30) ? early : day - 20 + Double(Int.random(in: 0..<40, using: &random))
        var told = [hashed(Told(.prefetchScheduled, scheduled).begins(day + 30))]
        let attempts = Int.random(in: 0...3, using: &random)
        for attempt in 0..<attempts { told += self.attempt(day + 60 + Double(attempt) * 100) }
        if attempts > 0, chance(30) { told.append(Told(.prefetchScheduled, day + 860).begins(day + 880)) }
        if chance(30) { told.append(Told(.contentMissing, day + 900)) }
        if chance(50) { told.append(used(day + pick([900, 650.000_4]))) }
        if chance(70) { told.append(delivered(day + 900 + pick([-249.999_6, -181.5, -1, 0.25, 1, 180, 200, 20_000]))) }
        if chance(20) { told.append(Told(.prefetchMissed, day + 1_000)) }
        if chance(20) { told.append(Told(.notificationDenied, day - 10)) }
        if chance(10) { told.append(Told(.notificationDrift, day + 1_100)) }
        if chance(40) { told.append(Told(.prefetchStarted, day + 61)) }
        return told
    }

    /// One execution and what comes of it.
    private mutating func attempt(_ time: Double) -> [Told] {
        var told = [hashed(Told(.prefetchExecuted, time))]
        if chance(30) { told.append(timed(Told(.prefetchFailure, time + 1).retried().reason(.network))) }
        if chance(10) { told.append(Told(.prefetchFailure, time + 1.5).retried().reason(.network)) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3:
            told.append(timed(Told(.prefetchSuccess, time + 2).ttl(pick([700, 86_400]))))
            if chance(60) { told.append(Told(.contentCached, time + 2.5).content(pick(["aa", "bb"]))) }
            if chance(60) { told.append(Told(.prefetchCompleted, time + 5)) }
        case 4...6:
            let reason = pick([FailureReason.network, .auth, .system, .other])
            told.append(timed(Told(.prefetchFailure, time + 3).reason(reason)))
            if reason != .other, chance(50) {
                told.append(Told(.prefetchCompleted, time + 4).unsuccessful().reason(reason))
            }
        case 7: told.append(Told(.prefetchExpired, time + 30))
        case 8: if chance(60) { told.append(Told(.prefetchCompleted, time + 5)) }
        default: if chance(30) { told.append(Told(.contentCached, time + 3).ttl(1_000)) }
        }
        return told
    }

    private mutating func timed(_ told: Told) -> Told {
        chance(50) ? told.lasting(pick([0.01, 0.05, 1.2, 70])) : told
    }

    private mutating func hashed(_ told: Told) -> Told {
        chance(60) ? told.schedule(pick(["01", "01", "02"])) : told
    }

    private mutating func used(_ time: Double) -> Told {
        var told = Told(.prefetchUsedForNotification, time)
        if chance(60) { told = told.aged(pick([699, 700.000_001, 701, 2_000, 90_000])) }
        if chance(60) { told = told.content(pick(["aa", "BB", "cc"])) }
        return told
    }

    private mutating func delivered(_ time: Double) -> Told {
        let told = Told(.notificationDelivered, time)
        return chance(30) ? told.aged(pick([300, 800])) : told
    }
}
