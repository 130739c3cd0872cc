// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// Results that name another notification time than the schedule that they belong to (docs/judging.md,
/// schedule_time_differs).
///
/// A schedule for that time may still arrive, so they have a cycle of their own, and are taken into that of their schedule
/// when one of the two closes.
extension CycleTable {
    /// The first of some cycles that has such results, or is the one that they belong to.
    func differingTimes(among slots: some Sequence<Int>) -> (stray: Int, main: Int)? {
        for slot in slots { if let pair = differingTimes(at: slot) { return pair } }
        return nil
    }

    /// The cycle of the results and that of their schedule, where this is one of them; or two whose times are so near that
    /// they are the same.
    func differingTimes(at slot: Int) -> (stray: Int, main: Int)? {
        if let pair = nearTimes(at: slot) { return pair }
        guard mayDiffer(slot), sibling(of: slot, .any) != nil else { return nil }
        switch role(of: slot) {
        case .stray: return sibling(of: slot, .main).map { (slot, $0) }
        case .main: return sibling(of: slot, .stray(of: slot)).map { ($0, slot) }
        case nil: return nil
        }
    }

    /// Two cycles of one schedule whose times are no more than a second apart, of which at most one was scheduled. One that
    /// is known by its time alone belongs to the one that is due in a whole second next to it.
    private func nearTimes(at slot: Int) -> (stray: Int, main: Int)? {
        let cycle = self[slot]
        guard let due = cycle.due, !cycle.flags.contains(.isReopened) else { return nil }
        guard cycle.schedule != 0 else {
            let second = due.microseconds / 1_000_000
            for other in [second, second + 1, second - 1] {
                let time = Timestamp(microseconds: other * 1_000_000)
                guard let main = self.slot(installation: cycle.installation, due: time), main != slot,
                    self[main].schedule != 0, areSame(due, time), !self[main].flags.contains(.isReopened)
                else { continue }
                return role(of: slot) == .main ? nil : (slot, main)
            }
            return nil
        }
        // The earliest one: the order in the index is that of its growth, which a restart changes.
        var earliest: (slot: Int, due: Timestamp)?
        var search = SlotSearch(cycle.schedule)
        while let other = next(&search) {
            guard other != slot, mayDiffer(other), let time = self[other].due, areSame(due, time) else { continue }
            if earliest.map({ time < $0.due }) ?? true { earliest = (other, time) }
        }
        guard let (near, time) = earliest else { return nil }
        switch (role(of: slot), role(of: near)) {
        case (.main, .main): return nil
        case (.main, _): return (near, slot)
        case (_, .main): return (slot, near)
        default: return due < time ? (near, slot) : (slot, near)
        }
    }

    private func areSame(_ time: Timestamp, _ other: Timestamp) -> Bool {
        abs(time.microseconds - other.microseconds) <= LifecycleRules.sameTimeMicroseconds
    }

    private enum Role {
        case stray
        case main
    }

    private func mayDiffer(_ slot: Int) -> Bool {
        let cycle = self[slot]
        return cycle.schedule != 0 && cycle.due != nil && !cycle.flags.contains(.isReopened)
    }

    /// Whether it has results without a schedule, or a schedule.
    private func role(of slot: Int) -> Role? {
        withFacts(at: slot) { facts in
            var role: Role?
            for index in facts.indices {
                switch Fact(rawValue: facts[index]).stage {
                case .scheduled: return .main
                case .success, .failure, .completed: role = .stray
                default: continue
                }
            }
            return role
        }
    }

    private enum Sibling {
        case any
        case main
        /// One whose nearest schedule this is.
        case stray(of: Int)
    }

    /// The nearest cycle of the same schedule that is due at another time within 12 hours.
    private func sibling(of slot: Int, _ wanted: Sibling) -> Int? {
        guard let due = self[slot].due else { return nil }
        var best: (slot: Int, distance: Int64, due: Timestamp)?
        var search = SlotSearch(self[slot].schedule)
        while let other = next(&search) {
            guard other != slot, mayDiffer(other), let otherDue = self[other].due else { continue }
            let distance = abs(otherDue.microseconds - due.microseconds)
            guard distance > LifecycleRules.sameTimeMicroseconds, distance < LifecycleRules.otherPassMicroseconds,
                best.map({ (distance, otherDue) < ($0.distance, $0.due) }) ?? true, isWanted(other, wanted)
            else { continue }
            best = (other, distance, otherDue)
        }
        return best?.slot
    }

    private func isWanted(_ slot: Int, _ wanted: Sibling) -> Bool {
        switch wanted {
        case .any: true
        case .main: role(of: slot) == .main
        case .stray(let main): role(of: slot) == .stray && sibling(of: slot, .main) == main
        }
    }
}

extension LifecycleFold {
    /// Takes results that name another time into the cycle of their schedule, where one of the two is among some cycles.
    ///
    /// - Parameter slots: finds those cycles, again after each change.
    mutating func takeDifferingTimes(_ slots: (inout CycleTable) -> some Sequence<Int>) {
        var failed: Set<Int> = []
        while true {
            let candidates = slots(&cycles).filter { !failed.contains($0) }
            guard let (stray, main) = cycles.differingTimes(among: candidates) else { return }
            if !takeDifferingTime(from: stray, into: main) { failed.formUnion([stray, main]) }
        }
    }

    /// The same for all cycles, at the end of the input.
    mutating func takeAllDifferingTimes() {
        var slot = 0
        while slot < cycles.count {
            if let (stray, main) = cycles.differingTimes(at: slot), takeDifferingTime(from: stray, into: main) {
                // The last cycle moves to a place that becomes free.
                slot = min(slot, stray, main)
            } else {
                slot += 1
            }
        }
    }

    /// Takes the results of one cycle into another; false where they cannot be joined.
    mutating func takeDifferingTime(from stray: Int, into main: Int) -> Bool {
        guard let due = cycles[stray].due, let time = cycles[main].due else { return false }
        let isOther = abs(due.microseconds - time.microseconds) > LifecycleRules.sameTimeMicroseconds
        let halves = [stray, main].compactMap { cycles.half(at: $0) }
        let installation = cycles[stray].installation
        cycles.forgetDue(at: stray)
        if cycles[stray].schedule == 0 { cycles.learn(schedule: cycles[main].schedule, at: stray) }
        guard let joined = join(stray, with: main) else {
            cycles.learn(due: due, at: stray)
            return false
        }
        if isOther { cycles.update(joined) { _ = $0.details.insert(.timeDiffers) } }
        if isReceiver, !halves.isEmpty {
            let half = cycles.half(at: joined)
            installations.update(installation) { known in
                for closed in halves { known.halves.close(closed) }
                if let half { known.halves.open(half) }
            }
        }
        updateTask(of: joined)
        return true
    }
}
