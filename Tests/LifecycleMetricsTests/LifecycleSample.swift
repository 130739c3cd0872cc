// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import TelemetryEvents
import TestSupport

@testable import LifecycleMetrics

/// Events that move every metric of the lifecycle, and what they come to once their cycles are closed.
enum LifecycleSample {
    /// Their cycles close a day after the latest of their times.
    static let closesAfter: Int64 = 26 * 3_600

    static let events = used + fallback + retried + others + [sent]

    /// When an event of the sample happened.
    static func second(_ second: Int64) -> Double { Double(startOfTest) / 1e6 + Double(second) }

    private static func time(_ second: Int64) -> String {
        "\(Timestamp(microseconds: startOfTest + second * 1_000_000))"
    }

    /// Executed 120 s late, fetched in 2 s, used at an age of 500 s, delivered 30 s late; both hashes agree.
    private static let used = [
        EventText.event(
            "prefetch_scheduled",
            id: "used",
            #""scheduledFor":"\#(time(900))","earliestBeginDate":"\#(time(300))","scheduleHash":"a1""#
        ),
        EventText.event("prefetch_executed", id: "used", second: 420, #""scheduleHash":"a1""#),
        EventText.event("prefetch_success", id: "used", second: 422, #""duration_ms":2000,"ttl":86400"#),
        EventText.event("content_cached", id: "used", second: 423, #""contentHash":"b1""#),
        EventText.event("prefetch_used_for_notification", id: "used", second: 929, #""age":500,"contentHash":"b1""#),
        EventText.event("notification_delivered", id: "used", second: 930),
    ]

    /// Ended by the system after 25 s, delivered 200 s late with content that was fetched then.
    private static let fallback = [
        EventText.event("prefetch_scheduled", id: "fallback", #""scheduledFor":"\#(time(900))""#),
        EventText.event("lead_capped", id: "fallback"),
        EventText.event("prefetch_executed", id: "fallback", second: 600),
        EventText.event("prefetch_expired", id: "fallback", second: 625),
        EventText.event("content_missing", id: "fallback", second: 1_095),
        EventText.event("notification_delivered", id: "fallback", second: 1_100),
    ]

    /// Fails for want of a network, is tried again and succeeds; only the summary tells of its use. The hashes differ.
    private static let retried = [
        EventText.event(
            "prefetch_scheduled",
            id: "retried",
            #""scheduledFor":"\#(time(5_000))","scheduleHash":"a3""#
        ),
        EventText.event("prefetch_executed", id: "retried", second: 4_000, #""scheduleHash":"a4""#),
        EventText.event("prefetch_failure", id: "retried", second: 4_001, #""reason":"NETWORK","willRetry":true"#),
        EventText.event("prefetch_success", id: "retried", second: 4_010, #""duration_ms":9000,"status":304"#),
        EventText.event("prefetch_cycle_complete", id: "retried", second: 5_001, #""fetched":true,"usedCached":true"#),
    ]

    private static let others = [
        EventText.event("prefetch_scheduled", id: "missed", #""scheduledFor":"\#(time(900))""#),
        EventText.event("prefetch_missed", id: "missed", second: 901),
        EventText.event("content_cache_failed", id: "missed", second: 902),
        EventText.event("prefetch_schedule_failed", id: "refused", #""error":"task_scheduling_failed""#),
        EventText.event("notification_denied", id: "refused", second: 1),
        EventText.event("api_call", id: "retried", second: 4_005, #""conditional":true"#),
    ]

    /// Sent by a clock that is 3 s slow, with the client's own counters: two executions have not come.
    private static let sent =
        #"{"sentAt":"\#(time(-3))","events":[{"event":"telemetry_snapshot","timestamp":"\#(time(-8))","#
        + #""installationId":"d","telemetry":{"dnp_prefetch_executed_total":2}}]}"#

    /// Samples of the page once everything is closed.
    static let values: [String: Double] = [
        "dnp_prefetch_scheduled_total": 4,
        "dnp_prefetch_executed_total": 5,
        "dnp_prefetch_success_total": 2,
        #"dnp_prefetch_failure_total{reason="SYSTEM"}"#: 1,
        #"dnp_prefetch_failure_total{reason="NETWORK"}"#: 0,
        "dnp_prefetch_used_for_notification_total": 2,
        "dnp_prefetch_expired_total": 1,
        "dnp_prefetch_missed_window_total": 1,
        "dnp_prefetch_fallback_total": 1,
        "dnp_prefetch_lead_capped_total": 1,
        "dnp_prefetch_retries_total": 1,
        "dnp_prefetch_not_modified_total": 1,
        #"dnp_prefetch_api_calls_total{conditional="true"}"#: 1,
        #"dnp_prefetch_api_calls_total{conditional="false"}"#: 0,
        #"dnp_prefetch_fallback_cause_total{cause="fetch_failed"}"#: 1,
        #"dnp_prefetch_cycles_total{outcome="used"}"#: 2,
        #"dnp_prefetch_cycles_total{outcome="fallback"}"#: 1,
        #"dnp_prefetch_cycles_total{outcome="missed"}"#: 1,
        #"dnp_prefetch_sequence_violations_total{violation="schedule_hash_mismatch"}"#: 1,
        #"dnp_notification_delivered_total{content="prefetched"}"#: 1,
        #"dnp_notification_delivered_total{content="on_demand"}"#: 1,
        #"dnp_notification_delivered_total{content="none"}"#: 0,
        "dnp_notification_drift_exceeded_total": 1,
        "dnp_content_cache_failures_total": 1,
        #"dnp_plugin_errors_total{code="task_scheduling_failed"}"#: 1,
        #"dnp_plugin_errors_total{code="notifications_denied"}"#: 1,
        #"dnp_plugin_errors_total{code="other"}"#: 0,
        #"dnp_integrity_checks_total{check="content",result="match"}"#: 1,
        #"dnp_integrity_checks_total{check="content",result="mismatch"}"#: 0,
        #"dnp_integrity_checks_total{check="schedule",result="match"}"#: 1,
        #"dnp_integrity_checks_total{check="schedule",result="mismatch"}"#: 1,
        #"dnp_telemetry_integrity_unchecked_total{check="content"}"#: 1,
        #"dnp_telemetry_integrity_unchecked_total{check="schedule"}"#: 1,
        #"dnp_telemetry_implied_stages_total{stage="used"}"#: 1,
        #"dnp_telemetry_recovered_events_total{stage="executed"}"#: 2,
        #"dnp_telemetry_recovered_events_total{stage="failure"}"#: 0,
        #"dnp_telemetry_client_snapshots_total{result="applied"}"#: 1,
        "dnp_telemetry_clock_skew_seconds_count": 1,
        "dnp_telemetry_clock_skew_seconds_sum": 3,
        #"dnp_telemetry_clock_skew_seconds_bucket{le="2"}"#: 0,
        #"dnp_telemetry_clock_skew_seconds_bucket{le="5"}"#: 1,
        #"dnp_prefetch_start_delay_seconds_bucket{le="60"}"#: 0,
        #"dnp_prefetch_start_delay_seconds_bucket{le="120"}"#: 1,
        "dnp_prefetch_start_delay_seconds_sum": 120,
        "dnp_prefetch_fetch_duration_seconds_count": 3,
        "dnp_prefetch_fetch_duration_seconds_sum": 36,
        #"dnp_prefetch_content_age_seconds_bucket{le="900"}"#: 1,
        #"dnp_notification_drift_seconds_bucket{le="30"}"#: 1,
        #"dnp_notification_drift_seconds_bucket{le="180"}"#: 1,
        #"dnp_notification_drift_seconds_bucket{le="300"}"#: 2,
        "dnp_notification_drift_seconds_sum": 230,
        "dnp_prefetch_scheduled_timestamp_seconds": second(0),
        "dnp_prefetch_executed_timestamp_seconds": second(4_000),
        "dnp_prefetch_success_timestamp_seconds": second(4_010),
        "dnp_prefetch_failure_timestamp_seconds": second(4_001),
        "dnp_prefetch_used_for_notification_timestamp_seconds": second(929),
        "dnp_notification_delivered_timestamp_seconds": second(1_100),
        "dnp_prefetch_open_cycles": 0,
        "dnp_notification_pending": 0,
        "dnp_notification_pending_limit": 0,
        "dnp_notification_pending_near_limit": 0,
    ]
}
