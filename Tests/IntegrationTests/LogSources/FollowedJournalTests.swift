// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("the followed journal")
struct FollowedJournalTests {
    private static let matches = ["--follow-journal", "SYSLOG_IDENTIFIER=app"]

    /// A program that logs to the journal, line by line.
    private actor Program {
        private let journal: TestJournald
        private let directory: String
        private var cycle = 0
        private(set) var lines = 0
        private(set) var totals = LifecycleTotals()

        init(_ journal: TestJournald, directory: String) {
            self.journal = journal
            self.directory = directory
        }

        /// Logs whole cycles, by logger(1) and systemd-cat(1) in turns.
        func log(cycles count: Int) async throws {
            var text = ""
            for _ in 0..<count {
                let next = LogFactory.cycle(cycle)
                cycle += 1
                lines += next.lines.count
                totals += next.totals
                text += next.lines.map { $0 + "\n" }.joined()
            }
            let path = "\(directory)/lines-\(cycle)"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let socket = "/run/systemd/journal/dev-log"
            try await run(
                cycle.isMultiple(of: 2)
                    ? ["/usr/bin/logger", "-u", socket, "-t", "app", "-f", path]
                    : ["/usr/bin/systemd-cat", "-t", "app", "/bin/cat", path]
            )
            // systemd-cat ends before journald has read its stream; the lines of the next cycles would stand among these.
            let last = text.split(separator: "\n").last.map(String.init) ?? ""
            try await eventually("journald has taken every line", every: .milliseconds(20)) {
                try await newestLine() == last
            }
        }

        private func newestLine() async throws -> String {
            let command = ["/usr/bin/journalctl", "--quiet", "--no-pager", "--output=cat", "-n", "1"]
            return try await journal.namespace.run(command + ["SYSLOG_IDENTIFIER=app"]).text
                .trimmingCharacters(in: .newlines)
        }

        func noise() async throws {
            let socket = "/run/systemd/journal/dev-log"
            try await run(["/usr/bin/logger", "-u", socket, "-t", "other", "[DNP-FETCH] Starting fetch (id=no)"])
        }

        private func run(_ command: [String]) async throws {
            let run = try await journal.namespace.run(command)
            guard run.status == .code(0) else { throw TestJournald.Unreadable(description: run.error) }
        }
    }

    private func expect(_ program: Program, _ service: Service) async throws {
        let client = await service.client
        let lines = Double(await program.lines)
        let used = Double(await program.totals.used)
        var last = ""
        do {
            try await eventually("every line is counted and stored", within: .seconds(60), every: .milliseconds(50)) {
                let page = try await client.metrics()
                last = page.text.split(separator: "\n").filter { $0.hasPrefix("dnp_telemetry_") }
                    .filter { $0.contains("follow_") || $0.contains("_lines_") || $0.contains("events_") }
                    .joined(separator: "\n")
                return page.sum("dnp_telemetry_log_lines_total") >= lines
                    && page.sum("dnp_telemetry_events_duplicate_total") >= used
                    && page.value("dnp_telemetry_follow_journal_lag_seconds") == 0
            }
        } catch {
            Issue.record("\(last)")
            throw error
        }
        let page = try await client.metrics()
        #expect(page.sum("dnp_telemetry_log_lines_total") == lines)
        let series = await program.totals.series
        let differences = series.filter { page.lifecycle[$0.key] != $0.value }.map {
            "\($0.key.name)\($0.key.labels) is \(page.lifecycle[$0.key] ?? -1), and \($0.value) were logged"
        }
        #expect(differences == [])
        #expect(page.sum("dnp_telemetry_events_duplicate_total") == used)
        #expect(page.value("dnp_telemetry_events_received_total", ["source": "journal", "format": "log"]) ?? 0 > 0)
        #expect(page.ingestBalance == 0)
    }

    @Test("journal lines of logger and systemd-cat through three kills are each counted once", .timeLimit(.minutes(3)))
    func followedJournalKills() async throws {
        try await TestJournald.with { journal in
            try await withTemporaryDirectory { directory in
                let program = Program(journal, directory: directory)
                try await withService(options: Self.matches, in: journal.namespace) { service in
                    for round in 0..<4 {
                        try await program.noise()
                        try await program.log(cycles: 25)
                        if round > 0 { await service.kill() }
                        try await program.log(cycles: 24)
                        if round > 0 { try await service.start() }
                    }
                    try await expect(program, service)
                    let page = try await service.client.metrics()
                    #expect(page.sum("dnp_telemetry_follow_journal_gaps_total") == 0)
                }
            }
        }
    }

    @Test(
        "journal lines through rotations, a vacuum and a restart of journald are each counted once",
        .timeLimit(.minutes(3))
    )
    func followedJournalRotations() async throws {
        try await TestJournald.with { journal in
            try await withTemporaryDirectory { directory in
                let program = Program(journal, directory: directory)
                try await withService(options: Self.matches, in: journal.namespace) { service in
                    for round in 0..<4 {
                        try await program.log(cycles: 21)
                        try await journal.rotate()
                        try await program.log(cycles: 20)
                        try await expect(program, service)
                        switch round {
                        case 0: try await journal.vacuum()
                        case 1:
                            try await journal.stop()
                            try await journal.start()
                        case 2:
                            await journal.kill()
                            try await journal.start()
                        default: break
                        }
                    }
                    let page = try await service.client.metrics()
                    #expect(page.sum("dnp_telemetry_follow_journal_gaps_total") == 0)
                    #expect(page.sum("dnp_telemetry_follow_journal_read_errors_total") == 0)
                }
            }
        }
    }

    @Test("a collector that writes to the journal it follows reads none of its own entries, nor of another collector")
    func followedJournalLoop() async throws {
        try await TestJournald.with { journal in
            let everything =
                ["--follow-journal", "_TRANSPORT=journal", "--follow-journal", "+"]
                + ["--follow-journal", "_TRANSPORT=syslog"]
            try await withService(journal: .journald, options: everything, in: journal.namespace) { service in
                try await withService(journal: .journald, options: everything, in: journal.namespace) { other in
                    let batch = EventFactory(prefix: "loop").cycles(0..<300)
                    let client = await service.client
                    let receipt = try await client.post(batch.ndjson).receipt()
                    #expect(receipt.accepted == batch.count)
                    try await waitUntilJournaled(service)
                    let pages = [client, await other.client]
                    try await eventually("both have passed over the entries") {
                        for client in pages {
                            let page = try await client.metrics()
                            let skipped = page.sum("dnp_telemetry_follow_journal_skipped_total")
                            if skipped < Double(batch.count) { return false }
                        }
                        return true
                    }
                    let socket = "/run/systemd/journal/dev-log"
                    let line = "[DNP-FETCH] Cached content for scheduleId=end"
                    _ = try await journal.namespace.run(["/usr/bin/logger", "-u", socket, "-t", "end", line])
                    for client in pages {
                        try await eventually("the line behind them is counted") {
                            try await client.metrics().value(
                                "dnp_telemetry_events_received_total",
                                ["source": "journal", "format": "log"]
                            ) == 1
                        }
                    }
                    let accepted = try await client.metrics().sum("dnp_telemetry_events_accepted_total")
                    #expect(accepted == Double(batch.count + 1))
                }
            }
        }
    }

    @Test("a user without permission to read the journal gets an error at the start")
    func followedJournalPermission() async throws {
        try await TestJournald.with { journal in
            let binary = try Service.binary()
            try await withTemporaryDirectory { directory in
                for path in [directory, "\(directory)/state"] {
                    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                    _ = try await journal.namespace.run(["/bin/chown", "65534:65534", path])
                }
                _ = try await journal.namespace.run(["/bin/cp", binary, "\(directory)/service"])
                let run = try await journal.namespace.run(
                    [
                        "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                        "\(directory)/service",
                    ]
                        + ["serve", "--listen", "127.0.0.1:0", "--state-dir", "\(directory)/state"]
                        + ["--journal", "off"] + Self.matches
                )
                #expect(run.status == .code(1))
                #expect(run.error.contains("cannot follow the journal: user 65534 may not read /"), "\(run.error)")
                #expect(run.error.contains("run as root or in group systemd-journal or adm"), "\(run.error)")
            }
        }
    }

    @Test("a missing journal is reported, and its first entry is read once it exists")
    func followedJournalAbsent() async throws {
        try await TestJournald.with(running: false) { journal in
            try await withTemporaryDirectory { directory in
                let program = Program(journal, directory: directory)
                try await withService(options: Self.matches, in: journal.namespace) { service in
                    try await eventually("it is told") { await service.log.contains("has no entry") }
                    try await journal.start()
                    try await program.log(cycles: 1)
                    try await program.log(cycles: 1)
                    try await expect(program, service)
                }
            }
        }
    }
}
