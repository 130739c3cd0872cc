// SPDX-License-Identifier: Apache-2.0

/// How much the fold remembers and for how long (SPEC 4.2, 4.6, 5.1).
public struct LifecycleLimits: Sendable {
    /// How long an identity is remembered at least, in microseconds.
    public var deduplicationWindow: Int64 = 7 * 86_400 * 1_000_000
    /// How many identities are remembered at most, at no more than 12 bytes each.
    public var identities = 20_000_000
    /// How many cycles are open at most, at 84 bytes each and some 10 of its indexes.
    public var openCycles = 2_000_000
    /// How long a cycle stays open after its delivery or its summary, in seconds.
    public var graceSeconds: Int64 = 15 * 60
    /// How long a cycle stays open after its notification time, in seconds.
    public var openSeconds: Int64 = 24 * 3_600
    /// How many facts of one cycle are kept at most; never more than 255.
    public var factsPerCycle = 255
    /// How many cycles of one schedule, at different notification times, are open at most.
    public var cyclesPerSchedule = 32
    /// How many installations are remembered at most, at 160 bytes each, for the rules that look beyond one cycle.
    public var installations = 500_000

    /// The documented defaults.
    public init() {}
}
