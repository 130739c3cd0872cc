// SPDX-License-Identifier: Apache-2.0

import SystemPrimitives
import Testing

@testable import EventLedger

@Suite("Checkpoints and positions")
struct CheckpointTests {
    let directory: TemporaryDirectory
    let ledger: EventLedger

    init() throws {
        directory = try TemporaryDirectory()
        ledger = try EventLedger.sample(in: directory)
        try ledger.append((1...10).map { .sample($0) })
    }

    func pages(_ projection: String, _ prefix: StateKey = "") throws -> [String: String] {
        var pages: [String: String] = [:]
        try ledger.reader.loadState(projection, keyPrefix: prefix) { key, value in
            pages[key.description] = String(decoding: value, as: UTF8.self)
        }
        return pages
    }

    @Test("state pages are written, replaced and removed, and load in the order of their keys")
    func pagesAreKept() throws {
        var changes = StateChanges()
        for number in [UInt64(300), 2, 70_000, 1] {
            changes.put(StateKey("n/").appending(number), [UInt8(truncatingIfNeeded: number)])
        }
        changes.put("empty", [])
        #expect(changes.bytes == 49)
        try ledger.checkpoint(
            projection: "fold",
            at: LedgerPosition(batch: 4, sequence: 12),
            changes: changes,
            note: "n",
            now: 5
        )
        changes.clear()
        changes.put(StateKey("n/").appending(2), [9])
        changes.remove(StateKey("n/").appending(1))
        changes.remove("never there")
        try ledger.checkpoint(
            projection: "fold",
            at: LedgerPosition(batch: 5, sequence: 15),
            changes: changes,
            now: 6
        )

        var loaded: [(StateKey, [UInt8])] = []
        let position = try ledger.reader.loadState("fold") { loaded.append(($0, $1)) }
        #expect(loaded.map(\.0) == ["empty"] + [2, 300, 70_000].map { StateKey("n/").appending($0) })
        #expect(loaded.map(\.1) == [[], [9], [44], [112]])
        #expect(position?.position == LedgerPosition(batch: 5, sequence: 15))
        #expect(position?.updatedAt == 6)
        #expect(position?.note == "")
    }

    @Test("removing a prefix removes only its pages of that projection")
    func removesPrefix() throws {
        var changes = StateChanges()
        let keys: [StateKey] = [
            "g/1/a", "g/1/b", "g/10/a", "g/2/a", StateKey(bytes: [0xFF, 0xFF, 1]), StateKey(bytes: [0xFF]),
        ]
        for key in keys { changes.put(key, [1]) }
        try ledger.checkpoint(projection: "one", at: .start, changes: changes, now: 0)
        try ledger.checkpoint(projection: "two", at: .start, changes: changes, now: 0)

        var removal = StateChanges()
        removal.removeAll(prefix: "g/1/")
        removal.removeAll(prefix: StateKey(bytes: [0xFF, 0xFF]))
        removal.put("g/1/c", [2])
        try ledger.checkpoint(projection: "one", at: .start, changes: removal, now: 0)
        #expect(try pages("one").keys.sorted() == ["\\xff", "g/1/c", "g/10/a", "g/2/a"])
        #expect(try pages("one", "g/1").keys.sorted() == ["g/1/c", "g/10/a"])
        #expect(try pages("two").count == 6)

        removal.clear()
        removal.removeAll(prefix: "")
        try ledger.checkpoint(projection: "one", at: .start, changes: removal, now: 0)
        #expect(try pages("one").isEmpty)
        #expect(try pages("two").count == 6)
    }

    @Test("positions and notes of each projection survive a restart")
    func positions() throws {
        #expect(try ledger.reader.position(of: "journal") == nil)
        try ledger.advance(projection: "journal", to: LedgerPosition(batch: 2, sequence: 6), note: "s=1;i=2", now: 1)
        try ledger.advance(projection: "journal", to: LedgerPosition(batch: 3, sequence: 9), note: "s=1;i=3é", now: 2)
        try ledger.advance(projection: "console", to: LedgerPosition(batch: 1, sequence: 3), now: 3)
        try ledger.close()
        let reopened = try EventLedger.sample(in: directory)
        let found = try reopened.reader.positions()
        #expect(found.map(\.projection) == ["console", "journal"])
        #expect(found.map(\.position.sequence) == [3, 9])
        #expect(found.map(\.note) == ["", "s=1;i=3é"])
        try reopened.forget(projection: "journal")
        #expect(try reopened.reader.positions().map(\.projection) == ["console"])
    }

    @Test("a checkpoint at a position that the ledger has not reached is refused")
    func refusesPositionsAhead() throws {
        var changes = StateChanges()
        changes.put("key", [1])
        for position in [LedgerPosition(batch: 11, sequence: 30), LedgerPosition(batch: 10, sequence: 31)] {
            #expect(throws: LedgerError.self) {
                try ledger.checkpoint(projection: "fold", at: position, changes: changes, now: 0)
            }
            #expect(throws: LedgerError.self) { try ledger.advance(projection: "fold", to: position, now: 0) }
        }
        #expect(try pages("fold").isEmpty)
        #expect(try ledger.reader.position(of: "fold") == nil)
    }

    @Test("the lengths of projection names, notes and keys are limited")
    func limits() throws {
        var changes = StateChanges()
        changes.put(StateKey(bytes: [UInt8](repeating: 1, count: StateKey.maximumBytes + 1)), [])
        #expect(throws: LedgerError.self) {
            try ledger.checkpoint(projection: "fold", at: .start, changes: changes, now: 0)
        }
        let name = String(repeating: "n", count: EventLedger.maximumProjectionBytes)
        try ledger.advance(projection: name, to: .start, now: 0)
        for wrong in [name + "n", ""] {
            #expect(throws: LedgerError.self) { try ledger.advance(projection: wrong, to: .start, now: 0) }
        }
        #expect(throws: LedgerError.self) {
            try ledger.advance(
                projection: "fold",
                to: .start,
                note: String(repeating: "n", count: EventLedger.maximumNoteBytes + 1),
                now: 0
            )
        }
    }
}

@Suite("Checkpoints written in parts")
struct StagingTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    typealias Pages = [String: [UInt8]]

    static func pages(_ ledger: EventLedger) throws -> Pages {
        var pages: Pages = [:]
        try ledger.reader.loadState("fold") { key, value in pages[key.description] = value }
        return pages
    }

    static func tidy(_ ledger: EventLedger, bytes: Int = 1) throws {
        while try !ledger.tidy("fold", bytes: bytes) {}
    }

    static func rows(_ ledger: EventLedger) throws -> Int {
        let connection = try LedgerConnection(path: ledger.reader.files.database, readOnly: true, setUp: [])
        let rows = try connection.access { (database) throws(LedgerError) in
            try LedgerSchema.integer("SELECT count(*) FROM state", in: database)
        }
        try connection.close()
        return Int(rows)
    }

    /// Changes of chance to pages in three families, and what they make of some pages.
    struct Checkpoint {
        var parts: [StateChanges] = []
        var after: Pages

        init(after pages: Pages, using random: inout SplitMix64) {
            after = pages
            for _ in 0...random.next() % 4 {
                var part = StateChanges()
                for _ in 0...random.next() % 5 {
                    let family = "f\(random.next() % 3)/"
                    let key = family + "\(random.next() % 6)"
                    switch random.next() % 8 {
                    case 0:
                        part.removeAll(prefix: StateKey(family))
                        after = after.filter { !$0.key.hasPrefix(family) }
                    case 1:
                        part.remove(StateKey(key))
                        after[key] = nil
                    default:
                        let value = [UInt8](
                            repeating: UInt8(truncatingIfNeeded: random.next()),
                            count: Int(random.next() % 9_000)
                        )
                        part.put(StateKey(key), value)
                        after[key] = value
                    }
                }
                parts.append(part)
            }
        }
    }

    @Test(
        "a staged checkpoint applies whole or not at all, however often the process ends between two parts",
        arguments: 1...12 as ClosedRange<UInt64>
    )
    func restarts(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var ledger = try EventLedger.sample(in: directory)
        var expected: Pages = [:]
        for batch in 1...25 as ClosedRange<Int64> {
            let position = try ledger.append([.sample(Int(batch))])
            let checkpoint = Checkpoint(after: expected, using: &random)
            var steps = Int(random.next() % 12)
            let isCut = random.next() % 2 == 0
            while try !ledger.tidy("fold", bytes: Int(random.next() % 20_000)) {
                #expect(try Self.pages(ledger) == expected)
            }
            for part in checkpoint.parts where !isCut || steps > 0 {
                try ledger.stage(part, of: "fold")
                #expect(try Self.pages(ledger) == expected)
                steps -= 1
            }
            if !isCut {
                try ledger.commitStage(of: "fold", at: position, note: "\(batch)", now: batch)
                expected = checkpoint.after
            }
            #expect(try Self.pages(ledger) == expected)
            #expect(try ledger.reader.position(of: "fold")?.updatedAt != batch || !isCut)
            guard isCut || random.next() % 3 == 0 else { continue }
            if random.next() % 3 > 0 {
                try ledger.close()
                ledger = try EventLedger.sample(in: directory)
            }
            #expect(try Self.pages(ledger) == expected)
        }
        try Self.tidy(ledger)
        #expect(try Self.pages(ledger) == expected)
        #expect(try Self.rows(ledger) == expected.count)
    }

    @Test("staging is refused until what an earlier process left is tidied")
    func refused() throws {
        let ledger = try EventLedger.sample(in: directory)
        var changes = StateChanges()
        changes.put("a", [1])
        #expect(throws: LedgerError.self) { try ledger.stage(changes, of: "fold") }
        #expect(throws: LedgerError.self) { try ledger.commitStage(of: "fold", at: .start, now: 0) }
        try Self.tidy(ledger)
        try ledger.stage(changes, of: "fold")
        #expect(throws: LedgerError.self) {
            try ledger.commitStage(of: "fold", at: LedgerPosition(batch: 1, sequence: 1), now: 0)
        }
        try ledger.commitStage(of: "fold", at: .start, now: 0)
        #expect(try Self.pages(ledger) == ["a": [1]])
    }

    @Test("staged checkpoints of two projections are independent, and forgetting a projection discards its stage")
    func twoProjections() throws {
        let ledger = try EventLedger.sample(in: directory)
        var changes = StateChanges()
        changes.put("a", [1])
        for name in ["fold", "other"] {
            while try !ledger.tidy(name) {}
            try ledger.stage(changes, of: name)
        }
        try ledger.commitStage(of: "fold", at: .start, now: 0)
        try ledger.forget(projection: "other")
        while try !ledger.tidy("other") {}
        try ledger.commitStage(of: "other", at: .start, now: 0)
        #expect(try Self.pages(ledger) == ["a": [1]])
        #expect(try Self.rows(ledger) == 1)
    }

    @Test("tidying deletes a checkpoint's obsolete rows in bounded steps")
    func tidiesSlowly() throws {
        let ledger = try EventLedger.sample(in: directory)
        var changes = StateChanges()
        for page in 0..<100 as Range<UInt64> {
            changes.put(StateKey("p/").appending(page), [UInt8](repeating: 1, count: 20_000))
        }
        for _ in 0..<2 { try ledger.checkpoint(projection: "fold", at: .start, changes: changes, now: 0) }
        #expect(try Self.rows(ledger) == 200)
        var calls = 1
        while try !ledger.tidy("fold", bytes: 250_000) { calls += 1 }
        #expect(calls >= 9 && calls <= 12)
        #expect(try Self.rows(ledger) == 100)
    }
}
