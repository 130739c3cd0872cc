// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// A stage of the lifecycle. Raw values are stored in checkpoints.
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

    /// The stages that client counters include, so that they can be recovered when events are lost.
    public static let recoverable: [LifecycleStage] = [.scheduled, .executed, .success, .failure, .used]

    /// The stage of an event; nil for a kind without one.
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

/// The content of a delivered notification: the label set of `dnp_notification_delivered_total`.
///
/// Raw values are stored in checkpoints.
public enum DeliveredContent: UInt8, CaseIterable, Sendable {
    /// Prefetched content.
    case prefetched = 0
    /// Content fetched when the notification was due.
    case onDemand = 1
    /// Unknown content.
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

/// The result of a client counter snapshot (docs/lifecycle.md, What a client counts itself). Raw values are stored in
/// checkpoints.
public enum SnapshotResult: UInt8, CaseIterable, Sendable {
    /// It was compared with the counts of the installation.
    case applied = 0
    /// It is lower than the last one (a reinstall), or earlier counts may have been evicted: it is the new baseline.
    case reset = 1
    /// It is older than the last applied one and changed nothing.
    case stale = 2
    /// It names no installation and changed nothing.
    case unidentified = 3
    /// It claims too much: it is the new baseline and added nothing.
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

/// An integrity check by hash (docs/lifecycle.md, State integrity). MD5 detects corruption, not tampering.
public enum IntegrityCheck: UInt8, CaseIterable, Sendable {
    /// The content at caching against the content at use.
    case content = 0
    /// The schedule at scheduling against the schedule at execution.
    case schedule = 1

    /// The label value.
    public var name: StaticString {
        switch self {
        case .content: "content"
        case .schedule: "schedule"
        }
    }
}

/// The result of comparing two hashes.
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

/// Why a cycle's content had to be fetched on demand: the label set of `dnp_prefetch_fallback_cause_total`.
///
/// The first case that holds; raw values are stored in checkpoints.
public enum FallbackCause: UInt8, CaseIterable, Sendable {
    /// The task had not been executed when the content was needed.
    case notExecuted = 0
    /// Its fetch had failed.
    case fetchFailed = 1
    /// The content was older than its `ttl`.
    case expiredContent = 2
    /// The content had been cached and was gone.
    case contentLost = 3
    /// Nothing tells.
    case unknown = 4

    /// The label value.
    public var name: StaticString {
        switch self {
        case .notExecuted: "not_executed"
        case .fetchFailed: "fetch_failed"
        case .expiredContent: "expired_content"
        case .contentLost: "content_lost"
        case .unknown: "unknown"
        }
    }
}
