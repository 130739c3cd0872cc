// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector
import Foundation
import Glibc
import LedgerTools
import LogInput
import TelemetryEvents

struct Ledger: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Inspect the ledger, verify that everything adds up, rebuild the counters from it.",
        discussion: """
            All of these read the state directory without changing it, also while a service works on it; only \
            rebuild --write changes it, and needs the service stopped.

            EXAMPLES
              dnp-telemetry ledger dump | jq .event
              dnp-telemetry ledger verify
              dnp-telemetry ledger rebuild

            EXIT STATUS
              0   done, and nothing is wrong
              1   something is damaged, does not add up, or differs
              2   the ledger cannot be read, or the output cannot be written
              64  wrong usage
            """,
        subcommands: [LedgerDumpCommand.self, LedgerVerifyCommand.self, LedgerRebuildCommand.self]
    )
}

/// The options of all commands that read a ledger.
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
    /// - Throws: `ExitCode(2)` after printing why the ledger cannot be read.
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

struct LedgerDumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Print the events that the ledger holds, as JSON lines.",
        discussion: """
            Prints every event and every verdict on a cycle that is still in the ledger, in order, one line each: its \
            number, its batch, the time and source of receipt, and the event as in the journal. Events are deleted once they are both counted \
            in a checkpoint and confirmed in the journal. With --rows a line describes a batch: how many events it holds, \
            what of it was a duplicate or was refused, what lines it had, and where its source was (as a hash); rows of \
            source "collector" record that time passed, with the verdicts on the cycles that it closed.

            Runs beside a running service, and needs the permission to write in the directory, as every reader of a \
            write-ahead log does. Ctrl-C ends the output with a whole line.

            EXAMPLES
              dnp-telemetry ledger dump | jq -r .event.scheduleId | sort -u
              dnp-telemetry ledger dump --after 1200 --limit 10
              dnp-telemetry ledger dump --kind prefetch_failure \\
                --state-dir /var/lib/dnp-telemetry
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
            "Print only events of this kind, such as prefetch_failure, cycle_closed or run_closed.",
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
            let suggestion = NearestName.of(kind, in: LedgerDump.Kind.names).map { "; did you mean \($0)?" } ?? ""
            throw ValidationError(
                "expected --kind as \(LedgerDump.Kind.names.joined(separator: ", ")), found \"\(kind)\"\(suggestion)"
            )
        }
        return .events(found)
    }
}

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
              dnp-telemetry ledger verify --state-dir /var/lib/dnp-telemetry \\
                --format json | jq .verdict
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

    @Flag(help: "Skip the comparison with the journal.")
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

struct LedgerRebuildCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Recompute all counters from the ledger, and compare them with the checkpoint.",
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
