// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// Results that name another notification time than the schedule that they belong to (docs/lifecycle.md, A time that
/// differs).
///
/// A schedule for that time may still arrive, so they have a cycle of their own, and are taken into that of their schedule
/// when one of the two closes.
extension CycleTable {
    /// The first of some cycles that has such results, or is the one that they belong to.
    func differingTimes(among slots: some Sequence<Int>) -> (stray: Int, main: Int)? {
        for slot in slots { if let pair = differingTimes(at: slot) { return pair } }
        return nil
    }

    /// The cycle of the results and that of their schedule, where this is one of them.
    func differingTimes(at slot: Int) -> (stray: Int, main: Int)? {
        guard mayDiffer(slot), siblings(of: slot, where: { _ in true }) != nil else { return nil }
        switch role(of: slot) {
        case .stray: return siblings(of: slot) { role(of: $0) == .main }.map { (slot, $0) }
        case .main:
            return siblings(of: slot) { other in
                role(of: other) == .stray && siblings(of: other) { role(of: $0) == .main } == slot
            }.map { ($0, slot) }
        case nil: return nil
        }
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

    /// The nearest cycle of the same schedule that is due at another time within 12 hours.
    private func siblings(of slot: Int, where matches: (Int) -> Bool) -> Int? {
        guard let due = self[slot].due else { return nil }
        var best: (slot: Int, distance: Int64, due: Timestamp)?
        _ = self.slot(schedule: self[slot].schedule) { other in
            guard other != slot, mayDiffer(other), let otherDue = self[other].due else { return false }
            let distance = abs(otherDue.microseconds - due.microseconds)
            guard distance > LifecycleRules.sameTimeMicroseconds, distance < LifecycleRules.otherPassMicroseconds,
                best.map({ (distance, otherDue) < ($0.distance, $0.due) }) ?? true, matches(other)
            else { return false }
            best = (other, distance, otherDue)
            return false
        }
        return best?.slot
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
        guard let due = cycles[stray].due else { return false }
        let halves = [stray, main].compactMap { cycles.half(at: $0) }
        let installation = cycles[stray].installation
        cycles.forgetDue(at: stray)
        guard let joined = join(stray, with: main) else {
            cycles.learn(due: due, at: stray)
            return false
        }
        cycles.update(joined) { _ = $0.details.insert(.timeDiffers) }
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
