// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import TelemetryEvents

/// What was meant by arguments that the parser does not know: flags of comparable programs, and misspelt names of commands.
enum UsageHint {
    /// Flags of Prometheus, its exporters, Loki and mtail, without their dashes, with what they are called here.
    private static let peers: [String: String] = [
        "web.listen-address": "--listen",
        "address": "--listen",
        "port": "--listen :PORT",
        "web.telemetry-path": "--metrics-path",
        "web.config.file": "--web-config",
        "web.config": "--web-config",
        "web.cors.origin": "--cors-origin",
        "web.enable-lifecycle": "--reload-endpoint",
        "web.max-connections": "--max-connections",
        "web.max-requests": "--max-scrapes",
        "web.read-timeout": "--body-timeout",
        "web.systemd-socket": "--listen systemd",
        "config.file": "--config",
        "config-file": "--config",
        "log.level": "--log-level",
        "log.format": "--log-format",
        "storage.path": "--state-dir",
        "storage.tsdb.path": "--state-dir",
        "storage.tsdb.retention": "--retention",
        "storage.tsdb.retention.time": "--retention",
        "data-dir": "--state-dir",
        "logs": "--follow",
    ]
    /// How many arguments are looked at.
    private static let maximumArguments = 256

    /// A sentence on the first argument that means something else here; nil where none does.
    ///
    /// - Parameter arguments: without the program's name.
    static func sentence(for arguments: [String], of root: any ParsableCommand.Type) -> String? {
        var command = root
        var names = [name(of: root)]
        for argument in arguments.prefix(maximumArguments) {
            if argument == "--" { return nil }
            if argument.hasPrefix("-") {
                let flag = argument.drop { $0 == "-" }.prefix { $0 != "=" }
                if let own = peers[String(flag)] {
                    return "Hint: -\(argument.hasPrefix("--") ? "-" : "")\(flag) is \(own) of dnp-telemetry serve."
                }
                if names.count == 1, ["version", "V", "v"].contains(flag) {
                    return "Hint: --version shows the version."
                }
                continue
            }
            let below = command.configuration.subcommands
            guard !below.isEmpty else { continue }
            if let next = below.first(where: { name(of: $0) == argument }) {
                command = next
                names.append(argument)
                continue
            }
            if names.count == 1, argument == "version" { return "Hint: --version shows the version." }
            let known = NearestName.of(argument, in: below.map(name(of:)))
            return known.map { "Hint: did you mean \(names.joined(separator: " ")) \($0)?" }
        }
        return nil
    }

    private static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? "\(command)".lowercased()
    }
}
