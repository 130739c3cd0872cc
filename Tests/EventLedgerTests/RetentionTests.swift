// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Testing

@Suite("Retention of the ledger's batches")
struct RetentionTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("pruning deletes only batches that are old enough and behind every projection, oldest first, up to its limit")
    func bounds() throws {
        let ledger = try EventLedger.sample(in: directory)
        try ledger.append((1...100).map { .sample($0, at: Int64($0)) })
        let reached = LedgerPosition(batch: 60, sequence: 180)
        #expect(try ledger.prune(upTo: reached, keepSince: 51, limit: 30).batches == 30)
        #expect(try ledger.reader.read(afterBatch: 0).first?.id == 31)
        #expect(try ledger.prune(upTo: reached, keepSince: 51, limit: 30).batches == 20)
        #expect(try ledger.prune(upTo: reached, keepSince: 51, limit: 30).batches == 0)
        #expect(try ledger.prune(upTo: reached, keepSince: .max, limit: 30).batches == 10)
        #expect(try ledger.prune(upTo: reached, keepSince: .max, limit: 30).batches == 0)

        let statistics = try ledger.reader.statistics()
        #expect(statistics.batches == 40)
        #expect(statistics.events == 120)
        #expect(statistics.pruned == reached)
        #expect(statistics.end == LedgerPosition(batch: 100, sequence: 300))
        #expect(statistics.oldestReceivedAt == 61)
    }

    @Test("a batch stamped by a clock that ran ahead does not hold back the pruning of its neighbours")
    func clockAhead() throws {
        let ledger = try EventLedger.sample(in: directory)
        let times: [Int64] = [1, 2, 9_000_000, 3, 4, 5]
        try ledger.append(times.enumerated().map { .sample($0.offset, at: $0.element) })
        #expect(try ledger.prune(upTo: ledger.position, keepSince: 5, now: 6).batches == 5)
        #expect(try ledger.reader.read(afterBatch: 0).map(\.batch.receivedAt) == [5])
    }

    @Test("more batches than one call scans, stamped by a clock that was ahead, go once one behind them is old")
    func longAhead() throws {
        let ledger = try EventLedger.sample(in: directory)
        let times = (0..<40).map { Int64(1_000 + $0) } + (0..<60).map { Int64(10 + $0) }
        try ledger.append(times.enumerated().map { .sample($0.offset, at: $0.element) })
        #expect(try ledger.prune(upTo: ledger.position, keepSince: 5, now: 100, limit: 10).batches == 0)
        var deleted: [Int] = []
        for _ in 0..<6 {
            let pruning = try ledger.prune(upTo: ledger.position, keepSince: 60, now: 100, limit: 10)
            deleted.append(pruning.batches)
            #expect(pruning.isCutShort, "there is more")
        }
        #expect(deleted == [10, 10, 10, 10, 10, 10])
        #expect(try ledger.reader.read(afterBatch: 0).first?.batch.receivedAt == 30)
    }

    @Test("a batch stamped by a clock that was behind does not take the ones before it with it")
    func clockBehind() throws {
        let ledger = try EventLedger.sample(in: directory)
        let times: [Int64] = [10, 20, 30, 1, 31, 2, 32]
        try ledger.append(times.enumerated().map { .sample($0.offset, at: $0.element) })
        let kept = { try ledger.reader.read(afterBatch: 0).map(\.batch.receivedAt) }
        #expect(try ledger.prune(upTo: ledger.position, keepSince: 15, now: 40).batches == 1)
        #expect(try kept() == [20, 30, 1, 31, 2, 32])
        #expect(try ledger.prune(upTo: ledger.position, keepSince: 30, now: 40).batches == 1)
        #expect(try kept() == [30, 1, 31, 2, 32])
        #expect(try ledger.prune(upTo: ledger.position, keepSince: 31, now: 40).batches == 2, "it goes with them")
        #expect(try kept() == [31, 2, 32])
    }

    @Test("numbers are not reused after everything was pruned and the ledger reopened")
    func numbersAreNeverReused() throws {
        let first = try EventLedger.sample(in: directory)
        try first.append((1...5).map { .sample($0, count: 4) })
        #expect(try first.prune(upTo: first.position, keepSince: .max).batches == 5)
        #expect(try first.append([.sample(6, count: 1)]) == LedgerPosition(batch: 6, sequence: 21))
        #expect(try first.prune(upTo: first.position, keepSince: .max).batches == 1)
        try first.close()

        let second = try EventLedger.sample(in: directory)
        #expect(second.position == LedgerPosition(batch: 6, sequence: 21))
        let empty = try second.reader.statistics()
        #expect(empty.batches == 0 && empty.events == 0 && empty.oldestReceivedAt == nil)
        #expect(empty.end == second.position)
        #expect(try second.append([.sample(7, count: 2)]) == LedgerPosition(batch: 7, sequence: 23))
        #expect(try second.reader.read(afterSequence: 0).map(\.firstSequence) == [22])
    }

    @Test("pruning returns disk space in bounded steps")
    func givesDiskBack() throws {
        let ledger = try EventLedger.sample(in: directory)
        for start in stride(from: 1, through: 800, by: 100) {
            try ledger.append((start..<start + 100).map { .sample($0, bytes: 60_000) })
        }
        try ledger.close()
        let path = directory.path + "/ledger.sqlite"
        let full = try FileBytes.read(path).count
        #expect(full > 40 << 20)

        let pruned = try EventLedger.sample(in: directory)
        let first = try pruned.prune(
            upTo: pruned.position,
            keepSince: .max,
            limit: 800,
            bytes: .max,
            vacuumBytes: 4 << 20
        )
        #expect(first.batches == 800 && first.isCutShort)
        try pruned.close()
        let slice = try FileBytes.read(path).count
        #expect(slice < full && slice >= full - (4 << 20))

        let reopened = try EventLedger.sample(in: directory)
        for _ in 0..<20 {
            try reopened.prune(upTo: reopened.position, keepSince: .max, vacuumBytes: 4 << 20)
        }
        try reopened.close()
        #expect(try FileBytes.read(path).count < 18 << 20)
    }

    @Test("the write-ahead log stays near its limit under continuous appends")
    func logIsBounded() throws {
        let ledger = try EventLedger.sample(in: directory)
        for number in 1...1500 {
            try ledger.append([.sample(number, bytes: 60_000)])
        }
        let statistics = try ledger.reader.statistics()
        #expect(statistics.logBytes < 20 << 20)
        #expect(statistics.databaseBytes > 60 << 20)
    }
}
