// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("The threat model")
struct ThreatModelTests {
    private static let root = URL.repository

    /// The names in the last column of every row, by the attack in the first.
    private static func rows() throws -> [(attack: String, tests: [String])] {
        let page = try String(contentsOf: root.appendingPathComponent("docs/security.md"), encoding: .utf8)
        return page.split(separator: "\n").filter {
            $0.hasPrefix("| ") && !$0.hasPrefix("| attack") && !$0.hasPrefix("| ---")
        }
        .map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let names = cells.last?.split(separator: "`", omittingEmptySubsequences: false) ?? []
            return (cells.first ?? "", names.indices.filter { $0 % 2 == 1 }.map { String(names[$0]) })
        }
    }

    /// The names of all tests.
    private static func tests() throws -> Set<String> {
        let files = try #require(
            FileManager.default.enumerator(at: root.appendingPathComponent("Tests"), includingPropertiesForKeys: nil)
        )
        var names: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for part in text.components(separatedBy: "@Test(").dropFirst() {
                let rest = part.drop(while: \.isWhitespace)
                if rest.first == "\"" { names.insert(String(rest.dropFirst().prefix { $0 != "\"" })) }
            }
        }
        return names
    }

    @Test("names for each attack tests that there are")
    func everyTest() throws {
        let tests = try Self.tests()
        let rows = try Self.rows()
        #expect(rows.count >= 40)
        for row in rows {
            #expect(!row.tests.isEmpty, "\(row.attack)")
            #expect(row.tests.filter { !tests.contains($0) } == [], "\(row.attack)")
        }
    }
}
