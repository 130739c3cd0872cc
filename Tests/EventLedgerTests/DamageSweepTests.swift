// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EventLedger

@Suite("Damage anywhere")
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
            try Program.run("/bin/cp", "\(origin.path)/\(name)", "\(origin.path)/image-\(name)")
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
            #expect(database[60..<64] != [0, 0, 0, 2], what)
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    @Test(
        "whatever the byte of the header, the ledger opens or a new one does",
        arguments: [0x00, 0xFF, 0x05] as [UInt8]
    )
    func header(value: UInt8) throws {
        let database = try FileBytes.read(origin.path + "/ledger.sqlite")
        for offset in 0..<100 where database[offset] != value {
            var damaged = database
            damaged[offset] = value
            try exercise(damaged, nil, "byte \(offset) is \(value)")
        }
    }

    @Test("wherever the file is cut, the ledger opens or a new one does")
    func cuts() throws {
        let database = try FileBytes.read(origin.path + "/ledger.sqlite")
        for size in [1, 15, 16, 99, 100, 511, 512, 4096, 8191, 8192, 8193, 20_000, 40_960, database.count - 1] {
            try exercise(Array(database.prefix(size)), nil, "cut at \(size)")
        }
    }

    @Test("runs of other bytes in database and log lead to the ledger or to a new one")
    func runs() throws {
        let database = try FileBytes.read(origin.path + "/image-ledger.sqlite")
        let log = try FileBytes.read(origin.path + "/image-ledger.sqlite-wal")
        var generator = SplitMix(state: 7)
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
