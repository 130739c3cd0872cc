// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import Journald
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

@Suite("The message catalog that journalctl -x shows")
struct CatalogTests {
    /// Of each entry its id, and its lines up to the next one.
    static func entries() throws -> [(id: String, lines: [Substring])] {
        let root = URL.repository
        let file = root.appendingPathComponent("deploy/catalog/dnp-telemetry.catalog")
        var entries: [(id: String, lines: [Substring])] = []
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("-- ") {
                entries.append((String(line.dropFirst(3)), []))
            } else if !entries.isEmpty {
                entries[entries.count - 1].lines.append(line)
            }
        }
        return entries
    }

    @Test("the journal's message catalog explains each kind of event and each verdict, each once, and nothing else")
    func complete() throws {
        let ids = try Self.entries().map(\.id)
        let known =
            EventKind.allCases.map { "\($0.messageID)" } + [
                "\(VerdictJournalEntry.messageID)", "\(VerdictJournalEntry.runMessageID)",
            ]
        #expect(ids.sorted() == known.sorted())
    }

    @Test("the journal's message catalog gives each entry a subject of its own, its origin and a text")
    func wellFormed() throws {
        let entries = try Self.entries()
        for entry in entries {
            let header = entry.lines.prefix { $0.contains(#/^[A-Z][A-Za-z-]+: /#) }
            #expect(header.first?.hasPrefix("Subject: ") == true, "\(entry.id)")
            #expect(header.contains("Defined-By: dnp-telemetry"), "\(entry.id)")
            #expect(entry.lines.count > header.count, "\(entry.id)")
        }
        #expect(Set(entries.compactMap(\.lines.first)).count == entries.count)
    }

    @Test("the journal's message catalog names only metrics and fields that exist")
    func catalogNames() throws {
        let fields = try DocumentedJournalFieldsTests.documented()
        let page = try String(
            contentsOf: URL.repository.appendingPathComponent("docs/metrics.md"),
            encoding: .utf8
        )
        for line in try Self.entries().flatMap(\.lines) {
            for match in line.matches(of: /DNP_[A-Z_]+/) { #expect(fields[String(match.output)] != nil, "\(line)") }
            for match in line.matches(of: /dnp_[a-z_]+/) { #expect(page.contains("| `\(match.output)` |"), "\(line)") }
        }
    }

    @Test("each kind of event and the verdict have a message id of their own")
    func messageIDs() {
        let ids =
            EventKind.allCases.map { "\($0.messageID)" } + [
                "\(VerdictJournalEntry.messageID)", "\(VerdictJournalEntry.runMessageID)",
            ]
        #expect(Set(ids).count == ids.count)
        for id in ids { #expect(id.count == 32 && id.allSatisfy { $0.isHexDigit && !$0.isUppercase }, "\(id)") }
    }
}

@Suite("The table of journal fields in docs/journal.md")
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
    static func names(_ fill: (inout Journald.JournalEntry) -> Void) throws -> Set<String> {
        var buffer = JournalEntryBuffer(
            constant: [(.syslogIdentifier, "dnp-telemetry"), (JournalEntryNames.ledgerField, "id")],
            sequenceField: JournalEntryNames.sequenceField
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
        let ofRun = try names { VerdictJournalEntry.append(RunVerdict.notified, to: &$0) }
        return try names { VerdictJournalEntry.append(verdict, to: &$0) }.union(ofRun)
    }

    @Test(
        "an entry has priority 4 where something went wrong, also where only its fields tell so, and 6 else",
        arguments: [
            (#""refresh_completed","success":true"#, "6"), (#""refresh_completed","success":false"#, "4"),
            (#""prefetch_success","scheduleId":"a""#, "6"), (#""prefetch_failure","scheduleId":"a""#, "4"),
        ]
    )
    func priorities(_ fields: String, _ priority: String) throws {
        let decoded = EventText.decode(["{\"timestamp\":\"2025-11-15T05:36:40Z\",\"event\":\(fields)}"])
        var cursor = EventCursor()
        let event = try #require(try cursor.next(in: decoded.events.bytes.span))
        var buffer = JournalEntryBuffer()
        try buffer.append(sequence: 1) {
            EventJournalEntry.append(event, decoded.events.bytes, key: EventText.identityKey, to: &$0)
        }
        #expect(String(decoding: buffer.bytes, as: UTF8.self).contains("\nPRIORITY=\(priority)\n"))
    }

    @Test("the documented table of journal fields has each field that an event or a verdict can have, and no other")
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
