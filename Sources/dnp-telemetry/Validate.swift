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
              1   incoherent, no cycle and no run, or a requirement, a scenario or the sequence unmet
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
                + "refresh alone, or with --app aiq, a run must have reached it: \(Self.names(for: .aiq)).",
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

    @Flag(help: "The logs are whole: judge also what their beginning and end might hide.")
    var whole = false

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
        _ = try requirements()
        if !listsScenarios {
            _ = try scenarios()
            try inputs.checkNamed()
        }
        if inputs.app == .aiq {
            let options = [("--schedule", schedule != nil), ("--device", device), ("--whole", whole)]
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
        options.isWhole = whole
        options.isSimulator = device ? false : nil
        do throws(InputError) {
            options.planned = try schedule.map { path throws(InputError) in try PlannedSchedules(contentsOf: path) }
        } catch {
            Terminal.say("Error: \(error)")
            throw ExitCode(2)
        }
        let requirements = try requirements()
        let scenarios = try scenarios()
        if let junit, junit != "-" { try Terminal.check(output: junit) }
        let judgement = try reading.judge(inputs.paths, options, live: live)
        var checks = judgement.check(scenarios)
        if sequence { checks += judgement.sequenceChecks }
        if let check = judgement.scheduleCheck { checks.append(check) }
        // A failure of one output does not keep the other from being written.
        let printed = Result { try print(judgement, requirements, checks) }
        if let junit, junit != "-" {
            try Terminal.write(report(judgement, requirements, checks), to: junit, mayReplace: true)
        }
        try printed.get()
        if !explain { reading.hint(at: judgement, "--explain") }
        let unmet = judgement.unmet(requirements)
        for requirement in unmet {
            Terminal.say("--require \(requirement.rawValue) is unmet: \(judgement.unmetSentence(requirement))")
        }
        var isGood = judgement.verdict(strict: strict) == .coherent
        if judgement.verdict(strict: strict) == .empty { isGood = scenarios.contains(where: \.allowsNoCycle) }
        if !isGood || !unmet.isEmpty || !checks.allSatisfy(\.isPassed) { throw ExitCode(1) }
    }

    private func print(_ judgement: Judgement, _ requirements: [Requirement], _ checks: [CheckResult]) throws {
        if junit == "-" { return try Terminal.print(report(judgement, requirements, checks)) }
        switch format {
        case .json:
            try Terminal.print(
                judgement.json(
                    strict: strict,
                    explains: explain,
                    hints: hints ?? true,
                    requirements: requirements,
                    checks: checks
                )
            )
        case .text where reading.quiet:
            let failed = checks.filter { !$0.isPassed }
            if !failed.isEmpty { try Terminal.print(Judgement.text(of: failed, Terminal.style)) }
            try Terminal.print(judgement.verdictLine(style: Terminal.style, strict: strict) + "\n")
        case .text:
            try Terminal.print(
                judgement.text(
                    style: Terminal.style,
                    strict: strict,
                    explains: explain,
                    hints: hints ?? Terminal.isTerminal(Terminal.output),
                    checks: checks
                )
            )
        }
    }

    private func report(_ judgement: Judgement, _ requirements: [Requirement], _ checks: [CheckResult]) -> [UInt8] {
        Array(
            judgement.junit(requirements: requirements, strict: strict, hints: hints ?? true, checks: checks).utf8
        )
    }

    private var listsScenarios: Bool { scenario == ["list"] }

    private static var scenarioList: String {
        let width = GuideScenario.all.map(\.name.count).max() ?? 0
        return GuideScenario.all.map { scenario in
            scenario.name + String(repeating: " ", count: width - scenario.name.count + 2) + scenario.title + "\n"
        }.joined()
    }

    private func scenarios() throws -> [GuideScenario] {
        var scenarios: [GuideScenario] = []
        for name in scenario.flatMap({ $0.split(separator: ",") }).map({ String($0.trimmed) }) {
            guard let known = GuideScenario.named(name) else {
                let nearest = GuideScenario.nearest(to: name).map { "; did you mean \($0)?" } ?? ""
                throw ValidationError(
                    "expected --scenario as \(GuideScenario.all.map(\.name).joined(separator: ", ")) or list, "
                        + "found \"\(name)\"\(nearest)"
                )
            }
            if let app = inputs.app?.app, app != known.app {
                throw ValidationError(
                    "expected --scenario \(known.name) without --app \(app.name), which leaves out its app"
                )
            }
            if !scenarios.contains(where: { $0.name == known.name }) { scenarios.append(known) }
        }
        return scenarios
    }

    private func requirements() throws -> [Requirement] {
        var requirements: [Requirement] = []
        for text in require {
            guard let list = Requirement.list(text) else {
                throw ValidationError(
                    "expected --require as \(Requirement.allCases.map(\.rawValue).joined(separator: ", ")), "
                        + "found \"\(text)\""
                )
            }
            for requirement in list where !requirements.contains(requirement) { requirements.append(requirement) }
        }
        if let app = inputs.app?.app, let other = requirements.first(where: { !$0.exists(for: app) }) {
            throw ValidationError(
                "expected --require with --app \(app.name) as \(Self.names(for: app)), found \"\(other.rawValue)\""
            )
        }
        return requirements
    }

    /// What the cycles or runs of an app can be asked to have reached.
    private static func names(for app: App) -> String {
        Requirement.allCases.filter { $0.exists(for: app) }.map(\.rawValue).joined(separator: ", ")
    }
}
