// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CStartSignals
import Collector

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
        ]
    )

    static func main() async {
        // Where the format of executables is ELF, they have been kept since before any library's initialiser.
        if CommandLine.arguments.dropFirst().first == "serve" { start_signals_keep() }
        Terminal.openClosedStreams()
        await main(nil)
    }
}
