// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogInput
import LogValidation
import TelemetryEvents

/// What `validate` and `replay` read.
struct InputFiles: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Files to read; - is standard input.", valueName: "file"),
        completion: .file()
    )
    var paths: [String] = []

    @Flag(
        help: ArgumentHelp(
            "All files are parts of one device's log, in their order.",
            discussion:
                "Otherwise each file is a device of its own; the rotations of a log (app.log, app.log.1.gz) are one."
        )
    )
    var join = false

    @Option(
        help: ArgumentHelp(
            "Read the events of one app alone; by default of all.",
            discussion: "dnp is the plugin with its prefetch, aiq the app with the background refresh.",
            valueName: "name"
        )
    )
    var app: AppOption?

    func validate() throws {
        guard paths.count(where: { $0 == "-" }) < 2 else {
            throw ValidationError("expected - once, since standard input can be read only once")
        }
    }
}

/// An app in an option.
enum AppOption: String, CaseIterable, ExpressibleByArgument {
    case dnp, aiq

    var app: App {
        switch self {
        case .dnp: .dnp
        case .aiq: .aiq
        }
    }
}

extension InputFiles {
    /// The apps whose events are read.
    var apps: Set<App> { app.map { [$0.app] } ?? Set(App.allCases) }

    /// - Throws: `ValidationError` where no file is named.
    func checkNamed() throws {
        if paths.isEmpty { throw ValidationError("Missing expected argument '<file> ...'") }
    }
}

/// How `validate`, `replay` and `report` read their input.
struct InputOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Format of the lines; by default detected for each line.",
            discussion: "One of \(LineFormat.names.joined(separator: ", ")).",
            valueName: "format"
        ),
        completion: .list(LineFormat.names)
    )
    var inputFormat: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Time zone of timestamps without one, such as Europe/Berlin or +02:00; by default the machine's.",
            valueName: "zone"
        )
    )
    var timezone: String?

    @Flag(help: "Print only results and errors; of a judgement as text only the verdict.")
    var quiet = false

    func validate() throws {
        _ = try lineFormat()
    }

    /// - Throws: `ValidationError` for a value that means nothing.
    func lineFormat() throws -> LineFormat {
        do throws(InvalidOption) {
            return try LineFormat(named: inputFormat, timezone: timezone)
        } catch {
            throw ValidationError("\(error)")
        }
    }

    /// Prints how many lines were not recognised, and the option that lists them.
    func hint(at judgement: Judgement, _ remedy: String) {
        guard !quiet else { return }
        switch judgement.unrecognisedLines {
        case 0: break
        case 1: Terminal.say("1 line was not recognised; \(remedy) lists it")
        case let lines: Terminal.say("\(lines) lines were not recognised; \(remedy) lists them")
        }
    }

    /// Reads and judges the inputs with a progress line, or with a line for each stage.
    ///
    /// - Parameter live: whether stages are shown as they are read; nil: where standard input is a pipe or terminal and
    ///   a person watches.
    /// - Throws: `ExitCode(2)` after printing why an input cannot be read.
    func judge(_ inputs: [String], _ options: JudgementOptions, live: Bool? = false) throws -> Judgement {
        var options = options
        let showsStages =
            live
            ?? (!quiet && inputs == ["-"] && Terminal.isTerminal(Terminal.error) && Terminal.isStream(Terminal.input))
        if showsStages { options.observer = { Terminal.say($0.line) } }
        let isLive = inputs.contains("-")
        if isLive, !quiet, Terminal.isTerminal(Terminal.input) {
            Terminal.say("reading from the terminal; Ctrl-D ends the input")
        }
        let run = JudgementRun(options, interruption: isLive ? Interruption() : nil)
        let progress = ProgressLine(isShown: !quiet && !showsStages && Terminal.isTerminal(Terminal.error))
        do throws(InputError) {
            let judgement = try run.judge(inputs) { progress.show($0) }
            progress.clear()
            return judgement
        } catch {
            progress.clear()
            Terminal.say("Error: \(error)")
            throw ExitCode(2)
        }
    }
}

/// The form of results.
enum ResultFormat: String, CaseIterable, ExpressibleByArgument {
    case text, json
}
