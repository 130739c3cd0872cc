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
    /// The kinds of its events.
    var kinds: EventKinds = []
    /// The stage at which it stopped; nil where it came to its end.
    var stop: CycleStop?
    /// Where the log cuts it.
    var cut: LogCut = []
    /// Whether its notification was delivered twice.
    var isDeliveredAgain = false
    /// Whether its task was submitted twice.
    var isSubmittedAgain = false
    /// Whether its device's log tells that the task was registered.
    var isRegistered = true
    /// The lines that show the violations, in their order; nil for one without a line of its own.
    var places: [ShownPlace?] = []
    /// What to try where the times are whole hours off.
    var zoneAdvice: String?
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
    var order: Timestamp { closed.order }

    /// The time of the earliest stage.
    var firstStage: Timestamp? { closed.stages.times.min() }
    /// The time of the latest stage.
    var lastStage: Timestamp? { closed.stages.times.max() }

    /// Whether the notification used prefetched content.
    var isContentUsed: Bool { closed.stages.used != nil || closed.outcome == .used }

    /// Whether its planned times follow a clock that a test moved (`Time warp simulated`).
    var isTimeWarped: Bool { closed.isTimeWarped }

    /// What a person reads of a warped cycle.
    static let warpSentence = "the clock was moved by a time warp; planned times were judged by the moved clock"

    /// Whether the task ran or the notification was delivered: what a test run is about, and tomorrow's cycle is not.
    var hasRun: Bool { closed.stages.executed != nil || closed.stages.delivered != nil || isContentUsed }

    /// Whether another cycle is the one to report: one that ran before one that did not, then the later one.
    func isToldBefore(_ other: JudgedCycle) -> Bool {
        hasRun == other.hasRun ? order < other.order : other.hasRun
    }

    /// The violations that make a judgement incoherent.
    func faults(strict: Bool) -> [CycleViolation] {
        closed.violations.filter { $0.kind.bucket.isFault(strict: strict) }
    }

    /// The line that shows a violation.
    func place(ofViolation index: Int) -> ShownPlace? { places.indices.contains(index) ? places[index] : nil }

    /// A title for users: the id, else the notification time.
    var title: String {
        scheduleId.map(PlainText.line) ?? closed.notificationTime.map { "notification at \($0)" } ?? "unnamed"
    }

    /// The whole hours between the delivery and its time, where they are that within the tolerated drift; nil for 0.
    var shiftedHours: Int64? {
        guard !closed.hasAssumedTimes, !isTimeWarped, let due = closed.notificationTime,
            let delivered = closed.stages.delivered
        else {
            return nil
        }
        let seconds = (delivered.microseconds - due.microseconds) / 1_000_000
        let hours = (Double(seconds) / 3_600).rounded()
        guard hours != 0, abs(hours) <= 14, abs(Double(seconds) - hours * 3_600) <= 180 else { return nil }
        return Int64(hours)
    }
}

extension ClosedCycle {
    /// The sort key of a list: the notification time, else the first stage.
    var order: Timestamp { notificationTime ?? stages.times.min() ?? Timestamp(microseconds: .max) }
}

extension CycleStages {
    /// The times of those that were seen.
    fileprivate var times: [Timestamp] { [scheduled, executed, success, failure, used, delivered].compactMap(\.self) }
}

/// A line of an input that shows something.
struct ShownPlace: Hashable, Sendable {
    /// The index of the input.
    var input: Int
    /// The line, from 1; in a JSON document the event.
    var line: Int
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
