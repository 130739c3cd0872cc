// SPDX-License-Identifier: Apache-2.0

import EventLedger
import TestSupport
import Testing

@testable import LedgerTools

@Suite("A walk through the ledger")
struct LedgerWalkTests {
    private func ledger(batches: Int) throws -> (EventLedger, TemporaryDirectory) {
        let directory = try TemporaryDirectory()
        let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: 0).ledger
        for _ in 0..<batches {
            try ledger.append([LedgerBatch(receivedAt: 0, origin: 0x0101, count: 2, receipt: [], events: [1])])
        }
        return (ledger, directory)
    }

    @Test("a ledger walk goes on behind what a service deletes under it, and says so")
    func deleted() throws {
        let (ledger, _) = try ledger(batches: 10)
        var walk = try LedgerWalk(ledger.reader, after: .start, limit: ReadLimit(batches: 2))
        for _ in 0..<2 { _ = try walk.next() }
        try ledger.prune(upTo: LedgerPosition(batch: 7, sequence: 14), keepSince: .max)
        guard case .deleted(let position)? = try walk.next() else {
            Issue.record("it does not say that batches were deleted")
            return
        }
        #expect(position == LedgerPosition(batch: 7, sequence: 14))
        var ids: [Int64] = []
        while case .batch(let stored)? = try walk.next() { ids.append(stored.id) }
        #expect(ids == [8, 9, 10])
        try ledger.prune(upTo: ledger.position, keepSince: .max)
        #expect(try walk.next().map { "\($0)" } == nil)
        try ledger.close()
    }

    @Test("a ledger walk ends where everything was deleted that it had not read")
    func allDeleted() throws {
        let (ledger, _) = try ledger(batches: 3)
        var walk = try LedgerWalk(ledger.reader, after: .start, limit: ReadLimit(batches: 1))
        _ = try walk.next()
        try ledger.prune(upTo: ledger.position, keepSince: .max)
        guard case .deleted(ledger.position)? = try walk.next() else {
            Issue.record("it does not say that batches were deleted")
            return
        }
        #expect(try walk.next().map { "\($0)" } == nil)
        #expect(walk.last == ledger.position)
        try ledger.close()
    }

    @Test("a ledger walk begins in the batch that holds the next event", arguments: [(0, 1), (1, 1), (2, 2), (19, 10)])
    func ledgerWalkStart(after: UInt64, batch: Int64) throws {
        let (ledger, _) = try ledger(batches: 10)
        var walk = try LedgerWalk(ledger.reader, afterSequence: after)
        guard case .batch(let stored)? = try walk.next() else {
            Issue.record("it does not begin with a batch")
            return
        }
        #expect(stored.id == batch)
        try ledger.close()
    }
}

@Suite("The numbers that a journal holds")
struct JournalCensusTests {
    private func census(_ numbers: [UInt64]) -> JournalCensus {
        var census = JournalCensus()
        for number in numbers { census.note(number) }
        return census
    }

    @Test("a journal's sequence numbers may begin late, when older entries were vacuumed")
    func journalCensusVacuumed() {
        #expect(census(Array(100...200)).missing(upTo: 200) == [])
        #expect(census([]).missing(upTo: 200) == [])
    }

    @Test("a journal's sequence numbers miss what lies between them and what should follow them")
    func journalCensusMissing() {
        #expect(census([3, 4, 7, 9]).missing(upTo: 12) == [5...6, 8...8, 10...12])
        #expect(census([3, 4, 7, 9]).missing(upTo: 6) == [5...6])
        #expect(census([3, 4, 7, 9]).missing(upTo: 3) == [])
        #expect(census([9, 3, 7, 4]).missing(upTo: 9) == [5...6, 8...8])
    }

    @Test("a journal's sequence numbers are repeated once however often they come")
    func repeated() {
        let census = census([1, 2, 2, 3, 2, 5, 4, 5])
        #expect(census.repetitions == [2...2, 5...5])
        #expect(census.entries == 8)
        #expect(census.missing(upTo: 5) == [])
    }

    @Test("a journal's sequence numbers include those that are in its files and not in its index")
    func journalCensusUnindexed() {
        var indexed = census([3, 4, 7, 7, 9])
        indexed.addUnindexed(of: census([1, 3, 4, 5, 7, 7, 8, 9, 12, 13]), upTo: 12)
        #expect(indexed.missing(upTo: 12) == [6...6, 10...11])
        #expect(indexed.unindexed == 3)
        #expect(indexed.entries == 8)
        #expect(indexed.repetitions == [7...7], "what the index shows once is not repeated")
    }

    /// What is settled of a journal that reads like this each time that it is opened.
    private func settled(_ readings: [[UInt64]], unindexed: [UInt64] = [], upTo last: UInt64 = 12) throws -> (
        census: JournalCensus, readings: Int
    ) {
        var read = 0
        let settled = try JournalCensus.settled(upTo: last) { usesIndex in
            guard usesIndex else { return census(unindexed) }
            read += 1
            return census(readings[min(read, readings.count) - 1])
        }
        return (settled, read)
    }

    @Test("a journal that holds every number is read once")
    func readOnce() throws {
        let (census, readings) = try settled([Array(3...12), []])
        #expect(readings == 1)
        #expect(census.missing(upTo: 12) == [])
    }

    @Test("numbers of a file that was renamed while the journal was opened are found when it is opened again")
    func rotatedWhileOpened() throws {
        let (census, _) = try settled([[1, 2, 3, 4, 9, 10, 11, 12], Array(1...12)])
        #expect(census.missing(upTo: 12) == [])
        #expect(census.entries == 12 && census.unindexed == 0 && census.repetitions == [])
        // At the end of the journal, too.
        #expect(try settled([[1, 2, 3, 4], Array(1...12)]).census.missing(upTo: 12) == [])
    }

    @Test("numbers that the journal deletes while it is read are not missing, those after its oldest entry are")
    func deletedWhileRead() throws {
        // The file with 5 to 8 was deleted after that with 1 to 4 had been opened.
        let deleted = try settled([[1, 2, 3, 4, 9, 10, 11, 12], [9, 10, 11, 12]])
        #expect(deleted.census.missing(upTo: 12) == [])
        #expect(try settled([[1, 2, 3, 4, 9, 10, 12], [9, 10, 12]]).census.missing(upTo: 12) == [11...11])
        // 2 was written late, and stays when 5 to 8 go.
        #expect(try settled([[1, 3, 4, 9, 2, 10, 11, 12], [9, 2, 10, 11, 12]]).census.missing(upTo: 12) == [])
        #expect(try settled([[1, 2, 3, 4, 9], []]).census.missing(upTo: 12) == [], "all of it was deleted")
    }

    @Test("numbers that are missing each time that the journal is read are missing")
    func missingEachTime() throws {
        let (census, readings) = try settled([[1, 2, 3, 5, 5, 6, 8, 9, 10, 11, 12]], unindexed: [1, 2, 3, 7])
        #expect(census.missing(upTo: 12) == [4...4])
        #expect(census.unindexed == 1 && census.repetitions == [5...5])
        #expect(census.entries == 12)
        #expect(readings == 3)
    }
}
