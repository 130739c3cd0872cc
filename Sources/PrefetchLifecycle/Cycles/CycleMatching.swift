// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What an event says about which cycle it belongs to (docs/lifecycle.md, Concepts).
struct CycleAddress {
    /// The hash of installation and schedule id; 0 without an id.
    let schedule: UInt64
    /// The fingerprint of the installation; 0 without one.
    let installation: UInt64
    /// The notification time in whole milliseconds, so that two within one millisecond are the same.
    let due: Timestamp?
    /// The cycle of its notification time, where that was looked up.
    let timed: TimedLookup?

    /// Nil for an event without a schedule or a notification time, and for one that is about its installation.
    init?(_ event: borrowing Event, schedule: UInt64?, _ timed: TimedLookup? = nil) {
        guard !event.kind.isOfInstallation else { return nil }
        let due = event.due
        guard schedule != nil || due != nil else { return nil }
        self.schedule = schedule ?? 0
        installation = event.installation?.fingerprint ?? 0
        self.due = due
        self.timed = timed
    }

    var hasBoth: Bool { schedule != 0 && due != nil }
}

extension Event {
    /// The notification time as cycles store it: in whole milliseconds from 1970 to 2106.
    var due: Timestamp? {
        scheduledFor.map { time in
            let milliseconds = min(max(time.microseconds / 1_000, 0), Int64(UInt32.max) * 1_000)
            return Timestamp(microseconds: milliseconds * 1_000)
        }
    }
}

extension EventKind {
    /// Whether it belongs to no cycle, though it may name a schedule.
    fileprivate var isOfInstallation: Bool {
        switch self {
        case .prefetchCancelled, .timeWarped, .rollingWindow, .scheduleSnapshot: true
        default: false
        }
    }
}

/// The cycle that an event belongs to, and what has to change for it.
enum CycleMatch {
    /// This cycle.
    case found(Int)
    /// This cycle of its schedule, which learns its notification time.
    case learnsDue(Int)
    /// This cycle of its notification time, which learns its schedule.
    case learnsSchedule(Int)
    /// The same, after the oldest cycle of the schedule is evicted, because too many are open.
    case learnsScheduleEvicting(Int, oldest: Int)
    /// Both of these, which are two halves of one cycle.
    case joins(schedule: Int, due: Int)
    /// No open cycle.
    ///
    /// - Parameter isFirst: whether the schedule has no other open cycle either.
    case none(isFirst: Bool)
    /// No open cycle; this one of its schedule must be evicted before another opens.
    case noneEvicting(Int)
}

/// What a lookup by installation and notification time has found, which holds while `CycleTable.timedChanges` is the same.
struct TimedLookup {
    let slot: Int?
    let changes: UInt64
}

/// A cycle that was opened as the only one of its schedule, which holds while `CycleTable.scheduleChanges` is the same: the
/// events of a cycle often arrive together.
struct OpenedCycle {
    private var schedule: UInt64 = 0
    private var slot = 0
    private var changes: UInt64 = 0

    /// None.
    init() {}

    init(_ schedule: UInt64, _ slot: Int, in cycles: CycleTable) {
        (self.schedule, self.slot, changes) = (schedule, slot, cycles.scheduleChanges)
    }

    /// The slot that `CycleTable.match(_:at:limit:)` finds for an address; nil where it may be another.
    @inline(__always)
    func slot(of address: CycleAddress, in cycles: CycleTable) -> Int? {
        guard schedule != 0, address.schedule == schedule, changes == cycles.scheduleChanges else { return nil }
        guard let due = address.due, cycles[slot].due != due else { return slot }
        return nil
    }
}

extension CycleTable {
    /// Looks for the indexed cycle with the installation and the notification time of an address, ahead of its need.
    func lookUpTimed(_ address: CycleAddress) -> TimedLookup? {
        address.due.map { TimedLookup(slot: slot(installation: address.installation, due: $0), changes: timedChanges) }
    }

    /// The indexed cycle with the installation and the notification time of an address.
    func timedSlot(of address: CycleAddress) -> Int? {
        guard let due = address.due else { return nil }
        if let known = address.timed, known.changes == timedChanges { return known.slot }
        return slot(installation: address.installation, due: due)
    }

    /// Finds the cycle that an event belongs to.
    ///
    /// | event has | cycle |
    /// | --- | --- |
    /// | schedule and time | of the schedule, with that time or none; else of that time without a schedule |
    /// | schedule | of the schedule; of several the one with the nearest time, unless that is a day past |
    /// | time | of that time and installation |
    ///
    /// - Parameter limit: the most open cycles of one schedule.
    func match(_ address: CycleAddress, at time: Timestamp, limit: Int) -> CycleMatch {
        guard address.schedule != 0 else {
            return timedSlot(of: address).map { .found($0) } ?? .none(isFirst: true)
        }
        guard let due = address.due else {
            if let only = onlySlot(schedule: address.schedule) { return .found(only) }
            return nearest(address.schedule, to: time).map { .found($0) } ?? .none(isFirst: true)
        }
        var open = 0
        var oldest: (slot: Int, due: Timestamp)?
        var undated: Int?
        var search = SlotSearch(address.schedule)
        while let slot = next(&search) {
            guard let other = self[slot].due else {
                undated = slot
                continue
            }
            if other == due { return .found(slot) }
            open += 1
            if oldest.map({ other < $0.due }) ?? true { oldest = (slot, other) }
        }
        let timed = timedSlot(of: address).flatMap { self[$0].schedule == 0 ? $0 : nil }
        switch (undated, timed) {
        case (let undated?, let timed?): return .joins(schedule: undated, due: timed)
        case (let undated?, nil): return .learnsDue(undated)
        case (nil, let timed?):
            guard open >= limit, let oldest else { return .learnsSchedule(timed) }
            return .learnsScheduleEvicting(timed, oldest: oldest.slot)
        case (nil, nil):
            guard open >= limit, let oldest else { return .none(isFirst: open == 0) }
            return .noneEvicting(oldest.slot)
        }
    }

    private func nearest(_ schedule: UInt64, to time: Timestamp) -> Int? {
        var best: (slot: Int, distance: PassDistance)?
        var search = SlotSearch(schedule)
        while let slot = next(&search) {
            let distance = PassDistance(self[slot].due ?? time, time)
            if best.map({ distance < $0.distance }) ?? true { best = (slot, distance) }
        }
        return best?.slot
    }
}

/// How far an event is from a pass of its schedule, by the notification time of the pass.
struct PassDistance: Comparable {
    /// A pass more than a day past its notification time loses to any other, however near.
    private static let preferredMicroseconds: Int64 = 86_400 * 1_000_000

    private let isPast: Bool
    private let distance: Int64
    private let due: Int64

    init(_ due: Timestamp, _ time: Timestamp) {
        isPast = due.microseconds < time.microseconds - Self.preferredMicroseconds
        distance = abs(due.microseconds - time.microseconds)
        self.due = due.microseconds
    }

    static func < (left: PassDistance, right: PassDistance) -> Bool {
        (left.isPast ? 1 : 0, left.distance, left.due) < (right.isPast ? 1 : 0, right.distance, right.due)
    }
}
