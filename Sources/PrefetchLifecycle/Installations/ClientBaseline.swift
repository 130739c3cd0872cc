// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The state of an installation's own counters as of its last snapshot (docs/lifecycle.md, What a client counts itself).
///
/// A snapshot holds the client's counts; an offset is what was counted here when the client stood at 0. What the client
/// has counted beyond that was lost and is added once; if it arrives after all, it does not count again.
struct ClientBaseline: Sendable {
    /// The most that one snapshot may add to one counter. A larger claim becomes the new baseline and adds nothing.
    static let recoveryLimit: Int64 = 10_000
    /// The counters of `StageTally`, and one for the sum of all failures.
    static let places = StageTally.count + 1

    /// The time of the last applied snapshot.
    var time: Timestamp
    /// The values of the last snapshot; -1 for a missing one.
    var last: InlineArray<9, Int64> = .init(repeating: -1)
    /// The time of the last snapshot with each value, in microseconds.
    var told: InlineArray<9, Int64> = .init(repeating: .min)
    var offsets: InlineArray<9, Int64> = .init(repeating: 0)
    /// What was added for events that have not arrived.
    var recovered: InlineArray<8, UInt32> = .init(repeating: 0)
    /// The time of the current baseline; earlier events that arrive later raise the offsets.
    var baseTime = Timestamp(microseconds: .min)
    /// The time of the last snapshot before the baseline, and what had been added until then for missing events.
    var formerTime = Timestamp(microseconds: .min)
    var formerRecovered: InlineArray<8, UInt32> = .init(repeating: 0)
    /// What the snapshot of the baseline itself told beyond the events since the one before it.
    var resetRecovered: InlineArray<8, UInt32> = .init(repeating: 0)

    init(time: Timestamp) {
        self.time = time
    }

    /// Compares a later snapshot with what is counted here.
    ///
    /// - Returns: what to add, and the result of the snapshot.
    mutating func apply(_ snapshot: ClientSnapshot, counted: StageTally) -> (missing: StageTally, SnapshotResult) {
        let former = time
        time = max(time, snapshot.time)
        guard snapshot.isPlausible else { return (StageTally(), .implausible) }
        if isLower(snapshot) { return (restart(with: snapshot, counted, after: former), .reset) }
        guard var missing = missingCounts(in: snapshot, counted) else {
            rebase(snapshot, counted, after: former)
            return (StageTally(), .implausible)
        }
        limitFailures(of: &missing, snapshot, counted)
        for place in 0..<Self.places {
            guard let value = snapshot.value(place) else { continue }
            last[place] = value
            told[place] = snapshot.time.microseconds
        }
        for place in 0..<StageTally.count { recovered[place] &+= UInt32(clamping: missing[place]) }
        return (missing, .applied)
    }

    /// Starts a new baseline after the client's counters have begun anew.
    ///
    /// The client has counted from 0 since the last snapshot, at the latest. What it tells beyond what is counted here since
    /// then was lost; some of that may have been counted before its counters fell, so never more.
    ///
    /// - Returns: what to add.
    private mutating func restart(
        with snapshot: ClientSnapshot,
        _ counted: StageTally,
        after former: Timestamp
    ) -> StageTally {
        var empty = self
        for place in 0..<Self.places {
            let isKnown = last[place] >= 0
            empty.offsets[place] =
                isKnown ? offsets[place] + last[place] : counted.value(place) - (snapshot.value(place) ?? 0)
            empty.last[place] = isKnown ? 0 : -1
        }
        var missing = empty.missingCounts(in: snapshot, counted) ?? StageTally()
        if !missing.isZero { empty.limitFailures(of: &missing, snapshot, counted) }
        var all = counted
        for place in 0..<StageTally.count { all[place] += missing[place] }
        rebase(snapshot, all, after: former)
        for place in 0..<StageTally.count { resetRecovered[place] = UInt32(clamping: missing[place]) }
        return missing
    }

    /// Starts a new baseline: the client's counts correspond to what is counted here now.
    ///
    /// - Parameter former: the time of the last snapshot before.
    mutating func rebase(
        _ snapshot: ClientSnapshot,
        _ counted: StageTally,
        after former: Timestamp = Timestamp(microseconds: .min)
    ) {
        baseTime = snapshot.time
        formerTime = former
        for place in 0..<StageTally.count { formerRecovered[place] &+= recovered[place] &+ resetRecovered[place] }
        recovered = .init(repeating: 0)
        resetRecovered = .init(repeating: 0)
        for place in 0..<Self.places {
            last[place] = snapshot.value(place) ?? -1
            if last[place] >= 0 { told[place] = snapshot.time.microseconds }
            offsets[place] = counted.value(place) - (snapshot.value(place) ?? 0)
        }
        if snapshot.failures == nil {
            offsets[StageTally.count] = counted.value(StageTally.count) - sumOfReasons(snapshot)
        }
    }

    /// Whether a counter has fallen since the last snapshot.
    func isLower(_ snapshot: ClientSnapshot) -> Bool {
        (0..<Self.places).contains { place in snapshot.value(place).map { $0 < last[place] } ?? false }
    }

    /// What the client has counted beyond the counts here; nil for an implausible claim.
    private func missingCounts(in snapshot: ClientSnapshot, _ counted: StageTally) -> StageTally? {
        var missing = StageTally()
        for place in 0..<Self.places {
            guard let value = snapshot.value(place) else { continue }
            let difference = offsets[place] + value - counted.value(place)
            guard difference <= Self.recoveryLimit else { return nil }
            if place < StageTally.count { missing[place] = UInt64(max(difference, 0)) }
        }
        return missing
    }

    /// Drops missing failures that are already counted under another reason, and adds failures without a reason as
    /// `OTHER`.
    private func limitFailures(of missing: inout StageTally, _ snapshot: ClientSnapshot, _ counted: StageTally) {
        guard let sum = sumOfFailures(snapshot) else { return }
        var rest = UInt64(max(offsets[StageTally.count] + sum - counted.value(StageTally.count), 0))
        let claimed = missing
        for place in StageTally.failures..<StageTally.count {
            let growth = UInt64(clamping: (snapshot.value(place) ?? 0) - max(last[place], 0))
            missing[place] = min(claimed[place], growth, rest)
            rest -= missing[place]
        }
        for place in StageTally.failures..<StageTally.count {
            let older = min(claimed[place] - missing[place], rest)
            missing[place] += older
            rest -= older
        }
        if snapshot.failures != nil { missing[StageTally.otherFailure] += rest }
    }

    /// All failures of the client: their sum where sent, else the sum over its reasons; nil where too few are known.
    private func sumOfFailures(_ snapshot: ClientSnapshot) -> Int64? {
        if let failures = snapshot.value(StageTally.count) { return failures }
        let known = (StageTally.failures..<StageTally.otherFailure).count { snapshot[$0] != nil }
        let isEnough =
            known == StageTally.otherFailure - StageTally.failures || known > 0 && last[StageTally.count] >= 0
        return isEnough ? sumOfReasons(snapshot) : nil
    }

    private func sumOfReasons(_ snapshot: ClientSnapshot) -> Int64 {
        (StageTally.failures..<StageTally.count).reduce(0) { $0 + (snapshot.value($1) ?? max(last[$1], 0)) }
    }

    /// Uses up what a snapshot had recovered before for the events that now arrive.
    ///
    /// A failure may have been recovered under another reason than its event's, or without one.
    ///
    /// - Parameters:
    ///   - time: the event time; `.min` for what any snapshot may have included.
    ///   - failureTime: the time of a failure.
    /// - Returns: the part that must not count again.
    mutating func consumeRecovered(_ counted: StageTally, at time: Timestamp, failedAt failureTime: Timestamp)
        -> StageTally
    {
        var known = StageTally()
        for place in 0..<StageTally.count where counted[place] > 0 {
            let isFailure = place >= StageTally.failures
            let time = isFailure ? failureTime : time
            guard time.microseconds <= toldTime(of: place) else { continue }
            if time > baseTime || time.microseconds == .min {
                known[place] = Self.take(counted[place], of: place, isFailure, from: &recovered)
                continue
            }
            if time <= formerTime {
                known[place] = Self.take(counted[place], of: place, isFailure, from: &formerRecovered)
            } else {
                known[place] = Self.take(counted[place], of: place, isFailure, from: &resetRecovered)
            }
            let isNew = Int64(clamping: counted[place] - known[place])
            offsets[place] += isNew
            if isFailure { offsets[StageTally.count] += isNew }
        }
        return known
    }

    /// How many events of a stage the client had counted by the last snapshot that told of it beyond those counted here.
    ///
    /// - Parameters:
    ///   - counted: what is counted here of its time.
    ///   - time: the time of an event of the stage; what is not of the time of the baseline says nothing.
    func shortfall(of place: Int, ifCounted counted: Int64, toldAt time: Timestamp) -> UInt64 {
        guard last[place] >= 0, time > baseTime, time.microseconds <= told[place] else { return 0 }
        return UInt64(max(offsets[place] + last[place] - counted, 0))
    }

    /// How many failures the client had counted by the last snapshot beyond those counted here, of the reasons that it tells.
    ///
    /// - Parameters:
    ///   - counted: the failures for all reasons that are counted here of its time.
    ///   - time: the time of a failure; what is not of the time of the baseline says nothing.
    func shortfallOfFailures(ifCounted counted: Int64, toldAt time: Timestamp) -> UInt64 {
        let places = (StageTally.failures..<StageTally.count).filter { last[$0] >= 0 }
        guard time > baseTime, time.microseconds <= toldTime(of: StageTally.failures) else { return 0 }
        return UInt64(max(places.reduce(0) { $0 + offsets[$1] + last[$1] } - counted, 0))
    }

    /// How many events of a stage are counted here beyond those that the client had counted by the last snapshot that told
    /// of it.
    func excess(of place: Int, counted: Int64) -> Int64 {
        last[place] < 0 ? 0 : max(counted - offsets[place] - last[place], 0)
    }

    /// The time of the last snapshot that included a stage; a failure may be told in a sum, or under another reason.
    func toldTime(of place: Int) -> Int64 {
        guard place >= StageTally.failures else { return told[place] }
        return (StageTally.failures..<Self.places).reduce(.min) { max($0, told[$1]) }
    }

    /// Takes a count from what was recovered for its stage; a failure also from other reasons.
    private static func take(
        _ count: UInt64,
        of place: Int,
        _ isFailure: Bool,
        from recovered: inout InlineArray<8, UInt32>
    ) -> UInt64 {
        var taken = UInt64(min(UInt32(clamping: count), recovered[place]))
        recovered[place] -= UInt32(clamping: taken)
        guard isFailure else { return taken }
        for other in (StageTally.failures..<StageTally.count).reversed() {
            let more = min(UInt32(clamping: count - taken), recovered[other])
            recovered[other] -= more
            taken += UInt64(more)
        }
        return taken
    }
}

extension StageTally {
    /// The count at an index; at the one behind the last the sum of all failures.
    fileprivate func value(_ place: Int) -> Int64 {
        guard place == Self.count else { return Int64(clamping: self[place]) }
        return (Self.failures..<Self.count).reduce(0) { $0 + Int64(clamping: self[$1]) }
    }
}

extension ClientSnapshot {
    fileprivate func value(_ place: Int) -> Int64? {
        (place == StageTally.count ? failures : self[place]).map { Int64(clamping: $0) }
    }
}
