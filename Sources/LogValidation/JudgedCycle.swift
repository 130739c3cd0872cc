// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents
internal import TextOutput

/// A closed cycle with what the fold does not keep: its id, its input and the details for a report.
struct JudgedCycle: Sendable {
    /// The fold's judgement.
    var closed: ClosedCycle
    /// The schedule's id, where an event has one.
    var scheduleId: String?
    /// The index of the input with its first event.
    var input = 0
    /// The fingerprint of the installation that its events name; nil where they name none.
    var installation: UInt64?
    /// The details of its events, where a test run is recorded.
    var details: CycleDetails {
        get { keptDetails.first ?? CycleDetails() }
        set { keptDetails = [newValue] }
    }

    /// The details in an array, which is one word in the many cycles without any.
    private var keptDetails: [CycleDetails] = []

    init(closed: ClosedCycle, scheduleId: String? = nil) {
        self.closed = closed
        self.scheduleId = scheduleId
    }

    /// The sort key of the list: the notification time, else the first stage.
    var order: Timestamp {
        closed.notificationTime ?? firstStage ?? Timestamp(microseconds: .max)
    }

    /// The time of the earliest stage.
    var firstStage: Timestamp? { stageTimes.min() }
    /// The time of the latest stage.
    var lastStage: Timestamp? { stageTimes.max() }

    private var stageTimes: [Timestamp] {
        let stages = closed.stages
        return [stages.scheduled, stages.executed, stages.success, stages.failure, stages.used, stages.delivered]
            .compactMap(\.self)
    }

    /// Whether the notification used prefetched content.
    var isContentUsed: Bool { closed.stages.used != nil || closed.outcome == .used }

    /// The violations that make a judgement incoherent.
    func faults(strict: Bool) -> [CycleViolation] {
        closed.violations.filter { $0.kind.bucket.isFault(strict: strict) }
    }

    /// A title for users: the id, else the notification time.
    var title: String {
        scheduleId.map(PlainText.line) ?? closed.notificationTime.map { "notification at \($0)" } ?? "unnamed"
    }
}

/// What a test run's record holds of a cycle beyond its judgement.
struct CycleDetails: Sendable {
    /// The earliest time at which the system may run the task.
    var earliestBeginDate: Timestamp?
    /// The device as the cycle's events describe it.
    var device = DeviceNames()
    /// What went wrong, in the order of the input.
    var failures: [FailureNote] = []
    /// The number of failures, including those not kept.
    var failureCount = 0
}

/// The device, as events describe it.
struct DeviceNames: Hashable, Sendable {
    var model: String?
    var system: String?
    var app: String?

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

extension ViolationBucket {
    /// Whether a rule of this bucket makes a judgement incoherent.
    func isFault(strict: Bool) -> Bool {
        switch self {
        case .a: true
        case .b: strict
        case .c: false
        }
    }
}
