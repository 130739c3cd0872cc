// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What an event says about which cycle it belongs to (SPEC 2).
struct CycleAddress {
    /// The hash of installation and schedule id; 0 where the event has no id.
    let schedule: UInt64
    /// The fingerprint of the installation; 0 where the event has none.
    let installation: UInt64
    /// When the notification is due, in whole milliseconds; two times within one are the same.
    let due: Timestamp?

    /// Nil for an event that names neither schedule nor notification time.
    init?(_ event: borrowing Event, schedule: UInt64?, installation: UInt64) {
        let due = event.due
        guard schedule != nil || due != nil else { return nil }
        self.schedule = schedule ?? 0
        self.installation = installation
        self.due = due
    }

    var hasBoth: Bool { schedule != 0 && due != nil }
}

extension Event {
    /// When the notification is due, as cycles know it: in whole milliseconds.
    var due: Timestamp? {
        scheduledFor.map { time in
            let milliseconds = min(max(time.microseconds / 1_000, 0), Int64(UInt32.max) * 1_000)
            return Timestamp(microseconds: milliseconds * 1_000)
        }
    }
}

extension Pseudonym {
    /// Half of the pseudonym, which is a keyed hash already; never 0.
    var fingerprint: UInt64 { Swift.max((high ^ low >> 1) &* 0x9E37_79B9_7F4A_7C15, 1) }
}

/// Where an event belongs among the open cycles.
enum CyclePlace {
    /// To this cycle.
    case known(Int)
    /// To this cycle of its schedule, which gets to know its notification time.
    case learnsDue(Int)
    /// To this cycle of its notification time, which gets to know its schedule.
    case learnsSchedule(Int)
    /// The same, once the oldest cycle of the schedule has made room, because too many are open.
    case learnsScheduleWithout(Int, oldest: Int)
    /// To both of these, which turn out to be one.
    case joins(schedule: Int, due: Int)
    /// To none, and none of its schedule has to make room.
    case none
    /// To none, and this one of its schedule has to make room, because too many are open.
    case noneWithout(Int)
}

extension CycleTable {
    /// How long after its notification time a cycle is still preferred, in microseconds.
    private static let preference: Int64 = 86_400 * 1_000_000

    /// Finds the cycle that an event belongs to.
    ///
    /// | event has | cycle |
    /// | --- | --- |
    /// | both | of the schedule, with that time or none; else of that time without a schedule |
    /// | a schedule | of the schedule; of several the one whose time is nearest, if it is not a day past |
    /// | a time | of that time and installation |
    ///
    /// - Parameter limit: how many cycles of one schedule may be open.
    func place(of address: CycleAddress, at time: Timestamp, limit: Int) -> CyclePlace {
        guard address.schedule != 0 else {
            guard let due = address.due, let slot = slot(installation: address.installation, due: due) else {
                return .none
            }
            return .known(slot)
        }
        guard let due = address.due else {
            return nearest(address.schedule, to: time).map { .known($0) } ?? .none
        }
        var open = 0
        var oldest: (slot: Int, due: Timestamp)?
        var undated: Int?
        let exact = slot(schedule: address.schedule) { slot in
            guard let other = self[slot].due else {
                undated = slot
                return false
            }
            if other == due { return true }
            open += 1
            if oldest.map({ other < $0.due }) ?? true { oldest = (slot, other) }
            return false
        }
        if let exact { return .known(exact) }
        let timed = slot(installation: address.installation, due: due).flatMap { self[$0].schedule == 0 ? $0 : nil }
        switch (undated, timed) {
        case (let undated?, let timed?): return .joins(schedule: undated, due: timed)
        case (let undated?, nil): return .learnsDue(undated)
        case (nil, let timed?):
            guard open >= limit, let oldest else { return .learnsSchedule(timed) }
            return .learnsScheduleWithout(timed, oldest: oldest.slot)
        case (nil, nil):
            guard open >= limit, let oldest else { return .none }
            return .noneWithout(oldest.slot)
        }
    }

    private func nearest(_ schedule: UInt64, to time: Timestamp) -> Int? {
        var best: (slot: Int, isPast: Bool, distance: Int64, due: Int64)?
        _ = slot(schedule: schedule) { slot in
            let due = self[slot].due?.microseconds ?? time.microseconds
            let candidate = (slot, due < time.microseconds - Self.preference, abs(due - time.microseconds), due)
            guard let known = best else {
                best = candidate
                return false
            }
            if known.isPast != candidate.1 {
                if known.isPast { best = candidate }
            } else if (candidate.2, candidate.3) < (known.distance, known.due) {
                best = candidate
            }
            return false
        }
        return best?.slot
    }
}
