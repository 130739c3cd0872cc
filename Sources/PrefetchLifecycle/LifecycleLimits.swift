// SPDX-License-Identifier: Apache-2.0

/// How much state the fold keeps and for how long (docs/lifecycle.md, docs/reliability.md).
public struct LifecycleLimits: Sendable {
    /// The shortest time an identity is remembered, in microseconds: seven days.
    public var deduplicationWindow: Int64 = 7 * 86_400 * 1_000_000
    /// The most identities remembered, at up to 12 bytes each.
    public var identities = 20_000_000
    /// The most cycles open at once, at 92 bytes each plus about 10 bytes of indexes.
    public var openCycles = 2_000_000
    /// How long a cycle stays open after its delivery or its summary: 15 minutes, so that late events still join it.
    public var closingGraceSeconds: Int64 = 15 * 60
    /// How long a cycle without a delivery or a summary stays open after its notification time: 24 hours.
    public var openAfterNotificationSeconds: Int64 = 24 * 3_600
    /// The most facts kept of one cycle; capped at 255.
    public var factsPerCycle = 255
    /// The most open cycles of one schedule, each with its own notification time.
    public var cyclesPerSchedule = 32
    /// The most installations remembered for the rules across cycles, at about 260 bytes each.
    public var installations = 500_000

    /// The documented defaults.
    public init() {}
}
