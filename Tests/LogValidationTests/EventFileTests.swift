// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@testable import LogValidation

@Suite("Files of events")
struct EventFileTests {
    @Test("more pending notifications than the limit are told of the latest cycle, and where there is none beside them")
    func breachWithoutCycle() throws {
        let window =
            #"{"event":"rolling_window","timestamp":"2025-11-15T05:54:00Z","installationId":"p1","pending":65}"#
        let cycle =
            #"{"event":"notification_delivered","timestamp":"2025-11-15T05:53:00Z","installationId":"p1","scheduleId":"n1"}"#
        let alone = try JudgedLog.judge([window], named: "events.ndjson")
        #expect(alone.verdict() == .incoherent && alone.verdictLine() == "incoherent: 1 violation in 1 cycle")
        let details = alone.cycles.flatMap(\.closed.violations).map(\.detail)
        #expect(details == ["more notifications were pending at 2025-11-15T05:54:00Z than the limit allows"])
        let beside = try JudgedLog.judge([cycle, window], named: "events.ndjson")
        #expect(beside.cycles.map { $0.closed.violations.map(\.kind) } == [[.pendingLimitExceeded]])
        let kept = try JudgedLog.judge([window.replacing("65", with: "64")], named: "events.ndjson")
        #expect(kept.verdict() == .empty && kept.cycles.isEmpty)
    }

    @Test("--device holds for events, too: a task that the system refuses is the failure of its cycle")
    func refusedOnDevice() throws {
        let events = [
            #"{"event":"prefetch_schedule_failed","timestamp":"2025-11-15T05:41:00Z","scheduleId":"a","scheduledFor":"2025-11-15T05:53:00Z","error":"BGTaskSchedulerErrorDomain Code=1"}"#,
            #"{"event":"content_missing","timestamp":"2025-11-15T05:53:00Z","scheduleId":"a"}"#,
        ]
        let judged = try JudgedLog.judge(events, named: "events.ndjson") { $0.isSimulator = false }
        #expect(judged.cycles.first?.closed.failureReason == .system)
        #expect(try JudgedLog.judge(events, named: "events.ndjson").cycles.first?.closed.failureReason == nil)
    }
}
