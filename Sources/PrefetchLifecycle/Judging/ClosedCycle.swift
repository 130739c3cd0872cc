// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// A cycle that is closed and judged.
public struct ClosedCycle: Sendable {
    /// The hash of installation and schedule id, as `IdentityKey.schedule(of:in:)` makes it; nil where no id was told.
    public var schedule: UInt64?
    /// When the notification was due, where it is known.
    public var notificationTime: Timestamp?
    /// How it ended.
    public var outcome: CycleOutcome
    /// When each stage was first told of.
    public var stages: CycleStages
    /// Why its last failed attempt failed; nil without a failure.
    public var failureReason: FailureReason?
    /// What it broke, each rule once, in the order of `ViolationKind`.
    public var violations: [CycleViolation]
    /// How many times the task was executed.
    public var attempts: Int
    /// Whether the content used is the content cached; nil where one of their hashes is not known.
    public var contentHashMatches: Bool?
    /// Whether the schedule executed is the one scheduled; nil where one of their hashes is not known.
    public var scheduleHashMatches: Bool?
    /// Whether the times only order its events, so that no rule about time has judged it.
    public var hasAssumedTimes: Bool
}

/// The first time of each stage of a cycle; nil for a stage that was never told of.
///
/// A stage that only the cycle's summary asserts has the time of the summary.
public struct CycleStages: Hashable, Sendable {
    /// The task was scheduled.
    public var scheduled: Timestamp?
    /// The system executed the task.
    public var executed: Timestamp?
    /// The fetch succeeded.
    public var success: Timestamp?
    /// The fetch failed for good.
    public var failure: Timestamp?
    /// The notification used the fetched content.
    public var used: Timestamp?
    /// The notification was delivered.
    public var delivered: Timestamp?

    /// No stage.
    public init() {}
}

/// How a cycle ended: the first that holds, in this order (SPEC 5.1).
public enum CycleOutcome: UInt8, CaseIterable, Sendable {
    /// The notification used prefetched content.
    case used = 0
    /// The notification was delivered with content fetched on demand.
    case fallback = 1
    /// The prefetch failed for good and nothing was delivered.
    case failed = 2
    /// The task was scheduled and never executed, and its window is gone.
    case missed = 3
    /// None of these is known.
    case incomplete = 4

    /// The label value of `dnp_prefetch_cycles_total`.
    public var name: StaticString {
        switch self {
        case .used: "used"
        case .fallback: "fallback"
        case .failed: "failed"
        case .missed: "missed"
        case .incomplete: "incomplete"
        }
    }
}
