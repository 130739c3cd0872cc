// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// What a test run's record holds of a cycle beyond its judgement.
struct CycleDetails: Sendable {
    /// The maximum number of failures kept of a cycle.
    private static let keptFailures = 16

    /// The earliest time at which the system may run the task.
    var earliestBeginDate: Timestamp?
    /// The device as the cycle's events describe it.
    var device = DeviceNames()
    /// What went wrong, in the order of the input.
    var failures: [FailureNote] = []
    /// The number of failures, including those not kept.
    var failureCount = 0
    /// The circumstances of the run, as the cycle's events tell them.
    var conditions = RunConditions()
    /// The time to live of the content, in seconds.
    var ttl: Int64?
    /// The age of the content when it was used or found too old, in seconds.
    var age: Int64?

    mutating func add(_ event: Event, _ bytes: Span<UInt8>, line: Int) {
        earliestBeginDate = event.earliestBeginDate ?? earliestBeginDate
        device = DeviceNames(event, bytes).completed(by: device)
        conditions.add(event)
        ttl = event.ttl ?? ttl
        age = event.age.map { $0 / 1_000_000 } ?? age
        guard event.kind.isFailure else { return }
        failureCount += 1
        if failures.count < Self.keptFailures { failures.append(FailureNote(event, bytes, line: line)) }
    }
}

/// The device, as events describe it.
struct DeviceNames: Hashable, Sendable {
    var model: String?
    var system: String?
    var app: String?

    init(model: String? = nil, system: String? = nil, app: String? = nil) {
        self.model = model
        self.system = system
        self.app = app
    }

    init(_ event: Event, _ bytes: Span<UInt8>) {
        model = bytes.text(event.deviceModel)
        system = bytes.text(event.osVersion)
        app = bytes.text(event.appVersion)
    }

    /// Fills missing names from another description.
    func completed(by other: DeviceNames) -> DeviceNames {
        DeviceNames(model: model ?? other.model, system: system ?? other.system, app: app ?? other.app)
    }
}

/// One event that reports a failure.
struct FailureNote: Sendable {
    var time: Timestamp
    var hasAssumedTime: Bool
    /// The line number from 1, for an event without a time.
    var line: Int?
    var kind: EventKind
    var reason: FailureReason?
    var error: String?
    var status: Int64?
}

extension FailureNote {
    fileprivate init(_ event: Event, _ bytes: Span<UInt8>, line: Int) {
        time = event.timestamp
        hasAssumedTime = event.isTimeAssumed
        self.line = event.isTimeAssumed && line > 0 ? line : nil
        kind = event.kind
        reason = event.reason
        error = bytes.text(event.error)
        status = event.status
    }
}

extension EventKind {
    /// Whether events of this kind report a failure.
    fileprivate var isFailure: Bool {
        switch self {
        case .prefetchScheduleFailed, .prefetchFailure, .prefetchExpired, .prefetchMissed, .contentCacheFailed,
            .contentMissing, .notificationDenied, .notificationDrift:
            true
        default: false
        }
    }
}
