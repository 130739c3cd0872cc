// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("journal entries")
struct JournalFieldTests {
    private static let success = #"""
        {"event":"prefetch_success","scheduleId":"rich-1","timestamp":"2025-11-15T06:48:32.123456+01:00",
        "scheduledFor":"2025-11-15T05:53:00Z","duration_ms":2432,"ttl":86400,"status":200,"bytes":5120,"items":3,
        "contentHash":"d41d8cd98f00b204e9800998ecf8427e","installationId":"install-jane-0001","eventId":"evt-77",
        "platform":"ios","appVersion":"1.4.2","osVersion":"17.1","deviceModel":"iPhone15,2"}
        """#.replacingOccurrences(of: "\n", with: "")

    private static let failure = #"""
        {"event":"prefetch_failure","scheduleId":"rich-2","timestamp":"2025-11-15T05:48:33Z","reason":"AUTH",
        "error":"AuthError","status":401,"willRetry":false,"installationId":"install-jane-0001"}
        """#.replacingOccurrences(of: "\n", with: "")

    private static let other = #"""
        {"event":"prefetch_success","scheduleId":"rich-3","timestamp":"2025-11-15T05:48:34Z",
        "installationId":"install-john-0002"}
        """#.replacingOccurrences(of: "\n", with: "")

    @Test("a journal entry holds every field of its event, and MESSAGE is the event")
    func journalFields() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                let body = [Self.success, Self.failure, Self.other].joined(separator: "\n")
                #expect(try await service.client.post(Array(body.utf8)).receipt().accepted == 3)
                try await waitUntilJournaled(service)
                let entries = try await journal.entries()
                #expect(entries.count == 3)
                let bySchedule = Dictionary(entries.map { ($0["DNP_SCHEDULE_ID"] ?? "", $0) }) { first, _ in first }
                let success = try #require(bySchedule["rich-1"])
                let failure = try #require(bySchedule["rich-2"])
                let other = try #require(bySchedule["rich-3"])
                try checkSuccess(success)
                try checkFailure(failure)
                checkTogether(entries, success, failure, other)
            }
        }
    }

    private func expect(
        _ entry: JournalEntry,
        _ fields: [String: String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (name, value) in fields {
            #expect(
                entry[name] == value,
                "\(name) is \(entry[name] ?? "absent"), not \(value)",
                sourceLocation: sourceLocation
            )
        }
    }

    private func checkSuccess(_ entry: JournalEntry) throws {
        expect(
            entry,
            [
                "SYSLOG_IDENTIFIER": "dnp-telemetry", "PRIORITY": "6", "DNP_EVENT": "prefetch_success",
                "DNP_DURATION_MS": "2432", "DNP_TTL": "86400", "DNP_HTTP_STATUS": "200", "DNP_PLATFORM": "ios",
                "DNP_APP_VERSION": "1.4.2", "DNP_EVENT_ID": "evt-77",
            ]
        )
        #expect(entry["DNP_TIMESTAMP"]?.hasPrefix("2025-11-15T05:48:32.123456") == true)
        #expect(entry["DNP_SCHEDULED_FOR"]?.hasPrefix("2025-11-15T05:53:00") == true)
        for time in ["DNP_TIMESTAMP", "DNP_SCHEDULED_FOR"] { #expect(entry[time]?.hasSuffix("Z") == true) }
        try checkMessage(entry, of: Self.success)
    }

    private func checkFailure(_ entry: JournalEntry) throws {
        expect(
            entry,
            [
                "PRIORITY": "4", "DNP_EVENT": "prefetch_failure", "DNP_REASON": "AUTH", "DNP_ERROR": "AuthError",
                "DNP_HTTP_STATUS": "401",
            ]
        )
        try checkMessage(entry, of: Self.failure)
    }

    /// `MESSAGE` says what the event said, but for the installation and the spelling of the times.
    private func checkMessage(_ entry: JournalEntry, of event: String) throws {
        let text = try #require(entry["MESSAGE"])
        #expect(!text.contains("\n") && !text.contains("install-jane"))
        let sent = try #require(try JSONSerialization.jsonObject(with: Data(event.utf8)) as? [String: Any])
        let message = try entry.message()
        for (name, value) in sent where !["installationId", "timestamp", "scheduledFor"].contains(name) {
            let found = message[name].map { "\($0)" }
            #expect(found == "\(value)", "\(name) in \(text)")
        }
        #expect((message["timestamp"] as? String) == entry["DNP_TIMESTAMP"])
    }

    private func checkTogether(
        _ entries: [JournalEntry],
        _ success: JournalEntry,
        _ failure: JournalEntry,
        _ other: JournalEntry
    ) {
        for entry in entries {
            #expect(isHex(entry["MESSAGE_ID"], 32) && isHex(entry["DNP_LEDGER"], 32))
            #expect(isHex(entry["DNP_CYCLE"], 16))
            #expect(entry["DNP_VIOLATION"] == nil)
            #expect(UInt64(entry["DNP_SEQ"] ?? "") != nil)
            #expect(entry.repeated.isEmpty, "more than once: \(entry.repeated)")
        }
        #expect(success["MESSAGE_ID"] == other["MESSAGE_ID"], "one id for each kind")
        #expect(success["MESSAGE_ID"] != failure["MESSAGE_ID"], "another id for another kind")
        #expect(success["DNP_INSTALLATION"] == failure["DNP_INSTALLATION"], "one installation, one hash")
        #expect(success["DNP_INSTALLATION"] != other["DNP_INSTALLATION"])
        #expect((success["DNP_INSTALLATION"] ?? "").count >= 16)
        #expect(Set(entries.map { $0["DNP_CYCLE"] }).count == 3, "three schedules")
        #expect(Set(entries.map { $0["DNP_SEQ"] }).count == entries.count)
        #expect(Set(entries.map { $0["DNP_LEDGER"] }).count == 1)
    }

    private func isHex(_ text: String?, _ length: Int) -> Bool {
        guard let text, text.count == length else { return false }
        return text.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }
}
