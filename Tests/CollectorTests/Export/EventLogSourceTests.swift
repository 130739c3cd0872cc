// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Export
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

@Suite("Events as log records for a destination")
struct EventLogSourceTests {
    /// A ledger with batches of three events, and a destination's view of it.
    private final class Destination {
        private let directory: TemporaryDirectory
        let ledger: EventLedger
        private(set) var progress: DeliveryProgress
        private(set) var source: EventLogSource
        let logged = LoggedLines()

        init(batches: Int, prunedBatches: Int = 0) throws {
            directory = try TemporaryDirectory()
            let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger
            self.ledger = ledger
            let ends = try (0..<batches).map { try Self.append($0, to: ledger) }
            if prunedBatches > 0 { try ledger.prune(upTo: ends[prunedBatches - 1], keepSince: .max) }
            progress = try DeliveryProgress.resume(ledger, projection: "export test")
            source = EventLogSource(
                ledger,
                ledger.reader,
                progress,
                destination: "test",
                key: EventText.identityKey,
                log: logged.logger
            )
        }

        deinit { try? ledger.close() }

        static func append(_ number: Int, to ledger: EventLedger) throws -> LedgerPosition {
            let lines = (0..<3).map { EventText.scheduled("cycle-\(number)-\($0)") }
            return try ledger.append([
                LedgerBatch(
                    receivedAt: startOfTest,
                    origin: EventOrigin(.http, .ndjson).rawValue,
                    count: 3,
                    receipt: [],
                    events: EventText.decode(lines).events.bytes
                )
            ])
        }

        func read(after sequence: UInt64, maximumBytes: Int = 1 << 20) throws -> (
            end: UInt64, count: Int, bytes: [UInt8]
        ) {
            let resource = ExportResource(version: "1", instance: ledger.id)
            var logs = OTLPLogs(resource, version: "1")
            let end = try source.read(after: sequence, into: &logs, maximumBytes: maximumBytes)
            let count = logs.count
            return (end, count, logs.finish() ?? [])
        }

        /// Saves the position as the writer does, and reads the ledger again as a restart does.
        func restart() throws {
            let retention = LedgerRetention(
                journal: nil,
                destinations: WaitingDestinations(progresses: [progress]),
                keepSeconds: { 0 }
            )
            retention.savePosition(ledger, now: startOfTest)
            progress = try DeliveryProgress.resume(ledger, projection: "export test")
        }
    }

    private func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        let wanted = Array(text.utf8)
        return bytes.indices.dropLast(wanted.count - 1).contains { bytes[$0..<$0 + wanted.count].elementsEqual(wanted) }
    }

    @Test("records come in order with their number, identity and fields, and a limit cuts after a record")
    func recordsInOrder() throws {
        let destination = try Destination(batches: 3)
        let all = try destination.read(after: 0)
        #expect(all.end == 9 && all.count == 9)
        for number in 1...9 { #expect(contains(all.bytes, "\(destination.ledger.id):\(number)")) }
        #expect(contains(all.bytes, "DNP_SCHEDULE_ID") && contains(all.bytes, "prefetch_scheduled"))
        #expect(!contains(all.bytes, "MESSAGE=") && !contains(all.bytes, "PRIORITY"))
        let one = try destination.read(after: 4, maximumBytes: 1)
        #expect(one.end == 5 && one.count == 1 && contains(one.bytes, ":5"))
        #expect(try destination.read(after: 9).end == 9)
    }

    @Test("the position survives a restart, and a new destination begins with the oldest event there is")
    func positionsSurvive() throws {
        let destination = try Destination(batches: 3, prunedBatches: 1)
        #expect(destination.source.position == 3)
        #expect(destination.source.dropped(pruned: LedgerPosition(batch: 1, sequence: 3)) == 0)
        #expect(try destination.read(after: 3).end == 9)
        destination.source.delivered(7)
        try destination.restart()
        #expect(destination.progress.latest == 7)
    }

    @Test("what was deleted before a destination had it is counted as dropped, once")
    func droppedEvents() throws {
        let destination = try Destination(batches: 4)
        destination.source.delivered(1)
        let pruned = LedgerPosition(batch: 2, sequence: 6)
        try destination.ledger.prune(upTo: pruned, keepSince: .max)
        #expect(destination.source.dropped(pruned: pruned) == 5)
        let rest = try destination.read(after: 1)
        #expect(rest.end == 12 && rest.count == 6)
        #expect(destination.source.dropped(pruned: pruned) == 5)
        destination.source.delivered(12)
        try destination.restart()
        #expect(destination.progress.skipped == 5)
    }

    @Test("a gap that a destination has not passed at a restart is counted once")
    func gapBeforeRestart() throws {
        let destination = try Destination(batches: 4)
        destination.source.delivered(1)
        let pruned = LedgerPosition(batch: 2, sequence: 6)
        try destination.ledger.prune(upTo: pruned, keepSince: .max)
        _ = try destination.read(after: 1)
        #expect(destination.source.dropped(pruned: pruned) == 5)
        try destination.restart()
        let progress = destination.progress
        #expect(progress.latest == 6 && progress.dropped(pruned: 6, loaded: progress.latest) == 5)
        progress.confirmed(12)
        try destination.restart()
        #expect(destination.progress.dropped(pruned: 6, loaded: 12) == 5)
    }

    @Test("what was deleted after it was read from the ledger is delivered, and never counted as dropped")
    func readAhead() throws {
        let destination = try Destination(batches: 4)
        #expect(try destination.read(after: 0, maximumBytes: 1).end == 1)
        let pruned = LedgerPosition(batch: 2, sequence: 6)
        try destination.ledger.prune(upTo: pruned, keepSince: .max)
        #expect(destination.source.dropped(pruned: pruned) == 0)
        let rest = try destination.read(after: 1)
        #expect(rest.end == 12 && rest.count == 11)
        #expect(destination.source.dropped(pruned: pruned) == 0)
    }

    @Test("a destination goes on where the ledger was emptied before it, though no event follows")
    func emptiedLedger() throws {
        let destination = try Destination(batches: 3)
        #expect(try destination.read(after: 0, maximumBytes: 1).end == 1)
        destination.source.delivered(1)
        let end = destination.ledger.position
        try destination.ledger.prune(upTo: end, keepSince: .max)
        // What was read from the ledger before stays readable; then comes what is gone.
        var last: UInt64 = 1
        while case let next = try destination.read(after: last).end, next > last { last = next }
        #expect(last == 9)
        destination.source.delivered(last)
        #expect(destination.progress.skipped == destination.source.dropped(pruned: end))
        _ = try Destination.append(9, to: destination.ledger)
        let later = try destination.read(after: last)
        #expect(later.end == 12 && later.count == 3)
    }

    @Test("batches wait for a destination within the limit, and not beyond it or where the disk is short")
    func retentionWaits() throws {
        func remaining(limit: Int, isShort: Bool) throws -> Int64 {
            let destination = try Destination(batches: 4)
            destination.source.delivered(0)
            var retention = LedgerRetention(
                journal: nil,
                destinations: WaitingDestinations(progresses: [destination.progress], limit: { limit }),
                keepSeconds: { 0 }
            )
            let end = destination.ledger.position
            _ = try retention.apply(
                destination.ledger,
                lifecycle: end,
                isShort: isShort,
                believed: startOfTest,
                now: startOfTest + 10_000_000
            )
            return try destination.ledger.reader.statistics().batches
        }
        #expect(try remaining(limit: .max, isShort: false) == 4)
        #expect(try remaining(limit: 1, isShort: false) == 0)
        #expect(try remaining(limit: .max, isShort: true) == 0)
    }
}
