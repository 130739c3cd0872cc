// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import EventLedger

/// A file system in memory of some megabytes.
final class MemoryDisk: Sendable {
    let directory: TemporaryDirectory

    init(megabytes: Int) throws {
        directory = try TemporaryDirectory()
        try Program.run("/bin/mount", "-t", "tmpfs", "-o", "size=\(megabytes)m,mode=0700", "tmpfs", directory.path)
    }

    deinit {
        try? Program.run("/bin/umount", directory.path)
    }

    private var filler: String { directory.path + "/filler" }

    /// Takes some megabytes, or what is left, to the last page.
    func fill(megabytes: Int = .max) throws {
        let descriptor = unsafe open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Program.Failure(what: "open \(filler)", status: errno) }
        defer { _ = close(descriptor) }
        var taken = 0
        for size in megabytes == .max ? [1 << 20, 4_096] : [1 << 20] {
            let bytes = [UInt8](repeating: 1, count: size)
            while taken < megabytes, unsafe write(descriptor, bytes, bytes.count) == bytes.count { taken += 1 }
        }
    }

    func empty() throws { try FileBytes.remove(filler) }
}

extension OneAtATime {
    @Suite("A ledger that fills its file system")
    struct FullLedgerTests {
        /// A state of pages that all change with every checkpoint, and batches that wait for it.
        final class Filled {
            let disk: MemoryDisk
            private(set) var ledger: EventLedger
            private var stored = 0
            /// The pages of the state, which grows with every batch.
            private var pages = 1
            private let pagesPerBatch: Double
            private var owed = 0.0

            init(_ disk: MemoryDisk, statePerBatch: Double) throws {
                self.disk = disk
                pagesPerBatch = statePerBatch
                ledger = try EventLedger.sample(in: disk.directory)
            }

            private static let pageBytes = 8_000
            var stateBytes: Int { pages * Self.pageBytes }

            /// Appends until it is refused; returns how many were stored.
            func fill(bytes: Int = 20_000, atMost limit: Int = .max) throws -> Int {
                var count = 0
                while count < limit {
                    do throws(LedgerError) {
                        try ledger.append([.sample(stored, bytes: bytes)], stateBytesPerEvent: Self.pageBytes / 3)
                    } catch {
                        guard case .full = error else { throw error }
                        return count
                    }
                    stored += 1
                    count += 1
                    owed += pagesPerBatch
                    pages += Int(owed)
                    owed -= owed.rounded(.down)
                    if count.isMultiple(of: 8) { try ledger.keepRoom(checkpointBytes: stateBytes) }
                    ledger.expectCheckpoint(of: stateBytes)
                }
                return count
            }

            /// Writes every page of the state in parts, as the service does.
            func checkpoint() throws {
                try ledger.keepRoom(checkpointBytes: stateBytes)
                while try !ledger.tidy("fold") {}
                var page = 0
                while page < pages {
                    var part = StateChanges()
                    while page < pages, part.bytes < 256 << 10 {
                        let value = [UInt8](repeating: UInt8(truncatingIfNeeded: stored), count: Self.pageBytes)
                        part.put(StateKey("p/").appending(UInt64(page)), value)
                        page += 1
                    }
                    try ledger.stage(part, of: "fold")
                }
                try ledger.commitStage(of: "fold", at: ledger.position, now: 1)
                while try !ledger.tidy("fold") {}
            }

            /// Deletes all batches.
            func prune() throws {
                for _ in 0..<100_000 {
                    let pruning = try ledger.prune(upTo: ledger.position, keepSince: .max, limit: 1_024)
                    try ledger.keepRoom(checkpointBytes: stateBytes)
                    if !pruning.isCutShort { return }
                }
            }

            func reopen() throws {
                try ledger.close()
                ledger = try EventLedger.sample(in: disk.directory)
                try ledger.keepRoom(checkpointBytes: stateBytes)
            }

            func expectWhole() throws {
                #expect(try ledger.reader.integrityFindings() == [])
                #expect(ledger.position.batch == Int64(stored))
                let statistics = try ledger.reader.statistics()
                #expect(statistics.end.batch == Int64(stored))
                let kept = try ledger.reader.verify(limit: ReadLimit(batches: .max, bytes: .max))
                #expect(kept.findings.isEmpty)
                #expect(kept.batches == Int(statistics.batches))
            }
        }

        struct Size: Sendable, CustomTestStringConvertible {
            let megabytes: Int
            /// Pages of the state that a batch of 20,000 bytes adds.
            let statePerBatch: Double
            var testDescription: String { "\(megabytes) MiB, \(statePerBatch) pages of state a batch" }
        }

        static let sizes = [12, 24, 64, 256].flatMap { size in
            [0.1, 1].map { Size(megabytes: size, statePerBatch: $0) }
        }

        @Test(
            "a ledger that filled its file system writes its checkpoint, deletes, and takes events again, every time",
            arguments: sizes
        )
        func fillsAndRecovers(size: Size) throws {
            let disk = try MemoryDisk(megabytes: size.megabytes)
            // On a large disk another program has taken most, so that the test is short.
            try disk.fill(megabytes: max(0, size.megabytes - (size.megabytes > 64 ? 40 : 20)))
            let full = try Filled(disk, statePerBatch: size.statePerBatch)
            let start = try #require(full.ledger.room)
            var rounds: [Int] = []
            for round in 0..<3 {
                rounds.append(try full.fill())
                #expect(throws: LedgerError.self, "it stays full until something is deleted") {
                    try full.ledger.append([.sample(0, bytes: 1_000_000)], stateBytesPerEvent: 0)
                }
                if round == 1 { try full.reopen() }
                try full.checkpoint()
                try full.prune()
                try full.expectWhole()
            }
            #expect(Int64(rounds[0]) * 20_000 > start.roomForEvents / 3, "most of the room can be used: \(rounds)")
            #expect(try full.fill(atMost: 1) == 1, "there is room again after \(rounds)")
            try full.expectWhole()
        }

        @Test(
            "while another program has taken every byte, all upkeep still finds space, and events are refused",
            arguments: sizes.filter { $0.megabytes < 256 }
        )
        func upkeepOnFullDisk(size: Size) throws {
            let disk = try MemoryDisk(megabytes: size.megabytes)
            let full = try Filled(disk, statePerBatch: size.statePerBatch)
            _ = try full.fill(atMost: size.megabytes * 8)
            try full.ledger.keepRoom(checkpointBytes: full.stateBytes)
            try disk.fill()
            let ledger = full.ledger
            try ledger.keepRoom(checkpointBytes: full.stateBytes)
            let refused = #expect(throws: LedgerError.self) { try ledger.append([.sample(1, bytes: 1_000_000)]) }
            #expect(refused?.isHindrance == true)

            try ledger.advance(projection: "journal", to: ledger.position, note: "n", now: 1)
            try full.checkpoint()
            try full.prune()
            var changes = StateChanges()
            changes.put("a", [1])
            try ledger.checkpoint(projection: "other", at: ledger.position, changes: changes, now: 1)
            try ledger.forget(projection: "other")
            #expect(try ledger.reader.position(of: "journal")?.position == ledger.position)
            try full.expectWhole()

            try full.reopen()
            try disk.empty()
            try full.ledger.keepRoom(checkpointBytes: full.stateBytes)
            #expect(try full.fill(atMost: 8) == 8, "it goes on as soon as there is space")
        }

        @Test("a database without auto_vacuum, whose file never shrinks, reuses its pages and never gets stuck")
        func withoutVacuum() throws {
            let disk = try MemoryDisk(megabytes: 24)
            let path = disk.directory.path + "/ledger.sqlite"
            try FileBytes.write([], to: path)
            let connection = try LedgerConnection(
                path: path,
                readOnly: false,
                setUp: ["PRAGMA page_size = 8192", "PRAGMA auto_vacuum = NONE", "PRAGMA journal_mode = WAL"]
            )
            try LedgerSchema.migrate(connection) { (database) throws(LedgerError) in
                try MetaTable(database).create(at: sampleTime)
            }
            try connection.close()
            let full = try Filled(disk, statePerBatch: 0.2)
            for _ in 0..<4 {
                #expect(try full.fill() > 30)
                try full.checkpoint()
                try full.prune()
            }
            try full.expectWhole()
        }

        @Test("deleting returns space to the file system, and what was held back is held back again")
        func returnsSpace() throws {
            let disk = try MemoryDisk(megabytes: 64)
            let full = try Filled(disk, statePerBatch: 0.1)
            let start = try #require(full.ledger.room)
            _ = try full.fill()
            try full.checkpoint()
            try full.prune()
            for _ in 0..<200 {
                try full.ledger.prune(upTo: full.ledger.position, keepSince: .max)
                try full.ledger.keepRoom(checkpointBytes: full.stateBytes)
            }
            let end = try #require(full.ledger.room)
            #expect(end.reserveBytes >= end.reserveTarget)
            #expect(end.roomForEvents > start.roomForEvents / 2)
            #expect(end.availableBytes > 32 << 20, "\(end)")
        }

        @Test("the reserve of a killed ledger is there at the next start, and again after a stop")
        func reserveStays() throws {
            let disk = try MemoryDisk(megabytes: 24)
            let reserve = disk.directory.path + "/ledger.reserve"
            let ledger = try EventLedger.sample(in: disk.directory)
            try ledger.keepRoom(checkpointBytes: 3 << 20)
            let held = try #require(try LedgerFiles(directory: disk.directory.path).size(of: reserve))
            #expect(held >= 3 << 20)
            try ledger.close()
            #expect(try #require(try LedgerFiles(directory: disk.directory.path).size(of: reserve)) >= held)
            try disk.fill()
            let again = try EventLedger.sample(in: disk.directory)
            #expect(try #require(again.room).reserveBytes > held / 2)
            try again.advance(projection: "journal", to: .start, now: 1)
            try again.close()
        }
    }
}
