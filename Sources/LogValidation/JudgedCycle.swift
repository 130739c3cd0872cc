// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents
internal import TextOutput

/// A closed cycle with what only its texts tell.
struct JudgedCycle: Sendable {
    /// The fold's judgement.
    var closed: ClosedCycle
    /// The schedule's id, where one was told.
    var scheduleId: String?
    /// The input that first told of it.
    var input = 0
    /// The rest of what its events told, where a test run is recorded.
    var details: CycleDetails {
        get { keptDetails.first ?? CycleDetails() }
        set { keptDetails = [newValue] }
    }

    /// The details, out of the way of the many cycles that have none.
    private var keptDetails: [CycleDetails] = []

    init(closed: ClosedCycle, scheduleId: String? = nil) {
        self.closed = closed
        self.scheduleId = scheduleId
    }

    /// What cycles are listed by: the notification time, else the first stage.
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

    /// Who the cycle is, for people: its id, else its notification time.
    var title: String {
        scheduleId.map(PlainText.line) ?? closed.notificationTime.map { "notification at \($0)" } ?? "unnamed"
    }
}

/// What a test run's record tells of a cycle beyond its judgement.
struct CycleDetails: Sendable {
    /// The earliest time at which the system may run the task.
    var earliestBeginDate: Timestamp?
    /// The device as the cycle's events describe it.
    var device = DeviceNames()
    /// What went wrong, in the order of the input.
    var failures: [FailureNote] = []
    /// How many failures there were, those not kept included.
    var failureCount = 0
}

/// What events tell of the device that they come from.
struct DeviceNames: Hashable, Sendable {
    var model: String?
    var system: String?
    var app: String?

    /// Takes what another description tells and this one does not.
    func completed(by other: DeviceNames) -> DeviceNames {
        DeviceNames(model: model ?? other.model, system: system ?? other.system, app: app ?? other.app)
    }
}

/// One event that tells of a failure.
struct FailureNote: Sendable {
    var time: Timestamp
    var hasAssumedTime: Bool
    /// The number of its line, from 1, where it has no time.
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
