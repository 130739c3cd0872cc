// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("violations in the journal")
struct ViolationTests {
    private static func event(_ kind: String, _ id: String, _ second: Int, _ members: String = "") -> String {
        let time = EventFactory.stamp(second)
        return #"{"event":"\#(kind)","scheduleId":"\#(id)","timestamp":"\#(time)"\#(members)}"#
    }

    private static func due(_ second: Int) -> String { #","scheduledFor":"\#(EventFactory.stamp(second))""# }

    /// Events that show a violation by themselves, by their schedules, and one that is just within the rules.
    private static let shown: [(id: String, line: String, violation: String?)] = [
        ("expired", event("prefetch_expired", "expired", 60), "expired"),
        ("missed", event("prefetch_missed", "missed", 60), "missed_window"),
        ("late", event("notification_delivered", "late", 781, due(600)), "drift_exceeded"),
        ("in-time", event("notification_delivered", "in-time", 780, due(600)), nil),
        (
            "stale", event("prefetch_used_for_notification", "stale", 600, #","ttl":3600,"age":3601"#),
            "stale_content_used"
        ),
        (
            "hasty",
            event("prefetch_scheduled", "hasty", 0, #","earliestBeginDate":"\#(EventFactory.stamp(59))""#),
            "lead_below_minimum"
        ),
        ("afterwards", event("prefetch_executed", "afterwards", 601, due(600)), "executed_after_notification"),
    ]

    /// The cycle whose notification came 240 s late.
    private static let drifted = [
        event("prefetch_scheduled", "notif-1", 0, due(660)), event("prefetch_executed", "notif-1", 480),
        event("prefetch_success", "notif-1", 482, #","ttl":86400"#),
        event("prefetch_used_for_notification", "notif-1", 900),
        event("notification_delivered", "notif-1", 900, #","platform":"ios""#),
    ]

    private static func body(_ lines: [String]) -> [UInt8] { Array(lines.joined(separator: "\n").utf8) }

    @Test("a violation that one event shows is in its entry at once, and once over kills")
    func violationsOfEvents() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                let body = Self.body(Self.shown.map(\.line))
                #expect(try await service.client.post(body).receipt().accepted == Self.shown.count)
                await service.kill()
                try await service.start()
                #expect(try await service.client.post(body).receipt().duplicates == Self.shown.count)
                try await waitUntilJournaled(service)
                await service.kill()
                try await service.start()
                try await waitUntilJournaled(service)
                let entries = try await journal.entries()
                #expect(entries.count == Self.shown.count)
                for (id, _, violation) in Self.shown {
                    let entry = try #require(entries.first { $0["DNP_SCHEDULE_ID"] == id })
                    #expect(entry["DNP_VIOLATION"] == violation, "\(id)")
                    #expect(entry["PRIORITY"] == (violation == nil ? "6" : "4"), "\(id)")
                }
                let drifted = try await journal.entries(matching: ["DNP_VIOLATION=drift_exceeded"])
                #expect(drifted.map { $0["DNP_SCHEDULE_ID"] } == ["late"])
            }
        }
    }

    @Test("the verdict of a closed cycle is journaled once over kills and links to its events")
    func verdictsOfCycles() async throws {
        try await TestJournald.with { journal in
            try await withTemporaryDirectory { directory in
                let later = try await ShiftedClock(seconds: 3_600, in: directory)
                try await withService(journal: .journald, in: journal.namespace) { service in
                    #expect(try await service.client.post(Self.body(Self.drifted)).receipt().accepted == 5)
                    try await waitUntilJournaled(service)
                    await service.kill()
                    await service.run(by: later)
                    try await service.start()
                    try await Self.waitForVerdict(service)
                    await service.kill()
                    try await service.start()
                    #expect(try await service.client.post(Self.body(Self.drifted)).receipt().duplicates == 5)
                    try await waitUntilJournaled(service)
                    try await checkClosed(journal, try await service.client.metrics())
                }
            }
        }
    }

    private static let verdicts = ["source": "collector", "format": "verdict"]

    private static func waitForVerdict(_ service: Service) async throws {
        let client = await service.client
        try await eventually("the cycle is closed and judged") {
            try await client.metrics().value("dnp_telemetry_events_received_total", verdicts) == 1
        }
    }

    private func checkClosed(_ journal: TestJournald, _ page: MetricsPage) async throws {
        #expect(page.ingestBalance == 0 && page.journalBalance == 0)
        #expect(page.value("dnp_telemetry_events_received_total", Self.verdicts) == 1)
        #expect(page.value("dnp_telemetry_events_accepted_total") == 6)
        let found = try await journal.entries(matching: ["DNP_VIOLATION=drift_exceeded", "DNP_EVENT=cycle_closed"])
        #expect(found.count == 1)
        let verdict = try #require(found.first)
        #expect(verdict["PRIORITY"] == "4" && verdict["DNP_OUTCOME"] == "used" && verdict["DNP_SEQ"] == "6")
        #expect(verdict["DNP_SCHEDULED_FOR"] == EventFactory.stamp(660))
        let message = try verdict.message()
        #expect(message["event"] as? String == "cycle_closed")
        #expect(message["cycle"] as? String == verdict["DNP_CYCLE"])
        #expect(message["timestamp"] as? String == verdict["DNP_TIMESTAMP"])
        let violations = message["violations"] as? [[String: String]]
        #expect(
            violations == [
                [
                    "violation": "drift_exceeded", "bucket": "C",
                    "detail": "delivered 240 s after its time; iOS tolerates 180 s",
                ]
            ]
        )
        let cycle = try await journal.entries(matching: ["DNP_CYCLE=\(verdict["DNP_CYCLE"] ?? "")"])
        #expect(
            cycle.map { $0["DNP_EVENT"] } == [
                "prefetch_scheduled", "prefetch_executed", "prefetch_success", "prefetch_used_for_notification",
                "notification_delivered", "cycle_closed",
            ]
        )
        #expect(try await journal.entries().count == 6)
    }

    @Test("standard output gets the verdict as a line of JSON")
    func verdictsOnStandardOutput() async throws {
        try await withTemporaryDirectory { directory in
            let later = try await ShiftedClock(seconds: 3_600, in: directory)
            try await withService(journal: .stdout) { service in
                #expect(try await service.client.post(Self.body(Self.drifted)).receipt().accepted == 5)
                try await waitUntilJournaled(service)
                await service.kill()
                await service.run(by: later)
                try await service.start()
                try await Self.waitForVerdict(service)
                try await waitUntilJournaled(service)
                let lines = await service.output.split(separator: "\n")
                #expect(lines.count { $0.hasPrefix(#"{"event":"cycle_closed","timestamp":"#) } == 1)
            }
        }
    }
}
