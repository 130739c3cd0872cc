// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Journald
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

@Suite("The journal's source of events")
struct EventJournalSourceTests {
    /// A ledger, what reads it for the journal, and what that has logged.
    final class Delivery {
        private let directory: TemporaryDirectory
        let ledger: EventLedger
        let progress: DeliveryProgress
        let logged = LoggedLines()
        private let source: EventJournalSource

        /// - Parameter batches: the records of each batch, and how many events the batch is said to hold.
        init(_ batches: [(records: [UInt8], count: UInt32)], prunedBatches: Int = 0) throws {
            directory = try TemporaryDirectory()
            ledger = try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger
            progress = try DeliveryProgress.resume(ledger)
            for (index, batch) in batches.enumerated() {
                let end = try Self.append(batch, to: ledger)
                if index + 1 == prunedBatches { try ledger.prune(upTo: end, keepSince: .max) }
            }
            source = EventJournalSource(
                ledger.reader,
                progress: progress,
                key: EventText.identityKey,
                log: logged.logger
            )
        }

        deinit { try? ledger.close() }

        func append(_ batch: (records: [UInt8], count: UInt32)) throws { _ = try Self.append(batch, to: ledger) }

        private static func append(
            _ batch: (records: [UInt8], count: UInt32),
            to ledger: EventLedger
        ) throws -> LedgerPosition {
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

        /// The numbers of the entries after a number.
        func read(after sequence: UInt64) throws -> [UInt64] {
            var buffer = JournalEntryBuffer()
            try source.read(after: sequence, limit: 100, into: &buffer)
            return (0..<buffer.count).map { buffer.sequence(at: $0) }
        }

        var skipped: UInt64 { progress.skipped }
    }

    static func records(_ range: ClosedRange<Int>, isDamaged: Bool = false) -> [UInt8] {
        let events = EventText.decode(range.map { EventText.scheduled("cycle-\($0)") }).events
        // No version of the record begins with this byte.
        return events.bytes + (isDamaged ? [255] : [])
    }

    @Test("an unreadable record is an error for the journal's writer, and what follows its batch is still delivered")
    func unreadableRecordAfterThePosition() throws {
        let delivery = try Delivery([(Self.records(1...3, isDamaged: true), 5), (Self.records(6...7), 2)])
        #expect(try delivery.read(after: 0) == [1, 2, 3])
        #expect(delivery.logged.levels.isEmpty)
        for _ in 1..<UndeliveredRecords.maximumAttempts {
            #expect(throws: (any Error).self) { try delivery.read(after: 3) }
            #expect(delivery.logged.levels == ["error"], "a failure is logged once")
            #expect(delivery.skipped == 0, "nothing is skipped while the batch is read again")
        }
        #expect(try delivery.read(after: 3) == [6, 7])
        #expect(delivery.logged.levels == ["error", "error", "notice"])
        #expect(delivery.skipped == 2)
    }

    @Test("an unreadable record before the position is an error for the journal's writer, too")
    func unreadableRecordBeforeThePosition() throws {
        let delivery = try Delivery([(Self.records(1...1, isDamaged: true), 5), (Self.records(6...7), 2)])
        for _ in 1..<UndeliveredRecords.maximumAttempts {
            #expect(throws: (any Error).self) { try delivery.read(after: 3) }
            #expect(delivery.logged.levels == ["error"])
        }
        #expect(try delivery.read(after: 3) == [6, 7])
        #expect(delivery.logged.levels == ["error", "error", "notice"])
        #expect(delivery.skipped == 2, "of five events, the writer had handled three")
    }

    @Test("events that cannot be read count once as skipped, however often the writer reads them again")
    func skippedOnce() throws {
        let delivery = try Delivery([(Self.records(1...3, isDamaged: true), 5), (Self.records(6...7), 2)])
        #expect(try delivery.read(after: 0) == [1, 2, 3])
        for _ in 1..<UndeliveredRecords.maximumAttempts { _ = try? delivery.read(after: 3) }
        for _ in 1...3 {
            #expect(try delivery.read(after: 3) == [6, 7])
            #expect(try delivery.read(after: 0) == [1, 2, 3])
        }
        #expect(delivery.skipped == 2)
        #expect(delivery.logged.levels == ["error", "error", "notice"])
    }

    @Test("unreadable batches in a row are skipped together, and what follows them is delivered")
    func unreadableBatchesInARow() throws {
        let delivery = try Delivery([([255], 2), ([255], 3), ([255], 1), (Self.records(7...8), 2)])
        for _ in 1..<UndeliveredRecords.maximumAttempts {
            #expect(throws: (any Error).self) { try delivery.read(after: 0) }
        }
        #expect(try delivery.read(after: 0) == [7, 8])
        #expect(delivery.skipped == 6)
    }

    @Test("an unreadable batch that is appended behind a skipped one does not stop the delivery")
    func unreadableBatchBehindASkippedOne() throws {
        let delivery = try Delivery([([255], 2)])
        for _ in 1..<UndeliveredRecords.maximumAttempts { _ = try? delivery.read(after: 0) }
        #expect(try delivery.read(after: 0) == [])
        try delivery.append((records: [255], count: 3))
        try delivery.append((records: Self.records(6...7), count: 2))
        #expect(try delivery.read(after: 0) == [6, 7])
        #expect(delivery.skipped == 5)
    }

    @Test("batches that have left the ledger before they were delivered are logged and counted once")
    func missingBatches() throws {
        let batches = (0..<3).map { (records: Self.records(($0 * 2 + 1)...($0 * 2 + 2)), count: UInt32(2)) }
        let delivery = try Delivery(batches, prunedBatches: 2)
        for _ in 1...2 {
            #expect(try delivery.read(after: 0) == [5, 6])
            #expect(try delivery.read(after: 5) == [6])
        }
        #expect(delivery.skipped == 4)
        #expect(delivery.logged.levels == ["error"])
    }

    @Test("a ledger that can be read is delivered without a word in the log")
    func soundLedger() throws {
        let delivery = try Delivery([(Self.records(1...3), 3), (Self.records(4...5), 2)])
        #expect(try delivery.read(after: 0) == [1, 2, 3, 4, 5])
        #expect(try delivery.read(after: 2) == [3, 4, 5])
        #expect(try delivery.read(after: 5) == [])
        #expect(delivery.logged.levels.isEmpty)
        #expect(delivery.skipped == 0)
    }
}
