// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogValidation
import TextOutput

struct Report: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the record of a test run.",
        discussion: """
            Picks one cycle of a log, the latest or the latest of --cycle, and writes down what the plugin's testing guide \
            asks for: the test-run artifact as JSON and its result template as Markdown, filled in. With --out both are \
            files; without it the Markdown goes to standard output, or with --format json the artifact.

            Device, system version and build are taken from the events where these have them; the options below add what \
            a log cannot know.

            EXAMPLES
              dnp-telemetry report device.log
              dnp-telemetry report device.log --out run --device "iPhone 15 Pro" \\
                --ios-version 17.1 --scenario SIM-1 --conditions "plugged in, Wi-Fi"

            EXIT STATUS
              0   written
              1   the log holds no such cycle
              2   the input cannot be read, or an output cannot be written
              64  wrong usage
            """
    )

    @Argument(help: ArgumentHelp("File to read; - is standard input.", valueName: "file"), completion: .file())
    var input: String

    @Option(
        help: ArgumentHelp("Write <name>.json and <name>.md instead of printing.", valueName: "name"),
        completion: .file()
    )
    var out: String?

    @Flag(help: "Replace existing files.")
    var force = false

    @Option(help: "Form of what is printed: text (Markdown) or json (the artifact).")
    var format = ResultFormat.text

    @Option(help: ArgumentHelp("Schedule id of the cycle; without it the latest one.", valueName: "id"))
    var cycle: String?

    @Option(help: ArgumentHelp("Model of the device.", valueName: "model"))
    var device: String?

    @Option(help: ArgumentHelp("Version of the operating system.", valueName: "version"))
    var iosVersion: String?

    @Option(help: ArgumentHelp("Build or commit of the app.", valueName: "build"))
    var build: String?

    @Option(help: ArgumentHelp("Id of a scenario that was tested; may be repeated.", valueName: "id"))
    var scenario: [String] = []

    @Option(help: ArgumentHelp("Power, network and settings during the test.", valueName: "text"))
    var conditions: String?

    @Option(help: ArgumentHelp("Notes and follow-ups.", valueName: "text"))
    var notes: String?

    @OptionGroup(title: "Input")
    var reading: InputOptions

    func validate() throws {
        guard let out, out.isEmpty || out.hasSuffix("/") else { return }
        throw ValidationError("expected --out as a name to which .json and .md are added, found \"\(out)\"")
    }

    func run() throws {
        let files = out.map { ["\($0).json", "\($0).md"] } ?? []
        for file in files { try Terminal.check(output: file) }
        if !force, let taken = files.first(where: OutputFile.exists) {
            Terminal.say("Error: \(taken): it is there already; --force replaces it")
            throw ExitCode(2)
        }
        var options = JudgementOptions(try reading.lineFormat())
        options.detail = .testRun(scheduleId: cycle)
        let judgement = try reading.judge([input], options)
        guard let run = TestRun(judgement, circumstances) else {
            Terminal.say("Error: the input holds no cycle\(cycle.map { " of schedule \"\($0)\"" } ?? "")")
            throw ExitCode(1)
        }
        if files.isEmpty {
            try Terminal.print(format == .json ? run.json() : Array(run.markdown().utf8))
        } else {
            try Terminal.write(run.json(), to: files[0], mayReplace: force)
            try Terminal.write(Array(run.markdown().utf8), to: files[1], mayReplace: force)
            if !reading.quiet { Terminal.say("wrote \(files[0]) and \(files[1])") }
        }
    }

    private var circumstances: TestRun.Circumstances {
        var circumstances = TestRun.Circumstances()
        circumstances.device = device
        circumstances.systemVersion = iosVersion
        circumstances.build = build
        circumstances.scenarios = scenario
        circumstances.conditions = conditions
        circumstances.notes = notes
        return circumstances
    }
}
