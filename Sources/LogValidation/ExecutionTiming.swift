// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// When the task ran against when it was asked to: the guide's "actual execution time vs scheduled".
struct ExecutionTiming {
    /// How long after the earliest begin date it ran, in seconds.
    var startDelay: Int64?
    /// How long before the notification time it ran, in seconds; negative behind it.
    var executedLead: Int64?
    /// How long after the notification time the notification was delivered, in seconds; negative before it.
    var drift: Int64?
    /// Whether it ran inside of its window of 15 minutes and before the notification; nil where times are missing.
    var isWithinHeuristics: Bool?
    /// All that in words.
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

/// Durations for people.
enum DurationText {
    /// As in "1 h 2 min", "5 min 30 s", "12 s".
    static func words(seconds: UInt64) -> String {
        let parts = [(seconds / 3_600, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")]
        let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? "0 s" : words.joined(separator: " ")
    }
}
