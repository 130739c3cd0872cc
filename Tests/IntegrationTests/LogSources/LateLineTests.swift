// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1
import TestSupport
import Testing

/// A log with a line that comes late or twice and names no cycle, and what must be judged of it.
struct LateLine: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let lines: [String]
    /// Cycles with their violations.
    let cycles: [String: [String]]
    let executed: Double

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { "2025-11-\($0.prefix(3) == "16 " ? "16" : "15")T\($0.dropFirst(3))" }
    }

    private static let scheduled = lines(
        """
        15 11:50:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T12:00:00Z
        15 11:50:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T11:55:00Z)
        15 11:50:00Z [DNP-STORAGE] Persisted schedule to DB (id=a, type=DAILY, time=2025-11-15T12:00:00Z)
        15 12:00:00Z [DNP-FETCH] No cached content available, falling back to on-demand fetch
        15 12:00:00Z [DNP-SCHEDULER] Notification delivered (id=a)
        """
    )

    static let all = [
        LateLine(
            testDescription: "a handler line that is printed twice after the delivery",
            lines: scheduled
                + lines(
                    """
                    15 12:05:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
                    15 12:05:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
                    15 12:05:01Z [DNP-FETCH] Starting fetch (scheduleId=a)
                    15 12:05:02Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)
                    15 12:05:02Z [DNP-FETCH] Task completed (success=true)
                    """
                ),
            cycles: ["a": ["executed_after_notification"]],
            executed: 1
        ),
        LateLine(
            testDescription: "a task that begins after its notification",
            lines: lines(
                """
                15 11:50:00Z [DNP-STORAGE] Persisted schedule to DB (id=a, type=DAILY, time=2025-11-15T12:00:00Z)
                15 11:50:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T12:03:00Z)
                15 12:04:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
                15 12:04:02Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)
                """
            ),
            cycles: ["a": ["executed_after_notification"]],
            executed: 1
        ),
        LateLine(
            testDescription: "a missed window that is told after the next task is scheduled",
            lines: scheduled
                + lines(
                    """
                    15 12:01:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-16T12:00:00Z
                    15 12:01:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-16T11:55:00Z)
                    15 12:01:00Z [DNP-STORAGE] Persisted schedule to DB (id=b, type=DAILY, time=2025-11-16T12:00:00Z)
                    15 12:20:00Z [DNP-FETCH] BGTask missed window; rescheduling
                    16 11:56:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
                    16 11:56:02Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)
                    """
                ),
            cycles: ["a": ["missed_window"], "b": []],
            executed: 1
        ),
    ]
}

@Suite("lines that come late or twice")
struct LateLineTests {
    @Test("validate binds it to its cycle and opens no other", arguments: LateLine.all)
    func validateLateLine(story: LateLine) async throws {
        let command = try await Command.telemetry(
            "validate",
            "-",
            "--format",
            "json",
            input: story.lines.map { $0 + "\n" }.joined()
        )
        let output = try JudgedOutput(command)
        let found = output.cycles.map { ($0.scheduleId ?? "-", Set($0.violations.map(\.violation))) }
        #expect(found.map(\.0).sorted() == story.cycles.keys.sorted(), "\(command.text)")
        for (id, violations) in found {
            #expect(
                violations.subtracting(["next_not_scheduled", "lead_differs"]) == Set(story.cycles[id] ?? []),
                "\(id)"
            )
        }
    }

    @Test("the service binds it to its cycle and opens no other", arguments: LateLine.all)
    func serveLateLine(story: LateLine) async throws {
        try await withService { service in
            let client = await service.client
            let body = Array(story.lines.map { $0 + "\n" }.joined().utf8)
            for _ in 0..<2 {
                let answer = try await client.post(body, type: "text/plain", headers: ["X-Source-Id": "phone"])
                #expect(answer.status == 200, "\(answer.text)")
            }
            let page = try await client.metrics()
            #expect(page.value("dnp_prefetch_open_cycles") == Double(story.cycles.count))
            #expect(page.value("dnp_prefetch_executed_total") == story.executed)
            #expect(page.ingestBalance == 0)
        }
    }
}
