// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EventLedger

@Suite("Damage")
struct DamageTests {
    enum Damage: String, CaseIterable {
        case header, garbage, truncated, middlePage, flippedByte, otherApplication, missingTable
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
        case .flippedByte: try flipByte(ofBatch: 300)
        case .otherApplication: try FileBytes.write([1, 2, 3, 4], to: path, at: 68)
        case .missingTable:
            let connection = try LedgerConnection(path: path, readOnly: false, setUp: ["DROP TABLE position"])
            try connection.close()
        }
    }

    @Test("a damaged ledger is set aside as it is, and a new one starts", arguments: Damage.allCases)
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

    @Test("two ledgers damaged within a second are both kept")
    func setsAsideTwice() throws {
        for _ in 0..<2 {
            try FileBytes.write(Array("not a database at all, but long enough for one".utf8), to: path)
            try EventLedger.sample(in: directory).close()
        }
        #expect(
            try directory.names()
                == [
                    "ledger-corrupt-20251114T054800Z-2.sqlite", "ledger-corrupt-20251114T054800Z.sqlite", "ledger.lock",
                    "ledger.reserve", "ledger.sqlite",
                ].sorted()
        )
    }

    @Test("a log without its database is kept", arguments: [true, false])
    func setsAsideLonelyLog(isEmptyDatabase: Bool) throws {
        let log = Array("frames of a database that is gone".utf8)
        try FileBytes.write(log, to: path + "-wal")
        if isEmptyDatabase { try FileBytes.write([], to: path) }
        let (ledger, opening) = try EventLedger.open(directory: directory.path, durability: .process, now: sampleTime)
        guard case .setAside(let aside, _) = opening else {
            Issue.record("unexpected: \(opening)")
            return
        }
        #expect(try FileBytes.read(aside + "-wal") == log)
        try ledger.append([.sample(1)])
    }

    @Test("a damaged ledger's log is kept beside it")
    func keepsLogBesideDamagedDatabase() throws {
        try fill()
        let ledger = try EventLedger.sample(in: directory)
        try ledger.append([.sample(301)])
        let image = try TemporaryDirectory()
        let target = image.path + "/ledger.sqlite"
        try Program.run("/bin/cp", path, target)
        try Program.run("/bin/cp", path + "-wal", target + "-wal")
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

    @Test("damage far from the end is found when it is read, told by verify, and can be skipped")
    func damageInTheMiddle() throws {
        try fill()
        try flipByte(ofBatch: 100)
        let (ledger, opening) = try EventLedger.open(directory: directory.path, durability: .process, now: sampleTime)
        #expect(opening == .opened)
        #expect(try ledger.reader.read(afterBatch: 90).map(\.id) == Array(91...99))
        let error = #expect(throws: LedgerError.self) { try ledger.reader.read(afterBatch: 99) }
        guard case .damagedBatch(100, let detail) = error else {
            Issue.record("unexpected: \(String(describing: error))")
            return
        }
        #expect(detail.contains("checksum"))
        #expect(try ledger.reader.read(afterBatch: 100).first?.id == 101)

        let verification = try ledger.reader.verify()
        #expect(verification.batches == 300)
        #expect(verification.events == 897)
        #expect(verification.findings.map(\.batch) == [100])
        #expect(verification.next == nil)
    }

    @Test("verify goes through in pieces and finds batches that are missing")
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

    @Test("of a file too large to be read whole the header and the tail are checked", arguments: [true, false])
    func largeFile(isTailDamaged: Bool) throws {
        try fill()
        try isTailDamaged ? flipByte(ofBatch: 290) : apply(.middlePage)
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
            #expect(reason.contains("batch 290"))
        } else {
            #expect(opening == .opened)
        }
    }

    @Test("a damaged page of a projection's state is told from a sound one")
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
