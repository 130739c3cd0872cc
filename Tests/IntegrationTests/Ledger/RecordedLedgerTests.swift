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
        var recordedAt: Int
        var posted: [String]
        var log: File
        var events: File
        var rest: [String]
        var counters: [String: Double]
        var openCycles: Double
    }

    static let names = ["schema-3"]
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

    /// The counters with what the rest of the followed files and of the posted events adds.
    func counters(afterRest isPosted: Bool) -> [String: Double] {
        var counters = record.counters
        let reasons = ["AUTH", "SYSTEM"] + (isPosted ? ["NETWORK", "AUTH"] : [])
        for reason in reasons {
            counters["dnp_prefetch_executed_total", default: 0] += 1
            counters["dnp_prefetch_failure_total{reason=\"\(reason)\"}", default: 0] += 1
        }
        return counters
    }
}

@Suite("ledgers of earlier versions", .timeLimit(.minutes(2)))
struct RecordedLedgerTests {
    @Test("every recorded ledger can be read")
    func recordedLedgers() {
        #expect(RecordedLedger.all.map(\.name) == RecordedLedger.names)
    }

    /// The page's counters that the recorded page had.
    private func counters(_ page: MetricsPage, like recorded: [String: Double]) -> [String: Double] {
        var found: [String: Double] = [:]
        for line in page.text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            let series = String(line[..<space])
            if recorded[series] != nil { found[series] = Double(line[line.index(after: space)...]) }
        }
        return found
    }

    @Test(
        "a recorded ledger goes on: its counts stay, known events are duplicates, open cycles continue, accounts add up",
        arguments: RecordedLedger.all
    )
    fileprivate func recordedLedgerGoesOn(_ ledger: RecordedLedger) async throws {
        try await MountNamespace.with { namespace in
            try await withTemporaryDirectory { directory in
                let files = ["/var/log/device/phone.log", "/var/log/device/events.ndjson"]
                try FileManager.default.createDirectory(
                    atPath: namespace.outside("/var/log/device"),
                    withIntermediateDirectories: true
                )
                for (file, content) in zip(files, [ledger.record.log, ledger.record.events]) {
                    try Data(ndjson(content.read + content.rest)).write(
                        to: URL(fileURLWithPath: namespace.outside(file))
                    )
                }
                // A minute after the recording, since duplicates are remembered for a week.
                let clock = try await ShiftedClock(
                    seconds: ledger.record.recordedAt + 60 - Int(Date().timeIntervalSince1970),
                    in: directory
                )
                let environment = clock.environment.map { "\($0)=\($1)" }
                try await withService(
                    options: files.flatMap { ["--follow", $0] },
                    wrapper: ["/usr/bin/env"] + environment,
                    in: namespace,
                    prepare: { try await ledger.unpack(to: $0) },
                    { try await expect(ledger, $0) }
                )
            }
        }
    }

    private func expect(_ ledger: RecordedLedger, _ service: Service) async throws {
        let record = ledger.record
        let client = await service.client
        let expected = ledger.counters(afterRest: false)
        var found: [String: Double] = [:]
        do {
            try await eventually("the rest of the files is counted", within: .seconds(20)) {
                found = counters(try await client.metrics(), like: expected)
                return found == expected
            }
        } catch {
            Issue.record("expected \(expected), found \(found)")
            throw error
        }
        #expect(try await client.metrics().value("dnp_prefetch_open_cycles") == record.openCycles)

        let again = try await client.post(ndjson(record.posted)).receipt()
        #expect(again.accepted == 0 && again.duplicates == record.posted.count)
        let first = try await client.post(ndjson(Array(record.posted[..<11])), key: "first").receipt()
        #expect(first.accepted == 0)
        let rest = try await client.post(ndjson(record.rest)).receipt()
        #expect(rest.accepted == 4 && rest.duplicates == 0)
        let more = ledger.counters(afterRest: true)
        let page = try await client.metrics()
        #expect(counters(page, like: more) == more)
        #expect(page.value("dnp_prefetch_open_cycles") == record.openCycles)
        #expect(page.ingestBalance == 0)

        await service.kill()
        try await service.start()
        #expect(counters(try await client.metrics(), like: more) == more)
        #expect(try await service.terminate() == .code(0))
        let verified = try await Command.ledger(service, "verify", "--no-journal")
        #expect(verified.status == .code(0), "\(verified.text)\(verified.error)")
    }

    private func ndjson(_ lines: [String]) -> [UInt8] { Array(lines.map { $0 + "\n" }.joined().utf8) }
}
