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

@Suite("privacy")
struct PrivacyTests {
    private static let event = #"""
        {"event":"prefetch_failure","scheduleId":"private-1","timestamp":"2025-11-15T05:48:32Z","reason":"AUTH",
        "error":"AuthError for jane.doe@example.org, Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJl",
        "deviceModel":"call +1 555 010 7788","osVersion":"jane.doe@example.org",
        "appVersion":"did:ethr:0x71c7656ec7ab88b098defb751b7401b5f6d8976f",
        "title":"Your morning summary","body":"Jane owes 12 dollars","token":"tok-4f1c9a7be2d84410",
        "telemetry":{"dnp_prefetch_failure_total":1},
        "installationId":"4E7D1F0A-installation-of-jane","platform":"ios"}
        """#.replacingOccurrences(of: "\n", with: "")

    /// Ids that clients have made of what they should not.
    private static let careless = #"""
        {"event":"prefetch_executed","scheduleId":"jane.doe@example.org","timestamp":"2025-11-15T05:48:33Z",
        "eventId":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJl"}
        """#.replacingOccurrences(of: "\n", with: "")

    private static let secrets = [
        "jane.doe@example.org", "eyJhbGciOiJIUzI1NiJ9", "c2lnbmF0dXJl", "555 010 7788", "5550107788",
        "71c7656ec7ab88b098defb751b7401b5f6d8976f", "morning summary", "owes 12 dollars", "tok-4f1c9a7be2d84410",
        "4E7D1F0A-installation-of-jane",
    ]

    @Test("no personal data reaches the journal, the ledger, the page or the log")
    func nothingPersonal() async throws {
        try await TestJournald.with { journal in
            try await withService(
                journal: .journald,
                options: ["--log-level", "trace"],
                in: journal.namespace
            ) { service in
                let client = await service.client
                #expect(try await client.post(Array(Self.event.utf8)).receipt().accepted == 1)
                #expect(try await client.post(Array(Self.careless.utf8)).receipt().accepted == 1)
                let wrong = try await client.post(Array(Self.event.replacing("\"AUTH\"", with: "7").utf8))
                expectClean(wrong.body, in: "the answer to a broken event")
                try await waitUntilJournaled(service)
                expectClean(Array(try await client.metrics().text.utf8), in: "the page")
                let entries = try await journal.namespace.run(
                    ["/usr/bin/journalctl", "--quiet", "--all", "--output=export", "--no-pager"]
                )
                #expect(entries.text.contains("private-1"))
                expectClean(Array(entries.output), in: "the journal")
                await expectClean(Array(service.wholeLog.utf8), in: "the log")
                let state = await service.settings.stateDirectory
                await service.kill()
                for name in try FileManager.default.contentsOfDirectory(atPath: state) {
                    expectClean(Array(contents(of: "\(state)/\(name)")), in: name)
                }
            }
        }
    }

    private func expectClean(_ bytes: [UInt8], in place: String) {
        let text = String(decoding: bytes, as: UTF8.self)
        let found = Self.secrets.filter { text.contains($0) }
        #expect(found == [], "this stands in \(place)")
    }
}
