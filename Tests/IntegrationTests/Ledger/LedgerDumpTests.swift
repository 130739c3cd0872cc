// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("ledger dump")
struct LedgerDumpTests {
    /// The events of a dump that were posted, as they stand in its lines, which are in the order of their numbers.
    private func events(_ dump: Command) throws -> [String] {
        let row = #/\{"seq":(\d+),"batch":\d+,"received":"[^"]+","source":"http","format":"(?:nd)?json","event":(.*)\}/#
        var last = 0
        return try dump.postedLines.map { line in
            let parts = try #require(line.wholeMatch(of: row))
            let number = try #require(Int(parts.output.1))
            #expect(number > last)
            last = number
            return String(parts.output.2)
        }
    }

    @Test("ledger dump prints what was posted, beside the running service, after a kill and after a stop")
    func ledgerDumpPosted() async throws {
        let first = EventFactory(prefix: "first").cycles(0..<300)
        let second = EventFactory(prefix: "second").cycles(0..<3)
        try await withService(journal: .journald, options: withoutJournald) { service in
            let client = await service.client
            _ = try await client.post(first.ndjson).receipt()
            _ = try await client.post(second.array, type: "application/json").receipt()
            let expected = (first + second).lines
            let beside = try await Command.ledger(service, "dump")
            #expect(try events(beside) == expected)
            await service.kill()
            let killed = try await Command.ledger(service, "dump")
            #expect(try events(killed) == expected)
            try await service.start()
            #expect(try await service.terminate() == .code(0))
            let stopped = try await Command.ledger(service, "dump")
            #expect(try events(stopped) == expected)
            for dump in [beside, killed, stopped] {
                #expect(dump.status == .code(0))
                #expect(dump.error == "")
            }
            let some = try await Command.ledger(service, "dump", "--after", "7", "--limit", "5")
            #expect(some.lines == Array(stopped.lines[7..<12]))
            let failures = try await Command.ledger(service, "dump", "--kind", "prefetch_failure")
            #expect(failures.lines == stopped.lines.filter { $0.contains(#""event":"prefetch_failure""#) })
            #expect(failures.lines.count == 60)
        }
    }

    @Test("ledger dump prints rows whose counts add up to the answers of the service")
    func ledgerDumpRows() async throws {
        let batch = EventFactory(prefix: "rows").cycles(0..<5)
        try await withService(journal: .journald, options: withoutJournald) { service in
            let client = await service.client
            _ = try await client.post(batch.ndjson).receipt()
            let answer = try await client.post(batch.ndjson + Array("{}\n".utf8), key: "again").receipt()
            #expect(answer.duplicates == batch.count)
            let rows = try await Command.ledger(service, "dump", "--rows")
            #expect(rows.status == .code(0))
            #expect(rows.postedLines.count == 2)
            #expect(rows.postedLines[0].contains("\"count\":\(batch.count)"))
            #expect(
                rows.postedLines[1].contains("\"duplicates\":\(batch.count),\"rejected\":{\"missing_field\":1}")
            )
            #expect(rows.postedLines[1].contains("\"batchIdentity\":\""))
        }
    }

    @Test("ledger dump names a damaged batch, prints the others, and ends with 1")
    func ledgerDumpDamaged() async throws {
        try await withService(journal: .journald, options: withoutJournald) { service in
            let client = await service.client
            for prefix in ["one", "two", "three"] {
                _ = try await client.post(EventFactory(prefix: prefix).cycles(0..<1).ndjson).receipt()
            }
            #expect(try await service.terminate() == .code(0))
            try await StateFile.flip(Data("two-0".utf8), in: await service.settings.stateDirectory)
            let dump = try await Command.ledger(service, "dump")
            #expect(dump.status == .code(1))
            #expect(dump.postedLines.count == 8)
            #expect(!dump.text.contains("two"))
            #expect(dump.error.hasPrefix("batch 2 is damaged and left out: "))
        }
    }

    @Test("ledger dump ends in good order when its reader goes away, and at Ctrl-C with a slow reader")
    func ledgerDumpEndings() async throws {
        let batch = EventFactory(prefix: "long").cycles(0..<2_000)
        try await withService(journal: .journald, options: withoutJournald) { service in
            _ = try await service.client.post(batch.ndjson).receipt()
            let state = await service.settings.stateDirectory
            let dump = [try Service.binary(), "ledger", "dump", "--state-dir", state]
            let head = try await Command.run(
                ["/bin/sh", "-c", #"{ "$@"; echo "status $?" >&2; } | head -n 2"#, "sh"] + dump
            )
            #expect(head.lines.count == 2)
            #expect(head.error == "status 0\n")
            try await interrupt(dump)
        }
    }

    private func interrupt(_ dump: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/pipe"
            let made = unsafe mkfifo(path, 0o600)
            #expect(made == 0)
            let pipe = unsafe open(path, O_RDWR | O_NONBLOCK)
            defer { close(pipe) }
            let process = try ChildProcess(
                ["/bin/sh", "-c", "exec \"$@\" > '\(path)'", "sh"] + dump,
                logs: directory,
                name: "dump"
            )
            var start = [UInt8](repeating: 0, count: 100)
            try await eventually("the dump has begun") { unsafe read(pipe, &start, start.count) == start.count }
            #expect(start.starts(with: Array(#"{"seq":1,"batch":1,"#.utf8)))
            await process.signal(SIGINT)
            #expect(try await process.waitForExit() == .code(130))
            #expect(process.errorText == "")
        }
    }

    @Test("ledger dump ends with 2 and a sentence without a ledger, and with 64 for wrong usage")
    func ledgerDumpUnusable() async throws {
        try await withTemporaryDirectory { directory in
            for command in ["dump", "verify"] {
                let missing = try await Command.telemetry("ledger", command, "--state-dir", "\(directory)/none")
                #expect(missing.status == .code(2))
                #expect(missing.text == "")
                #expect(
                    missing.error == """
                        Error: there is no ledger at \(directory)/none/ledger.sqlite; name the service's directory with \
                        --state-dir

                        """
                )
                #expect(!FileManager.default.fileExists(atPath: "\(directory)/none"))
            }
            let usages = [["--kind", "glory"], ["--rows", "--kind", "prefetch_success"], ["--limit", "-1"]]
            for arguments in usages {
                let wrong = try await Command.run([Service.binary(), "ledger", "dump"] + arguments)
                #expect(wrong.status == .code(64))
            }
        }
    }
}

extension Command {
    /// Runs `dnp-telemetry ledger` on the state directory of a service, in its namespace.
    static func ledger(_ service: Service, _ arguments: String...) async throws -> Command {
        let settings = await service.settings
        let command = try [Service.binary(), "ledger"] + arguments + ["--state-dir", settings.stateDirectory]
        return try await run(settings.namespace?.entering(command) ?? command)
    }

    var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// The lines of a dump without the ticks of the service's own.
    var postedLines: [String] { lines.filter { $0.contains(#""source":"http""#) } }
}

/// What `ledger verify --format json` prints.
struct VerifyOutput: Decodable {
    struct Check: Decodable {
        let check: String
        let result: String
        let detail: String
        let figures: [String: UInt64]
        let findings: [String]
    }

    let verdict: String
    let ledger: String
    let checks: [Check]

    init(_ command: Command) throws {
        self = try JSONDecoder().decode(Self.self, from: command.output)
    }

    subscript(_ name: String) -> Check? { checks.first { $0.check == name } }

    /// The names of the checks that failed.
    var failed: [String] { checks.filter { $0.result == "failed" }.map(\.check) }
}

/// A file of a stopped service's state directory.
enum StateFile {
    /// Changes the first byte of every place where a pattern stands; of a page there may be older generations.
    ///
    /// SQLite's log is written back first: where a reader closed last, the pages are still there.
    static func flip(_ pattern: Data, in state: String) async throws {
        let path = "\(state)/ledger.sqlite"
        let checkpoint = try await Command.run(["/usr/bin/sqlite3", path, "PRAGMA wal_checkpoint(TRUNCATE)"])
        guard checkpoint.status == .code(0) else { throw NotFound() }
        var bytes = contents(of: path)
        guard bytes.range(of: pattern) != nil else { throw NotFound() }
        while let range = bytes.range(of: pattern) { bytes[range.lowerBound] ^= 0x20 }
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    struct NotFound: Error {}
}

/// Options under which nothing is deleted from the ledger: it waits for a journal that never appears.
let withoutJournald = ["--journal-socket", "/nonexistent/journald.socket"]
