// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CBuild
import CStartSignals
import Collector
import RuntimeMetrics
import TextOutput

@main
struct DNPTelemetry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dnp-telemetry",
        abstract: "Collects the lifecycle telemetry of mobile background prefetch.",
        discussion: """
            Events come in over HTTP, are committed to a ledger before they are acknowledged, are counted in the \
            dnp_prefetch_* families for Prometheus, and are written to systemd-journald, each exactly once.
            """,
        version: BuildInformation.description,
        subcommands: [
            Serve.self, Validate.self, Replay.self, Report.self, Send.self, Ledger.self, CheckConfig.self, Health.self,
            Simulate.self,
        ]
    )

    static func main() async {
        // Where the format of executables is ELF, they have been kept since before any library's initialiser.
        if CommandLine.arguments.dropFirst().first == "serve" { start_signals_keep() }
        Terminal.openClosedStreams()
        do {
            var command = try await asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            let arguments = Array(CommandLine.arguments.dropFirst())
            guard exitCode(for: error) == .validationFailure, !(error is ExitCode),
                let hint = UsageHint.sentence(for: arguments, of: Self.self)
            else { exit(withError: error) }
            Terminal.say("\(fullMessage(for: error))\n\(hint)")
            exit(withError: ExitCode.validationFailure)
        }
    }
}

/// What `--version` says of this build.
private enum BuildInformation {
    /// The version, and in brackets the commit, the Swift compiler and the platform.
    static var description: String {
        let commit = unsafe String(cString: build_commit())
        let source = commit.isEmpty ? "commit unknown" : "commit \(commit)"
        return "\(BuildVersion.current) (\(source), Swift \(SwiftVersion.compiler), \(platform))"
    }

    private static var platform: String {
        #if os(Linux)
            let system = "linux"
        #elseif os(macOS)
            let system = "macos"
        #else
            let system = "other"
        #endif
        #if arch(x86_64)
            return "\(system)/x86_64"
        #elseif arch(arm64)
            return "\(system)/arm64"
        #else
            return "\(system)/other"
        #endif
    }
}
