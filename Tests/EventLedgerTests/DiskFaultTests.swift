// SPDX-License-Identifier: Apache-2.0

import EventLedger
import GRDBSQLite
import Glibc
import Synchronization
import Testing

extension OneAtATime {
    @Suite("The ledger on a full disk")
    struct FullDiskTests {
        /// A file system of one megabyte in memory.
        final class SmallDisk: Sendable {
            let directory: TemporaryDirectory

            init() throws {
                directory = try TemporaryDirectory()
                try Program.run("/bin/mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", directory.path)
            }

            deinit {
                try? Program.run("/bin/umount", directory.path)
            }
        }

        @Test("on a full disk an append fails as full while reads work, and appends succeed once there is space")
        func recoversByItself() throws {
            let disk = try SmallDisk()
            let filler = disk.directory.path + "/filler"
            let (ledger, _) = try EventLedger.open(directory: disk.directory.path, durability: .power, now: sampleTime)
            try FileBytes.write([UInt8](repeating: 1, count: 500_000), to: filler)

            var stored = 0
            var failure: LedgerError?
            while failure == nil, stored < 100 {
                do throws(LedgerError) {
                    try ledger.append([.sample(2 * stored, bytes: 3_000), .sample(2 * stored + 1, bytes: 3_000)])
                    stored += 1
                } catch {
                    failure = error
                }
            }
            guard case .full(let detail) = failure else {
                Issue.record("unexpected: \(String(describing: failure))")
                return
            }
            #expect(detail.contains("held back"))
            #expect(stored > 0)
            let reached = LedgerPosition(batch: Int64(2 * stored), sequence: UInt64(6 * stored))
            #expect(ledger.position == reached)
            #expect(try ledger.reader.read(afterBatch: 0).count == 2 * stored)
            #expect(throws: LedgerError.self) { try ledger.append([.sample(0, bytes: 300_000)]) }

            try FileBytes.remove(filler)
            #expect(
                try ledger.append([.sample(7)])
                    == LedgerPosition(batch: reached.batch + 1, sequence: reached.sequence + 3)
            )
            let batches = try ledger.reader.read(afterBatch: 0)
            #expect(batches.count == 2 * stored + 1)
            #expect(batches.last?.batch == .sample(7))
            try ledger.close()

            let (reopened, opening) = try EventLedger.open(
                directory: disk.directory.path,
                durability: .power,
                now: sampleTime
            )
            #expect(opening == .opened)
            #expect(try reopened.reader.read(afterBatch: 0) == batches)
            try reopened.close()
        }

        @Test("a closed ledger opens and reads on a disk without a free byte, and appends once there is space")
        func opensOnFullDisk() throws {
            let disk = try SmallDisk()
            let filler = disk.directory.path + "/filler"
            try {
                let ledger = try EventLedger.sample(in: disk.directory)
                try ledger.append([.sample(1)])
                try ledger.close()
            }()
            for _ in 0..<3 {
                #expect(throws: (any Error).self, "there is no space left") {
                    for _ in 0..<4_096 { try FileBytes.append([UInt8](repeating: 1, count: 4_096), to: filler) }
                }
                let ledger = try EventLedger.sample(in: disk.directory)
                #expect(try ledger.reader.read(afterBatch: 0).map(\.batch) == [.sample(1)])
                #expect(try LedgerReader.open(directory: disk.directory.path).statistics().batches == 1)
                let failure = #expect(throws: LedgerError.self) { try ledger.append([.sample(2, bytes: 500_000)]) }
                #expect(failure?.isHindrance == true)
                try ledger.close()
            }
            try FileBytes.remove(filler)
            let ledger = try EventLedger.sample(in: disk.directory)
            try ledger.append([.sample(3)])
            #expect(try ledger.reader.read(afterBatch: 0).count == 2)
            try ledger.close()
        }

        @Test("on a full disk submitters get the error, and the writer recovers once there is space")
        func writerGoesOn() async throws {
            let disk = try SmallDisk()
            let filler = disk.directory.path + "/filler"
            let (ledger, _) = try EventLedger.open(
                directory: disk.directory.path,
                durability: .process,
                now: sampleTime
            )
            let writer = try GroupCommit(ledger: ledger, processor: RecordingProcessor(Recorder()))
            _ = try await writer.submit(.init(1))
            try FileBytes.write([UInt8](repeating: 1, count: 500_000), to: filler)
            let error = await #expect(throws: SubmissionError.self) {
                _ = try await writer.submit(.init(2, bytes: 600_000))
            }
            guard case .failed(.full) = error else {
                Issue.record("unexpected: \(String(describing: error))")
                return
            }
            try FileBytes.remove(filler)
            let outcome = try await writer.submit(.init(3))
            #expect(outcome.placement?.batch == 2)
            #expect(writer.statistics.failedGroups == 1)
            await writer.stop(within: .seconds(30))
            try ledger.close()
        }

        @Test(
            "a staged part that finds no space is not stored, the checkpoint before stays current, and a retry succeeds"
        )
        func partOfCheckpoint() throws {
            let disk = try SmallDisk()
            let filler = disk.directory.path + "/filler"
            let (ledger, _) = try EventLedger.open(
                directory: disk.directory.path,
                durability: .process,
                now: sampleTime
            )
            func part(_ number: UInt8) -> StateChanges {
                var changes = StateChanges()
                for page in 0..<6 as Range<UInt64> {
                    changes.put(StateKey("p\(number)/").appending(page), [UInt8](repeating: number, count: 8_000))
                }
                return changes
            }
            try ledger.checkpoint(projection: "fold", at: .start, changes: part(0), now: 0)
            try StagingTests.tidy(ledger)
            try FileBytes.write([UInt8](repeating: 1, count: 500_000), to: filler)
            var staged: UInt8 = 0
            var failure: LedgerError?
            while failure == nil, staged < 50 {
                do throws(LedgerError) {
                    try ledger.stage(part(staged + 1), of: "fold")
                    staged += 1
                } catch {
                    failure = error
                }
            }
            guard case .full = failure else {
                Issue.record("unexpected: \(String(describing: failure))")
                return
            }
            #expect(staged > 0)
            #expect(try StagingTests.pages(ledger).count == 6)

            try FileBytes.remove(filler)
            try ledger.stage(part(staged + 1), of: "fold")
            try ledger.commitStage(of: "fold", at: .start, now: 1)
            #expect(try StagingTests.pages(ledger).count == 6 * (Int(staged) + 2))
            try ledger.close()
            let reopened = try EventLedger.sample(in: disk.directory)
            #expect(try StagingTests.pages(reopened).count == 6 * (Int(staged) + 2))
            try reopened.close()
        }
    }
}

extension OneAtATime {
    @Suite("The ledger on a disk that fails writes")
    struct FailingDiskTests {
        static let codes = [(ENOSPC, true), (EDQUOT, true), (EIO, false), (EROFS, false), (EFBIG, false)]

        private func expect(_ error: LedgerError?, isFull: Bool, code: Int32) {
            switch error {
            case .full where isFull: break
            case .other(let found, let message) where !isFull:
                #expect(found & 0xFF == 10, "SQLITE_IOERR")
                #expect(message.contains(unsafe String(cString: strerror(code))), "\(message)")
            default: Issue.record("unexpected: \(String(describing: error))")
            }
        }

        @Test(
            "an append that meets ENOSPC or EDQUOT fails as full, and one that meets another error with its text",
            arguments: codes
        )
        func appending(code: Int32, isFull: Bool) throws {
            let disk = try FailingDisk()
            let ledger = try EventLedger.sample(in: disk.directory)
            try ledger.append([.sample(1)])
            disk.fail(with: code)
            expect(
                #expect(throws: LedgerError.self) { try ledger.append([.sample(2, bytes: 60_000)]) },
                isFull: isFull,
                code: code
            )
            expect(#expect(throws: LedgerError.self) { try ledger.touch() }, isFull: isFull, code: code)
            disk.fail(with: nil)
            try ledger.append([.sample(3)])
            #expect(try ledger.reader.read(afterBatch: 0).map(\.batch) == [.sample(1), .sample(3)])
            try ledger.close()
        }

        @Test(
            "opening a new or an existing ledger on a failing disk fails as full or with the error's text",
            arguments: codes
        )
        func opening(code: Int32, isFull: Bool) throws {
            for isNew in [true, false] {
                let disk = try FailingDisk()
                if !isNew { try EventLedger.sample(in: disk.directory).close() }
                disk.fail(with: code)
                expect(
                    #expect(throws: LedgerError.self) { _ = try EventLedger.sample(in: disk.directory) },
                    isFull: isFull,
                    code: code
                )
                disk.fail(with: nil)
                try EventLedger.sample(in: disk.directory).close()
                #expect(try !disk.directory.names().contains { $0.contains("corrupt") })
            }
        }
    }
}

/// A directory in which SQLite's writes fail as the test says, by a system call that stands in for pwrite(2)
/// (https://sqlite.org/c3ref/vfs.html, `xSetSystemCall`). Other directories' writes are what they were.
final class FailingDisk: Sendable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try Self.installed.get()
    }

    deinit { fail(with: nil) }

    /// Lets every write fail with an `errno` from now on; nil: none.
    func fail(with code: Int32?) {
        Self.codes.withLock { $0[directory.path] = code }
    }

    private static let codes = Mutex<[String: Int32]>([:])

    private static let installed = Result {
        guard let system = unsafe sqlite3_vfs_find(nil), let set = unsafe system.pointee.xSetSystemCall else {
            throw Program.Failure(what: "SQLite lets no system call be replaced", status: 0)
        }
        let call: @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int = { descriptor, bytes, count, offset in
            if let code = FailingDisk.code(of: descriptor) {
                errno = code
                return -1
            }
            return unsafe pwrite(descriptor, bytes, count, offset)
        }
        for name in ["pwrite", "pwrite64"] {
            _ = unsafe set(system, name, unsafeBitCast(call, to: sqlite3_syscall_ptr.self))
        }
    }

    private static func code(of descriptor: Int32) -> Int32? {
        let codes = codes.withLock { $0 }
        guard !codes.isEmpty else { return nil }
        var path = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe path.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return -1 }
            return unsafe readlink("/proc/self/fd/\(descriptor)", start, bytes.count)
        }
        guard count > 0 else { return nil }
        let text = String(decoding: path[..<count], as: UTF8.self)
        return codes.first { text.hasPrefix($0.key + "/") }?.value
    }
}
