// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The counts that client counters include: scheduled, executed, success, used, and failures by reason.
struct StageTally: Sendable {
    static let count = 8
    /// The index of the first failure; failures are in the order of `FailureReason`'s raw values.
    static let failures = 4
    static let otherFailure = failures + Int(FailureReason.other.rawValue)

    private var counts: InlineArray<8, UInt64> = .init(repeating: 0)

    init() {}

    subscript(place: Int) -> UInt64 {
        get { counts[place] }
        set { counts[place] = newValue }
    }

    @inline(__always) var isZero: Bool {
        counts[0] | counts[1] | counts[2] | counts[3] | counts[4] | counts[5] | counts[6] | counts[7] == 0
    }

    /// The counts of all stages together.
    @inline(__always) var sum: UInt64 {
        counts[0] &+ counts[1] &+ counts[2] &+ counts[3] &+ counts[4] &+ counts[5] &+ counts[6] &+ counts[7]
    }

    /// The places with a count, lowest first.
    @inline(__always) var places: Places {
        var bits: UInt8 = 0
        for place in 0..<Self.count { bits |= (counts[place] == 0 ? 0 : 1) &<< UInt8(place) }
        return Places(bits: bits)
    }

    /// Some places of a tally, in ascending order.
    struct Places: Sequence, IteratorProtocol {
        fileprivate var bits: UInt8

        @inline(__always)
        mutating func next() -> Int? {
            guard bits != 0 else { return nil }
            defer { bits &= bits &- 1 }
            return bits.trailingZeroBitCount
        }
    }

    func failures(_ reason: FailureReason) -> UInt64 { counts[Self.failures + Int(reason.rawValue)] }

    @inline(__always) var hasFailures: Bool { counts[4] | counts[5] | counts[6] | counts[7] != 0 }

    static func - (left: StageTally, right: StageTally) -> StageTally {
        var difference = StageTally()
        for place in 0..<count { difference[place] = left[place] &- right[place] }
        return difference
    }

    /// The stage at an index.
    static func stage(_ place: Int) -> LifecycleStage {
        switch place {
        case 0: .scheduled
        case 1: .executed
        case 2: .success
        case 3: .used
        default: .failure
        }
    }
}

/// When each stage of a cycle was told, indexed like `StageTally`.
struct StageTimes {
    private var times: InlineArray<8, Timestamp?> = .init(repeating: nil)

    subscript(place: Int) -> Timestamp? {
        get { times[place] }
        set { times[place] = newValue }
    }
}

extension StageTally {
    /// The counter of an index.
    static func counter(_ place: Int) -> WritableKeyPath<LifecycleTotals, UInt64> {
        switch place {
        case 0: \.scheduled
        case 1: \.executed
        case 2: \.success
        case 3: \.used
        case 4: \.failureNetwork
        case 5: \.failureAuth
        case 6: \.failureSystem
        default: \.failureOther
        }
    }
}

extension LifecycleGroups {
    /// Lowers a counter that nobody has seen yet, never below 0: in one group, and where a cycle has changed its group in
    /// the others.
    mutating func lower(_ counter: WritableKeyPath<LifecycleTotals, UInt64>, by amount: UInt64, first: Int) {
        var rest = amount
        for place in [first] + Array(0..<count) where rest > 0 {
            let taken = min(rest, self[place][keyPath: counter])
            self[place][keyPath: counter] -= taken
            self[place].increments -= min(taken, self[place].increments)
            rest -= taken
        }
    }

    /// The increments of one group, read without copying its totals.
    func increments(of place: Int) -> UInt64 { groups[place].totals.increments }

    /// The increments of all groups.
    var increments: UInt64 {
        var sum: UInt64 = 0
        for place in 0..<count { sum &+= groups[place].totals.increments }
        return sum
    }

    /// The counts of one group, read without copying its totals.
    func tally(of place: Int) -> StageTally {
        var tally = StageTally()
        tally[0] = groups[place].totals.scheduled
        tally[1] = groups[place].totals.executed
        tally[2] = groups[place].totals.success
        tally[3] = groups[place].totals.used
        tally[4] = groups[place].totals.failureNetwork
        tally[5] = groups[place].totals.failureAuth
        tally[6] = groups[place].totals.failureSystem
        tally[7] = groups[place].totals.failureOther
        return tally
    }
}

extension LifecycleTotals {
    /// Adds recovered counts (`times: 1`), or subtracts them again (`times: -1`).
    mutating func add(_ tally: StageTally, times sign: Int64) {
        func sum(_ count: UInt64, _ place: Int) -> UInt64 {
            sign > 0 ? count &+ tally[place] : count &- tally[place]
        }
        scheduled = sum(scheduled, 0)
        executed = sum(executed, 1)
        success = sum(success, 2)
        used = sum(used, 3)
        failureNetwork = sum(failureNetwork, 4)
        failureAuth = sum(failureAuth, 5)
        failureSystem = sum(failureSystem, 6)
        failureOther = sum(failureOther, 7)
        increments = sign > 0 ? increments &+ tally.sum : increments &- tally.sum
    }
}
