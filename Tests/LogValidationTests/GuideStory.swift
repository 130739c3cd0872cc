// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import LogInput
@testable import LogValidation

/// A scenario of the plugin's testing guide: what the device logs, and what its events are.
struct GuideStory {
    /// The log, with a stamp before each line.
    var lines: [PluginLine]
    /// The same as JSON, one object a line.
    var events: [String]

    /// What both forms come to, judged as `validate` and `replay` do.
    func outcome(timezone: String = "UTC", stamp: (PluginLine) -> String = { "\($0.time)" }) throws -> Outcome {
        let log = lines.map { "\(stamp($0)) [DNP-\($0.component.uppercased())] \($0.message)" }
        let told = try Self.judged(log, timezone: timezone)
        let sent = try Self.judged(events, timezone: timezone)
        #expect(told == sent)
        #expect(try Self.judged(events.reversed(), timezone: timezone) == sent)
        return told
    }

    private static func judged(_ lines: [String], timezone: String) throws -> Outcome {
        let directory = try TemporaryDirectory()
        let path = directory.file("story")
        try Files.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: path)
        return Outcome(try JudgementRun(JudgementOptions(LineFormat(timezone: timezone))).judge([path]))
    }

    /// What a story comes to.
    struct Outcome: Equatable {
        var verdict: Verdict
        var outcomes: [CycleOutcome]
        var violations: [ViolationKind]
        /// Every counter that is not zero, by its family and label.
        var counts: [String: UInt64]

        init(_ verdict: Verdict, _ outcomes: [CycleOutcome], _ violations: [ViolationKind], _ counts: [String: UInt64])
        {
            self.verdict = verdict
            self.outcomes = outcomes
            self.violations = violations
            self.counts = counts
        }

        /// A coherent story.
        init(_ outcomes: CycleOutcome..., notes: [ViolationKind] = [], counting counts: [String: UInt64]) {
            self.init(.coherent, outcomes, notes, counts)
        }

        init(_ judgement: Judgement) {
            verdict = judgement.verdict()
            outcomes = judgement.cycles.map(\.closed.outcome)
            violations = judgement.cycles.flatMap { $0.closed.violations.map(\.kind) }
            let totals = judgement.totals
            var counts: [String: UInt64] = [
                "scheduled": totals.scheduled, "executed": totals.executed, "success": totals.success,
                "used": totals.used, "retries": totals.retries, "expired": totals.expired,
                "missed window": totals.missedWindow, "fallback": totals.fallbacks, "lead capped": totals.leadCapped,
                "drift exceeded": totals.driftExceeded, "cache failures": totals.cacheFailures,
            ]
            for reason in FailureReason.allCases { counts["failure \(reason.name)"] = totals.failure(reason) }
            for content in DeliveredContent.allCases { counts["delivered \(content.name)"] = totals.delivered(content) }
            for code in PluginErrorCode.allCases { counts["error \(code.name)"] = totals.pluginErrors(code) }
            self.counts = counts.filter { $0.value > 0 }
        }
    }
}

/// The pieces that stories are made of. Seconds count from 2025-11-15T05:41:00Z.
extension GuideStory {
    static func + (left: GuideStory, right: GuideStory) -> GuideStory {
        GuideStory(lines: left.lines + right.lines, events: left.events + right.events)
    }

    static func time(_ second: Int) -> Timestamp { PluginLine(second: second, component: "", message: "").time }

    static func line(_ second: Int, _ component: String, _ message: String) -> PluginLine {
        PluginLine(second: second, component: component, message: message)
    }

    /// An event; of a cycle where an id is given.
    static func event(_ kind: String, _ second: Int, id: String? = nil, _ members: String = "") -> String {
        let id = id.map { #","scheduleId":"\#($0)""# } ?? ""
        return #"{"event":"\#(kind)","timestamp":"\#(time(second))"\#(id)\#(members.isEmpty ? "" : ",")\#(members)}"#
    }

    /// One thing that a line and an event tell.
    static func told(
        _ second: Int,
        _ component: String,
        _ message: String,
        _ kind: String,
        id: String? = nil,
        _ members: String = ""
    ) -> GuideStory {
        GuideStory(lines: [line(second, component, message)], events: [event(kind, second, id: id, members)])
    }

    static func launch(_ second: Int, pending: Bool = false) -> GuideStory {
        told(second, "fetch", "Registering BGTaskScheduler task (id=com.example.fetch)", "prefetch_registered")
            + told(second, "plugin", "Startup complete (hasPendingSchedules=\(pending))", "plugin_started")
    }

    /// The notification is set, without a task.
    static func notification(_ second: Int, due: Int, id: String) -> GuideStory {
        GuideStory(
            lines: [
                line(second, "scheduler", "Scheduling notification for \(time(due))"),
                line(second, "storage", "Persisted schedule to DB (id=\(id), type=DAILY, time=\(time(due)))"),
            ],
            events: [event("notification_scheduled", second, id: id, #""notificationTime":"\#(time(due))""#)]
        )
    }

    static func scheduling(_ second: Int = 0, begins: Int = 420, due: Int = 720, id: String = "a") -> GuideStory {
        GuideStory(lines: [line(second, "fetch", "Scheduling prefetch for notification at \(time(due))")], events: [])
            + told(
                second,
                "fetch",
                "BGAppRefreshTask scheduled (earliestBeginDate=\(time(begins)))",
                "prefetch_scheduled",
                id: id,
                #""scheduledFor":"\#(time(due))","earliestBeginDate":"\#(time(begins))""#
            ) + notification(second, due: due, id: id)
    }

    static func execution(_ second: Int, due: Int = 720, id: String = "a") -> GuideStory {
        let resolved = "Resolved next notification needing content (time=\(time(due)), scheduleId=\(id))"
        return told(second, "fetch", "BGTask handler invoked (id=com.example.fetch)", "prefetch_executed", id: id)
            + GuideStory(lines: [line(second, "fetch", resolved)], events: [])
            + told(
                second,
                "fetch",
                "Starting fetch from https://api.example.test/n (notificationTime=\(time(due)), jwtPresent=true)",
                "prefetch_started",
                id: id
            )
    }

    static func success(_ second: Int, id: String = "a", ttl: Int = 86_400) -> GuideStory {
        told(
            second,
            "fetch",
            "Fetch success (status=200, bytes=1234, ttl=\(ttl))",
            "prefetch_success",
            id: id,
            #""status":200,"bytes":1234,"ttl":\#(ttl)"#
        )
    }

    static func cached(_ second: Int, id: String = "a") -> GuideStory {
        told(second, "fetch", "Cached content for scheduleId=\(id)", "content_cached", id: id)
    }

    static func completion(_ second: Int, id: String = "a") -> GuideStory {
        told(second, "fetch", "Task completed (success=true)", "prefetch_completed", id: id, #""fetched":true"#)
    }

    static func unsuccessful(_ second: Int, _ reason: String, id: String = "a") -> GuideStory {
        told(
            second,
            "fetch",
            "Task completed (success=false, reason=\(reason))",
            "prefetch_completed",
            id: id,
            #""fetched":false,"reason":"\#(reason)""#
        )
    }

    /// A task that runs, fetches and caches.
    static func prefetch(_ second: Int, due: Int = 720, id: String = "a") -> GuideStory {
        execution(second, due: due, id: id) + success(second + 2, id: id) + cached(second + 2, id: id)
            + completion(second + 2, id: id)
    }

    /// The notification shows the prefetched content.
    static func shown(_ second: Int = 722, due: Int = 720, age: Int = 180, id: String = "a") -> GuideStory {
        GuideStory(
            lines: [
                line(second, "scheduler", "Preparing content for notification at \(time(due))"),
                line(second, "fetch", "Using cached content for notification at \(time(due))"),
            ],
            events: []
        )
            + told(
                second,
                "fetch",
                "Found cached content (age=\(age)s, source=prefetch)",
                "prefetch_used_for_notification",
                id: id,
                #""age":\#(age)"#
            ) + delivered(second, id: id)
    }

    /// The notification shows content that is fetched now.
    static func onDemand(_ second: Int = 722, due: Int = 720, id: String = "a") -> GuideStory {
        GuideStory(
            lines: [line(second, "scheduler", "Preparing content for notification at \(time(due))")],
            events: []
        )
            + told(
                second,
                "fetch",
                "No cached content available, falling back to on-demand fetch",
                "content_missing",
                id: id
            ) + delivered(second, id: id)
    }

    static func delivered(_ second: Int, id: String = "a") -> GuideStory {
        told(
            second,
            "scheduler",
            "Notification delivered (id=\(id), title=Your daily update)",
            "notification_delivered",
            id: id
        )
    }
}
