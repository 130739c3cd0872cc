// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Testing

@Suite("Appending to the ledger and reading from it")
struct AppendingTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test(
        "appended batches are read back with contiguous ids and sequence numbers",
        arguments: LedgerDurability.allCases
    )
    func roundTrip(durability: LedgerDurability) throws {
        let ledger = try EventLedger.sample(in: directory, durability: durability)
        let batches = [
            LedgerBatch.sample(1, count: 3), .sample(2, count: 0), .sample(3, count: 5, bytes: 60_000),
            LedgerBatch(receivedAt: Int64.min, origin: .max, count: 1, receipt: [], events: []),
        ]
        #expect(try ledger.append(Array(batches[..<2])) == LedgerPosition(batch: 2, sequence: 3))
        #expect(try ledger.append(Array(batches[2...])) == LedgerPosition(batch: 4, sequence: 9))
        #expect(ledger.position == LedgerPosition(batch: 4, sequence: 9))

        let stored = try ledger.reader.read(afterBatch: 0)
        #expect(stored.map(\.batch) == batches)
        #expect(stored.map(\.id) == [1, 2, 3, 4])
        #expect(stored.map(\.firstSequence) == [1, 4, 4, 9])
        #expect(stored.map(\.position.sequence) == [3, 3, 8, 9])
    }

    @Test("an empty append changes nothing")
    func appendNothing() throws {
        let ledger = try EventLedger.sample(in: directory)
        try ledger.append([.sample(1)])
        #expect(try ledger.append([]) == LedgerPosition(batch: 1, sequence: 3))
        #expect(try ledger.reader.statistics().batches == 1)
    }

    @Test("a batch over the size limit is refused with the whole append, and its numbers are used next")
    func refusesOversizedBatch() throws {
        let ledger = try EventLedger.sample(in: directory)
        var large = LedgerBatch.sample(2)
        large.events = [UInt8](repeating: 1, count: LedgerBatch.maximumBytes)
        #expect(throws: LedgerError.self) { try ledger.append([.sample(1), large]) }
        #expect(ledger.position == .start)
        #expect(try ledger.append([.sample(3)]) == LedgerPosition(batch: 1, sequence: 3))
        #expect(try ledger.reader.read(afterBatch: 0).map(\.batch) == [.sample(3)])
    }

    @Test("a read ends at the limit of batches, or after the batch that reaches the limit of bytes")
    func readLimits() throws {
        let ledger = try EventLedger.sample(in: directory)
        try ledger.append((1...20).map { .sample($0, bytes: 1000) })
        #expect(try ledger.reader.read(afterBatch: 0, limit: ReadLimit(batches: 7)).map(\.id) == Array(1...7))
        #expect(try ledger.reader.read(afterBatch: 7, limit: ReadLimit(bytes: 2500)).map(\.id) == [8, 9, 10])
        #expect(try ledger.reader.read(afterBatch: 10, limit: ReadLimit(bytes: 1)).map(\.id) == [11])
        #expect(try ledger.reader.read(afterBatch: 20).isEmpty)
    }

    @Test("a read after a sequence number begins with the batch that holds the next one")
    func readAfterSequence() throws {
        let ledger = try EventLedger.sample(in: directory)
        let counts: [UInt32] = [3, 0, 2, 0, 0, 4, 1, 1, 6]
        try ledger.append(counts.enumerated().map { .sample($0.offset, count: $0.element) })
        for sequence in UInt64(0)...17 {
            let first = try ledger.reader.read(afterSequence: sequence).first { $0.batch.count > 0 }
            if sequence == 17 {
                #expect(first == nil)
            } else {
                let found = try #require(first)
                #expect(found.firstSequence <= sequence + 1 && sequence + 1 <= found.position.sequence)
            }
        }
        try ledger.prune(upTo: LedgerPosition(batch: 3, sequence: 5), keepSince: .max)
        #expect(try ledger.reader.read(afterSequence: 0).first?.id == 4)
        #expect(try ledger.reader.read(afterSequence: 9).first?.id == 7)
    }

    @Test("a second reader of the ledger's directory sees what is committed")
    func readsBeside() throws {
        #expect(throws: LedgerError.absent(path: directory.path + "/ledger.sqlite")) {
            try LedgerReader.open(directory: directory.path)
        }
        let ledger = try EventLedger.sample(in: directory)
        let reader = try LedgerReader.open(directory: directory.path)
        #expect(try reader.read(afterBatch: 0).isEmpty)
        try ledger.append([.sample(1)])
        #expect(try reader.read(afterBatch: 0).map(\.batch) == [.sample(1)])
        #expect(try reader.identity().id == ledger.id)
    }

    @Test("a closed ledger throws on every call and leaves one database file")
    func closed() throws {
        let ledger = try EventLedger.sample(in: directory)
        try ledger.append([.sample(1)])
        try ledger.close()
        #expect(throws: LedgerError.self) { try ledger.append([.sample(2)]) }
        #expect(throws: LedgerError.self) { try ledger.reader.read(afterBatch: 0) }
        #expect(try directory.names() == ["ledger.lock", "ledger.mark", "ledger.reserve", "ledger.sqlite"])
    }
}
