// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import RefreshLifecycle
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

/// How far a cycle or a run follows the markers of its guide.
struct MarkerSequence: Sendable {
    /// The markers that are nowhere in it.
    var missing: [String] = []
    /// The markers that come before one that belongs before them.
    var misplaced: [String] = []

    var isWhole: Bool { missing.isEmpty && misplaced.isEmpty }
    var faults: Int { missing.count + misplaced.count }

    /// The markers of nothing.
    static let empty = MarkerSequence(SequenceMarker.allCases.map { ($0.text, []) })

    /// - Parameter steps: the markers in their order, each with the times at which it is told.
    init(_ steps: [(marker: String, times: [Timestamp])]) {
        var reached: Timestamp?
        for (marker, times) in steps {
            if times.isEmpty {
                missing.append(marker)
            } else if let next = times.filter({ $0 >= reached ?? $0 }).min() {
                reached = next
            } else {
                misplaced.append(marker)
            }
        }
    }

    /// - Parameter registered: the times at which the device's log tells the registration.
    init(_ evidence: CycleEvidence, registered: [Timestamp]) {
        self.init(
            SequenceMarker.allCases.map { marker in
                let seen = evidence.sighting(marker.kind).map { [$0.firstTime, $0.lastTime] } ?? []
                return (marker.text, marker == .registration ? registered : seen)
            }
        )
    }

    /// The markers of a run, as the guide of the background refresh has them.
    init(_ run: ClosedRun) {
        self.init([
            ("Background refresh task started", run.hasStart ? [run.begin] : []),
            ("Last test was", run.checkedAt.map { [$0] } ?? []),
            ("Background refresh completed with success: true", run.succeededAt.map { [$0] } ?? []),
            ("Scheduled background refresh", run.scheduledAt.map { [$0] } ?? []),
        ])
    }

    /// How many markers a cycle lacks, which is the least that is wrong with its sequence.
    static func missing(in kinds: EventKinds, of log: DeviceLog) -> Int {
        SequenceMarker.allCases.count { marker in
            marker == .registration ? log.registered.isEmpty : !kinds.contains(marker.kind)
        }
    }

    /// What is wrong, as sentences.
    var sentences: [String] {
        missing.map { "missing: \($0)" }
            + misplaced.map { "out of order: \($0) comes before a step that belongs before it" }
    }
}

extension Judgement {
    /// The markers of the guides, for each app that the input tells of.
    package var sequenceChecks: [CheckResult] {
        (toldApps.contains(.dnp) ? [sequenceCheck] : []) + (toldApps.contains(.aiq) ? [runSequenceCheck] : [])
    }

    /// The seven-marker check: one cycle must tell all of them in order.
    var sequenceCheck: CheckResult {
        var result = CheckResult(suite: "sequence", name: "--sequence")
        if !sequence.isWhole {
            result.failures = sequence.sentences
        } else {
            result.notes = ["all seven markers of one cycle, in order"]
        }
        return result
    }

    /// The same of the background refresh: one run must tell the four lines that its guide expects, in order.
    var runSequenceCheck: CheckResult {
        var result = CheckResult(suite: "sequence", name: "--sequence of the background refresh")
        var best: MarkerSequence?
        for run in refresh.listed {
            let sequence = MarkerSequence(run.closed)
            if sequence.faults < best?.faults ?? .max { best = sequence }
            if sequence.isWhole { break }
        }
        result.failures = best?.sentences ?? ["no run of the background refresh"]
        if result.isPassed { result.notes = ["all four lines of one run, in order"] }
        return result
    }
}
