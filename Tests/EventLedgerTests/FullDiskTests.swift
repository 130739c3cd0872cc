// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Testing

@Suite("A full disk")
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

    @Test("appending stops with an error that says so, reading goes on, and so does appending once there is space")
    func recoversByItself() throws {
        let disk = try SmallDisk()
        let filler = disk.directory.path + "/filler"
        let (ledger, _) = try EventLedger.open(directory: disk.directory.path, durability: .power, now: sampleTime)
        try FileBytes.write([UInt8](repeating: 1, count: 500_000), to: filler)

        var stored = 0
        var failure: LedgerError?
        while failure == nil, stored < 100 {
            do throws(LedgerError) {
                try ledger.append([.sample(2 * stored, bytes: 30_000), .sample(2 * stored + 1, bytes: 30_000)])
                stored += 1
            } catch {
                failure = error
            }
        }
        guard case .full(let detail) = failure else {
            Issue.record("unexpected: \(String(describing: failure))")
            return
        }
        #expect(detail.contains("full"))
        #expect(stored > 0)
        let reached = LedgerPosition(batch: Int64(2 * stored), sequence: UInt64(6 * stored))
        #expect(ledger.position == reached)
        #expect(try ledger.reader.read(afterBatch: 0).count == 2 * stored)
        #expect(throws: LedgerError.self) { try ledger.append([.sample(0, bytes: 300_000)]) }

        try Program.run("/bin/rm", filler)
        #expect(
            try ledger.append([.sample(7)]) == LedgerPosition(batch: reached.batch + 1, sequence: reached.sequence + 3)
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

    @Test("a closed ledger is opened and read on a disk without a byte, and goes on once there is space")
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

    @Test("submitters are told, and the writer goes on when there is space")
    func writerGoesOn() async throws {
        let disk = try SmallDisk()
        let filler = disk.directory.path + "/filler"
        let (ledger, _) = try EventLedger.open(directory: disk.directory.path, durability: .process, now: sampleTime)
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
        try Program.run("/bin/rm", filler)
        let outcome = try await writer.submit(.init(3))
        #expect(outcome.placement?.batch == 2)
        #expect(writer.statistics.failedGroups == 1)
        await writer.stop(within: .seconds(30))
        try ledger.close()
    }

    @Test("a part of a checkpoint that has no space is not there, the one before counts, and both go on later")
    func partOfCheckpoint() throws {
        let disk = try SmallDisk()
        let filler = disk.directory.path + "/filler"
        let (ledger, _) = try EventLedger.open(directory: disk.directory.path, durability: .process, now: sampleTime)
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

        try Program.run("/bin/rm", filler)
        try ledger.stage(part(staged + 1), of: "fold")
        try ledger.commitStage(of: "fold", at: .start, now: 1)
        #expect(try StagingTests.pages(ledger).count == 6 * (Int(staged) + 2))
        try ledger.close()
        let reopened = try EventLedger.sample(in: disk.directory)
        #expect(try StagingTests.pages(reopened).count == 6 * (Int(staged) + 2))
        try reopened.close()
    }
}
