// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector
import Foundation
import LedgerTools

struct LedgerVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that the ledger is sound and that everything adds up.",
        discussion: """
            Checks the key, SQLite's own integrity, the checksum, the numbers and the records of every batch, every page \
            of the checkpoint, the sums (received = accepted + duplicate + rejected, accepted = journaled + pending, at \
            the checkpoint and at the end), the positions of the projections, and that the journal holds every confirmed \
            event once, as far back as it goes. Entries that journald has vacuumed are no error. Without a journal, or \
            the permission to read it, that check is skipped and says so.

            Runs beside a running service and changes nothing.

            EXAMPLES
              dnp-telemetry ledger verify --state-dir /var/lib/dnp-telemetry --format json | jq .verdict
              dnp-telemetry ledger verify --quiet || logger "the ledger does not add up"

            EXIT STATUS
              0   all is well
              1   a check failed
              2   the ledger cannot be read, or the output cannot be written
              64  wrong usage
            """
    )

    @Option(help: "Form of the result: text or json (one object).")
    var format = ResultFormat.text

    @Flag(help: "Leave the journal alone.")
    var noJournal = false

    @Option(
        help: ArgumentHelp("Compare with the journal files in a directory, such as a copy.", valueName: "dir"),
        completion: .directory
    )
    var journalDir: String?

    @OptionGroup(title: "Ledger")
    var ledger: LedgerOptions

    func validate() throws {
        if noJournal, journalDir != nil { throw ValidationError("expected --journal-dir without --no-journal") }
        if let journalDir, (try? FileManager.default.contentsOfDirectory(atPath: journalDir)) == nil {
            throw ValidationError("expected --journal-dir as a directory that can be read, found \"\(journalDir)\"")
        }
    }

    func run() throws {
        let directory = try ledger.directory()
        let journal = noJournal ? .none : journalDir.map { LedgerVerify.Journal.directory($0) } ?? .machine
        let verdict = try ledger.reading { (progress) throws(UnreadableLedger) in
            try LedgerVerify(stateDirectory: directory).verdict(journal, progress: progress)
        }
        switch format {
        case .json: try Terminal.print(verdict.json())
        case .text: try Terminal.print(verdict.text(style: Terminal.style, isBrief: ledger.quiet))
        }
        if !verdict.isSound { throw ExitCode(1) }
    }
}
