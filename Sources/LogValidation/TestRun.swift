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
        /// Power, network and settings during the test, in words.
        package var conditions: String?
        /// The same as data; nil members: as the events say.
        package var facts = RunConditions()
        /// Notes and follow-ups.
        package var notes: String?

        /// Only what the log holds.
        package init() {}
    }

    let cycle: JudgedCycle
    let setting: TestSetting
    let counters: Counters
    /// Whether the log tells that the time zone changed.
    let isZoneChanged: Bool
    /// The number of other cycles in the log.
    let otherCycles: UInt64
    /// The newest of the other cycles.
    let others: [OtherCycle]

    /// Another cycle of the same log.
    struct OtherCycle: Sendable {
        var scheduleId: String?
        var notificationTime: Timestamp?
        var outcome: CycleOutcome
    }

    /// The maximum number of other cycles that a record lists.
    private static let listedOthers = 20

    /// The counters of the artifact.
    struct Counters {
        var scheduled: UInt64
        var executed: UInt64
        var success: UInt64
        var used: UInt64
    }

    /// The record of the latest cycle that ran, in a judgement with the detail `testRun`; nil without a cycle.
    package init?(_ judgement: Judgement, _ circumstances: Circumstances) {
        guard let cycle = judgement.cycles.max(by: { $0.isToldBefore($1) }) else { return nil }
        self.init(cycle, of: judgement, circumstances)
    }

    /// The records of all cycles of a judgement, in the order of their notifications.
    package static func all(_ judgement: Judgement, _ circumstances: Circumstances) -> [TestRun] {
        judgement.cycles.map { TestRun($0, of: judgement, circumstances) }
    }

    private init(_ cycle: JudgedCycle, of judgement: Judgement, _ circumstances: Circumstances) {
        self.cycle = cycle
        setting = TestSetting(
            circumstances,
            device: cycle.details.device.completed(by: judgement.device),
            conditions: cycle.details.conditions.completed(by: judgement.conditions)
        )
        isZoneChanged = judgement.logs.contains { $0.kinds.contains(.timezoneChanged) }
        otherCycles = judgement.closedCycles - 1
        others = judgement.cycles.reversed().lazy
            .filter { $0.order != cycle.order || $0.scheduleId != cycle.scheduleId }.prefix(Self.listedOthers)
            .map {
                OtherCycle(
                    scheduleId: $0.scheduleId,
                    notificationTime: $0.closed.notificationTime,
                    outcome: $0.closed.outcome
                )
            }
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

    /// Why the notification fell back to content fetched on demand; nil where it did not.
    var fallbackCause: String? {
        guard cycle.closed.outcome == .fallback else { return nil }
        if stages.success == nil, stages.failure != nil { return "fetch_failed" }
        if stages.success == nil { return stages.executed == nil ? "not_executed" : "unknown" }
        guard let ttl = cycle.details.ttl else { return "content_lost" }
        let age = cycle.details.age ?? zip(known(stages.success), known(stages.delivered))
        return age.map { $0 > ttl } ?? false ? "expired_content" : "content_lost"
    }

    private func zip(_ start: Timestamp?, _ end: Timestamp?) -> Int64? {
        guard let start, let end else { return nil }
        return (end.microseconds - start.microseconds) / 1_000_000
    }

    /// What the conditions say on a window in which the task did not run; nil where it ran.
    var missedWindowSentence: String? {
        let isMissed = cycle.closed.outcome == .missed || cycle.closed.violations.contains { $0.kind == .missedWindow }
        guard isMissed else { return nil }
        let facts = setting.facts
        let hindrances = facts.hindrances
        if !hindrances.isEmpty { return "The task missed its window: \(hindrances.joined(separator: ", "))." }
        return facts.isUnknown
            ? "The task missed its window; the conditions of the run are not known (--power, --network, --low-power, "
                + "--background-refresh)."
            : "The task missed its window, and none of the known conditions (\(facts.words.joined(separator: ", "))) "
                + "explains it: the system's own timing."
    }
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
