// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What an installation told beside its cycles, for the rules about launches, cancellations and warped time
/// (docs/lifecycle.md). Few installations tell any of it.
struct InstallationHistory: Sendable {
    /// When the plugin started, and whether it told of pending schedules.
    var launches = LatestMoments()
    /// When tasks were cancelled: of one schedule by its hash, or of all by 0.
    var cancellations = LatestMoments()
    /// When the clock was warped, and by how many minutes.
    var warps = LatestMoments()
    /// When a rule was broken by an event that belongs to no cycle, by the raw value of its kind.
    var breaches = LatestMoments()

    /// The lists in the order of a checkpoint.
    static var lists: [WritableKeyPath<InstallationHistory, LatestMoments>] {
        [\.launches, \.cancellations, \.warps, \.breaches]
    }

    var momentCount: Int {
        launches.moments.count + cancellations.moments.count + warps.moments.count + breaches.moments.count
    }

    /// Whether a task of a schedule was cancelled between two moments, or in one of them, or may have been by a cancellation
    /// that is forgotten.
    func cancels(_ schedule: UInt64, from start: Timestamp, through end: Timestamp) -> Bool {
        if cancellations.hasDropped, let first = cancellations.moments.first, start < first.time { return true }
        return cancellations.contains(from: start, through: end) { $0 == 0 || $0 == Int64(bitPattern: schedule) }
    }

    /// The clock that planned times follow.
    var clock: WarpedClock { WarpedClock(warps, launches) }
}

/// What a launch told of pending schedules; the raw values are stored in checkpoints.
enum LaunchKind: Int64 {
    case untold = 0
    case nothingPending = 1
    case pending = 2

    init(_ hasPendingSchedules: Bool?) {
        self =
            switch hasPendingSchedules {
            case nil: .untold
            case false?: .nothingPending
            case true?: .pending
            }
    }
}

/// The latest moments of one kind, each with a value: ascending, and none twice, so that the order of arrival does not
/// matter.
struct LatestMoments: Sendable {
    static let limit = 16

    struct Moment: Comparable, Sendable {
        let time: Timestamp
        let value: Int64

        static func < (left: Moment, right: Moment) -> Bool {
            (left.time.microseconds, left.value) < (right.time.microseconds, right.value)
        }
    }

    private(set) var moments: [Moment] = []
    /// Whether moments earlier than these were dropped.
    private(set) var hasDropped = false

    mutating func insert(_ value: Int64, at time: Timestamp) {
        let moment = Moment(time: time, value: value)
        var place = moments.count
        while place > 0, moments[place - 1] >= moment {
            if moments[place - 1] == moment { return }
            place -= 1
        }
        guard moments.count >= Self.limit else { return moments.insert(moment, at: place) }
        hasDropped = true
        guard place > 0 else { return }
        moments.insert(moment, at: place)
        moments.removeFirst()
    }

    /// Restores what a checkpoint holds.
    mutating func restore(_ moments: [Moment], hasDropped: Bool) {
        self.moments = moments
        self.hasDropped = hasDropped
    }

    /// Whether there is a moment between two times, or at one of them, whose value fits.
    func contains(from start: Timestamp, through end: Timestamp, where fits: (Int64) -> Bool) -> Bool {
        moments.contains { $0.time >= start && $0.time <= end && fits($0.value) }
    }

    /// The first moment after a time; nil where there is none, or where an earlier one may have been dropped.
    func first(after time: Timestamp) -> Moment? {
        guard let place = moments.firstIndex(where: { $0.time > time }), place > 0 || !hasDropped else { return nil }
        return moments[place]
    }
}

/// The clock that planned times follow: the device's, warped by a test of the app (docs/lifecycle.md, Warped time).
///
/// A warp holds from its moment until the next one, or until the next process of the app starts.
struct WarpedClock: Sendable {
    /// By how much the clock is ahead from each moment on, in microseconds; ascending.
    private var offsets: [(start: Timestamp, offset: Int64)] = []
    /// Whether there were warps before the first known one, which stands for them.
    private var hasDropped = false
    /// The farthest that a clock is warped, in either direction: ten years, in minutes.
    private static let farthest: Int64 = 10 * 366 * 24 * 60

    fileprivate init(_ warps: LatestMoments, _ launches: LatestMoments) {
        guard !warps.moments.isEmpty else { return }
        hasDropped = warps.hasDropped
        for warp in warps.moments {
            let minutes = min(max(warp.value, -Self.farthest), Self.farthest)
            offsets.append((warp.time, minutes * 60_000_000))
        }
        for launch in launches.moments where launch.value != LaunchKind.untold.rawValue {
            offsets.append((launch.time, 0))
        }
        offsets.sort { ($0.start.microseconds, $0.offset) < ($1.start.microseconds, $1.offset) }
    }

    /// Whether it ever differs from the device's.
    var isWarped: Bool { offsets.contains { $0.offset != 0 } }

    /// By how much it is ahead of the device's clock, in microseconds.
    func offset(at time: Timestamp) -> Int64 {
        if let known = offsets.last(where: { $0.start <= time }) { return known.offset }
        return hasDropped ? offsets.first { $0.offset != 0 }?.offset ?? 0 : 0
    }

    /// A time of the device by this clock.
    func warped(_ time: Timestamp) -> Timestamp { Timestamp(microseconds: time.microseconds + offset(at: time)) }
}

extension Fact {
    /// The fact by a warped clock. What a submission plans stays where it is.
    ///
    /// - Parameters:
    ///   - cycle: its cycle.
    func warped(by clock: WarpedClock, of cycle: Cycle) -> Fact {
        let time = time(base: cycle.base)
        let warped = clock.warped(time)
        guard warped != time, let stage else { return self }
        guard stage == .scheduled, begin.isKnown else { return moved(to: warped, base: cycle.base) }
        let window = cycle.window.time(base: cycle.base)
        guard let planned = begin.begin(at: time, window: window, due: cycle.due) else {
            return moved(to: warped, base: cycle.base)
        }
        let detail = SubmittedBegin(planned, at: warped).rawValue
        return Fact(stage, detail: detail, at: warped, base: cycle.base, isUndated: isUndated)
    }

    private func moved(to time: Timestamp, base: Timestamp) -> Fact {
        guard let stage else { return self }
        return Fact(stage, detail: detail.rawValue, at: time, base: base, isUndated: isUndated)
    }
}

extension Cycle {
    /// Its times and facts by a warped clock; nil where no fact is warped.
    func warped(by clock: WarpedClock, _ facts: Span<UInt64>) -> (cycle: Cycle, facts: [UInt64])? {
        guard clock.isWarped else { return nil }
        var cycle = self
        var isWarped = false
        var words: [UInt64] = []
        for index in facts.indices {
            let fact = Fact(rawValue: facts[index]).warped(by: clock, of: self)
            isWarped = isWarped || fact.rawValue != facts[index]
            words.append(fact.rawValue)
        }
        for path in [\Cycle.used, \Cycle.delivered, \Cycle.cached] {
            guard let time = self[keyPath: path].time(base: base), clock.offset(at: time) != 0 else { continue }
            isWarped = true
            var moved = EarliestTime()
            moved.include(clock.warped(time), base: base)
            cycle[keyPath: path] = moved
        }
        return isWarped ? (cycle, words.sorted()) : nil
    }
}
