// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector

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

    @Test("explains each kind of event and the verdict, each once, and nothing else")
    func complete() throws {
        let ids = try Self.entries().map(\.id)
        let known = EventKind.allCases.map { "\($0.messageID)" } + ["\(VerdictJournalEntry.messageID)"]
        #expect(ids.sorted() == known.sorted())
    }

    @Test("gives each entry a subject of its own, its origin and a text")
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

    @Test("names only metrics and fields that exist")
    func names() throws {
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
        let ids = EventKind.allCases.map { "\($0.messageID)" } + ["\(VerdictJournalEntry.messageID)"]
        #expect(Set(ids).count == ids.count)
        for id in ids { #expect(id.count == 32 && id.allSatisfy { $0.isHexDigit && !$0.isUppercase }, "\(id)") }
    }
}
