// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector
import Glibc
import LedgerTools
import LogInput

struct LedgerDumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Print the events that the ledger holds, as JSON lines.",
        discussion: """
            Prints every event and every verdict on a cycle that is still in the ledger, in order, one line each: its \
            number, its batch, when it was received and whence, and the event as it stands in the journal. Events are deleted once they are both counted \
            in a checkpoint and confirmed in the journal. With --rows a line tells of a batch: how many events it holds, \
            what of it was a duplicate or was refused, what lines it had, and where its source was (as a hash); rows of \
            source "collector" record that time passed, with the verdicts on the cycles that it closed.

            Runs beside a running service, and needs the permission to write in the directory, as every reader of a \
            write-ahead log does. Ctrl-C ends the output with a whole line.

            EXAMPLES
              dnp-telemetry ledger dump | jq -r .event.scheduleId | sort -u
              dnp-telemetry ledger dump --after 1200 --limit 10
              dnp-telemetry ledger dump --kind prefetch_failure --state-dir /var/lib/dnp-telemetry
              dnp-telemetry ledger dump --rows | jq 'select(.receipt.duplicates > 0)'

            EXIT STATUS
              0    printed
              1    printed but for what is damaged, which is named on standard error
              2    the ledger cannot be read, or the output cannot be written
              64   wrong usage
              130  ended by Ctrl-C
            """
    )

    @Option(help: ArgumentHelp("Leave out the events up to this number.", valueName: "seq"))
    var after: UInt64 = 0

    @Option(help: ArgumentHelp("Print at most so many lines.", valueName: "n"))
    var limit: UInt64?

    @Option(
        help: ArgumentHelp(
            "Print only events of this kind, such as prefetch_failure or cycle_closed.",
            valueName: "kind"
        ),
        completion: .list(LedgerDump.Kind.names)
    )
    var kind: String?

    @Flag(help: "Print the rows of the ledger, batches and ticks, with their receipts instead.")
    var rows = false

    @OptionGroup(title: "Ledger")
    var ledger: LedgerOptions

    func validate() throws {
        if rows, kind != nil { throw ValidationError("expected --kind without --rows, since rows have no kind") }
        _ = try content()
    }

    func run() throws {
        let directory = try ledger.directory()
        let content = try content()
        signal(SIGPIPE, SIG_IGN)
        let outcome = try ledger.reading { (progress) throws(UnreadableLedger) in
            try LedgerDump(stateDirectory: directory, content, after: after, limit: limit ?? .max).print(
                to: Terminal.output,
                interruption: Interruption(),
                warn: { Terminal.say($0) },
                note: { if !ledger.quiet { Terminal.say($0) } },
                progress: { if !Terminal.isTerminal(Terminal.output) { progress($0) } }
            )
        }
        if outcome.outputProblem != 0 {
            unsafe Terminal.say(
                "Error: standard output cannot be written: \(String(cString: strerror(outcome.outputProblem)))"
            )
            throw ExitCode(2)
        }
        if outcome.isInterrupted { throw ExitCode(128 + SIGINT) }
        if !outcome.isWhole { throw ExitCode(1) }
    }

    private func content() throws -> LedgerDump.Content {
        if rows { return .rows }
        guard let kind else { return .events(nil) }
        guard let found = LedgerDump.Kind(name: kind) else {
            throw ValidationError(
                "expected --kind as \(LedgerDump.Kind.names.joined(separator: ", ")), found \"\(kind)\""
            )
        }
        return .events(found)
    }
}
