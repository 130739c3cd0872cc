// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationXML
import Testing

@testable import LogValidation
@testable import PrefetchLifecycle

@Suite("A judgement as a JUnit report")
struct JUnitTests {
    static func document(_ text: String) throws -> XMLElement {
        try #require(try XMLDocument(data: Data(text.utf8)).rootElement())
    }

    static func attribute(_ name: String, _ element: XMLElement) -> String? {
        element.attribute(forName: name)?.stringValue
    }

    @Test("has a suite for each input, a case for each cycle, and a failure for each violation that counts")
    func suites() throws {
        var second = JudgementSamples.cycle(
            "b",
            outcome: .fallback,
            violations: [.duplicateTerminal, .usedWithoutSuccess, .leadBelowMinimum, .expired]
        )
        second.input = 1
        let judgement = JudgementSamples.judgement([JudgementSamples.cycle(), second], inputs: ["a.log", "b.log"])
        for (strict, failures) in [(false, 2), (true, 3)] {
            let root = try Self.document(judgement.junit(strict: strict))
            #expect(root.name == "testsuites")
            #expect(Self.attribute("tests", root) == "2")
            #expect(Self.attribute("failures", root) == "1")
            let suites = root.elements(forName: "testsuite")
            #expect(suites.map { Self.attribute("name", $0) } == ["a.log", "b.log"])
            let good = try #require(suites[0].elements(forName: "testcase").first)
            #expect(Self.attribute("name", good) == "notif-1 (2025-11-15T05:53:00Z)")
            #expect(Self.attribute("time", good) == "722")
            #expect(good.elements(forName: "failure").isEmpty)
            let bad = try #require(suites[1].elements(forName: "testcase").first)
            #expect(bad.elements(forName: "failure").count == failures)
            #expect(Self.attribute("type", bad.elements(forName: "failure")[0]) == "duplicate_terminal")
            let notes = bad.elements(forName: "system-out").first?.stringValue ?? ""
            #expect(notes.contains("C expired: what happened"))
            #expect(notes.contains("failure reason: NETWORK"))
        }
    }

    @Test("has a case for each requirement")
    func requirements() throws {
        let judgement = JudgementSamples.judgement([JudgementSamples.cycle()])
        let root = try Self.document(judgement.junit(requirements: [.used, .missed]))
        let cases = try #require(root.elements(forName: "testsuite").last).elements(forName: "testcase")
        #expect(cases.map { Self.attribute("name", $0) } == ["--require used", "--require missed"])
        #expect(cases.map { $0.elements(forName: "failure").count } == [0, 1])
    }

    @Test("fails for an input without a lifecycle event")
    func empty() throws {
        let root = try Self.document(JudgementSamples.judgement([]).junit())
        #expect(Self.attribute("failures", root) == "1")
    }

    @Test("is valid XML whatever an id holds")
    func hostile() throws {
        let hostile = "<&>\"'\u{0}\u{8}\u{1B}\u{FFFE}\u{85}]]>\n😀é"
        let cycle = JudgementSamples.cycle(hostile, violations: [.usedWithoutSuccess, .expired], detail: hostile)
        let root = try Self.document(JudgementSamples.judgement([cycle], inputs: [hostile]).junit())
        let testCase = try #require(root.elements(forName: "testsuite").first?.elements(forName: "testcase").first)
        #expect(Self.attribute("name", testCase)?.contains("<&>\"'") == true)
        #expect(testCase.elements(forName: "failure").first?.stringValue?.hasSuffix("]]> 😀é") == true)
    }

    @Test("counts violations of cycles that are not listed")
    func omitted() throws {
        var judgement = JudgementSamples.judgement(
            [JudgementSamples.cycle(violations: [.duplicateTerminal])],
            omitted: 2
        )
        judgement.totals.violations[4] += 3
        let root = try Self.document(judgement.junit())
        let suite = try #require(root.elements(forName: "testsuite").last)
        #expect(Self.attribute("failures", suite) == "1")
        #expect(suite.stringValue?.contains("3 violations") == true)
    }
}
