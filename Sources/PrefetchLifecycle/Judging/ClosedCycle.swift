// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// A closed cycle with its verdict.
public struct ClosedCycle: Sendable {
    /// The hash of installation and schedule id, as `IdentityKey.schedule(of:in:)` makes it; nil without an id.
    public var schedule: UInt64?
    /// The fingerprint of its installation; 0 without one.
    public var installation: UInt64
    /// The notification time, where known.
    public var notificationTime: Timestamp?
    /// Its outcome.
    public var outcome: CycleOutcome
    /// The first time of each stage.
    public var stages: CycleStages
    /// The reason of its first failed attempt; nil without a failure.
    public var failureReason: FailureReason?
    /// Its violations, each rule once, in the order of `ViolationKind`.
    public var violations: [CycleViolation]
    /// The number of executions of its task.
    public var attempts: Int
    /// Whether the used content is the cached one; nil where a hash is missing.
    public var contentHashMatches: Bool?
    /// Whether the executed schedule is the scheduled one; nil where a hash is missing.
    public var scheduleHashMatches: Bool?
    /// Whether its times are assumed from the order of lines, so that no rule about time was applied.
    public var hasAssumedTimes: Bool
    /// Whether the app's clock was warped for one of its events, as a test does; its times are in no histogram.
    public var isTimeWarped: Bool
    /// The place of its platform and version in `LifecycleFold.totalsByGroup`.
    public var group = 0
    /// The earliest begin of its task, where known.
    public var earliestBegin: Timestamp?
}

extension ClosedCycle {
    /// A cycle of which nothing was seen, though it was planned.
    package static func unseen(of installation: UInt64, at notificationTime: Timestamp?) -> ClosedCycle {
        ClosedCycle(
            installation: installation,
            notificationTime: notificationTime,
            outcome: .incomplete,
            stages: CycleStages(),
            violations: [],
            attempts: 0,
            hasAssumedTimes: false,
            isTimeWarped: false
        )
    }
}

/// The first time of each stage of a cycle; nil for a stage that was not seen.
///
/// A stage that only a summary asserts has the time of the summary.
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

/// How a cycle ended: the first case that holds, in this order (docs/lifecycle.md, Concepts).
public enum CycleOutcome: UInt8, CaseIterable, Sendable {
    /// The notification used prefetched content.
    case used = 0
    /// The notification was delivered with content fetched on demand.
    case fallback = 1
    /// The prefetch failed for good and nothing was delivered.
    case failed = 2
    /// The task was scheduled, its window has passed, and nothing later was seen.
    case missed = 3
    /// None of the above.
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
