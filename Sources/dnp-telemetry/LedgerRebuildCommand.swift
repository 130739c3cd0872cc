// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector
import Foundation
import LedgerTools

struct LedgerRebuildCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Compute all that is counted anew from the ledger, and compare it with what is saved.",
        discussion: """
            Folds the batches of the ledger and compares the result with the checkpoint, page by page and counter by \
            counter. That is possible while the ledger holds its first batch. Once batches are deleted, the last \
            checkpoint is all that is left of them: it is read, the batches behind it are folded, and the result says \
            that nothing could be compared.

            With --write the rebuilt state replaces the checkpoint, whole or not at all, as of the end of the ledger. The \
            service must be stopped for that. Nothing is written while batches are damaged.

            EXAMPLES
              dnp-telemetry ledger rebuild --format json | jq '.counters'
              systemctl stop dnp-telemetry && dnp-telemetry ledger rebuild --write

            EXIT STATUS
              0   equal, or nothing to compare with, or written
              1   different
              2   the ledger cannot be read or written, or the output cannot be written
              64  wrong usage
            """
    )

    @Option(help: "Form of the result: text or json (one object).")
    var format = ResultFormat.text

    @Flag(help: "Save the rebuilt state as the checkpoint; the service must be stopped.")
    var write = false

    @OptionGroup(title: "Ledger")
    var ledger: LedgerOptions

    func run() throws {
        let directory = try ledger.directory()
        let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
        let report = try ledger.reading { (progress) throws(UnreadableLedger) in
            try write
                ? LedgerRebuild.write(stateDirectory: directory, now: now, progress: progress)
                : LedgerRebuild(stateDirectory: directory).report(progress: progress)
        }
        switch format {
        case .json: try Terminal.print(report.json())
        case .text: try Terminal.print(report.text(style: Terminal.style, isBrief: ledger.quiet))
        }
        if report.result == .different, !report.isWritten { throw ExitCode(1) }
    }
}
