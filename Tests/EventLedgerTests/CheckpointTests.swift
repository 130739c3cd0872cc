// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Testing

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

    @Test("pages are written, replaced and removed, and come back in the order of their keys")
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

    @Test("removing a prefix removes its pages, no neighbour's and no other projection's")
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

    @Test("positions are kept for each projection with their notes, over a restart too")
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

    @Test("a position that the ledger has not reached is refused, and the checkpoint with it")
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

    @Test("names, notes, keys and pages have limits")
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
