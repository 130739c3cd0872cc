// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What is known of an installation's own counters since its last snapshot (SPEC 5.3).
///
/// A snapshot tells how far the client has counted; `offset` is what was counted here when the client stood at 0. What the
/// client has counted beyond was lost on the way and is added once. Should it come after all, it is not counted again.
struct ClientBaseline: Sendable {
    /// The most that one snapshot may add to one counter. A client that claims more is taken at its word from there on,
    /// and nothing is added.
    static let recoveryLimit: Int64 = 10_000
    /// The places of `StageTally`, and one for the sum of all failures.
    static let places = StageTally.count + 1

    /// When the last snapshot that was applied was taken.
    var time: Timestamp
    /// The values of the last snapshot; -1 for one that it did not tell.
    var last: InlineArray<9, Int64> = .init(repeating: -1)
    var offsets: InlineArray<9, Int64> = .init(repeating: 0)
    /// What was added for events that had not come.
    var ahead: InlineArray<8, UInt32> = .init(repeating: 0)
    /// When the client was last taken at its word; what had happened by then and comes later it had not told twice.
    var baseTime = Timestamp(microseconds: .min)
    /// When the last snapshot before that was taken, and what had been added by then for events that had not come.
    var formerTime = Timestamp(microseconds: .min)
    var formerAhead: InlineArray<8, UInt32> = .init(repeating: 0)

    init(time: Timestamp) {
        self.time = time
    }

    /// Compares a later snapshot with what is counted here.
    ///
    /// - Returns: what has to be added, and what became of the snapshot.
    mutating func apply(_ snapshot: ClientSnapshot, counted: StageTally) -> (missing: StageTally, SnapshotResult) {
        let former = time
        time = max(time, snapshot.time)
        guard snapshot.isPlausible else { return (StageTally(), .implausible) }
        let isReset = isLower(snapshot)
        guard !isReset, var missing = find(snapshot, counted) else {
            begin(snapshot, counted, after: former)
            return (StageTally(), isReset ? .reset : .implausible)
        }
        boundFailures(of: &missing, snapshot, counted)
        for place in 0..<Self.places {
            if let value = snapshot.value(place) { last[place] = value }
        }
        for place in 0..<StageTally.count { ahead[place] &+= UInt32(clamping: missing[place]) }
        return (missing, .applied)
    }

    /// Takes a client at its word: what it has counted so far is what is counted here.
    ///
    /// - Parameter former: when the last snapshot before was taken.
    mutating func begin(
        _ snapshot: ClientSnapshot,
        _ counted: StageTally,
        after former: Timestamp = Timestamp(microseconds: .min)
    ) {
        baseTime = snapshot.time
        formerTime = former
        for place in 0..<StageTally.count { formerAhead[place] &+= ahead[place] }
        ahead = .init(repeating: 0)
        for place in 0..<Self.places {
            last[place] = snapshot.value(place) ?? -1
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

    /// Finds what the client has counted beyond us; nil when that is more than can be believed.
    private func find(_ snapshot: ClientSnapshot, _ counted: StageTally) -> StageTally? {
        var missing = StageTally()
        for place in 0..<Self.places {
            guard let value = snapshot.value(place) else { continue }
            let difference = offsets[place] + value - counted.value(place)
            guard difference <= Self.recoveryLimit else { return nil }
            if place < StageTally.count { missing[place] = UInt64(max(difference, 0)) }
        }
        return missing
    }

    /// Takes from the failures that are missing what is counted already, with another reason than the client's; adds as
    /// `OTHER` what the client tells beyond those that it gives a reason.
    private func boundFailures(of missing: inout StageTally, _ snapshot: ClientSnapshot, _ counted: StageTally) {
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

    /// All failures, as far as the client tells: their sum, or else all reasons that are always counted, or what it told
    /// of them before; nil where it tells too little to say.
    private func sumOfFailures(_ snapshot: ClientSnapshot) -> Int64? {
        if let failures = snapshot.value(StageTally.count) { return failures }
        let told = (StageTally.failures..<StageTally.otherFailure).count { snapshot[$0] != nil }
        let isEnough = told == StageTally.otherFailure - StageTally.failures || told > 0 && last[StageTally.count] >= 0
        return isEnough ? sumOfReasons(snapshot) : nil
    }

    private func sumOfReasons(_ snapshot: ClientSnapshot) -> Int64 {
        (StageTally.failures..<StageTally.count).reduce(0) { $0 + (snapshot.value($1) ?? max(last[$1], 0)) }
    }

    /// Takes out of what is counted now what a snapshot had told before.
    ///
    /// A failure may have been told with another reason than its event has, or without one.
    ///
    /// - Parameters:
    ///   - time: when that happened; the earliest one for what a snapshot may have told whenever it was.
    ///   - failureTime: when what failed did so.
    /// - Returns: what is not to be counted again.
    mutating func recognise(_ counted: StageTally, at time: Timestamp, failedAt failureTime: Timestamp) -> StageTally {
        var known = StageTally()
        for place in 0..<StageTally.count where counted[place] > 0 {
            let isFailure = place >= StageTally.failures
            let time = isFailure ? failureTime : time
            guard time <= self.time else { continue }
            if time > baseTime || time.microseconds == .min {
                known[place] = Self.take(counted[place], of: place, isFailure, from: &ahead)
                continue
            }
            if time <= formerTime { known[place] = Self.take(counted[place], of: place, isFailure, from: &formerAhead) }
            let isNew = Int64(clamping: counted[place] - known[place])
            offsets[place] += isNew
            if isFailure { offsets[StageTally.count] += isNew }
        }
        return known
    }

    /// Takes a count from what was added for its stage; a failure also from what was added for other reasons.
    private static func take(
        _ count: UInt64,
        of place: Int,
        _ isFailure: Bool,
        from ahead: inout InlineArray<8, UInt32>
    ) -> UInt64 {
        var taken = UInt64(min(UInt32(clamping: count), ahead[place]))
        ahead[place] -= UInt32(clamping: taken)
        guard isFailure else { return taken }
        for other in (StageTally.failures..<StageTally.count).reversed() {
            let more = min(UInt32(clamping: count - taken), ahead[other])
            ahead[other] -= more
            taken += UInt64(more)
        }
        return taken
    }
}

extension StageTally {
    /// The count at a place; at the one behind the last the sum of all failures.
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
