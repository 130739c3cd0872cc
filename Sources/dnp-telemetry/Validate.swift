// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogInput
import LogValidation
import TelemetryEvents
import TextOutput

struct Validate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Judge device logs or events.",
        discussion: """
            Reads the plugin's log lines in any form that they come in (bare, stamped, Apple's unified logging, \
            idevicesyslog, Xcode, logcat, syslog, journalctl) or events as JSON, puts them into cycles, and says of each \
            cycle how it ended and which rules of the lifecycle it broke. Files may be compressed with gzip. Each file is \
            a device of its own, but for the rotations of a log (app.log, app.log.1.gz) and with --join.

            Rules of bucket A (bugs of the plugin) make the verdict incoherent, with --strict those of bucket B (logic) \
            too; bucket C (the system's own timing) is only noted.

            The table marks each stage of a cycle: ✓ reached, ✗ missing although it should be there, · open.

            EXAMPLES
              dnp-telemetry validate device.log
              dnp-telemetry validate device.log --format json | jq .verdict
              dnp-telemetry validate device.log --junit result.xml --require used
              dnp-telemetry validate reboot.log --scenario reboot --hints
              dnp-telemetry validate device.log --sequence
              dnp-telemetry validate refresh.log --scenario refresh-fast-fail
              adb logcat -d -v threadtime | dnp-telemetry validate -
              xcrun simctl spawn booted log stream --style ndjson |
                dnp-telemetry validate -

            Ctrl-C ends a live input; the lines read until then are judged.

            EXIT STATUS
              0   coherent, and every requirement met
              1   incoherent, or nothing to judge, or a requirement or a check unmet
              2   an input cannot be read, or an output cannot be written
              64  wrong usage
            """
    )

    @OptionGroup
    var inputs: InputFiles

    @Option(help: "Form of the result: text or json (one object).")
    var format = ResultFormat.text

    @Flag(help: "Count rules of bucket B like those of bucket A.")
    var strict = false

    @Option(
        help: ArgumentHelp(
            "A stage or outcome that at least one cycle must have reached; may be repeated, or be a list with commas.",
            discussion:
                "One of \(Requirement.allCases.map(\.rawValue).joined(separator: ", ")). In a log of the background "
                + "refresh alone, or with --app aiq, a run must have reached it: \(Requirement.names(for: .aiq)).",
            valueName: "name"
        ),
        completion: .list(Requirement.allCases.map(\.rawValue))
    )
    var require: [String] = []

    @Option(
        help: ArgumentHelp(
            "Write a JUnit report for CI, replacing an existing one; - is standard output.",
            valueName: "file"
        ),
        completion: .file()
    )
    var junit: String?

    @Option(
        help: ArgumentHelp(
            "A scenario of the testing guide that the log must show; may be repeated; list names them.",
            discussion: "One of \(GuideScenario.all.map(\.name).joined(separator: ", ")).",
            valueName: "name"
        ),
        completion: .list(GuideScenario.all.map(\.name))
    )
    var scenario: [String] = []

    @Flag(help: "Ask that one cycle has the guide's seven markers in order, or one run its guide's four lines.")
    var sequence = false

    @Flag(help: "The log is of a device and not of a simulator, so that a task that the system refuses has failed.")
    var device = false

    @Flag(help: "The logs are excerpts: do not judge what came before their beginning.")
    var excerpt = false

    @Option(
        help: ArgumentHelp(
            "The plugin's schedule (a schedule_snapshot as JSON), which the cycles are held against.",
            valueName: "file"
        ),
        completion: .file()
    )
    var schedule: String?

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Say what to look at next, for each violation and each cycle that stopped.",
            discussion: "By default on a terminal, in JSON and in JUnit."
        )
    )
    var hints: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Show each stage on standard error as it is read; by default of a pipe while a terminal watches."
    )
    var live: Bool?

    @Flag(help: "List the lines of the plugin that no rule recognises, with what was expected.")
    var explain = false

    @OptionGroup(title: "Input")
    var reading: InputOptions

    func validate() throws {
        if listsScenarios {
            _ = try question(scenario: [])
        } else {
            _ = try question(scenario: scenario)
            try inputs.checkNamed()
        }
        if inputs.app == .aiq {
            let options = [("--schedule", schedule != nil), ("--device", device), ("--excerpt", excerpt)]
            if let option = options.first(where: \.1)?.0 {
                throw ValidationError("expected \(option) without --app aiq, which leaves out the plugin's cycles")
            }
        }
        if junit?.isEmpty == true { throw ValidationError("--junit names a file, found nothing") }
        if junit == "-", format == .json {
            throw ValidationError("expected --junit - without --format json; standard output holds one of them")
        }
    }

    func run() throws {
        if listsScenarios { return try Terminal.print(Self.scenarioList) }
        var options = JudgementOptions(try reading.lineFormat())
        options.explains = explain
        options.joins = inputs.join
        options.apps = inputs.apps
        options.isExcerpt = excerpt
        options.isSimulator = device ? false : nil
        do throws(InputError) {
            options.planned = try schedule.map { path throws(InputError) in try PlannedSchedules(contentsOf: path) }
        } catch {
            Terminal.say("Error: \(error)")
            throw ExitCode(2)
        }
        let question = try question(scenario: scenario)
        if let junit, junit != "-" { try Terminal.check(output: junit) }
        let judgement = try reading.judge(inputs.paths, options, live: live)
        let answer = JudgementAnswer(judgement, to: question)
        // A failure of one output does not keep the other from being written.
        let printed = Result { try print(answer) }
        if let junit, junit != "-" { try Terminal.write(answer.junit(hints: hints), to: junit, mayReplace: true) }
        try printed.get()
        if !explain { reading.hint(at: judgement, "--explain") }
        for requirement in answer.unmet {
            Terminal.say("--require \(requirement.rawValue) is unmet: \(judgement.unmetSentence(requirement))")
        }
        if !answer.isGood { throw ExitCode(1) }
    }

    private func print(_ answer: JudgementAnswer) throws {
        if junit == "-" { return try Terminal.print(answer.junit(hints: hints)) }
        switch format {
        case .json:
            try Terminal.print(answer.json(hints: hints))
        case .text where reading.quiet:
            try Terminal.print(answer.verdictText(style: Terminal.style))
        case .text:
            let hints = hints ?? Terminal.isTerminal(Terminal.output)
            try Terminal.print(answer.text(hints: hints, style: Terminal.style))
        }
    }

    private var listsScenarios: Bool { scenario == ["list"] }

    private static var scenarioList: String {
        let width = GuideScenario.all.map(\.name.count).max() ?? 0
        return GuideScenario.all.map { scenario in
            scenario.name + String(repeating: " ", count: width - scenario.name.count + 2) + scenario.title + "\n"
        }.joined()
    }

    /// - Throws: `ValidationError` for a name that is not known.
    private func question(scenario: [String]) throws -> JudgementQuestion {
        do throws(UnknownQuestion) {
            var question = try JudgementQuestion(require: require, scenario: scenario, app: inputs.app?.app)
            question.asksSequence = sequence
            question.isStrict = strict
            question.explains = explain
            return question
        } catch {
            throw ValidationError(error.sentence)
        }
    }
}

extension UnknownQuestion {
    /// In the words of the command line.
    fileprivate var sentence: String {
        let expectation = expectation(dashes: "--")
        switch self {
        case .requirement(let text): return expectation + ", found \"\(text)\""
        case .requirementOfOtherApp(let requirement, _): return expectation + ", found \"\(requirement.rawValue)\""
        case .scenario(let name):
            let nearest = GuideScenario.nearest(to: name).map { "; did you mean \($0)?" } ?? ""
            return expectation + " or list, found \"\(name)\"\(nearest)"
        case .scenarioOfOtherApp: return expectation
        }
    }
}
