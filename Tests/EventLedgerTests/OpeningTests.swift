// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Testing

@Suite("Opening")
struct OpeningTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("a new ledger is for its owner alone, and keeps its id")
    func createsOnce() throws {
        let path = directory.path + "/state"
        let (first, opening) = try EventLedger.open(directory: path, durability: .process, now: sampleTime)
        #expect(opening == .created)
        #expect(first.id.count == 32 && first.id.allSatisfy(\.isHexDigit))
        #expect(first.createdAt == sampleTime)
        #expect(try FileBytes.mode(path) == 0o700)
        try first.append([.sample(1)])
        for name in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm", "ledger.lock"] {
            #expect(try FileBytes.mode("\(path)/\(name)") == 0o600, "\(name)")
        }
        try first.close()
        let (second, again) = try EventLedger.open(directory: path, durability: .power, now: sampleTime + 1)
        #expect(again == .opened)
        #expect(second.id == first.id)
        #expect(second.createdAt == sampleTime)
    }

    @Test("two ledgers have two ids")
    func distinctIDs() throws {
        let other = try TemporaryDirectory()
        #expect(try EventLedger.sample(in: directory).id != EventLedger.sample(in: other).id)
    }

    @Test("a second ledger in the directory is refused while the first is open, with the holder's process")
    func refusesSecondOpener() throws {
        let ledger = try EventLedger.sample(in: directory)
        let error = #expect(throws: LedgerError.self) { try EventLedger.sample(in: directory) }
        guard case .locked(let path, let holder?) = error else {
            Issue.record("unexpected: \(String(describing: error))")
            return
        }
        #expect(path == directory.path)
        #expect(holder > 0)
        try ledger.close()
        _ = try EventLedger.sample(in: directory)
    }

    @Test("a ledger of a newer schema is refused and left as it is")
    func refusesNewerSchema() throws {
        let ledger = try EventLedger.sample(in: directory)
        try ledger.append([.sample(1)])
        try ledger.close()
        let path = directory.path + "/ledger.sqlite"
        try FileBytes.write([0, 0, 0, 99], to: path, at: 60)
        let before = try FileBytes.read(path)
        #expect(throws: LedgerError.newerSchema(found: 99, supported: 2, path: path)) {
            try EventLedger.sample(in: directory)
        }
        #expect(throws: LedgerError.newerSchema(found: 99, supported: 2, path: path)) {
            try LedgerReader.open(directory: directory.path)
        }
        #expect(try FileBytes.read(path) == before)
        #expect(try !directory.names().contains { $0.contains("corrupt") })
    }

    @Test("a file that can't be opened is an error, and nothing is set aside")
    func refusesDirectoryInTheWay() throws {
        try Program.run("/bin/mkdir", directory.path + "/ledger.sqlite")
        #expect(throws: LedgerError.self) { try EventLedger.sample(in: directory) }
        #expect(try directory.names() == ["ledger.lock", "ledger.sqlite"])
    }

    @Test("an empty file left by a crash at the very start becomes a ledger")
    func emptyFile() throws {
        try FileBytes.write([], to: directory.path + "/ledger.sqlite")
        let (ledger, opening) = try EventLedger.open(directory: directory.path, durability: .process, now: sampleTime)
        #expect(opening == .created)
        try ledger.append([.sample(1)])
    }
}
