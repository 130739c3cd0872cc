// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TelemetryEvents

/// A line of the plugin's documents, and the event that it tells of.
struct GuideLiteral: CustomTestStringConvertible, Sendable {
    /// Where it stands.
    var place: String
    var line: String
    /// The members of its event; nil for a line that tells of none.
    var event: String?
    /// Whether it needs the line before it that names a schedule.
    var needsSchedule = false

    init(_ place: String, _ line: String, _ event: String?, needsSchedule: Bool = false) {
        (self.place, self.line, self.event, self.needsSchedule) = (place, line, event, needsSchedule)
    }

    var testDescription: String { "\(place): \(line)" }
    var component: String { String(line.dropFirst(5).prefix { $0 != "]" }) }
    var message: String { String(line.drop { $0 != "]" }.dropFirst(2)) }
}

@Suite("The literals of the plugin's documents")
struct GuideLiteralTests {
    static let due = "2025-11-14T05:53:00Z"

    static let launch = [
        GuideLiteral(
            "Log Checklist 1",
            "[DNP-FETCH] Registering BGTaskScheduler task (id=com.timesafari.dailynotification.fetch)",
            #"{"event":"prefetch_registered"}"#
        ),
        GuideLiteral(
            "Log Checklist 1",
            "[DNP-PLUGIN] Startup complete (hasPendingSchedules=true)",
            #"{"event":"plugin_started","hasPendingSchedules":true}"#
        ),
        GuideLiteral(
            "Log Checklist 1",
            "[DNP-PLUGIN] Startup complete (hasPendingSchedules=false)",
            #"{"event":"plugin_started","hasPendingSchedules":false}"#
        ),
        GuideLiteral(
            "Log Checklist 1",
            "[DNP-PLUGIN] Startup complete (hasPendingSchedules=true|false)",
            #"{"event":"plugin_started"}"#
        ),
        GuideLiteral("happy path", "[DNP-PLUGIN] configure() called", #"{"event":"plugin_started"}"#),
        GuideLiteral("happy path", "[DNP-PLUGIN] status = ready", #"{"event":"plugin_started"}"#),
        GuideLiteral("happy path", "[DNP-PLUGIN] requestPermissions() → granted", #"{"event":"permission_granted"}"#),
        GuideLiteral("parity directive", "[DNP-DEBUG] Testing plugin class accessibility...", nil),
        GuideLiteral(
            "parity directive",
            "[DNP-DEBUG] Plugin class name (NSStringFromClass): DailyNotificationPlugin",
            nil
        ),
    ]

    static let scheduling = [
        GuideLiteral(
            "happy path",
            "[DNP-SCHEDULER] scheduleDailyNotification() → notificationTime=2025-11-15T05:53:00Z",
            nil
        ),
        GuideLiteral(
            "Log Checklist 2",
            "[DNP-FETCH] Scheduling prefetch for notification at 2025-11-14T05:53:00Z",
            nil
        ),
        GuideLiteral(
            "Log Checklist 2",
            "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-14T05:48:00Z)",
            #"{"event":"prefetch_scheduled","earliestBeginDate":"2025-11-14T05:48:00Z"}"#
        ),
        GuideLiteral(
            "Log Checklist 2",
            "[DNP-SCHEDULER] Scheduling notification for 2025-11-14T05:53:00Z",
            #"{"event":"notification_scheduled","scheduledFor":"2025-11-14T05:53:00Z"}"#
        ),
        GuideLiteral(
            "Log Checklist 2",
            "[DNP-STORAGE] Persisted schedule to DB (id=..., type=DAILY, ...)",
            #"{"event":"schedule_persisted","scheduledFor":"2025-11-14T05:53:00Z"}"#,
            needsSchedule: true
        ),
        GuideLiteral(
            "Log Checklist 2",
            "[DNP-STORAGE] Persisted schedule to DB (id=notif-1, type=DAILY, time=2025-11-14T05:53:00Z)",
            #"{"event":"schedule_persisted","scheduleId":"notif-1","scheduledFor":"2025-11-14T05:53:00Z"}"#
        ),
        GuideLiteral(
            "Simulator Test Plan 1",
            "[DNP-FETCH] Prefetch scheduled 5 minutes before notification (notificationTime=2025-11-14T05:53:00Z)",
            #"{"event":"prefetch_scheduled","scheduledFor":"2025-11-14T05:53:00Z","minutes":5}"#
        ),
        GuideLiteral(
            "Edge Cases",
            "[DNP-FETCH] Prefetch lead too small, capping at minimum (60s)",
            #"{"event":"lead_capped"}"#
        ),
        GuideLiteral(
            "Negative-Path Tests",
            "[DNP-PLUGIN] notifications_denied for scheduleDailyNotification",
            #"{"event":"notification_denied"}"#
        ),
        GuideLiteral(
            "Known OS Limitations",
            "[DNP-FETCH] Background fetch scheduling failed (expected on simulator)",
            #"{"event":"prefetch_schedule_failed","error":"BGTaskSchedulerErrorDomain Code=1"}"#
        ),
        GuideLiteral(
            "test harness",
            #"[DNP-FETCH] Failed to schedule BGAppRefreshTask: Error Domain=BGTaskSchedulerErrorDomain Code=1 "(null)""#,
            #"{"event":"prefetch_schedule_failed","error":"BGTaskSchedulerErrorDomain Code=1"}"#
        ),
        GuideLiteral(
            "test harness",
            "[DNP-FETCH] Force rescheduling all tasks and notifications",
            #"{"event":"prefetch_cancelled"}"#
        ),
        GuideLiteral(
            "test harness",
            "[DNP-FETCH] Time warp simulated: +60 minutes",
            #"{"event":"time_warped","minutes":60}"#
        ),
        GuideLiteral(
            "test harness",
            "[DNP-FETCH] Time warp simulated: +-5 minutes",
            #"{"event":"time_warped","minutes":-5}"#
        ),
        GuideLiteral(
            "parity directive",
            "[DNP-PLUGIN] invalid_time_format for scheduleDailyNotification",
            #"{"event":"plugin_error","error":"invalid_time_format"}"#
        ),
        GuideLiteral(
            "parity directive",
            "[DNP-PLUGIN] background_refresh_disabled",
            #"{"event":"plugin_error","error":"background_refresh_disabled"}"#
        ),
        GuideLiteral(
            "parity directive",
            "[DNP-PLUGIN] task_scheduling_failed: try again",
            #"{"event":"plugin_error","error":"task_scheduling_failed"}"#
        ),
        GuideLiteral(
            "parity directive",
            "[DNP-PLUGIN] scheduling_failed (scheduleId=notif-1)",
            #"{"event":"plugin_error","error":"scheduling_failed"}"#
        ),
        GuideLiteral(
            "parity directive",
            "[DNP-PLUGIN] quota_exceeded for scheduleDailyNotification",
            #"{"event":"plugin_error","error":"quota_exceeded"}"#
        ),
    ]

    static let execution = [
        GuideLiteral(
            "Log Checklist 3",
            "[DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
            #"{"event":"prefetch_executed"}"#
        ),
        GuideLiteral(
            "Simulator Test Plan 4",
            "[DNP-FETCH] BGTask handler invoked (task.identifier=...)",
            #"{"event":"prefetch_executed"}"#
        ),
        GuideLiteral(
            "Log Checklist 3",
            "[DNP-FETCH] Starting fetch from <URL> (notificationTime=2025-11-14T05:53:00Z, jwtPresent=true)",
            #"{"event":"prefetch_started","scheduledFor":"2025-11-14T05:53:00Z"}"#
        ),
        GuideLiteral(
            "Simulator Test Plan 4",
            "[DNP-FETCH] API call: GET /api/notifications (JWT present, ETag=...)",
            #"{"event":"api_call","conditional":true,"authenticated":true}"#
        ),
        GuideLiteral(
            "Simulator Test Plan 4",
            "[DNP-FETCH] API call: GET /api/notifications (JWT present)",
            #"{"event":"api_call","conditional":false,"authenticated":true}"#
        ),
        GuideLiteral(
            "Simulator Test Plan 4",
            "[DNP-FETCH] API call: GET /api/notifications (no JWT, ETag=nil)",
            #"{"event":"api_call","conditional":false,"authenticated":false}"#
        ),
        GuideLiteral(
            "Log Checklist 3",
            "[DNP-FETCH] Fetch success (status=304, bytes=0, ttl=86400)",
            #"{"event":"prefetch_success","ttl":86400,"status":304,"bytes":0}"#
        ),
        GuideLiteral(
            "Simulator Test Plan 1",
            "[DNP-FETCH] Fetch success: status=200, items=1, ttl=86400",
            #"{"event":"prefetch_success","ttl":86400,"status":200,"items":1}"#
        ),
        GuideLiteral(
            "Log Checklist 3",
            "[DNP-FETCH] Cached content for scheduleId=...",
            #"{"event":"content_cached"}"#
        ),
        GuideLiteral(
            "Log Checklist 3",
            "[DNP-FETCH] Task completed (success=true)",
            #"{"event":"prefetch_completed","fetched":true}"#
        ),
        GuideLiteral(
            "Log Checklist 5",
            "[DNP-FETCH] Fetch failed (error=NetworkError, httpStatus=0, willRetry=false)",
            #"{"event":"prefetch_failure","status":0,"reason":"NETWORK","error":"NetworkError","willRetry":false}"#
        ),
        GuideLiteral(
            "Log Checklist 5",
            "[DNP-FETCH] Task completed (success=false, reason=NETWORK)",
            #"{"event":"prefetch_completed","reason":"NETWORK","fetched":false}"#
        ),
        GuideLiteral(
            "parity directive",
            "[DNP-FETCH] BGTask missed window; rescheduling",
            #"{"event":"prefetch_missed"}"#
        ),
        GuideLiteral(
            "Expiration",
            "[DNP-FETCH] expirationHandler invoked",
            #"{"event":"prefetch_expired","reason":"SYSTEM"}"#
        ),
        GuideLiteral(
            "test harness",
            "[DNP-FETCH] PrefetchOperation: starting fake fetch...",
            #"{"event":"prefetch_started"}"#
        ),
        GuideLiteral("test harness", "[DNP-FETCH] PrefetchOperation: finished fake fetch.", nil),
    ]

    static let delivery = [
        GuideLiteral(
            "Log Checklist 4",
            "[DNP-SCHEDULER] Preparing content for notification at 2025-11-14T05:53:00Z",
            nil
        ),
        GuideLiteral(
            "Log Checklist 4",
            "[DNP-FETCH] Found cached content (age=300s, source=prefetch)",
            #"{"event":"prefetch_used_for_notification","age":300}"#
        ),
        GuideLiteral("Log Checklist 4", "[DNP-SCHEDULER] Notification built (title=..., body=..., id=...)", nil),
        GuideLiteral(
            "Log Checklist 4",
            "[DNP-SCHEDULER] Notification scheduled/delivered",
            #"{"event":"notification_delivered"}"#
        ),
        GuideLiteral(
            "Log Checklist 5",
            "[DNP-FETCH] No cached content available, falling back to on-demand fetch",
            #"{"event":"content_missing"}"#
        ),
        GuideLiteral(
            "parity directive",
            "[DNP-SCHEDULER] notification drift > 180s",
            #"{"event":"notification_drift"}"#
        ),
        GuideLiteral(
            "Log Markers",
            "[DNP-PLUGIN] Prefetch cycle complete (id=XYZ, fetched=true, usedCached=true)",
            #"{"event":"prefetch_cycle_complete","scheduleId":"XYZ","fetched":true,"usedCached":true}"#
        ),
    ]

    static let all = launch + scheduling + execution + delivery

    @Test("a literal of the plugin's documents tells the same in every wrapper", arguments: all)
    func literalIsRead(literal: GuideLiteral) throws {
        for wrapped in WrappedLine.all {
            var text = wrapped.line(literal.component, literal.message, 21_000) + "\n"
            if literal.needsSchedule {
                text =
                    wrapped.line("FETCH", "Scheduling prefetch for notification at \(Self.due)", 20_999) + "\n" + text
            }
            for wrapper in [nil, wrapped.wrapper] {
                // Without a marker, nothing says that a word is a code of the plugin.
                let isUnmarked = wrapped.name == "logcat raw without a marker"
                if isUnmarked, wrapper == nil || literal.message.hasPrefix("quota") { continue }
                var options = LogDecoderOptions(wrapper: wrapper)
                options.unrecognisedLimit = 1
                let reading = try LogReading(text, options)
                // Lines of `DNP-DEBUG` are known by their marker alone.
                let isReadable = !isUnmarked && wrapped.name != "xcode by its category" || literal.component != "DEBUG"
                #expect(
                    !isReadable || reading.lines.recognised == (literal.needsSchedule ? 2 : 1),
                    "\(wrapped.name): \(text)"
                )
                #expect(
                    try Self.members(reading.events.first) == Self.members(literal.event),
                    "\(wrapped.name): \(text)"
                )
                #expect(reading.events.count == (literal.event == nil ? 0 : 1), "\(wrapped.name): \(text)")
                if let event = reading.events.first {
                    #expect(
                        LogReading.value(of: "platform", in: event)
                            == (wrapper == nil && wrapped.wrapper == .logcatRaw ? nil : wrapped.platform),
                        "\(wrapped.name): \(event)"
                    )
                }
            }
        }
    }

    /// The members of an event that do not depend on the wrapper.
    static func members(_ event: String?) throws -> NSDictionary? {
        guard let event else { return nil }
        var object = try #require(try JSONSerialization.jsonObject(with: Data(event.utf8)) as? [String: Any])
        for name in ["timestamp", "platform", "installation"] { object[name] = nil }
        if (object["scheduleId"] as? String)?.hasPrefix("unnamed-") == true { object["scheduleId"] = nil }
        return object as NSDictionary
    }
}
