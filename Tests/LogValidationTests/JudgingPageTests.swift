// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import LogInput
@testable import LogValidation

/// The examples of docs/judging.md are inputs, and each is judged as the page says.
@Suite("The page of rules")
struct JudgingPageTests {
    /// A rule with its two logs: one that breaks it, one that does not.
    struct Rule: CustomTestStringConvertible, Sendable {
        let name: String
        let bucket: String
        let examples: [String]
        var testDescription: String { name }
    }

    static let rules: [Rule] = {
        guard
            let page = try? String(
                contentsOf: URL.repository.appendingPathComponent("docs/judging.md"),
                encoding: .utf8
            )
        else { return [] }
        return page.components(separatedBy: "\n## ").dropFirst(2).map { section in
            let parts = section.components(separatedBy: "\n```\n")
            let bucket = section.firstMatch(of: /Bucket ([ABC])/)
            return Rule(
                name: String(section.prefix { $0 != "\n" }),
                bucket: bucket.map { String($0.1) } ?? "",
                examples: parts.enumerated().filter { $0.offset % 2 == 1 }.map { $0.element + "\n" }
            )
        }
    }()

    @Test("the page of rules has every rule in order, each with its bucket and two examples")
    func everyRule() {
        let names = Set(Self.rules.map(\.name))
        let rules = ViolationKind.allCases.filter { names.contains($0.name.description) }
        #expect(Self.rules.map(\.name) == rules.map(\.name.description))
        #expect(Self.rules.map(\.bucket) == rules.map(\.bucket.rawValue))
        #expect(Self.rules.allSatisfy { $0.examples.count == 2 })
    }

    @Test("the first example of a rule on the page breaks it, the second does not", arguments: rules)
    func examples(rule: Rule) throws {
        try #require(rule.examples.count == 2)
        #expect(try violations(rule.examples[0]).contains(rule.name), "this does not break \(rule.name)")
        let other = try violations(rule.examples[1])
        #expect(!other.contains(rule.name), "this breaks \(rule.name)")
    }

    /// The rules that an input breaks.
    private func violations(_ text: String) throws -> Set<String> {
        let directory = try TemporaryDirectory()
        try Files.write(Array(text.utf8), to: directory.file("example"))
        let options = try JudgementOptions(LineFormat(timezone: "UTC"))
        let judgement = try JudgementRun(options).judge([directory.file("example")])
        #expect(judgement.lines.unrecognised == 0 && judgement.lines.foreign == 0, "a line of the example is not read")
        #expect(!judgement.cycles.isEmpty)
        return Set(judgement.cycles.flatMap(\.closed.violations).map(\.kind.name.description))
    }
}
