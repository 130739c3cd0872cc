// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EventLedger

@Suite("Schema migration of the ledger")
struct MigrationTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/ledger.sqlite" }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Makes a ledger as the first version did, with a batch and a checkpoint of two pages.
    func makeFirst() throws {
        let key: StateKey = "fold/a"
        let sum = key.checksum(of: Array("one".utf8))
        let batch = LedgerBatch.sample(1)
        let connection = try LedgerConnection(
            path: path,
            readOnly: false,
            setUp: LedgerLimits().writerSetUp(.process, isNew: true) + LedgerSchema.migrations[0] + [
                "PRAGMA application_id = \(LedgerSchema.applicationID)",
                "PRAGMA user_version = 1",
                "INSERT INTO meta VALUES (1, '00112233445566778899aabbccddeeff', \(sampleTime), 0, 0)",
                "INSERT INTO position VALUES ('fold', 3, 1, 'note', 7)",
                "INSERT INTO state VALUES ('fold', CAST('fold/a' AS BLOB), \(sum), CAST('one' AS BLOB))",
                "INSERT INTO state VALUES ('fold', CAST('fold/b' AS BLOB), 1, CAST('damaged' AS BLOB))",
            ]
        )
        try connection.access { (database) throws(LedgerError) in
            try BatchTable(database).insert(batch, id: 1, firstSequence: 1)
        }
        try connection.close()
    }

    @Test("a ledger of schema 1 is migrated with its whole content and stays writable")
    func first() throws {
        try makeFirst()
        let (ledger, opening) = try EventLedger.open(directory: directory.path, durability: .process, now: sampleTime)
        #expect(opening == .opened)
        #expect(ledger.id == "00112233445566778899aabbccddeeff")
        #expect(ledger.position == LedgerPosition(batch: 1, sequence: 3))
        #expect(try ledger.reader.read(afterBatch: 0).map(\.batch) == [.sample(1)])
        #expect(try ledger.reader.position(of: "fold")?.note == "note")
        var pages: [String] = []
        #expect(throws: LedgerError.damagedState(projection: "fold", key: "fold/b")) {
            try ledger.reader.loadState("fold") { key, value in
                pages.append("\(key)=\(String(decoding: value, as: UTF8.self))")
            }
        }
        #expect(pages == ["fold/a=one"])

        var changes = StateChanges()
        changes.put("fold/b", Array("two".utf8))
        try ledger.checkpoint(projection: "fold", at: ledger.position, changes: changes, now: 8)
        try StagingTests.tidy(ledger)
        #expect(try StagingTests.pages(ledger) == ["fold/a": Array("one".utf8), "fold/b": Array("two".utf8)])
        try ledger.close()
        let reopened = try EventLedger.sample(in: directory)
        #expect(try StagingTests.pages(reopened).count == 2)
        #expect(try StagingTests.rows(reopened) == 2)
    }

    @Test("a ledger of schema 2 keeps its id as that of its first life, and needs no mark")
    func second() throws {
        let ledger = try EventLedger.sample(in: directory)
        try ledger.append([.sample(1)])
        try ledger.close()
        let connection = try LedgerConnection(
            path: path,
            readOnly: false,
            setUp: [
                "DROP TABLE life", "ALTER TABLE meta DROP COLUMN comparable", "ALTER TABLE meta DROP COLUMN is_marked",
                "PRAGMA user_version = 2",
            ]
        )
        try connection.close()
        try FileBytes.remove(directory.path + "/ledger.mark")
        let before = try LedgerReader.open(directory: directory.path)
        #expect(try before.lives().map(\.id) == [ledger.id])
        #expect(try before.acknowledged() == .never)

        let (migrated, opening) = try EventLedger.open(directory: directory.path, durability: .process, now: 5)
        #expect(opening == .opened && migrated.renewal == nil)
        #expect(migrated.lives.map(\.id) == [ledger.id] && migrated.lives.first?.startedAt == sampleTime)
        #expect(migrated.position == LedgerPosition(batch: 1, sequence: 3))
        #expect(
            try migrated.reader.acknowledged()
                == .read(life: ledger.id, position: LedgerPosition(batch: 1, sequence: 3))
        )
        try migrated.append([.sample(2)])
    }

    @Test("a reader reads a ledger of schema 1 without migrating it")
    func readerOfFirst() throws {
        try makeFirst()
        let reader = try LedgerReader.open(directory: directory.path)
        var keys: [StateKey] = []
        #expect(throws: LedgerError.self) { try reader.loadState("fold") { key, _ in keys.append(key) } }
        #expect(keys == ["fold/a"])
        #expect(try reader.position(of: "fold")?.position.sequence == 3)
    }

    @Test("a ledger whose tables are not those of its schema is set aside")
    func wrongTables() throws {
        try EventLedger.sample(in: directory).close()
        try FileBytes.write([0, 0, 0, 1], to: path, at: 60)
        let (_, opening) = try EventLedger.open(directory: directory.path, durability: .process, now: sampleTime)
        guard case .setAside(_, let reason) = opening else {
            Issue.record("unexpected: \(opening)")
            return
        }
        #expect(reason.contains("schema"))
    }
}
