// SPDX-License-Identifier: Apache-2.0

import Foundation
import RefreshLifecycle
import TelemetryEvents

@testable import LogValidation

/// Runs of the background refresh: what the app logs, what its events are, and what its analytics tell of the same.
struct RefreshStory: Sendable {
    var lines: [PluginLine] = []
    /// One JSON object a line, of the kinds of docs/events.md.
    var events: [String] = []
    /// The same under the names of the app's analytics events, of which there are six.
    var analytics: [String] = []

    /// Several parts, one after the other.
    static func of(_ parts: RefreshStory...) -> RefreshStory {
        parts.reduce(RefreshStory(lines: [], events: [], analytics: []), +)
    }

    static func + (left: RefreshStory, right: RefreshStory) -> RefreshStory {
        RefreshStory(
            lines: left.lines + right.lines,
            events: left.events + right.events,
            analytics: left.analytics + right.analytics
        )
    }

    /// The lines with a stamp and the marker.
    var log: [String] { lines.map { "\($0.time) [BackgroundRefresh] \($0.message)" } }
    /// The lines without a time.
    var bareLog: [String] { lines.map { "[BackgroundRefresh] \($0.message)" } }

    private init(lines: [PluginLine], events: [String], analytics: [String]) {
        self.lines = lines
        self.events = events
        self.analytics = analytics
    }

    private init(
        _ second: Int,
        _ message: String?,
        _ kind: String,
        _ properties: String = "",
        analytics: (name: String, properties: String)? = nil
    ) {
        func json(_ name: String, _ properties: String) -> String {
            let time = PluginLine(second: second, component: PluginLine.refresh, message: "").time
            return #"{"event":"\#(name)","timestamp":"\#(time)","properties":{\#(properties)}}"#
        }
        lines = message.map { [PluginLine(second: second, component: PluginLine.refresh, message: $0)] } ?? []
        events = [json(kind, properties)]
        self.analytics = analytics.map { [json($0.name, $0.properties)] } ?? []
    }
}

/// The pieces of a run. Seconds count from 2025-11-15T05:41:00Z.
extension RefreshStory {
    static let hour = 3_600
    static let day = 86_400

    static func started(_ second: Int) -> RefreshStory {
        RefreshStory(second, "Background refresh task started", "refresh_started")
    }

    static func checked(_ second: Int, _ days: Int, _ isAvailable: Bool? = nil) -> RefreshStory {
        let isAvailable = isAvailable ?? (days >= 90)
        return RefreshStory(
            second,
            "Last test was \(days) days ago. Available: \(isAvailable)",
            "refresh_checked",
            #""daysSinceTest":\#(days),"available":\#(isAvailable)"#
        )
    }

    static func completed(_ second: Int, _ isSuccessful: Bool = true, took: String = "1.25") -> RefreshStory {
        let properties = #""success":\#(isSuccessful),"durationSeconds":\#(took)"#
        return RefreshStory(
            second,
            "Background refresh completed in \(took)s with success: \(isSuccessful)",
            "refresh_completed",
            properties,
            analytics: isSuccessful
                ? ("backgroundRefreshCompleted", properties)
                : ("backgroundRefreshFailed", #""durationSeconds":\#(took)"#)
        )
    }

    static func expired(_ second: Int) -> RefreshStory {
        RefreshStory(
            second,
            "Background refresh task expired before completion",
            "refresh_expired",
            analytics: ("backgroundRefreshExpired", "")
        )
    }

    static func skipped(_ second: Int, _ reason: RefreshSkipReason) -> RefreshStory {
        let words =
            switch reason {
            case .notAuthenticated: "User not authenticated"
            case .noNetwork: "No network connection"
            default: "Last refresh was too recent"
            }
        return RefreshStory(second, "Skipping refresh: \(words)", "refresh_skipped", #""reason":"\#(reason.name)""#)
    }

    static func scheduled(_ second: Int) -> RefreshStory {
        RefreshStory(
            second,
            "Scheduled background refresh for 4.0 hours from now",
            "refresh_scheduled",
            #""hours":4"#
        )
    }

    static func scheduleFailed(_ second: Int) -> RefreshStory {
        RefreshStory(
            second,
            "Failed to schedule background refresh",
            "refresh_schedule_failed",
            analytics: ("backgroundRefreshScheduleFailed", "")
        )
    }

    static func sent(_ second: Int) -> RefreshStory {
        RefreshStory(
            second,
            "Sent test available notification",
            "refresh_notification_sent",
            analytics: ("backgroundRefreshNotificationSent", "")
        )
    }

    static func notAuthorized(_ second: Int) -> RefreshStory {
        RefreshStory(
            second,
            "Skipping notification: Not authorized",
            "refresh_notification_skipped",
            #""reason":"NOT_AUTHORIZED""#
        )
    }

    static func alreadyNotified(_ second: Int, _ daysAgo: Int) -> RefreshStory {
        RefreshStory(
            second,
            "Skipping notification: Already notified \(daysAgo) days ago",
            "refresh_notification_skipped",
            #""reason":"ALREADY_NOTIFIED","daysSinceNotification":\#(daysAgo)"#
        )
    }

    /// No line tells of it, only events do.
    static func notificationFailed(_ second: Int) -> RefreshStory {
        RefreshStory(
            second,
            nil,
            "refresh_notification_failed",
            analytics: ("backgroundRefreshNotificationFailed", "")
        )
    }

    /// A run that checks, does something about the notification, completes, and schedules the next one.
    static func run(at second: Int = 0, _ days: Int, _ notifying: (Int) -> RefreshStory) -> RefreshStory {
        started(second) + checked(second + 1, days) + notifying(second + 1) + completed(second + 2)
            + scheduled(second + 2)
    }

    /// A run that notifies.
    static func notifying(at second: Int = 0, _ days: Int = 100) -> RefreshStory { run(at: second, days, sent) }

    /// A run that does not notify.
    static func quiet(at second: Int = 0, _ days: Int = 30) -> RefreshStory {
        run(at: second, days) { _ in .of() }
    }

    static func skipping(at second: Int = 0, _ reason: RefreshSkipReason) -> RefreshStory {
        started(second) + skipped(second, reason) + scheduled(second)
    }
}

/// What comes of a story.
struct RefreshOutcome: Equatable {
    var verdict: Verdict = .coherent
    var outcomes: [String] = []
    var violations: [String] = []
    /// Every counter that is not zero, by its family and label.
    var counts: [String: UInt64] = [:]

    init(
        _ outcomes: String...,
        verdict: Verdict = .coherent,
        violations: [String] = [],
        counting counts: [String: UInt64]
    ) {
        self.verdict = verdict
        self.outcomes = outcomes
        self.violations = violations
        self.counts = counts
    }

    init(_ judgement: Judgement) {
        verdict = judgement.verdict()
        let runs = judgement.refresh.listed.map(\.closed)
        outcomes = runs.map { "\($0.outcome.name)" }
        violations = runs.flatMap { $0.violations.map { "\($0.kind.name)" } }
        counts = Self.counts(judgement.refresh)
    }

    /// As in "runs completed".
    static func counts(_ runs: JudgedRuns) -> [String: UInt64] {
        let counts = runs.counters.map { series, value in
            let family = series.dropFirst("aiq_background_refresh_".count).prefix { $0 != "{" }.dropLast("_total".count)
            return ("\(family) \(series.split(separator: "\"")[1])", value)
        }
        return Dictionary(uniqueKeysWithValues: counts)
    }
}
