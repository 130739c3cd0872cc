// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A ledger that an earlier version wrote, with what it had counted (`Fixtures/ledgers/record.py`).
private struct RecordedLedger: Sendable, CustomTestStringConvertible {
    struct Record: Decodable, Sendable {
        struct File: Decodable, Sendable {
            /// The lines that were read.
            var read: [String]
            /// The lines that belong to the same cycles and come after the upgrade.
            var rest: [String]
        }
        /// A file that `send` of that version shipped; what it grows by begins another cycle.
        struct Sent: Decodable, Sendable {
            var name: String
            var read: [String]
            var rest: [String]
        }
        var recordedAt: Int
        /// Whether batches were deleted that the journal had confirmed.
        var isPruned: Bool
        var posted: [String]
        /// How many of these were posted as one batch with a key.
        var first: Int
        var log: File
        var events: File
        var sent: [Sent]
        var rest: [String]
        /// Every series that the earlier version itself continued after a restart.
        var counters: [String: Double]
        var openCycles: Double
    }

    static let names = ["schema-2", "schema-2-journaled", "schema-3"]
    static let all: [RecordedLedger] = names.compactMap { try? RecordedLedger($0) }

    let name: String
    let record: Record
    var testDescription: String { name }

    private init(_ name: String) throws {
        self.name = name
        let path = Sample.path("ledgers/\(name).json")
        record = try JSONDecoder().decode(Record.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Unpacks the state directory.
    func unpack(to directory: String) async throws {
        let archive = Sample.path("ledgers/\(name).tar.gz")
        let run = try await Command.run(["/bin/tar", "-xzf", archive, "-C", directory, "--no-same-owner"])
        guard run.status == .code(0) else {
            throw MissingDependency(description: "cannot unpack \(archive): \(run.error)")
        }
    }
}

/// The counters of the lifecycle that events of a test add to.
private struct StageCounts: Equatable {
    private struct Told: Decodable {
        var event: String
        var reason: String?
    }

    private var counts: [String: Double] = [:]

    init(_ page: MetricsPage) {
        for kind in ["scheduled", "executed", "success"] {
            counts[kind] = page.value("dnp_prefetch_\(kind)_total")
        }
        for reason in ["AUTH", "NETWORK", "SYSTEM", "OTHER"] {
            counts[reason] = page.value("dnp_prefetch_failure_total", ["reason": reason]) ?? 0
        }
    }

    mutating func add(_ count: Double, _ name: String) { counts[name, default: 0] += count }

    /// Adds events, each of which counts once.
    mutating func add(_ lines: [String]) throws {
        for line in lines {
            let told = try JSONDecoder().decode(Told.self, from: Data(line.utf8))
            add(1, told.reason ?? String(told.event.dropFirst("prefetch_".count)))
        }
    }
}

/// What `ledger rebuild --format json` prints.
private struct Rebuilt: Decodable {
    let result: String
    let continuesEarlierVersion: Bool
    let problems: [String]

    init(_ command: Command) throws {
        #expect(command.status == .code(0), "\(command.text)\(command.error)")
        self = try JSONDecoder().decode(Self.self, from: command.output)
    }
}

@Suite("ledgers of earlier versions", .timeLimit(.minutes(2)))
struct RecordedLedgerTests {
    @Test("every recorded ledger can be read")
    func recordedLedgers() {
        #expect(RecordedLedger.all.map(\.name) == RecordedLedger.names)
    }

    private static let files = ["/var/log/device/phone.log", "/var/log/device/events.ndjson"]

    /// Opens a recorded ledger in a service that follows the same files, a minute after the recording, since duplicates are
    /// remembered for a week.
    private func withUpgraded(
        _ ledger: RecordedLedger,
        _ body: (Service, MountNamespace, String) async throws -> Void
    ) async throws {
        try await MountNamespace.with { namespace in
            try await withTemporaryDirectory { directory in
                try FileManager.default.createDirectory(
                    atPath: namespace.outside("/var/log/device"),
                    withIntermediateDirectories: true
                )
                for (file, content) in zip(Self.files, [ledger.record.log, ledger.record.events]) {
                    try Files.write(ndjson(content.read), to: namespace.outside(file))
                }
                let clock = try await ShiftedClock(
                    seconds: ledger.record.recordedAt + 60 - Int(Date().timeIntervalSince1970),
                    in: directory
                )
                try await withService(
                    journal: .journald,
                    options: withoutJournald + Self.files.flatMap { ["--follow", $0] },
                    wrapper: ["/usr/bin/env"] + clock.environment.map { "\($0)=\($1)" },
                    in: namespace,
                    prepare: { try await ledger.unpack(to: $0) },
                    { try await body($0, namespace, directory) }
                )
            }
        }
    }

    @Test(
        "a ledger of an earlier version goes on: its page is the recorded one, known events count nothing, new ones do",
        arguments: RecordedLedger.all
    )
    fileprivate func recordedLedgerGoesOn(_ ledger: RecordedLedger) async throws {
        let record = ledger.record
        try await withUpgraded(ledger) { service, namespace, _ in
            let client = await service.client
            let page = try await client.metrics()
            #expect(differences(page, from: record.counters) == [])
            #expect(page.value("dnp_prefetch_open_cycles") == record.openCycles)

            var expected = StageCounts(page)
            for (file, content) in zip(Self.files, [record.log, record.events]) {
                let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: namespace.outside(file)))
                try handle.seekToEnd()
                try handle.write(contentsOf: Data(ndjson(content.rest)))
                try handle.close()
            }
            try expected.add(record.events.rest)
            expected.add(1, "executed")
            expected.add(1, "AUTH")
            try await eventually("the rest of the files is counted", within: .seconds(20)) {
                StageCounts(try await client.metrics()) == expected
            }

            let again = try await client.post(ndjson(record.posted)).receipt()
            #expect(again.accepted == 0 && again.duplicates == record.posted.count)
            let first = try await client.post(ndjson(Array(record.posted[..<record.first])), key: "first").receipt()
            #expect(first.accepted == 0 && first.duplicates == record.first)
            let rest = try await client.post(ndjson(record.rest)).receipt()
            #expect(rest.accepted == record.rest.count && rest.duplicates == 0)
            try expected.add(record.rest)
            let grown = try await client.metrics()
            #expect(StageCounts(grown) == expected)
            #expect(grown.value("dnp_prefetch_open_cycles") == record.openCycles)
            #expect(grown.ingestBalance == 0)

            // That version knew one app; the second one counts from 0.
            func runs(_ page: MetricsPage) -> [Double] {
                page.samples.filter { $0.key.name.hasPrefix("aiq_") && !$0.key.name.hasSuffix("_bucket") }.map(\.value)
            }
            #expect(runs(grown).count > 20 && runs(grown).allSatisfy { $0 == 0 })
            let checked =
                #"{"event":"refresh_checked","timestamp":"2025-11-15T05:54:00Z","installationId":"recorded","#
                + #""properties":{"daysSinceTest":100,"available":true}}"#
            #expect(try await client.post(ndjson([checked])).receipt().accepted == 1)

            await service.kill()
            try await service.start()
            let restarted = try await client.metrics()
            #expect(StageCounts(restarted) == expected)
            #expect(restarted.value("aiq_background_refresh_checks_total", ["available": "true"]) == 1)
            #expect(try await service.terminate() == .code(0))
            let verified = try await Command.ledger(service, "verify", "--no-journal")
            #expect(verified.status == .code(0), "\(verified.text)\(verified.error)")
        }
    }

    @Test(
        "files that an earlier version sent and that have grown since count what is new alone",
        arguments: RecordedLedger.all.filter { !$0.record.sent.isEmpty && !$0.record.isPruned }
    )
    fileprivate func sentFilesGrow(_ ledger: RecordedLedger) async throws {
        try await withUpgraded(ledger) { service, _, directory in
            let client = await service.client
            var expected = StageCounts(try await client.metrics())
            for sent in ledger.record.sent {
                let file = "\(directory)/\(sent.name)"
                try Files.write(ndjson(sent.read + sent.rest), to: file)
                for isFirst in [true, false] {
                    let command = try await Command.telemetry(
                        ["send", file, "--to", "http://127.0.0.1:\(client.port)", "--format", "json"]
                    )
                    let output = try SentOutput(command)
                    #expect(output.ending == "complete" && output.rejected == 0, "\(command.text)")
                    #expect((output.accepted > 0) == isFirst, "\(sent.name): \(command.text)")
                    if isFirst { expected.add(1, "scheduled") }
                    #expect(StageCounts(try await client.metrics()) == expected, "\(sent.name)")
                }
            }
        }
    }

    @Test(
        "a rebuild of a ledger of an earlier version says what it cannot compare, and one that is written knows its events",
        arguments: RecordedLedger.all.filter { !$0.record.isPruned }
    )
    fileprivate func recordedLedgerIsRebuilt(_ ledger: RecordedLedger) async throws {
        try await withUpgraded(ledger) { service, _, _ in
            let client = await service.client
            #expect(try await service.terminate() == .code(0))
            let rebuilt = try Rebuilt(try await Command.ledger(service, "rebuild", "--format", "json"))
            #expect(rebuilt.continuesEarlierVersion && rebuilt.problems == [])
            #expect(rebuilt.result == "equal" || rebuilt.result == "not_comparable")
            _ = try Rebuilt(try await Command.ledger(service, "rebuild", "--write", "--format", "json"))
            let again = try Rebuilt(try await Command.ledger(service, "rebuild", "--format", "json"))
            #expect(again.result == "equal")
            try await service.start()
            let answer = try await client.post(ndjson(ledger.record.posted)).receipt()
            #expect(answer.accepted == 0 && answer.duplicates == ledger.record.posted.count)
        }
    }

    /// Whether a series counts lines that were read: the followed files are others than the recorded ones, so that lines are
    /// read again and counted as duplicates.
    private static func isOfReading(_ series: String) -> Bool {
        series.hasPrefix("dnp_telemetry_log_lines_total")
            || series.hasPrefix("dnp_telemetry_events_received_total{source=\"file\"")
    }

    /// The series of a page that differ from the recorded ones, in words.
    private func differences(_ page: MetricsPage, from recorded: [String: Double]) -> [String] {
        var found: [String: Double] = [:]
        for line in page.text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            found[String(line[..<space])] = Double(line[line.index(after: space)...])
        }
        return recorded.filter { found[$0.key] != $0.value && !Self.isOfReading($0.key) }.map { series, value in
            "\(series) is \(found[series].map { "\($0)" } ?? "gone") and not \(value)"
        }
        .sorted()
    }

    private func ndjson(_ lines: [String]) -> [UInt8] { Array(lines.map { $0 + "\n" }.joined().utf8) }
}
