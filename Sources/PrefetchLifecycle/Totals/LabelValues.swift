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
