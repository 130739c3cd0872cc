// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import Testing

@Suite("The README's vocabulary is the code's")
struct DocumentedVocabularyTests {
    let readme: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        readme = try String(contentsOf: root.appending(path: "docs/events.md"), encoding: .utf8)
    }

    /// The cells of every row of a table that has so many columns and begins with a name in backticks.
    func rows(under heading: String) -> [[String]] {
        guard let section = readme.components(separatedBy: "\n## ").first(where: { $0.hasPrefix(heading) }) else {
            return []
        }
        return section.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.dropFirst().split(separator: "|", omittingEmptySubsequences: false).dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test("every field with its other names and what it takes")
    func fields() {
        let documented = Set(rows(under: "Fields").map { $0.joined(separator: " | ") })
        for field in EventField.allCases where field != .events && field != .sentAt {
            let others = field.names.dropFirst().map { "`\($0)`" }.joined(separator: ", ")
            let row = ["`\(field.name)`", others, "\(field.expectation)"].joined(separator: " | ")
            #expect(documented.contains(row), "missing: \(row)")
        }
        #expect(documented.count == EventField.allCases.count - 2)
    }

    @Test("every kind")
    func kinds() {
        for kind in EventKind.allCases { #expect(readme.contains("`\(kind.name)`")) }
    }
}
