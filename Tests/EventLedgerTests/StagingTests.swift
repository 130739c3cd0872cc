// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EventLedger

@Suite("Checkpoints in parts")
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
        try ledger.reader.connection.access { (database) throws(LedgerError) in
            Int(try LedgerSchema.integer("SELECT count(*) FROM state", in: database))
        }
    }

    /// Changes of chance to pages in three families, and what they make of some pages.
    struct Checkpoint {
        var parts: [StateChanges] = []
        var after: Pages

        init(after pages: Pages, using random: inout SplitMix) {
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
        "count whole or not at all, however often the process ends between two parts",
        arguments: 1...12 as ClosedRange<UInt64>
    )
    func restarts(seed: UInt64) throws {
        var random = SplitMix(state: seed)
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

    @Test("are refused before what an earlier process left is tidied")
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

    @Test("of two projections do not touch each other, and forgetting one forgets what was staged of it")
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

    @Test("leave the old rows to be deleted a little at a time")
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
