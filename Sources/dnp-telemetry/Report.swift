// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogValidation
import TextOutput

struct Report: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the record of a test run, or sign off a campaign of them.",
        usage: """
            dnp-telemetry report <file> [<options>]
            dnp-telemetry report campaign <directory|file> ... [<options>]
            """,
        discussion: """
            Picks one cycle of a log, the latest that ran or was delivered, or the latest of --cycle, and writes down what \
            the plugin's testing guide asks for: the test-run artifact as JSON and its result template as Markdown, \
            filled in. With --all it does so for every cycle. With --out both are files; without it the Markdown goes to \
            standard output, or with --format json the artifact.

            A log that has only runs of the background refresh, or --app aiq, gives the record of the latest run that \
            was not skipped.

            Device, system version, build and conditions are taken from the events where these have them; the options \
            below add what a log cannot know.

            report campaign joins artifacts, these and the ones of the plugin's test app, into the guide's sign-off \
            checklist of Phase 1: each point met, not met or deferred, with the run that shows it, and the days.

            EXAMPLES
              dnp-telemetry report device.log
              dnp-telemetry report device.log --out run --device "iPhone 15 Pro" \\
                --ios-version 17.1 --scenario SIM-1 --power plugged --network wifi
              dnp-telemetry report campaign runs/ --defer time

            EXIT STATUS
              0   written; of a campaign every point met or deferred
              1   the log holds no such cycle or run; a point of the campaign is not met
              2   an input cannot be read, or an output cannot be written
              64  wrong usage
            """
    )

    @Argument(
        help: ArgumentHelp(
            "The log, - is standard input; or campaign and the artifacts, or directories of them.",
            valueName: "file"
        ),
        completion: .file()
    )
    var inputs: [String]

    @Option(
        help: ArgumentHelp("Write <name>.json and <name>.md instead of printing.", valueName: "name"),
        completion: .file()
    )
    var out: String?

    @Flag(help: "Replace existing files.")
    var force = false

    @Option(help: "Form of what is printed: text (Markdown) or json (the artifact).")
    var format = ResultFormat.text

    @Option(help: ArgumentHelp("Schedule id of the cycle; without it the latest that ran.", valueName: "id"))
    var cycle: String?

    @Flag(help: "Write the records of all cycles or runs, the newest 1,000.")
    var all = false

    @Flag(help: "The logs are excerpts: do not judge what came before their beginning.")
    var excerpt = false

    @Option(
        help: ArgumentHelp(
            "The app to report: dnp its cycles, aiq its runs; by default runs only where there is no cycle.",
            valueName: "name"
        )
    )
    var app: AppOption?

    @Option(
        name: .customLong("defer"),
        help: ArgumentHelp(
            "A point of a campaign that is deferred; may be repeated.",
            discussion: "One of \(TestCampaign.Point.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "point"
        )
    )
    var deferred: [TestCampaign.Point] = []

    @OptionGroup(title: "Test run")
    var told: RunOptions

    @OptionGroup(title: "Input")
    var reading: InputOptions

    private var isCampaign: Bool { inputs.first == "campaign" }

    func validate() throws {
        if let out, out.isEmpty || out.hasSuffix("/") {
            throw ValidationError("expected --out as a name to which .json and .md are added, found \"\(out)\"")
        }
        if isCampaign {
            if inputs.count < 2 {
                throw ValidationError("report campaign names directories or artifacts, found nothing")
            }
        } else {
            if inputs.count > 1 {
                throw ValidationError("expected one log, found \(inputs.count); artifacts follow `report campaign`")
            }
            if !deferred.isEmpty { throw ValidationError("expected --defer with report campaign") }
        }
        if all, cycle != nil { throw ValidationError("expected --all or --cycle, found both") }
        if app == .aiq, cycle != nil {
            throw ValidationError(
                "expected --cycle without --app aiq, whose runs have no schedule id; --all writes them all"
            )
        }
        if isCampaign, app != nil {
            throw ValidationError("expected --app with a log; the checklist of report campaign is the plugin's")
        }
    }

    func run() throws {
        let files = out.map { ["\($0).json", "\($0).md"] } ?? []
        for file in files { try Terminal.check(output: file) }
        if !force, let taken = files.first(where: OutputFile.exists) {
            Terminal.say("Error: \(taken): it is there already; --force replaces it")
            throw ExitCode(2)
        }
        if isCampaign { try reportCampaign(files) } else { try reportRun(files) }
    }

    private func reportRun(_ files: [String]) throws {
        var options = JudgementOptions(try reading.lineFormat())
        options.detail = .testRun(scheduleId: cycle)
        options.isExcerpt = excerpt
        options.apps = app.map { [$0.app] } ?? options.apps
        let judgement = try reading.judge(inputs, options)
        let record: TestRunRecord
        do throws(NothingToRecord) {
            record = try TestRunRecord(judgement, told.circumstances, cycle: cycle, isOfAll: all)
        } catch {
            Terminal.say("Error: \(error)")
            throw ExitCode(1)
        }
        if let note = record.note, !reading.quiet { Terminal.say(note) }
        try write(record.json, record.markdown, files)
    }

    private func reportCampaign(_ files: [String]) throws {
        let campaign = TestCampaign(Array(inputs.dropFirst()), deferred: Set(deferred))
        try write(campaign.json(), campaign.markdown(), files)
        for problem in campaign.problems { Terminal.say("Error: \(PlainText.line(problem.file)): \(problem.problem)") }
        if !campaign.problems.isEmpty { throw ExitCode(2) }
        if !campaign.isSignedOff { throw ExitCode(1) }
    }

    private func write(_ json: [UInt8], _ markdown: String, _ files: [String]) throws {
        guard files.count == 2 else { return try Terminal.print(format == .json ? json : Array(markdown.utf8)) }
        try Terminal.write(json, to: files[0], mayReplace: force)
        try Terminal.write(Array(markdown.utf8), to: files[1], mayReplace: force)
        if !reading.quiet { Terminal.say("wrote \(files[0]) and \(files[1])") }
    }
}

/// What a log cannot know of a test run.
struct RunOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Model of the device.", valueName: "model"))
    var device: String?

    @Option(help: ArgumentHelp("Version of the operating system.", valueName: "version"))
    var iosVersion: String?

    @Option(help: ArgumentHelp("Build or commit of the app.", valueName: "build"))
    var build: String?

    @Option(help: ArgumentHelp("Id of a scenario that was tested; may be repeated.", valueName: "id"))
    var scenario: [String] = []

    @Option(help: "Power: plugged or battery.")
    var power: Power?

    @Option(help: "Network: wifi, cellular or none.")
    var network: RunConditions.Network?

    @Option(help: "Low Power Mode: on or off.")
    var lowPower: Switch?

    @Option(help: "Background App Refresh: on or off.")
    var backgroundRefresh: Switch?

    @Flag(help: "The run was on a simulator.")
    var simulator = false

    @Option(help: ArgumentHelp("Power, network and settings during the test, in words.", valueName: "text"))
    var conditions: String?

    @Option(help: ArgumentHelp("Notes and follow-ups.", valueName: "text"))
    var notes: String?

    enum Power: String, CaseIterable, ExpressibleByArgument {
        case plugged, battery
    }

    enum Switch: String, CaseIterable, ExpressibleByArgument {
        case on, off
    }

    var circumstances: TestRun.Circumstances {
        var circumstances = TestRun.Circumstances()
        circumstances.device = device
        circumstances.systemVersion = iosVersion
        circumstances.build = build
        circumstances.scenarios = scenario
        circumstances.conditions = conditions
        circumstances.notes = notes
        circumstances.facts.pluggedIn = power.map { $0 == .plugged }
        circumstances.facts.network = network
        circumstances.facts.lowPowerMode = lowPower.map { $0 == .on }
        circumstances.facts.backgroundRefresh = backgroundRefresh.map { $0 == .on }
        // A model that is given is a device's, unless it says otherwise.
        let named = device.map { $0.lowercased().contains("simulator") }
        circumstances.facts.simulator = simulator ? true : named
        return circumstances
    }
}

extension RunConditions.Network: ExpressibleByArgument {}
extension TestCampaign.Point: ExpressibleByArgument {}
