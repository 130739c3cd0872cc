// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// The record of a test run: one cycle with the fields of the plugin's testing guide.
package struct TestRun: Sendable {
    /// Fields that a log does not hold, given by the user.
    package struct Circumstances: Sendable {
        /// The device's model; nil: as the events say.
        package var device: String?
        /// The version of the operating system; nil: as the events say.
        package var systemVersion: String?
        /// The app's build or commit; nil: as the events say.
        package var build: String?
        /// The ids of the tested scenarios.
        package var scenarios: [String] = []
        /// Power, network and settings during the test.
        package var conditions: String?
        /// Notes and follow-ups.
        package var notes: String?

        /// Only what the log holds.
        package init() {}
    }

    let cycle: JudgedCycle
    let circumstances: Circumstances
    let device: DeviceNames
    let counters: Counters
    /// The number of other cycles in the log.
    let otherCycles: UInt64

    /// The counters of the artifact.
    struct Counters {
        var scheduled: UInt64
        var executed: UInt64
        var success: UInt64
        var used: UInt64
    }

    /// The record of the cycle of a judgement with the detail `testRun`; nil without a cycle.
    package init?(_ judgement: Judgement, _ circumstances: Circumstances) {
        guard let cycle = judgement.cycles.last else { return nil }
        self.cycle = cycle
        self.circumstances = circumstances
        otherCycles = judgement.closedCycles - 1
        device = cycle.details.device.completed(by: judgement.device)
        let closed = cycle.closed
        let totals = judgement.totals
        counters =
            otherCycles == 0
            ? Counters(
                scheduled: totals.scheduled,
                executed: totals.executed,
                success: totals.success,
                used: totals.used
            )
            : Counters(
                scheduled: closed.stages.scheduled == nil ? 0 : 1,
                executed: UInt64(max(closed.attempts, closed.stages.executed == nil ? 0 : 1)),
                success: closed.stages.success == nil ? 0 : 1,
                used: cycle.isContentUsed ? 1 : 0
            )
    }

    var stages: CycleStages { cycle.closed.stages }
    /// Whether the log has times, and not only an order.
    var areTimesKnown: Bool { !cycle.closed.hasAssumedTimes }
    var isContentUsed: Bool { cycle.isContentUsed }

    /// The time, where the log has times.
    func known(_ time: Timestamp?) -> Timestamp? { areTimesKnown ? time : nil }

    /// The begin of the run.
    var date: Timestamp? { known(cycle.firstStage) ?? cycle.closed.notificationTime }

    var deviceModel: String { circumstances.device ?? device.model ?? Self.unknown }
    var systemVersion: String { circumstances.systemVersion ?? device.system ?? Self.unknown }
    var build: String { circumstances.build ?? device.app ?? Self.unknown }

    /// How long before the notification the task may run, in seconds.
    var leadSeconds: Int64? {
        guard let due = cycle.closed.notificationTime, let begin = cycle.details.earliestBeginDate else { return nil }
        return (due.microseconds - begin.microseconds) / 1_000_000
    }

    /// Whether cached content was available when the notification was due; nil where that is unknown.
    var wasCacheKept: Bool? {
        if isContentUsed { return true }
        return stages.success != nil && cycle.closed.outcome == .fallback ? false : nil
    }

    /// What went wrong, in sentences: the reported failures, then the violations of buckets A and B.
    var errors: [String] {
        var errors: [String] = []
        for failure in cycle.details.failures where errors.last != failure.sentence { errors.append(failure.sentence) }
        return errors + cycle.faults(strict: true).map { "\($0.kind.name): \($0.detail)" }
    }

    var conditions: String { circumstances.conditions ?? Self.notGiven }

    static let unknown = "unknown"
    static let notGiven = "none given"
}

extension FailureNote {
    /// The event's kind and details without its time.
    var sentence: String {
        var parts: [String] = []
        if let reason { parts.append("\(reason.name)") }
        if let error { parts.append(error) }
        if let status { parts.append("HTTP status \(status)") }
        return parts.isEmpty ? "\(kind.name)" : "\(kind.name): \(parts.joined(separator: ", "))"
    }
}

/// The task's execution time relative to its schedule: the guide's "actual execution time vs scheduled".
struct ExecutionTiming {
    /// From the earliest begin date to the execution, in seconds.
    var startDelay: Int64?
    /// From the execution to the notification time, in seconds; negative after it.
    var executedLead: Int64?
    /// From the notification time to the delivery, in seconds; negative before it.
    var drift: Int64?
    /// Whether it ran within its window of 15 minutes and before the notification; nil where times are missing.
    var isWithinHeuristics: Bool?
    /// All of it in words.
    var sentence: String

    private static let window: Int64 = 15 * 60

    init(_ run: TestRun) {
        let due = run.cycle.closed.notificationTime
        let begin = run.cycle.details.earliestBeginDate
        let executed = run.known(run.stages.executed)
        startDelay = Self.seconds(from: begin, to: executed)
        executedLead = Self.seconds(from: executed, to: due)
        drift = Self.seconds(from: due, to: run.known(run.stages.delivered))
        if let startDelay {
            isWithinHeuristics = (0...Self.window).contains(startDelay) && (executedLead ?? 0) >= 0
        }
        sentence = ""
        sentence = words(run)
    }

    private func words(_ run: TestRun) -> String {
        guard run.stages.executed != nil else { return "never executed" }
        guard run.areTimesKnown else { return "unknown; the log has no times" }
        var parts: [String] = []
        if let lead = run.leadSeconds { parts.append("could run \(Self.relative(lead)) the notification") }
        if let executedLead { parts.append("ran \(Self.relative(executedLead)) it") }
        if parts.isEmpty { return "unknown; the log tells neither the notification time nor the earliest begin date" }
        if let isWithinHeuristics {
            parts.append(isWithinHeuristics ? "within heuristics" : "outside of the window of 15 min")
        }
        return parts.joined(separator: ", ")
    }

    private static func seconds(from start: Timestamp?, to end: Timestamp?) -> Int64? {
        guard let start, let end else { return nil }
        return (end.microseconds - start.microseconds) / 1_000_000
    }

    private static func relative(_ lead: Int64) -> String {
        "\(DurationText.words(seconds: lead.magnitude)) \(lead < 0 ? "after" : "before")"
    }
}

/// Durations as text.
enum DurationText {
    /// As in "1 h 2 min", "5 min 30 s", "12 s".
    static func words(seconds: UInt64) -> String {
        let parts = [(seconds / 3_600, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")]
        let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? "0 s" : words.joined(separator: " ")
    }
}
