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

    init(time: Timestamp) {
        self.time = time
    }

    /// Compares a later snapshot with what is counted here.
    ///
    /// - Returns: what has to be added, and what became of the snapshot.
    mutating func apply(_ snapshot: ClientSnapshot, counted: StageTally) -> (missing: StageTally, SnapshotResult) {
        time = max(time, snapshot.time)
        var missing = StageTally()
        guard snapshot.isPlausible else { return (missing, .implausible) }
        let isReset = (0..<Self.places).contains { place in snapshot.value(place).map { $0 < last[place] } ?? false }
        guard !isReset, find(&missing, snapshot, counted) else {
            for place in 0..<Self.places {
                last[place] = snapshot.value(place) ?? -1
                offsets[place] = counted.value(place) - (snapshot.value(place) ?? 0)
            }
            return (StageTally(), isReset ? .reset : .implausible)
        }
        for place in 0..<Self.places {
            if let value = snapshot.value(place) { last[place] = value }
        }
        for place in 0..<StageTally.count { ahead[place] &+= UInt32(clamping: missing[place]) }
        return (missing, .applied)
    }

    /// Finds what the client has counted beyond us; false when that is more than can be believed.
    private func find(_ missing: inout StageTally, _ snapshot: ClientSnapshot, _ counted: StageTally) -> Bool {
        var ofFailures: Int64 = 0
        for place in 0..<StageTally.count {
            guard let value = snapshot.value(place) else { continue }
            let difference = offsets[place] + value - counted.value(place)
            guard difference <= Self.recoveryLimit else { return false }
            missing[place] = UInt64(max(difference, 0))
            if place >= StageTally.failures { ofFailures += max(difference, 0) }
        }
        guard let value = snapshot.value(StageTally.count) else { return true }
        let difference = offsets[StageTally.count] + value - counted.value(StageTally.count) - ofFailures
        guard difference <= Self.recoveryLimit else { return false }
        missing[StageTally.otherFailure] += UInt64(max(difference, 0))
        return true
    }

    /// Takes out of what is counted now what a snapshot had told before.
    ///
    /// - Returns: what is not to be counted again.
    mutating func recognise(_ counted: StageTally, at time: Timestamp) -> StageTally {
        var known = StageTally()
        guard time <= self.time else { return known }
        for place in 0..<StageTally.count where counted[place] > 0 {
            known[place] = take(counted[place], from: place)
            guard place >= StageTally.failures, place != StageTally.otherFailure else { continue }
            known[place] += take(counted[place] - known[place], from: StageTally.otherFailure)
        }
        return known
    }

    private mutating func take(_ count: UInt64, from place: Int) -> UInt64 {
        let taken = min(UInt32(clamping: count), ahead[place])
        ahead[place] -= taken
        return UInt64(taken)
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
