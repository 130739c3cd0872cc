// SPDX-License-Identifier: Apache-2.0

import SystemPrimitives
import Testing

@testable import EventLedger

@Suite("A damaged ledger")
struct DamageTests {
    enum Damage: String, CaseIterable {
        case header, garbage, truncated, middlePage, otherApplication, missingTable, index
    }

    let directory: TemporaryDirectory
    var path: String { directory.path + "/ledger.sqlite" }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Leaves a closed ledger of 300 batches.
    func fill(bytes: Int = 2000) throws {
        let ledger = try EventLedger.sample(in: directory)
        for start in stride(from: 1, through: 300, by: 50) {
            try ledger.append((start..<start + 50).map { .sample($0, bytes: bytes) })
        }
        try ledger.close()
    }

    func flipByte(ofBatch number: Int) throws {
        let offset = try #require(try FileBytes.find(Array("events \(number);".utf8), in: FileBytes.read(path)))
        let byte = try FileBytes.read(path)[offset + 40]
        try FileBytes.write([byte ^ 0x10], to: path, at: offset + 40)
    }

    func damageMiddlePage(of path: String) throws {
        let pages = try FileBytes.read(path).count / 8192
        try FileBytes.write([UInt8](repeating: 0xFF, count: 8192), to: path, at: pages / 2 * 8192)
    }

    func apply(_ damage: Damage) throws {
        switch damage {
        case .header: try FileBytes.write([UInt8](repeating: 0xA5, count: 100), to: path)
        case .garbage:
            try FileBytes.write((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* $0 &+ 7) }, to: path)
        case .truncated: try FileBytes.truncate(path, to: FileBytes.read(path).count / 2 / 8192 * 8192)
        case .middlePage: try damageMiddlePage(of: path)
        case .index:
            let connection = try LedgerConnection(
                path: path,
                readOnly: false,
                setUp: ["INSERT INTO position VALUES ('hidden by its index', 0, 0, '', 0, 0)"]
            )
            try connection.close()
            let places = try FileBytes.read(path).split(separator: Array("hidden by its index".utf8))
            try #require(places.count == 3, "the row and its entry in the index")
            try FileBytes.write(Array("visible".utf8), to: path, at: places[0].count)
        case .otherApplication: try FileBytes.write([1, 2, 3, 4], to: path, at: 68)
        case .missingTable:
            let connection = try LedgerConnection(path: path, readOnly: false, setUp: ["DROP TABLE position"])
            try connection.close()
        }
    }

    @Test("a damaged ledger is set aside unchanged, and a new one is created", arguments: Damage.allCases)
    func setsAside(damage: Damage) throws {
        try fill()
        try apply(damage)
        let damaged = try FileBytes.read(path)

        let (ledger, opening) = try EventLedger.open(directory: directory.path, durability: .process, now: sampleTime)
        let aside = directory.path + "/ledger-corrupt-20251114T054800Z.sqlite"
        guard case .setAside(aside, let reason) = opening else {
            Issue.record("unexpected: \(opening)")
            return
        }
        #expect(!reason.isEmpty)
        #expect(try FileBytes.read(aside) == damaged)
        #expect(ledger.position == .start)
        try ledger.append([.sample(1)])
        try ledger.close()

        let (again, second) = try EventLedger.open(directory: directory.path, durability: .process, now: sampleTime)
        #expect(second == .opened)
        #expect(try again.reader.read(afterBatch: 0).map(\.batch) == [.sample(1)])
    }

    @Test("two ledgers set aside within a second are both kept")
    func setsAsideTwice() throws {
        for _ in 0..<2 {
            try FileBytes.write(Array("not a database at all, but long enough for one".utf8), to: path)
            try EventLedger.sample(in: directory).close()
        }
        #expect(
            try directory.names()
                == [
                    "ledger-corrupt-20251114T054800Z-2.sqlite", "ledger-corrupt-20251114T054800Z.sqlite", "ledger.lock",
                    "ledger.mark", "ledger.reserve", "ledger.sqlite",
                ].sorted()
        )
    }

    @Test("a write-ahead log without its database is set aside", arguments: [nil, 0, 1])
    func setsAsideLonelyLog(bytes: Int?) throws {
        let log = Array("frames of a database that is gone".utf8)
        try FileBytes.write(log, to: path + "-wal")
        if let bytes { try FileBytes.write([UInt8](repeating: 0x53, count: bytes), to: path) }
        let (ledger, opening) = try EventLedger.open(directory: directory.path, durability: .process, now: sampleTime)
        guard case .setAside(let aside, _) = opening else {
            Issue.record("unexpected: \(opening)")
            return
        }
        #expect(try FileBytes.read(aside + "-wal") == log)
        try ledger.append([.sample(1)])
    }

    @Test("a damaged ledger's write-ahead log is set aside with it")
    func keepsLogBesideDamagedDatabase() throws {
        try fill()
        let ledger = try EventLedger.sample(in: directory)
        try ledger.append([.sample(301)])
        let image = try TemporaryDirectory()
        let target = image.path + "/ledger.sqlite"
        try FileBytes.copy(path, to: target)
        try FileBytes.copy(path + "-wal", to: target + "-wal")
        let log = try FileBytes.read(target + "-wal")
        #expect(!log.isEmpty)
        try damageMiddlePage(of: target)
        let (_, opening) = try EventLedger.open(directory: image.path, durability: .process, now: sampleTime)
        guard case .setAside(let aside, _) = opening else {
            Issue.record("unexpected: \(opening)")
            return
        }
        #expect(try FileBytes.read(aside + "-wal") == log)
    }

    @Test(
        "a damaged batch is found by reading and by verify, and can be skipped, wherever it is",
        arguments: [20, 100, 250, 299, 300]
    )
    func damagedBatch(number: Int) throws {
        try fill()
        try flipByte(ofBatch: number)
        let batch = Int64(number)
        let (ledger, opening) = try EventLedger.open(directory: directory.path, durability: .process, now: sampleTime)
        #expect(opening == .opened && ledger.renewal == nil)
        #expect(ledger.position == LedgerPosition(batch: 300, sequence: 900), "its numbers are known")
        #expect(try ledger.reader.read(afterBatch: batch - 10).map(\.id) == Array(batch - 9..<batch))
        let error = #expect(throws: LedgerError.self) { try ledger.reader.read(afterBatch: batch - 1) }
        guard case .damagedBatch(batch, let detail) = error else {
            Issue.record("unexpected: \(String(describing: error))")
            return
        }
        #expect(detail.contains("checksum"))
        #expect(try ledger.reader.read(afterBatch: batch).first?.id == (batch == 300 ? nil : batch + 1))
        #expect(try ledger.append([.sample(301)]) == LedgerPosition(batch: 301, sequence: 903))

        let verification = try ledger.reader.verify()
        #expect(verification.batches == 301)
        #expect(verification.events == 900)
        #expect(verification.findings.map(\.batch) == [batch])
        #expect(verification.next == nil)
    }

    @Test(
        "where the numbers of the newest batch are damaged, the ledger goes on after the last sound one, in a new life",
        arguments: [1, 1_000_000, Int64.max]
    )
    func damagedNumbers(first: Int64) throws {
        try fill()
        let connection = try LedgerConnection(
            path: path,
            readOnly: false,
            setUp: ["UPDATE batch SET first_sequence = \(first) WHERE id = 300"]
        )
        try connection.close()
        let ledger = try EventLedger.sample(in: directory)
        #expect(ledger.position == LedgerPosition(batch: 300, sequence: 897))
        #expect(ledger.renewal?.reason == .mark && ledger.renewal?.missingEvents == 3)
        #expect(try ledger.reader.statistics().end == ledger.position)
        #expect(try ledger.append([.sample(301)]) == LedgerPosition(batch: 301, sequence: 900))
        #expect(try ledger.reader.statistics().end == ledger.position)
        #expect(try ledger.reader.read(afterBatch: 300).map(\.firstSequence) == [898])
        #expect(try ledger.reader.verify().findings.map(\.batch) == [300])
    }

    @Test("a batch one of whose values has lost its type is skipped, and no reason to set the ledger aside")
    func damagedType() throws {
        try fill()
        let bytes = try FileBytes.read(path)
        // The types of the values (https://sqlite.org/fileformat.html#record_format) precede 20 bytes of numbers and the
        // receipt: the header's size, id, first sequence, count, received time, origin, checksum, receipt and events.
        let types: [UInt8] = [10, 0, 2, 1, 6, 1, 6, 36, 0x9F, 0x42]
        let receipt = try #require(FileBytes.find(Array("receipt 300;".utf8), in: bytes))
        let header = receipt - 20 - types.count
        #expect(Array(bytes[header..<header + types.count]) == types)
        // The received time is a floating-point number then.
        try FileBytes.write([7], to: path, at: header + 4)
        let findings = try LedgerReader.open(directory: directory.path).integrityFindings()
        #expect(findings == ["non-INTEGER value in batch.received_at"])
        let (ledger, opening) = try EventLedger.open(directory: directory.path, durability: .process, now: sampleTime)
        #expect(opening == .opened)
        let error = #expect(throws: LedgerError.self) { try ledger.reader.read(afterBatch: 299) }
        #expect(error == .damagedBatch(id: 300, detail: "a number is of another type"))
        #expect(try ledger.reader.verify().events == 897)
    }

    @Test("verify works in parts and finds missing batches")
    func verifyFindsGaps() throws {
        try fill(bytes: 10)
        let connection = try LedgerConnection(
            path: path,
            readOnly: false,
            setUp: ["DELETE FROM batch WHERE id BETWEEN 40 AND 42"]
        )
        try connection.close()
        let reader = try LedgerReader.open(directory: directory.path)
        var findings: [Int64] = []
        var batches = 0
        var next: Int64? = 0
        while let after = next {
            let part = try reader.verify(afterBatch: after, limit: ReadLimit(batches: 25))
            batches += part.batches
            findings += part.findings.map(\.batch)
            next = part.next
        }
        #expect(batches == 297)
        #expect(findings == [43])
    }

    @Test("a row that an index hides is found in a file above the full check's size, too")
    func largeFileWithHiddenRow() throws {
        try fill()
        try apply(.index)
        var limits = LedgerLimits()
        limits.fullCheckBytes = 0
        let (ledger, opening) = try EventLedger.open(
            directory: directory.path,
            durability: .process,
            now: sampleTime,
            limits: limits
        )
        guard case .setAside(_, let reason) = opening else {
            Issue.record("unexpected: \(opening)")
            return
        }
        #expect(reason.contains("index"))
        try ledger.append([.sample(1)])
    }

    @Test(
        "opening checks only the header, the tail's pages and the state of a file above the full check's size",
        arguments: [true, false]
    )
    func largeFile(isTailDamaged: Bool) throws {
        try fill()
        if isTailDamaged {
            let place = try #require(try FileBytes.find(Array("events 290;".utf8), in: FileBytes.read(path)))
            try FileBytes.write([UInt8](repeating: 0xFF, count: 8192), to: path, at: place / 8192 * 8192)
        } else {
            try apply(.middlePage)
        }
        var limits = LedgerLimits()
        limits.fullCheckBytes = 0
        let opening = try EventLedger.open(
            directory: directory.path,
            durability: .process,
            now: sampleTime,
            limits: limits
        ).opening
        if isTailDamaged {
            guard case .setAside(_, let reason) = opening else {
                Issue.record("unexpected: \(opening)")
                return
            }
            #expect(reason.contains("malformed"))
        } else {
            #expect(opening == .opened)
        }
    }

    @Test("loading a projection's state stops at a damaged page with its key")
    func damagedState() throws {
        let ledger = try EventLedger.sample(in: directory)
        var changes = StateChanges()
        changes.put("a", Array("sound page".utf8))
        changes.put("b", Array("page that will be damaged".utf8))
        try ledger.checkpoint(projection: "fold", at: .start, changes: changes, now: sampleTime)
        try ledger.close()
        let offset = try #require(try FileBytes.find(Array("will be damaged".utf8), in: FileBytes.read(path)))
        try FileBytes.write(Array("W".utf8), to: path, at: offset)
        let reopened = try EventLedger.sample(in: directory)
        var keys: [StateKey] = []
        #expect(throws: LedgerError.damagedState(projection: "fold", key: "b")) {
            try reopened.reader.loadState("fold") { key, _ in keys.append(key) }
        }
        #expect(keys == ["a"])
    }
}

@Suite("A ledger with damage anywhere in its files")
struct DamageSweepTests {
    let origin: TemporaryDirectory
    let directory: TemporaryDirectory

    /// A small ledger with two batches in the database and two in the log.
    init() throws {
        origin = try TemporaryDirectory()
        directory = try TemporaryDirectory()
        let first = try EventLedger.sample(in: origin)
        try first.append([.sample(1), .sample(2, bytes: 30_000)])
        try first.checkpoint(projection: "fold", at: first.position, changes: StateChanges(), now: sampleTime)
        try first.close()
        let second = try EventLedger.sample(in: origin)
        try second.append([.sample(3), .sample(4, bytes: 30_000)])
        for name in ["ledger.sqlite", "ledger.sqlite-wal"] {
            try FileBytes.copy("\(origin.path)/\(name)", to: "\(origin.path)/image-\(name)")
        }
        try second.close()
    }

    /// Opens the damaged files, appends and reads, and opens them once more.
    func exercise(_ database: [UInt8], _ log: [UInt8]?, _ what: Comment) throws {
        let path = directory.path + "/ledger.sqlite"
        for name in try directory.names() { try FileBytes.remove("\(directory.path)/\(name)") }
        try FileBytes.write(database, to: path)
        if let log { try FileBytes.write(log, to: path + "-wal") }
        do {
            let (ledger, opening) = try EventLedger.open(directory: directory.path, durability: .process, now: 0)
            let end = try ledger.append([.sample(5)])
            let last = try ledger.reader.read(afterBatch: end.batch - 1)
            #expect(last.map(\.batch) == [.sample(5)], what)
            if case .setAside(let aside, _) = opening {
                #expect(try FileBytes.read(aside) == database, what)
            }
            try ledger.close()
            let (again, second) = try EventLedger.open(directory: directory.path, durability: .process, now: 0)
            #expect(second == .opened, what)
            #expect(again.position == end, what)
            try again.close()
        } catch LedgerError.newerSchema {
            #expect(database[60..<64] != [0, 0, 0, 3], what)
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    @Test(
        "whatever byte of the header is damaged, the ledger or a new one opens",
        arguments: [0x00, 0xFF] as [UInt8]
    )
    func header(value: UInt8) throws {
        let database = try FileBytes.read(origin.path + "/ledger.sqlite")
        for offset in 0..<100 where database[offset] != value {
            var damaged = database
            damaged[offset] = value
            try exercise(damaged, nil, "byte \(offset) is \(value)")
        }
    }

    @Test("wherever the database is cut, the ledger or a new one opens")
    func cuts() throws {
        let database = try FileBytes.read(origin.path + "/ledger.sqlite")
        for size in [1, 15, 16, 99, 100, 511, 512, 4096, 8191, 8192, 8193, 20_000, 40_960, database.count - 1] {
            try exercise(Array(database.prefix(size)), nil, "cut at \(size)")
        }
    }

    @Test("whatever run of bytes in database or log is damaged, the ledger or a new one opens")
    func runs() throws {
        let database = try FileBytes.read(origin.path + "/image-ledger.sqlite")
        let log = try FileBytes.read(origin.path + "/image-ledger.sqlite-wal")
        var generator = SplitMix64(seed: 7)
        for round in 0..<60 {
            var files = [database, log]
            let which = round % 2
            let start = Int(generator.next() % UInt64(files[which].count))
            let end = min(files[which].count, start + 1 + Int(generator.next() % 300))
            for offset in start..<end { files[which][offset] = UInt8(truncatingIfNeeded: generator.next()) }
            try exercise(files[0], files[1], "file \(which), bytes \(start) to \(end)")
        }
    }
}
