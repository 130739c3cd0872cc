// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import EventLedger
@testable import LedgerState

@Suite("The journal on standard output")
struct StandardOutputJournalTests {
    /// A ledger whose journal goes to a file as it would to standard output.
    final class Delivery {
        private let directory: TemporaryDirectory
        private let output: FileHandle
        private let ledger: EventLedger
        let progress: DeliveryProgress
        let logged = LoggedLines()
        private(set) var journal: StandardOutputJournal?

        /// - Parameter batches: the records of each batch, and how many events the batch is said to hold.
        init(_ batches: [(records: [UInt8], count: UInt32)]) throws {
            directory = try TemporaryDirectory()
            try Files.write([], to: directory.file("output"))
            output = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.file("output")))
            ledger = try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger
            progress = try DeliveryProgress.resume(ledger)
            for batch in batches {
                try ledger.append([
                    LedgerBatch(
                        receivedAt: startOfTest,
                        origin: EventOrigin(.http, .ndjson).rawValue,
                        count: batch.count,
                        receipt: [],
                        events: batch.records
                    )
                ])
            }
        }

        /// Runs statements on the ledger, as a tool that knows nothing of checksums would.
        func execute(_ statements: String...) throws {
            let path = directory.file("ledger.sqlite")
            try LedgerConnection(path: path, readOnly: false, setUp: statements).close()
        }

        func start() {
            journal = StandardOutputJournal(
                ledger.reader,
                progress,
                log: logged.logger,
                descriptor: output.fileDescriptor
            )
        }

        /// Stops the journal.
        ///
        /// - Returns: The schedules of the events that it wrote.
        func schedules() async throws -> [String] {
            await journal?.stop()
            try output.close()
            try ledger.close()
            let text = String(decoding: try Files.read(directory.file("output")), as: UTF8.self)
            return try text.split(separator: "\n").map { line in
                let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return try #require(event?["scheduleId"] as? String)
            }
        }

        var skipped: UInt64 { progress.skipped }
    }

    private func records(_ range: ClosedRange<Int>, isDamaged: Bool = false) -> [UInt8] {
        EventJournalSourceTests.records(range, isDamaged: isDamaged)
    }

    private func names(_ numbers: [Int]) -> [String] { numbers.map { "cycle-\($0)" } }

    @Test("standard output gets what can be read of an unreadable batch, and the rest is retried, logged and counted")
    func standardOutputUnreadableRecord() async throws {
        let delivery = try Delivery([(records(1...3, isDamaged: true), 5), (records(6...7), 2)])
        delivery.start()
        await waitUntil("everything is written or skipped") { delivery.progress.latest == 7 }
        #expect(try await delivery.schedules() == names([1, 2, 3, 6, 7]))
        #expect(delivery.skipped == 2)
        #expect(delivery.logged.levels == ["error", "error", "notice"])
    }

    @Test("standard output gets what follows several damaged batches, whose events count as skipped")
    func standardOutputDamagedBatches() async throws {
        let batches = (0..<4).map { (records: records(($0 * 2 + 1)...($0 * 2 + 2)), count: UInt32(2)) }
        let delivery = try Delivery(batches)
        try delivery.execute("UPDATE batch SET events = x'00' WHERE id IN (2, 3)")
        delivery.start()
        await waitUntil("everything is written or skipped") { delivery.progress.latest == 8 }
        #expect(try await delivery.schedules() == names([1, 2, 7, 8]))
        #expect(delivery.skipped == 4)
        #expect(delivery.logged.levels == ["error"])
    }

    @Test("a ledger that cannot be read is logged once, and standard output goes on by itself when it can")
    func standardOutputUnreadableLedger() async throws {
        let delivery = try Delivery([(records(1...3), 3)])
        try delivery.execute("ALTER TABLE batch RENAME TO hidden")
        delivery.start()
        await waitUntil("the failure is logged") { delivery.logged.levels == ["error"] }
        delivery.journal?.wake()
        try delivery.execute("ALTER TABLE hidden RENAME TO batch")
        await waitUntil("everything is written") { delivery.progress.latest == 3 }
        #expect(try await delivery.schedules() == names([1, 2, 3]))
        #expect(delivery.logged.levels == ["error", "notice"])
        #expect(delivery.skipped == 0)
    }

    @Test("the journal on standard output stops while the ledger cannot be read")
    func standardOutputStopsWhileUnreadable() async throws {
        let delivery = try Delivery([(records(1...3), 3)])
        try delivery.execute("ALTER TABLE batch RENAME TO hidden")
        delivery.start()
        await waitUntil("the failure is logged") { delivery.logged.levels == ["error"] }
        await delivery.journal?.stop()
        #expect(delivery.progress.latest == 0)
        try delivery.execute("ALTER TABLE hidden RENAME TO batch")
        #expect(try await delivery.schedules() == [])
    }

    @Test("standard output gets each event once, in order, from large batches in pieces")
    func standardOutputLargeBatches() async throws {
        let delivery = try Delivery([(records(1...2_000), 2_000), (records(2_001...2_100), 100)])
        delivery.start()
        await waitUntil("everything is written") { delivery.progress.latest == 2_100 }
        #expect(try await delivery.schedules() == names(Array(1...2_100)))
        #expect(delivery.logged.levels.isEmpty)
        #expect(delivery.skipped == 0)
    }
}
