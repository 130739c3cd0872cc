// SPDX-License-Identifier: Apache-2.0

/// `CountedStages` of a cycle that is not long, three bits each: it has four facts at most, and what was counted of two
/// cycles that were joined is at most twice that, where 7 stands for the eighth too.
struct PackedStages: Sendable {
    private static let limit: UInt8 = 7

    private var bits: UInt32 = 0

    init() {}

    /// Whether it can hold all counts.
    static func fits(_ stages: CountedStages) -> Bool {
        CountedStages.members.allSatisfy { stages[keyPath: $0] <= limit } && stages.used <= 1
    }

    init(_ stages: CountedStages) {
        bits = Self.packed(stages.scheduled, 0) | Self.packed(stages.executed, 3) | Self.packed(stages.success, 6)
        bits |= Self.packed(stages.failureNetwork, 9) | Self.packed(stages.failureAuth, 12)
        bits |= Self.packed(stages.failureSystem, 15) | Self.packed(stages.failureOther, 18)
        bits |= Self.packed(stages.retries, 21) | Self.packed(stages.expired, 24) | Self.packed(stages.missed, 27)
        bits |= UInt32(min(stages.used, 1)) << 30
    }

    var stages: CountedStages {
        var stages = CountedStages()
        stages.scheduled = count(0)
        stages.executed = count(3)
        stages.success = count(6)
        stages.failureNetwork = count(9)
        stages.failureAuth = count(12)
        stages.failureSystem = count(15)
        stages.failureOther = count(18)
        stages.retries = count(21)
        stages.expired = count(24)
        stages.missed = count(27)
        stages.used = UInt8(truncatingIfNeeded: bits >> 30 & 1)
        return stages
    }

    private static func packed(_ count: UInt8, _ shift: UInt32) -> UInt32 { UInt32(min(count, limit)) << shift }

    private func count(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: bits >> shift & 7) }
}
