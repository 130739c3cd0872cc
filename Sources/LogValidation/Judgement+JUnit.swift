// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import RefreshLifecycle
internal import TelemetryEvents

extension Judgement {
    /// The judgement as a JUnit report: a suite for each input with a case for each cycle, and one for the
    /// requirements.
    ///
    /// - Parameters:
    ///   - requirements: the stages and outcomes that at least one cycle must have reached.
    ///   - strict: whether rules of bucket B count like those of bucket A.
    ///   - hints: whether to tell what to look at next.
    ///   - checks: the results of scenarios and of the sequence.
    package func junit(
        requirements: [Requirement] = [],
        strict: Bool = false,
        hints: Bool = false,
        checks: [CheckResult] = []
    ) -> String {
        var suites = inputs.map { JUnitSuite(name: $0.name) }
        for cycle in cycles where suites.indices.contains(cycle.input) {
            suites[cycle.input].cases.append(testCase(of: cycle, strict: strict, hints: hints))
        }
        for run in refresh.listed where suites.indices.contains(run.input) {
            suites[run.input].cases.append(JUnitCase(run, hints ? RefreshAdvice.of(run) : [], strict: strict))
        }
        for event in rejected where suites.indices.contains(event.input) {
            suites[event.input].cases.append(.failing("rejected event \(event.index + 1)", event.reason))
        }
        if verdict() == .empty {
            suites.append(JUnitSuite(name: "verdict", cases: [emptyCase(hints: hints)]))
        } else if hints, !self.hints.isEmpty {
            var testCase = JUnitCase(name: "what to look at next")
            testCase.notes = self.hints.map { "hint: \($0)" }
            suites.append(JUnitSuite(name: "hints", cases: [testCase]))
        }
        if omittedCycles > 0 {
            suites.append(JUnitSuite(name: "cycles not listed", cases: [omittedCase(strict: strict)]))
        }
        if !requirements.isEmpty {
            let unmet = Set(unmet(requirements))
            suites.append(
                JUnitSuite(
                    name: "requirements",
                    cases: requirements.map { JUnitCase($0, unmet.contains($0) ? unmetSentence($0) : nil) }
                )
            )
        }
        for suite in ["scenarios", "sequence", "schedule"] {
            let results = checks.filter { $0.suite == suite }
            if !results.isEmpty { suites.append(JUnitSuite(name: suite, cases: results.map { JUnitCase($0) })) }
        }
        let cases = suites.lazy.flatMap(\.cases)
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text += "<testsuites name=\"dnp-telemetry validate\" tests=\"\(cases.count)\" "
        text += "failures=\"\(cases.count { !$0.failures.isEmpty })\" errors=\"0\">\n"
        for suite in suites { suite.append(to: &text) }
        text += "</testsuites>\n"
        return text
    }

    private func testCase(of cycle: JudgedCycle, strict: Bool, hints: Bool) -> JUnitCase {
        let advice = hints ? Advice.of(cycle) : []
        let places = cycle.closed.violations.indices.map { cycle.place(ofViolation: $0).map(text(of:)) }
        return JUnitCase(cycle, places, advice, strict: strict)
    }

    private func emptyCase(hints: Bool) -> JUnitCase {
        var testCase = JUnitCase.failing("empty", emptySentence)
        testCase.advice = hints ? self.hints : []
        return testCase
    }

    private func omittedCase(strict: Bool) -> JUnitCase {
        let listed = cycles.reduce(UInt64(0)) { $0 + UInt64($1.faults(strict: strict).count) }
        let faults = faultCount(strict: strict)
        guard faults > listed else { return JUnitCase(name: "\(omittedCycles) cycles") }
        return .failing("\(omittedCycles) cycles", "\(faults - listed) violations")
    }
}

private struct JUnitSuite {
    var name: String
    var cases: [JUnitCase] = []

    func append(to text: inout String) {
        let name = XMLText.escaped(name)
        text += "  <testsuite name=\"\(name)\" tests=\"\(cases.count)\" "
        text += "failures=\"\(cases.count { !$0.failures.isEmpty })\" errors=\"0\" skipped=\"0\">\n"
        for testCase in cases { testCase.append(to: &text, suite: name) }
        text += "  </testsuite>\n"
    }
}

private struct JUnitCase {
    var name: String
    var seconds: Int64 = 0
    var failures: [(type: String, message: String)] = []
    var notes: [String] = []
    /// What to look at next.
    var advice: [String] = []

    init(name: String) {
        self.name = name
    }

    static func failing(_ name: String, _ message: String) -> JUnitCase {
        var testCase = JUnitCase(name: name)
        testCase.failures = [(type: name, message: message)]
        return testCase
    }

    init(_ check: CheckResult) {
        name = check.name
        failures = check.failures.map { (type: "unmet", message: $0) }
        notes = check.notes + (check.untested.map { [$0] } ?? [])
    }

    init(_ cycle: JudgedCycle, _ places: [String?], _ advice: [String], strict: Bool) {
        self.advice = advice
        name = cycle.title
        if cycle.scheduleId != nil, let time = cycle.closed.notificationTime { name += " (\(time))" }
        if !cycle.closed.hasAssumedTimes, let first = cycle.firstStage, let last = cycle.lastStage {
            seconds = (last.microseconds - first.microseconds) / 1_000_000
        }
        notes = ["outcome: \(cycle.closed.outcome.name)"]
        if let reason = cycle.closed.failureReason { notes.append("failure reason: \(reason.name)") }
        for (violation, place) in zip(cycle.closed.violations, places) {
            let bucket = violation.kind.bucket
            let detail = violation.detail + (place.map { " (\($0))" } ?? "")
            if bucket.isFault(strict: strict) {
                failures.append((type: "\(violation.kind.name)", message: "\(bucket.rawValue): \(detail)"))
            } else {
                notes.append("\(bucket.rawValue) \(violation.kind.name): \(detail)")
            }
        }
        if cycle.isTimeWarped { notes.append(JudgedCycle.warpSentence) }
        if let cut = cycle.cut.sentence { notes.append(cut) }
        if failures.isEmpty { notes += advice.map { "hint: \($0)" } }
    }

    init(_ run: JudgedRun, _ advice: [String], strict: Bool) {
        self.advice = advice
        name = run.title
        seconds = (run.closed.duration ?? 0) / 1_000_000
        notes = ["outcome: \(run.closed.outcome.name)"]
        if let reason = run.closed.skipReason { notes.append("skipped: \(reason.name)") }
        for violation in run.closed.violations {
            let bucket = violation.kind.bucket.rawValue
            if violation.kind.bucket.isFault(strict: strict) {
                failures.append((type: "\(violation.kind.name)", message: "\(bucket): \(violation.detail)"))
            } else {
                notes.append("\(bucket) \(violation.kind.name): \(violation.detail)")
            }
        }
        if failures.isEmpty { notes += advice.map { "hint: \($0)" } }
    }

    init(_ requirement: Requirement, _ unmetSentence: String?) {
        name = "--require \(requirement.rawValue)"
        if let unmetSentence { failures = [(type: "unmet", message: unmetSentence)] }
    }

    func append(to text: inout String, suite: String) {
        text += "    <testcase name=\"\(XMLText.escaped(name))\" classname=\"\(suite)\" time=\"\(seconds)\""
        guard !failures.isEmpty || !notes.isEmpty else {
            text += "/>\n"
            return
        }
        text += ">\n"
        for failure in failures {
            let message = XMLText.escaped(failure.message)
            let body = ([message] + advice.map { "hint: " + XMLText.escaped($0) }).joined(separator: "\n")
            text +=
                "      <failure type=\"\(XMLText.escaped(failure.type))\" message=\"\(message)\">\(body)</failure>\n"
        }
        if !notes.isEmpty {
            text += "      <system-out>\(notes.map(XMLText.escaped).joined(separator: "\n"))</system-out>\n"
        }
        text += "    </testcase>\n"
    }
}

/// Escapes text for XML 1.0 documents.
private enum XMLText {
    /// Escapes text for an attribute or an element; drops control characters and those that XML 1.0 does not allow.
    static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "\n", "\t": escaped.append(" ")
            default:
                let value = scalar.value
                guard value >= 0x20, !(0x7F...0x9F).contains(value), value & 0xFFFE != 0xFFFE else { continue }
                escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
