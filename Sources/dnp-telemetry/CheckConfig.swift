// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector
import Foundation

struct CheckConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "List the problems of the configuration, with their lines.",
        discussion: """
            Reads the file and the environment as serve would, and names every problem with its place, in the order of \
            lines. Without a file it takes $DNP_TELEMETRY_CONFIG, else /etc/dnp-telemetry/config.yml. Nothing is started \
            or changed. With --effective it prints the settings that are in force, as a file that says the same; what \
            serve gets as options is not among them.

            EXAMPLES
              dnp-telemetry check-config new.yml \\
                && cp new.yml /etc/dnp-telemetry/config.yml
              dnp-telemetry check-config --quiet
              dnp-telemetry check-config --effective | grep -v default
              dnp-telemetry check-config new.yml --format json \\
                | jq -r '.problems[] | "\\(.file):\\(.line) \\(.message)"'

            EXIT STATUS
              0   the service would start with it
              1   something is wrong with it
              2   the file cannot be read, or the output cannot be written
              64  wrong usage
            """
    )

    @Argument(help: ArgumentHelp("Configuration file.", valueName: "file"), completion: .file())
    var file: String?

    @Option(help: "Form of the result: text or json (one object).")
    var format = ResultFormat.text

    @Flag(help: "Print the settings in force, each with its origin; problems go to standard error.")
    var effective = false

    @Flag(help: "Print only problems.")
    var quiet = false

    func run() throws {
        let environment = ProcessInfo.processInfo.environment
        let named = file ?? environment[SettingsReader.fileVariable]
        let path = named ?? "/etc/dnp-telemetry/config.yml"
        let isReadable = FileManager.default.isReadableFile(atPath: path)
        // Without a file the environment and the defaults are in force.
        guard isReadable || (effective && named == nil) else {
            Terminal.say("Error: \(path.isEmpty ? "\"\"" : path): it cannot be read; name a configuration file")
            throw ExitCode(2)
        }
        let check = ConfigurationCheck(SettingsReader(environment: environment, file: isReadable ? path : nil))
        switch format {
        case .json: try Terminal.print(check.json(isEffective: effective))
        case .text where effective:
            try Terminal.print(check.effective)
            if !quiet || !check.problems.isEmpty {
                Terminal.say(String(decoding: check.text(isBrief: quiet).dropLast(), as: UTF8.self))
            }
        case .text: try Terminal.print(check.text(isBrief: quiet))
        }
        if !check.problems.isEmpty { throw ExitCode(1) }
    }
}
