// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// A stage of the lifecycle (SPEC 2). Raw values are stored in checkpoints.
public enum LifecycleStage: UInt8, CaseIterable, Sendable {
    case scheduled = 0
    case executed = 1
    case success = 2
    case failure = 3
    case used = 4
    case delivered = 5

    /// The label value.
    public var name: StaticString {
        switch self {
        case .scheduled: "scheduled"
        case .executed: "executed"
        case .success: "success"
        case .failure: "failure"
        case .used: "used"
        case .delivered: "delivered"
        }
    }

    /// The stages that a client counts itself, and that are so recovered when its events were lost (SPEC 5.3).
    public static let recoverable: [LifecycleStage] = [.scheduled, .executed, .success, .failure, .used]

    /// The stage that an event tells of; nil where it tells of none.
    public init?(_ kind: EventKind) {
        switch kind {
        case .prefetchScheduled: self = .scheduled
        case .prefetchExecuted: self = .executed
        case .prefetchSuccess: self = .success
        case .prefetchFailure, .prefetchExpired: self = .failure
        case .prefetchUsedForNotification: self = .used
        case .notificationDelivered: self = .delivered
        default: return nil
        }
    }
}

/// What a delivered notification showed: the label set of `dnp_notification_delivered_total` (SPEC 6).
///
/// Raw values are stored in checkpoints.
public enum DeliveredContent: UInt8, CaseIterable, Sendable {
    /// Content that had been prefetched.
    case prefetched = 0
    /// Content that was fetched when the notification was due.
    case onDemand = 1
    /// Nothing is known of its content.
    case none = 2

    /// The label value.
    public var name: StaticString {
        switch self {
        case .prefetched: "prefetched"
        case .onDemand: "on_demand"
        case .none: "none"
        }
    }
}

/// What became of a client's cumulative counters (SPEC 5.3). Raw values are stored in checkpoints.
public enum SnapshotResult: UInt8, CaseIterable, Sendable {
    /// They were compared with what is counted of the installation.
    case applied = 0
    /// They are lower than the last ones, since the client began anew, or what was counted before them may have been
    /// forgotten: they are the new baseline.
    case reset = 1
    /// They are older than the last ones applied and changed nothing.
    case stale = 2
    /// They name no installation and changed nothing.
    case unidentified = 3
    /// They tell more than can be believed; they are the new baseline, and nothing was added.
    case implausible = 4

    /// The label value.
    public var name: StaticString {
        switch self {
        case .applied: "applied"
        case .reset: "reset"
        case .stale: "stale"
        case .unidentified: "unidentified"
        case .implausible: "implausible"
        }
    }
}

/// Which state of a cycle is compared by its hash (SPEC 5.4). MD5 finds corruption, not tampering.
public enum IntegrityCheck: UInt8, CaseIterable, Sendable {
    /// The content when it was cached and when it was used.
    case content = 0
    /// The schedule when it was set and when its task was executed.
    case schedule = 1

    /// The label value.
    public var name: StaticString {
        switch self {
        case .content: "content"
        case .schedule: "schedule"
        }
    }
}

/// What the comparison of two hashes came to.
public enum IntegrityResult: UInt8, CaseIterable, Sendable {
    case match = 0
    case mismatch = 1

    /// The label value.
    public var name: StaticString {
        switch self {
        case .match: "match"
        case .mismatch: "mismatch"
        }
    }
}
