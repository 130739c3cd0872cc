// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// The seven markers of the testing guide, in the order in which one cycle must tell them.
enum SequenceMarker: Int, CaseIterable, Sendable {
    case registration, scheduling, handler, fetchStart, fetchSuccess, taskComplete, notification

    /// The plugin's line, as the guide searches for it.
    var text: String {
        switch self {
        case .registration: "Registering BGTaskScheduler task"
        case .scheduling: "BGAppRefreshTask scheduled"
        case .handler: "BGTask handler invoked"
        case .fetchStart: "Starting fetch"
        case .fetchSuccess: "Fetch success"
        case .taskComplete: "Task completed"
        case .notification: "Notification delivered"
        }
    }

    fileprivate var kind: EventKind {
        switch self {
        case .registration: .prefetchRegistered
        case .scheduling: .prefetchScheduled
        case .handler: .prefetchExecuted
        case .fetchStart: .prefetchStarted
        case .fetchSuccess: .prefetchSuccess
        case .taskComplete: .prefetchCompleted
        case .notification: .notificationDelivered
        }
    }
}

/// How far a cycle follows the guide's seven markers.
struct MarkerSequence: Sendable {
    /// The markers that are nowhere in the cycle.
    var missing: [SequenceMarker] = []
    /// The markers that come before one that belongs before them.
    var misplaced: [SequenceMarker] = []

    var isWhole: Bool { missing.isEmpty && misplaced.isEmpty }
    var faults: Int { missing.count + misplaced.count }

    /// The markers of nothing.
    static let empty = MarkerSequence(missing: SequenceMarker.allCases)

    /// - Parameter registered: the times at which the device's log tells the registration.
    init(_ evidence: CycleEvidence, registered: [Timestamp]) {
        var reached: Timestamp?
        for marker in SequenceMarker.allCases {
            let times =
                marker == .registration
                ? registered : evidence.sighting(marker.kind).map { [$0.firstTime, $0.lastTime] } ?? []
            guard !times.isEmpty else {
                missing.append(marker)
                continue
            }
            if let next = times.filter({ $0 >= reached ?? $0 }).min() {
                reached = next
            } else {
                misplaced.append(marker)
            }
        }
    }

    init(missing: [SequenceMarker]) { self.missing = missing }

    /// How many markers a cycle lacks, which is the least that is wrong with its sequence.
    static func missing(in kinds: EventKinds, of log: DeviceLog) -> Int {
        SequenceMarker.allCases.count { marker in
            marker == .registration ? log.registered.isEmpty : !kinds.contains(marker.kind)
        }
    }

    /// What is wrong, as sentences.
    var sentences: [String] {
        missing.map { "missing: \($0.text)" }
            + misplaced.map { "out of order: \($0.text) comes before a step that belongs before it" }
    }
}

extension Judgement {
    /// The seven-marker check: one cycle must tell all of them in order.
    package var sequenceCheck: CheckResult {
        var result = CheckResult(suite: "sequence", name: "--sequence")
        if !sequence.isWhole {
            result.failures = sequence.sentences
        } else {
            result.notes = ["all seven markers of one cycle, in order"]
        }
        return result
    }
}
