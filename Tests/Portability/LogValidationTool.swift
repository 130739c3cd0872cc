// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The subcommands that judge logs, without the service.
@main
struct LogValidationTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-validation",
        abstract: "The subcommands of dnp-telemetry that need no Linux.",
        subcommands: [Validate.self, Replay.self, Report.self]
    )
}
