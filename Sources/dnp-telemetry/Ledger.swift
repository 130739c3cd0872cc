// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector
import Foundation
import LedgerTools

struct Ledger: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look inside the ledger, check that everything adds up, rebuild what is counted from it.",
        discussion: """
            All of these read the state directory without changing it, also while a service works on it; only \
            rebuild --write changes it, and needs the service stopped.

            EXAMPLES
              dnp-telemetry ledger dump | jq .event
              dnp-telemetry ledger verify
              dnp-telemetry ledger rebuild

            EXIT STATUS
              0   as asked
              1   something is damaged, does not add up, or differs
              2   the ledger cannot be read, or the output cannot be written
              64  wrong usage
            """,
        subcommands: [LedgerDumpCommand.self, LedgerVerifyCommand.self, LedgerRebuildCommand.self]
    )
}

/// Which ledger, and how much is said.
struct LedgerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Directory of the ledger and the key; the default is that of serve.",
            valueName: "dir"
        ),
        completion: .directory
    )
    var stateDir: String?

    @Flag(help: "Print only results and errors.")
    var quiet = false

    /// - Throws: `ValidationError` when nothing names a directory.
    func directory() throws -> String {
        guard let directory = stateDir ?? StateDirectory.default(environment: ProcessInfo.processInfo.environment)
        else {
            throw ValidationError("no state directory: set --state-dir, $STATE_DIRECTORY, $XDG_STATE_HOME or $HOME")
        }
        return directory
    }

    /// Runs what reads the ledger, with a progress line.
    ///
    /// - Throws: `ExitCode(2)` for a ledger that cannot be read, once it has been said.
    func reading<Result>(
        _ body: (_ progress: @escaping (LedgerProgress) -> Void) throws(UnreadableLedger) -> Result
    ) throws -> Result {
        let line = ProgressLine(isShown: !quiet && Terminal.isTerminal(Terminal.error))
        do throws(UnreadableLedger) {
            let result = try body { progress in line.show { progress.line(elapsedSeconds: $0) } }
            line.clear()
            return result
        } catch {
            line.clear()
            Terminal.say("Error: \(error)")
            throw ExitCode(2)
        }
    }
}
