// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Testing

extension OneAtATime {
    @Suite("The ledger after a crash")
    struct CrashTests {
        let directory: TemporaryDirectory
        let image: TemporaryDirectory

        init() throws {
            directory = try TemporaryDirectory()
            image = try TemporaryDirectory()
        }

        /// Copies the files as they are while the ledger is open, which is what a killed process leaves.
        func takeImage() throws {
            for name in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.mark"] {
                try FileBytes.copy("\(directory.path)/\(name)", to: "\(image.path)/\(name)")
            }
        }

        @Test("after a crash every committed batch is read back, and the numbers continue")
        func committedBatchesSurvive() throws {
            let ledger = try EventLedger.sample(in: directory)
            for number in 1...50 {
                try ledger.append([.sample(number, bytes: 3000), .sample(number + 1000, count: 1)])
            }
            try takeImage()
            let (recovered, opening) = try EventLedger.open(
                directory: image.path,
                durability: .process,
                now: sampleTime
            )
            #expect(opening == .opened)
            #expect(recovered.id == ledger.id && recovered.lives == ledger.lives)
            #expect(recovered.position == LedgerPosition(batch: 100, sequence: 200))
            #expect(try recovered.reader.read(afterBatch: 0) == ledger.reader.read(afterBatch: 0))
            #expect(try recovered.append([.sample(7)]) == LedgerPosition(batch: 101, sequence: 203))
        }

        @Test("a ledger opens after a crash that left a rollback journal, which is applied")
        func hotJournal() throws {
            let (file, left) = (directory.path + "/ledger.sqlite", image.path + "/ledger.sqlite")
            try EventLedger.sample(in: directory).close()
            try Program.run(
                "/usr/bin/sqlite3",
                file,
                "PRAGMA journal_mode = DELETE",
                "PRAGMA cache_size = 1",
                "BEGIN",
                "UPDATE meta SET ledger = hex(randomblob(200000))",
                ".shell cp \(file) \(left); cp \(file)-journal \(left)-journal"
            )
            #expect(try FileBytes.read(left + "-journal").prefix(4).elementsEqual([0xD9, 0xD5, 0x05, 0xF9]))
            let (ledger, opening) = try EventLedger.open(directory: image.path, durability: .process, now: sampleTime)
            #expect(opening == .opened)
            #expect(try ledger.append([.sample(1)]).batch == 1)
        }

        @Test("a transaction that the log holds in part is dropped, and all before it are kept")
        func halfTransactionIsDropped() throws {
            let ledger = try EventLedger.sample(in: directory)
            try ledger.append([.sample(1)])
            try ledger.append([.sample(2, bytes: 60_000), .sample(3, bytes: 60_000)])
            try takeImage()
            let log = image.path + "/ledger.sqlite-wal"
            try FileBytes.truncate(log, to: FileBytes.read(log).count - 60_000)
            let recovered = try EventLedger.sample(in: image)
            #expect(recovered.position == LedgerPosition(batch: 1, sequence: 3))
            #expect(try recovered.reader.read(afterBatch: 0).map(\.batch) == [.sample(1)])
        }

        @Test("wherever the log is cut, a checkpoint's state and position are from the same transaction")
        func checkpointIsAtomic() throws {
            let ledger = try EventLedger.sample(in: directory)
            for number in 1...40 {
                let position = try ledger.append([.sample(number, count: 1)])
                var changes = StateChanges()
                for page in 0..<10 {
                    changes.put(StateKey("page/").appending(UInt64(page)), Array("\(number)".utf8))
                }
                try ledger.checkpoint(projection: "fold", at: position, changes: changes, now: sampleTime)
            }
            try takeImage()
            let log = image.path + "/ledger.sqlite-wal"
            let size = try FileBytes.read(log).count
            var seen: Set<UInt64> = []
            for part in stride(from: 20, through: 0, by: -1) {
                let copy = try TemporaryDirectory()
                for name in ["ledger.sqlite", "ledger.sqlite-wal"] {
                    try FileBytes.copy("\(image.path)/\(name)", to: "\(copy.path)/\(name)")
                }
                try FileBytes.truncate(copy.path + "/ledger.sqlite-wal", to: size * part / 20)
                // A cut into the very first transactions leaves the ledger as it was created.
                let recovered = try EventLedger.sample(in: copy)
                var values: [String] = []
                let position = try recovered.reader.loadState("fold") { _, value in
                    values.append(String(decoding: value, as: UTF8.self))
                }
                guard let sequence = position?.position.sequence else {
                    #expect(values.isEmpty)
                    continue
                }
                seen.insert(sequence)
                #expect(values == Array(repeating: "\(sequence)", count: 10))
                #expect(recovered.position.sequence >= sequence)
            }
            #expect(seen.count > 10 && seen.contains(40))
        }
    }
}
