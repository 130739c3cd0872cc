// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TelemetryEvents

@Suite("The documented log lines are the ones that are read")
struct DocumentedLogLinesTests {
    let rows: [String]

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let article = root.appending(path: "Sources/TelemetryEvents/TelemetryEvents.docc/LogLines.md")
        rows = try String(contentsOf: article, encoding: .utf8).split(separator: "\n").map { String($0) }
            .filter { $0.hasPrefix("| `") }
    }

    @Test("every form, what it says and how the rest is read")
    func forms() {
        let forms = LogGrammar.rules.map(\.row)
        #expect(rows.filter { $0.count(of: "|") == 5 } == forms, "the table is:\n\(forms.joined(separator: "\n"))")
    }

    @Test("every wrapper by its word on the command line")
    func wrappers() {
        let words = rows.filter { $0.count(of: "|") == 3 }.map { $0.split(separator: "`")[1] }
        #expect(words.map { String($0) } == LogWrapper.allCases.map(\.rawValue))
    }

    @Test("every key with its other spellings")
    func keys() {
        let keys = LogField.allCases.map { field in "| \(field.names.map { "`\($0)`" }.joined(separator: ", ")) |" }
        #expect(rows.filter { $0.count(of: "|") == 2 } == keys, "the table is:\n\(keys.joined(separator: "\n"))")
    }
}

extension LogRule {
    fileprivate var row: String {
        let says =
            switch form.meaning {
            case .event(let kind): "`\(kind.name)`"
            case .cycle: "what its cycle is"
            case .nothing: "nothing that counts"
            }
        let rest =
            switch form.remainder {
            case .nothing: ""
            case .fields: form.idNamesTask ? "keys; `id` is the task's" : "keys"
            case .notificationTime: "the notification time, or keys"
            case .error: "an error"
            case .counters: "counters"
            }
        let reason = form.reason.map { " with reason \($0.name)" } ?? ""
        return "| `\(opening)` | \(says)\(reason) | \(form.phase) | \(rest) |"
    }
}

extension String {
    fileprivate func count(of character: Character) -> Int { filter { $0 == character }.count }
}
