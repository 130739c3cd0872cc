// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationXML
import TelemetryEvents
import Testing

@testable import LogInput
@testable import LogValidation
@testable import PrefetchLifecycle
@testable import TextOutput

@Suite("A judgement as text")
struct JudgementTextTests {
    @Test("judgement text is a table with what was broken, counters, lines, and the verdict last")
    func judgementTextWhole() {
        let judgement = JudgementSamples.judgement([
            JudgementSamples.cycle(),
            JudgementSamples.cycle(
                "a-longer-id",
                outcome: .fallback,
                violations: [.duplicateTerminal, .driftExceeded]
            ),
        ])
        let expected = """
            SCHEDULE     NOTIFICATION          OUTCOME     scheduled  executed  success  used  delivered  REASON
            notif-1      2025-11-15T05:53:00Z  used            ✓         ✓         ✓      ✓        ✓      -
            a-longer-id  2025-11-15T05:53:00Z  fallback        ✓         ✓         ✗      ✗        ✓      NETWORK
                violation A duplicate_terminal: what happened
                note C drift_exceeded: what happened

            Counters
              dnp_prefetch_scheduled_total                  2
              dnp_prefetch_executed_total                   2
              dnp_prefetch_success_total                    1
              dnp_prefetch_failure_total{reason="NETWORK"}  1
              dnp_prefetch_failure_total{reason="AUTH"}     0
              dnp_prefetch_failure_total{reason="SYSTEM"}   0
              dnp_prefetch_used_for_notification_total      1

            Lines  10 read, 7 recognised, 2 foreign, 1 unrecognised

            incoherent: 1 violation in 2 cycles (1 used, 1 fallback)

            """
        #expect(judgement.text() == expected)
    }

    @Test("judgement text says that there is nothing")
    func judgementTextEmpty() {
        #expect(Judgement().text().hasSuffix("\nempty: the input holds no lifecycle event\n"))
    }

    @Test("judgement text explains what was not recognised, and how much more there is")
    func judgementTextExplanation() {
        var judgement = JudgementSamples.judgement([JudgementSamples.cycle()])
        judgement.inputs[0].lines.unrecognised = 3
        let text = judgement.text(explains: true)
        #expect(
            text.contains(
                """
                Unrecognised lines
                  device.log:4: no known form begins like this
                      Fetch flew
                  and 2 more

                """
            )
        )
        #expect(text.split(separator: "\n").last == "coherent: 1 cycle (1 used)")
    }

    @Test("judgement text never lets an id or a sentence reach the terminal as it came")
    func judgementTextHostile() {
        let hostile = "\u{1B}]0;title\u{7}\r\n\u{202E}\u{9B}31m\u{2028}"
        let cycle = JudgementSamples.cycle(hostile, violations: [.expired], detail: hostile)
        var judgement = JudgementSamples.judgement([cycle], inputs: [hostile])
        judgement.inputs[0].unrecognised[0].text = hostile
        let text = judgement.text(explains: true)
        for scalar in ["\u{1B}", "\u{7}", "\r", "\u{202E}", "\u{9B}", "\u{2028}"] as [Unicode.Scalar] {
            #expect(!text.unicodeScalars.contains(scalar))
        }
    }

    @Test("judgement text marks what is missing and what is open")
    func marks() {
        func marks(_ change: (inout ClosedCycle) -> Void) -> String {
            JudgementSamples.cycle(outcome: .incomplete) {
                $0.stages = CycleStages()
                change(&$0)
            }.closed.stageMarks.map(\.rawValue).joined()
        }
        let time = JudgementSamples.due
        #expect(marks { _ in } == "·····")
        #expect(marks { $0.stages.scheduled = time } == "✓····")
        #expect(marks { $0.stages.executed = time } == "✗✓···")
        #expect(marks { $0.stages.failure = time } == "·✗✗··")
        #expect(marks { $0.stages.used = time } == "··✗✓·")
        #expect(marks { $0.stages.delivered = time } == "···✗✓")
        #expect(
            marks {
                $0.stages.scheduled = time
                $0.outcome = .missed
            } == "✓✗···"
        )
    }

    @Test("judgement text has colours on a terminal, and never when they are refused")
    func colours() {
        let judgement = JudgementSamples.judgement([JudgementSamples.cycle()])
        #expect(judgement.text(style: TextStyle(isColoured: true)).contains("\u{1B}[32m✓\u{1B}[0m"))
        #expect(TextStyle(isTerminal: true, environment: ["TERM": "xterm"]).isColoured)
        #expect(TextStyle(isTerminal: true, environment: ["NO_COLOR": ""]).isColoured)
        #expect(!TextStyle(isTerminal: true, environment: ["NO_COLOR": "1"]).isColoured)
        #expect(!TextStyle(isTerminal: true, environment: ["TERM": "dumb"]).isColoured)
        #expect(!TextStyle(isTerminal: false, environment: [:]).isColoured)
    }

    @Test("judgement text tells how far a run has come")
    func progress() {
        var progress = InputProgress()
        progress.lines = 1_234_567
        #expect(progress.line(elapsedSeconds: 2) == "1,234,567 lines, 617,283 lines/s")
        progress.totalBytes = 400
        progress.bytes = 100
        #expect(progress.line(elapsedSeconds: 0) == "25 %, 1,234,567 lines")
        progress.bytes = 1_000
        #expect(progress.line(elapsedSeconds: 0).hasPrefix("100 %"))
    }
}

@Suite("A judgement as JSON")
struct JudgementJSONTests {
    static func text(_ judgement: Judgement, explains: Bool = false) -> String {
        String(decoding: judgement.json(explains: explains), as: UTF8.self)
    }

    static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test("the JSON object of many cycles has them in their order, as that of few has")
    func manyCycles() throws {
        let cycles = (0..<9_000).map { JudgementSamples.cycle("notif-\($0)") }
        let lines = JudgementSamples.judgement(cycles).json().split(separator: UInt8(ascii: "\n"))
        let few = JudgementSamples.judgement(Array(cycles.prefix(2))).json().split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == few.count + 8_998)
        #expect(Array(lines[2]) == Array(few[2]))
        let object = try JudgedLog.object(JudgementSamples.judgement(cycles))
        let ids = try #require(object["cycles"] as? [[String: Any]]).map { $0["scheduleId"] as? String }
        #expect(ids == cycles.map(\.scheduleId))
    }

    @Test("judgement JSON is the documented object, in the documented order")
    func judgementJSONWhole() {
        let judgement = JudgementSamples.judgement([
            JudgementSamples.cycle(), JudgementSamples.cycle("b", outcome: .fallback, violations: [.driftExceeded]),
        ])
        let expected = #"""
            {"verdict":"coherent",
             "cycles":[
              {"scheduleId":"notif-1","notificationTime":"2025-11-15T05:53:00Z","outcome":"used",\#
            "stages":{"scheduled":"2025-11-15T05:41:00Z","executed":"2025-11-15T05:50:00Z",\#
            "success":"2025-11-15T05:50:03.500000Z","failure":null,"used":"2025-11-15T05:53:02Z",\#
            "delivered":"2025-11-15T05:53:02Z"},"failureReason":null,"violations":[]},
              {"scheduleId":"b","notificationTime":"2025-11-15T05:53:00Z","outcome":"fallback",\#
            "stages":{"scheduled":"2025-11-15T05:41:00Z","executed":"2025-11-15T05:50:00Z","success":null,\#
            "failure":"2025-11-15T05:50:03Z","used":null,"delivered":"2025-11-15T05:53:02Z"},"failureReason":"NETWORK",\#
            "violations":[{"violation":"drift_exceeded","bucket":"C","detail":"what happened"}]}],
             "rejected":[],
             "counters":{"dnp_prefetch_scheduled_total":2,"dnp_prefetch_executed_total":2,\#
            "dnp_prefetch_success_total":1,"dnp_prefetch_failure_total":{"NETWORK":1,"AUTH":0,"SYSTEM":0},\#
            "dnp_prefetch_used_for_notification_total":1},
             "lines":{"read":10,"recognised":7,"foreign":2,"unrecognised":1}}

            """#
        #expect(Self.text(judgement) == expected)
    }

    @Test("judgement JSON of nothing holds every member")
    func judgementJSONEmpty() throws {
        let object = try Self.object(Self.text(Judgement()))
        #expect(Set(object.keys) == ["verdict", "cycles", "rejected", "counters", "lines"])
        #expect(object["verdict"] as? String == "empty")
        #expect((object["cycles"] as? [Any])?.isEmpty == true)
    }

    @Test("judgement JSON survives ids and sentences of any characters")
    func escapes() throws {
        let hostile = "\"\\\u{0}\u{1F}\u{7F}\n\r\t</script>é\u{202E}😀"
        let cycle = JudgementSamples.cycle(hostile, violations: [.usedWithoutSuccess], detail: hostile)
        let object = try Self.object(Self.text(JudgementSamples.judgement([cycle])))
        let cycles = try #require(object["cycles"] as? [[String: Any]])
        #expect(cycles[0]["scheduleId"] as? String == hostile)
        let violations = try #require(cycles[0]["violations"] as? [[String: Any]])
        #expect(violations[0]["detail"] as? String == hostile)
    }

    @Test("judgement JSON tells how many cycles are not listed, and the unrecognised lines when asked")
    func additions() throws {
        let judgement = JudgementSamples.judgement([JudgementSamples.cycle(nil)], omitted: 5)
        let object = try Self.object(Self.text(judgement, explains: true))
        #expect(object["cyclesOmitted"] as? Int == 5)
        let lines = try #require(object["unrecognised"] as? [[String: Any]])
        #expect(lines.count == 1)
        #expect(lines[0]["input"] as? String == "device.log")
        #expect(lines[0]["line"] as? Int == 4)
        #expect(lines[0]["text"] as? String == "Fetch flew")
        let cycles = try #require(object["cycles"] as? [[String: Any]])
        #expect(cycles[0]["scheduleId"] is NSNull)
    }

    @Test("judgement JSON names failures for other reasons once there are some")
    func otherFailures() {
        let cycle = JudgementSamples.cycle(outcome: .failed) { $0.failureReason = .other }
        #expect(Self.text(JudgementSamples.judgement([cycle])).contains(#""SYSTEM":0,"OTHER":1}"#))
    }
}

@Suite("A judgement as a JUnit report")
struct JUnitTests {
    static func document(_ text: String) throws -> XMLElement {
        try #require(try XMLDocument(data: Data(text.utf8)).rootElement())
    }

    static func attribute(_ name: String, _ element: XMLElement) -> String? {
        element.attribute(forName: name)?.stringValue
    }

    @Test(
        "a JUnit report has a suite for each input, a case for each cycle, and a failure for each violation that counts"
    )
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

    @Test("a JUnit report has a case for each requirement")
    func junitRequirements() throws {
        let judgement = JudgementSamples.judgement([JudgementSamples.cycle()])
        let root = try Self.document(judgement.junit(requirements: [.used, .missed]))
        let cases = try #require(root.elements(forName: "testsuite").last).elements(forName: "testcase")
        #expect(cases.map { Self.attribute("name", $0) } == ["--require used", "--require missed"])
        #expect(cases.map { $0.elements(forName: "failure").count } == [0, 1])
    }

    @Test("a JUnit report fails for an input without a lifecycle event")
    func junitEmpty() throws {
        let root = try Self.document(JudgementSamples.judgement([]).junit())
        #expect(Self.attribute("failures", root) == "1")
    }

    @Test("a JUnit report is valid XML whatever an id holds")
    func junitHostile() throws {
        let hostile = "<&>\"'\u{0}\u{8}\u{1B}\u{FFFE}\u{85}]]>\n😀é"
        let cycle = JudgementSamples.cycle(hostile, violations: [.usedWithoutSuccess, .expired], detail: hostile)
        let root = try Self.document(JudgementSamples.judgement([cycle], inputs: [hostile]).junit())
        let testCase = try #require(root.elements(forName: "testsuite").first?.elements(forName: "testcase").first)
        #expect(Self.attribute("name", testCase)?.contains("<&>\"'") == true)
        #expect(testCase.elements(forName: "failure").first?.stringValue?.hasSuffix("]]> 😀é") == true)
    }

    @Test("a JUnit report counts violations of cycles that are not listed")
    func junitOmitted() throws {
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
