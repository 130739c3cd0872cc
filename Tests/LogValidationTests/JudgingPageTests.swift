// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrefetchLifecycle
import RefreshLifecycle
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

    /// What stands behind the name of a rule for runs of the background refresh.
    private static let runMark = " (run)"
    private static let sections: [String] = {
        let path = URL.repository.appendingPathComponent("docs/judging.md")
        let page = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
        return page.components(separatedBy: "\n## ").dropFirst(2).map { $0 }
    }()

    static let rules = sections.filter { !heading(of: $0).hasSuffix(runMark) }.map(rule)
    static let runRules = sections.filter { heading(of: $0).hasSuffix(runMark) }.map(rule)

    private static func heading(of section: String) -> Substring { section.prefix { $0 != "\n" } }

    private static func rule(_ section: String) -> Rule {
        let parts = section.components(separatedBy: "\n```\n")
        let bucket = section.firstMatch(of: /Bucket ([ABC])/)
        return Rule(
            name: String(heading(of: section).replacing(runMark, with: "")),
            bucket: bucket.map { String($0.1) } ?? "",
            examples: parts.enumerated().filter { $0.offset % 2 == 1 }.map { $0.element + "\n" }
        )
    }

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

    @Test("the page of rules has every rule for runs in order, each with its bucket and two examples")
    func everyRunRule() {
        #expect(Self.runRules.map(\.name) == RefreshViolationKind.allCases.map(\.name.description))
        #expect(Self.runRules.map(\.bucket) == RefreshViolationKind.allCases.map(\.bucket.rawValue))
        #expect(Self.runRules.allSatisfy { $0.examples.count == 2 })
    }

    @Test("the first example of a rule for runs on the page breaks it, the second does not", arguments: runRules)
    func runExamples(rule: Rule) throws {
        try #require(rule.examples.count == 2)
        let names = try rule.examples.map { example in
            let judgement = try judge(example)
            #expect(!judgement.refresh.listed.isEmpty)
            return Set(judgement.refresh.listed.flatMap(\.closed.violations).map(\.kind.name.description))
        }
        #expect(names[0].contains(rule.name), "this does not break \(rule.name)")
        #expect(!names[1].contains(rule.name), "this breaks \(rule.name)")
    }

    /// The rules that an input breaks.
    private func violations(_ text: String) throws -> Set<String> {
        let judgement = try judge(text)
        #expect(!judgement.cycles.isEmpty)
        return Set(judgement.cycles.flatMap(\.closed.violations).map(\.kind.name.description))
    }

    private func judge(_ text: String) throws -> Judgement {
        let directory = try TemporaryDirectory()
        try Files.write(Array(text.utf8), to: directory.file("example"))
        let options = try JudgementOptions(LineFormat(timezone: "UTC"))
        let judgement = try JudgementRun(options).judge([directory.file("example")])
        #expect(judgement.lines.unrecognised == 0 && judgement.lines.foreign == 0, "a line of the example is not read")
        return judgement
    }
}
