// SPDX-License-Identifier: Apache-2.0

package import TelemetryEvents
package import TextOutput

/// What a judgement is asked besides the rules: requirements, scenarios, the sequence, and how strict it is.
package struct JudgementQuestion: Sendable {
    package let requirements: [Requirement]
    package let scenarios: [GuideScenario]
    /// Whether one cycle must have the guide's markers in order.
    package var asksSequence = false
    /// Whether rules of bucket B count like those of bucket A.
    package var isStrict = false
    /// Whether unrecognised lines are listed.
    package var explains = false

    /// - Parameters:
    ///   - require: names of requirements, each a list with commas.
    ///   - scenario: names of scenarios, each a list with commas.
    ///   - app: the only app that is judged; nil for all.
    package init(require: [String] = [], scenario: [String] = [], app: App? = nil) throws(UnknownQuestion) {
        requirements = try Self.requirements(require, app)
        scenarios = try Self.scenarios(scenario, app)
    }

    private static func requirements(_ texts: [String], _ app: App?) throws(UnknownQuestion) -> [Requirement] {
        var requirements: [Requirement] = []
        for text in texts {
            guard let list = Requirement.list(text) else { throw .requirement(text) }
            for requirement in list where !requirements.contains(requirement) { requirements.append(requirement) }
        }
        if let app, let other = requirements.first(where: { !$0.exists(for: app) }) {
            throw .requirementOfOtherApp(other, app)
        }
        return requirements
    }

    private static func scenarios(_ texts: [String], _ app: App?) throws(UnknownQuestion) -> [GuideScenario] {
        var scenarios: [GuideScenario] = []
        for name in texts.flatMap({ $0.split(separator: ",") }).map({ String($0.trimmed) }) {
            guard let known = GuideScenario.named(name) else { throw .scenario(name) }
            if let app, app != known.app { throw .scenarioOfOtherApp(known, app) }
            if !scenarios.contains(where: { $0.name == known.name }) { scenarios.append(known) }
        }
        return scenarios
    }
}

/// A name that a question does not know, or that the only app in question cannot show.
package enum UnknownQuestion: Error {
    case requirement(String)
    case requirementOfOtherApp(Requirement, App)
    case scenario(String)
    case scenarioOfOtherApp(GuideScenario, App)

    /// What is expected, without what was found.
    ///
    /// - Parameter dashes: what stands before the name of an option.
    package func expectation(dashes: String) -> String {
        switch self {
        case .requirement:
            "expected \(dashes)require as \(Requirement.allCases.map(\.rawValue).joined(separator: ", "))"
        case .requirementOfOtherApp(_, let app):
            "expected \(dashes)require with \(dashes)app \(app.name) as \(Requirement.names(for: app))"
        case .scenario:
            "expected \(dashes)scenario as \(GuideScenario.all.map(\.name).joined(separator: ", "))"
        case .scenarioOfOtherApp(let scenario, let app):
            "expected \(dashes)scenario \(scenario.name) without \(dashes)app \(app.name), which leaves out its app"
        }
    }
}

extension Requirement {
    /// What the cycles or runs of an app can be asked to have reached.
    package static func names(for app: App) -> String {
        allCases.filter { $0.exists(for: app) }.map(\.rawValue).joined(separator: ", ")
    }
}

/// A judgement with the answers to what it was asked.
package struct JudgementAnswer: Sendable {
    package let judgement: Judgement
    private let question: JudgementQuestion
    /// The results of scenarios, of the sequence and of a schedule.
    package let checks: [CheckResult]

    package init(_ judgement: Judgement, to question: JudgementQuestion) {
        self.judgement = judgement
        self.question = question
        var checks = judgement.check(question.scenarios)
        if question.asksSequence { checks += judgement.sequenceChecks }
        if let check = judgement.scheduleCheck { checks.append(check) }
        self.checks = checks
    }

    package var verdict: Verdict { judgement.verdict(strict: question.isStrict) }
    /// The requirements that are not met.
    package var unmet: [Requirement] { judgement.unmet(question.requirements) }

    /// Whether the verdict is coherent, or empty where a scenario allows that, and all that was asked is met.
    package var isGood: Bool {
        let isGood =
            switch verdict {
            case .coherent: true
            case .empty: question.scenarios.contains(where: \.allowsNoCycle)
            case .incoherent: false
            }
        return isGood && unmet.isEmpty && checks.allSatisfy(\.isPassed)
    }

    /// The judgement as one JSON object, as `validate --format json` prints it.
    ///
    /// - Parameter hints: whether to tell what to look at next; nil for the default of the form.
    package func json(hints: Bool? = nil) -> [UInt8] {
        judgement.json(
            strict: question.isStrict,
            explains: question.explains,
            hints: hints ?? true,
            requirements: question.requirements,
            checks: checks
        )
    }

    /// The judgement for people.
    package func text(hints: Bool? = nil, style: TextStyle = .plain) -> String {
        judgement.text(
            style: style,
            strict: question.isStrict,
            explains: question.explains,
            hints: hints ?? false,
            checks: checks
        )
    }

    /// The judgement in a line, after the checks that failed.
    package func verdictText(style: TextStyle) -> String {
        let failed = checks.filter { !$0.isPassed }
        return (failed.isEmpty ? "" : Judgement.text(of: failed, style))
            + judgement.verdictLine(style: style, strict: question.isStrict) + "\n"
    }

    /// The judgement for CI.
    package func junit(hints: Bool? = nil) -> [UInt8] {
        let text = judgement.junit(
            requirements: question.requirements,
            strict: question.isStrict,
            hints: hints ?? true,
            checks: checks
        )
        return Array(text.utf8)
    }
}

/// The record of a test run, or of all of them: of cycles, or of runs where the input has no cycle.
package struct TestRunRecord: Sendable {
    /// The artifact.
    package let json: [UInt8]
    /// The result template, filled in.
    package let markdown: String
    /// What the record leaves out, as a sentence.
    package let note: String?

    /// - Parameters:
    ///   - judgement: one with the details of a test run.
    ///   - cycle: the schedule id of the cycle; nil for the latest that ran.
    ///   - isOfAll: whether it is of every cycle or run.
    /// - Throws: where there is nothing to record.
    package init(
        _ judgement: Judgement,
        _ circumstances: TestRun.Circumstances = .init(),
        cycle: String? = nil,
        isOfAll: Bool = false
    ) throws(NothingToRecord) {
        if cycle == nil, judgement.reportsRuns {
            guard let run = RefreshTestRun(judgement, circumstances) else {
                throw NothingToRecord(description: "the input holds no run of the background refresh")
            }
            let runs = isOfAll ? RefreshTestRun.all(judgement, circumstances) : []
            json = isOfAll ? RefreshTestRun.json(runs) : run.json()
            markdown = isOfAll ? runs.map { $0.markdown() }.joined(separator: "\n") : run.markdown()
            note = nil
        } else {
            guard let run = TestRun(judgement, circumstances) else {
                let schedule = cycle.map { " of schedule \"\($0)\"" } ?? ""
                throw NothingToRecord(description: "the input holds no cycle\(schedule)")
            }
            let runs = isOfAll ? TestRun.all(judgement, circumstances) : []
            json = isOfAll ? TestRun.json(runs) : run.json()
            markdown = isOfAll ? runs.map { $0.markdown() }.joined(separator: "\n") : run.markdown()
            note = judgement.unreportedRuns
        }
    }
}

/// Why there is no record of a test run, as a sentence.
package struct NothingToRecord: Error, CustomStringConvertible {
    package let description: String
}
