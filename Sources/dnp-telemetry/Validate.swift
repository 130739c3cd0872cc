// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogValidation

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
              adb logcat -d -v threadtime | dnp-telemetry validate -
              xcrun simctl spawn booted log stream --style ndjson |
                dnp-telemetry validate -

            Ctrl-C ends a live input; the lines read until then are judged.

            EXIT STATUS
              0   coherent, and every requirement met
              1   incoherent, no cycle at all, or a requirement unmet
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
            discussion: "One of \(Requirement.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "name"
        ),
        completion: .list(Requirement.allCases.map(\.rawValue))
    )
    var require: [String] = []

    @Option(
        help: ArgumentHelp("Write a JUnit report for CI, replacing an existing one.", valueName: "file"),
        completion: .file()
    )
    var junit: String?

    @Flag(help: "List the lines of the plugin that no rule recognises, with what was expected.")
    var explain = false

    @OptionGroup(title: "Input")
    var reading: InputOptions

    func validate() throws {
        _ = try requirements()
        if junit?.isEmpty == true { throw ValidationError("--junit names a file, found nothing") }
    }

    func run() throws {
        var options = JudgementOptions(try reading.lineFormat())
        options.explains = explain
        options.joins = inputs.join
        let requirements = try requirements()
        if let junit { try Terminal.check(output: junit) }
        let judgement = try reading.judge(inputs.paths, options)
        // A failure of one output does not keep the other from being written.
        let printed = Result { try print(judgement) }
        if let junit {
            let report = judgement.junit(requirements: requirements, strict: strict)
            try Terminal.write(Array(report.utf8), to: junit, mayReplace: true)
        }
        try printed.get()
        if !explain { reading.hint(at: judgement, "--explain") }
        let unmet = judgement.unmet(requirements)
        for requirement in unmet {
            Terminal.say("--require \(requirement.rawValue) is unmet: \(requirement.unmetSentence)")
        }
        if judgement.verdict(strict: strict) != .coherent || !unmet.isEmpty { throw ExitCode(1) }
    }

    private func print(_ judgement: Judgement) throws {
        switch format {
        case .json: try Terminal.print(judgement.json(strict: strict, explains: explain))
        case .text where reading.quiet:
            try Terminal.print(judgement.verdictLine(style: Terminal.style, strict: strict) + "\n")
        case .text: try Terminal.print(judgement.text(style: Terminal.style, strict: strict, explains: explain))
        }
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
        return requirements
    }
}
