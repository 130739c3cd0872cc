// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrefetchLifecycle
import Testing

@Suite("The documented rules are the ones that are judged")
struct DocumentedRulesTests {
    @Test("every violation with its bucket, in the order in which they are told")
    func rules() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let article = root.appending(path: "Sources/PrefetchLifecycle/PrefetchLifecycle.docc/Cycles.md")
        let rows = try String(contentsOf: article, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("| `") }
            .map { $0.split(separator: "|").prefix(2).joined(separator: "|") }
        #expect(rows == ViolationKind.allCases.map { " `\($0.name)` | \($0.bucket.rawValue) " })
    }
}
