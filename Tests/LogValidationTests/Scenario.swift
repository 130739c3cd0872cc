// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@testable import LogValidation

/// A line of the plugin before it is wrapped.
struct PluginLine: Sendable {
    /// Seconds after the time of scheduling, 2025-11-15T05:41:00Z.
    var second: Int
    /// `fetch`, `scheduler`, `plugin` or `storage`; of the second app `refresh`.
    var component: String
    var message: String

    static let refresh = "refresh"
    static let start = Timestamp(seconds: 1_763_185_260)
    var time: Timestamp { Timestamp(seconds: Self.start.microseconds / 1_000_000 + Int64(second)) }
}

/// A log and what is to come of it.
struct Scenario: CustomTestStringConvertible, Sendable {
    var name: String
    var lines: [PluginLine]
    var outcomes: [CycleOutcome]
    /// The violations that are told without looking at times, and those that need them.
    var violations: [ViolationKind] = []
    var timedViolations: [ViolationKind] = []
    var scheduled = 1
    var executed = 1
    var success = 0
    var failures: [FailureReason] = []
    var used = 0

    var testDescription: String { name }
}

extension Scenario {
    private static func time(_ second: Int) -> String {
        "\(PluginLine(second: second, component: "", message: "").time)"
    }

    /// The lines of a cycle that begins at a second: scheduled 12 minutes ahead, run after 9, delivered 2 s late.
    private static func happyLines(from start: Int = 0, id: String = "notif-a") -> [PluginLine] {
        let due = time(start + 720)
        let lines: [(Int, String, String)] = [
            (0, "fetch", "Registering BGTaskScheduler task (id=com.timesafari.dailynotification.fetch)"),
            (0, "plugin", "Startup complete (hasPendingSchedules=false)"),
            (0, "fetch", "Scheduling prefetch for notification at \(due)"),
            (0, "fetch", "BGAppRefreshTask scheduled (earliestBeginDate=\(time(start + 420)))"),
            (0, "scheduler", "Scheduling notification for \(due)"),
            (0, "storage", "Persisted schedule to DB (id=\(id), type=DAILY, time=\(due))"),
            (540, "fetch", "BGTask handler invoked (id=com.timesafari.dailynotification.fetch)"),
            (541, "fetch", "Resolved next notification needing content (time=\(due), scheduleId=\(id))"),
            (
                541, "fetch",
                "Starting fetch from https://api.example.test/n?id=7 (notificationTime=\(due), jwtPresent=true)"
            ),
            (543, "fetch", "Fetch success (status=200, bytes=1234, ttl=86400)"),
            (543, "fetch", "Cached content for scheduleId=\(id)"),
            (543, "fetch", "Task completed (success=true)"),
            (722, "scheduler", "Preparing content for notification at \(due)"),
            (722, "fetch", "Found cached content (age=180s, source=prefetch)"),
            (722, "fetch", "Using cached content for notification at \(due)"),
            (722, "scheduler", #"Notification built (title=Your daily update, body=Today's "summary", id=\#(id))"#),
            (722, "scheduler", "Notification delivered (id=\(id), title=Your daily update)"),
        ]
        return lines.map { PluginLine(second: start + $0.0, component: $0.1, message: $0.2) }
    }

    private static func failingLines(_ messages: String...) -> [PluginLine] {
        happyLines().without("Cached content", "Task completed", "Using cached")
            .replacing("Fetch success", with: messages)
            .replacing("Found cached", with: ["No cached content available, falling back to on-demand fetch"])
    }

    static let all: [Scenario] = [
        Scenario(name: "happy", lines: happyLines(), outcomes: [.used], success: 1, used: 1),
        Scenario(
            name: "network failure",
            lines: failingLines(
                "Fetch failed (error=NetworkError, httpStatus=0, willRetry=false)",
                "Task completed (success=false, reason=NETWORK)"
            ),
            outcomes: [.fallback],
            failures: [.network]
        ),
        Scenario(
            name: "expired token, told three times",
            lines: failingLines(
                "Fetch failed: error=AuthError, httpStatus=401, willRetry=false",
                "JWT expired, authentication failed",
                "Task completed (success=false, reason=AUTH)"
            ),
            outcomes: [.fallback],
            failures: [.auth]
        ),
        Scenario(
            name: "a reason that comes with the completion",
            lines: failingLines(
                "Fetch failed: error=Whatever, willRetry=false",
                "Task completed (success=false, reason=NETWORK)"
            ),
            outcomes: [.fallback],
            failures: [.network]
        ),
        Scenario(
            name: "the system ends the task",
            lines: failingLines("Task expired", "Task completionBlock (success=false)"),
            outcomes: [.fallback],
            violations: [.expired],
            failures: [.system]
        ),
        Scenario(
            name: "exception in the handler",
            lines: failingLines("Task marked complete (success=false) due to error"),
            outcomes: [.fallback],
            failures: [.system]
        ),
        Scenario(
            name: "retry, then success",
            lines: happyLines().replacing(
                "Fetch success",
                with: [
                    "Fetch failed: error=NetworkError, httpStatus=503, willRetry=true",
                    "Fetch success: status=200, items=1, ttl=86400",
                ]
            ),
            outcomes: [.used],
            success: 1,
            used: 1
        ),
        Scenario(
            name: "simulator",
            lines: failingLines("x").without("handler", "Resolved", "Starting", "x").replacing(
                "BGAppRefreshTask scheduled",
                with: [
                    #"Failed to schedule BGAppRefreshTask: Error Domain=BGTaskSchedulerErrorDomain Code=1 "(null)""#,
                    "Background fetch scheduling failed (expected on simulator)",
                ]
            ),
            outcomes: [.fallback],
            scheduled: 0,
            executed: 0
        ),
        Scenario(
            name: "never scheduled",
            lines: happyLines().without("BGAppRefreshTask scheduled"),
            outcomes: [.used],
            violations: [.executedWithoutScheduled],
            scheduled: 0,
            success: 1,
            used: 1
        ),
        Scenario(
            name: "never executed",
            lines: happyLines().without("BGTask handler"),
            outcomes: [.used],
            violations: [.successWithoutExecuted],
            executed: 0,
            success: 1,
            used: 1
        ),
        Scenario(
            name: "used without a success",
            lines: happyLines().without("Fetch success"),
            outcomes: [.used],
            violations: [.usedWithoutSuccess],
            used: 1
        ),
        Scenario(
            name: "two terminal results",
            lines: happyLines().replacing("Task completed", with: ["Task completed (success=false, reason=NETWORK)"]),
            outcomes: [.used],
            violations: [.duplicateTerminal],
            success: 1,
            failures: [.network],
            used: 1
        ),
        Scenario(
            name: "changed content",
            lines: happyLines()
                .replacing("Cached content for", with: ["Cached content MD5: abcdef0123"])
                .replacing("Using cached", with: ["Using cached content MD5: abcdef0124"]),
            outcomes: [.used],
            violations: [.contentHashMismatch],
            success: 1,
            used: 1
        ),
        Scenario(
            name: "stale content",
            lines: happyLines().replacing("Found cached", with: ["Found cached content (age=86401s, source=prefetch)"]),
            outcomes: [.used],
            violations: [.staleContentUsed],
            success: 1,
            used: 1
        ),
        Scenario(
            name: "too little lead",
            lines: happyLines().replacing(
                "BGAppRefreshTask scheduled",
                with: ["BGAppRefreshTask scheduled (earliestBeginDate=\(time(59)))"]
            ),
            outcomes: [.used],
            violations: [.leadDiffers],
            timedViolations: [.leadBelowMinimum],
            success: 1,
            used: 1
        ),
        Scenario(
            name: "three days with one id",
            lines: happyLines(id: "daily") + happyLines(from: 86_400, id: "daily")
                + happyLines(from: 172_800, id: "daily"),
            outcomes: [.used, .used, .used],
            scheduled: 3,
            executed: 3,
            success: 3,
            used: 3
        ),
    ]
}

extension [PluginLine] {
    fileprivate func without(_ texts: String...) -> [PluginLine] {
        filter { line in !texts.contains { line.message.hasPrefix($0) || line.message.contains($0) && $0.count > 3 } }
    }

    /// Puts messages in the place of the first line that begins so; further ones go.
    fileprivate func replacing(_ text: String, with messages: [String]) -> [PluginLine] {
        var isDone = false
        return flatMap { line in
            guard line.message.hasPrefix(text) else { return [line] }
            defer { isDone = true }
            return isDone
                ? [] : messages.map { PluginLine(second: line.second, component: line.component, message: $0) }
        }
    }
}
