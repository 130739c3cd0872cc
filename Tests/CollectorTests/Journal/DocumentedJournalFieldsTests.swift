// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import Journald
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

@Suite("The table of journal fields in the README")
struct DocumentedJournalFieldsTests {
    /// The fields in the first column of the table under the heading "Journal fields", with their second one.
    static func documented() throws -> [String: String] {
        let root = URL.repository
        let text = try String(contentsOf: root.appendingPathComponent("docs/journal.md"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let heading = try #require(lines.firstIndex(of: "## Journal fields"))
        let section = lines[lines.index(after: heading)...].prefix { !$0.hasPrefix("## ") }
        let rows = section.filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
        }
        #expect(Set(rows.map { $0[0] }).count == rows.count)
        return Dictionary(rows.map { ($0[0], $0[1]) }) { first, _ in first }
    }

    /// The names of the fields of an entry in journald's native protocol, with what the writer adds to each.
    static func names(_ fill: (inout JournalEntry) -> Void) throws -> Set<String> {
        var buffer = JournalEntryBuffer(
            constant: [(.syslogIdentifier, "dnp-telemetry"), (JournalProgress.ledgerField, "id")],
            sequenceField: JournalProgress.sequenceField
        )
        try buffer.append(sequence: 1, fill)
        let lines = String(decoding: buffer.bytes, as: UTF8.self).split(separator: "\n")
        return Set(lines.map { String($0.prefix { $0 != "=" }) })
    }

    static func namesOfEvent() throws -> Set<String> {
        let line = #"""
            {"event":"notification_delivered","scheduleId":"a","timestamp":"2025-11-15T05:36:40Z","platform":"ios",\#
            "scheduledFor":"2025-11-15T05:30:00Z","duration_ms":1,"ttl":1,"status":200,"reason":"NETWORK","error":"E",\#
            "installationId":"i","eventId":"e","appVersion":"1"}
            """#
        let decoded = EventText.decode([line])
        var cursor = EventCursor()
        let event = try #require(try cursor.next(in: decoded.events.bytes.span))
        return try names {
            EventJournalEntry.append(event, decoded.events.bytes, key: EventText.identityKey, to: &$0)
        }
    }

    static func namesOfVerdict() throws -> Set<String> {
        var verdict = CycleVerdict.drifted
        verdict.failureReason = .network
        return try names { VerdictJournalEntry.append(verdict, to: &$0) }
    }

    @Test("has each field that an event or a verdict can have, and no other")
    func sameFields() throws {
        let documented = try Self.documented()
        let event = try Self.namesOfEvent()
        let verdict = try Self.namesOfVerdict()
        #expect(Set(documented.keys).symmetricDifference(event.union(verdict)).sorted() == [])
        for (field, entries) in documented {
            let expected = Set(
                entries == "events" ? ["events"] : entries == "verdicts" ? ["verdicts"] : ["events", "verdicts"]
            )
            let found = Set((event.contains(field) ? ["events"] : []) + (verdict.contains(field) ? ["verdicts"] : []))
            #expect(found == expected, "\(field)")
        }
    }
}
