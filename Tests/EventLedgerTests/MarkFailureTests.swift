// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import EventLedger

/// A file that this process has open and whose writes fail with ENOSPC: /dev/full has taken its descriptor.
private final class FullFile {
    private let descriptor: Int32
    private let original: Int32

    init(_ path: String) throws {
        descriptor = try #require((0..<1_024).first { Self.name(of: $0) == path }, "\(path) is not open")
        original = dup(descriptor)
        let full = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
        guard original >= 0, full >= 0, dup2(full, descriptor) == descriptor else {
            throw Program.Failure(what: "put /dev/full in the place of \(path)", status: errno)
        }
        _ = close(full)
    }

    private static func name(of descriptor: Int32) -> String? {
        var link = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe link.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return -1 }
            return unsafe readlink("/proc/self/fd/\(descriptor)", start, bytes.count)
        }
        return count > 0 ? String(decoding: link[..<count], as: UTF8.self) : nil
    }

    func mend() throws {
        guard dup2(original, descriptor) == descriptor else { throw Program.Failure(what: "dup2", status: errno) }
    }

    deinit { _ = close(original) }
}

extension OneAtATime {
    @Suite("A mark that cannot be written")
    struct MarkFailureTests {
        let directory: TemporaryDirectory
        var mark: String { directory.path + "/ledger.mark" }

        init() throws {
            directory = try TemporaryDirectory()
        }

        /// Where the ledger's mark is.
        private func marked(_ ledger: EventLedger) throws -> UInt64? {
            guard case .read(let life, let position) = try ledger.reader.acknowledged(), life == ledger.id else {
                return nil
            }
            return position.sequence
        }

        /// Opens what a process killed now would leave, in a directory of its own.
        private func image(withLog: Bool) throws -> (TemporaryDirectory, EventLedger) {
            let image = try TemporaryDirectory()
            for name in ["ledger.sqlite", "ledger.mark"] + (withLog ? ["ledger.sqlite-wal"] : []) {
                try FileBytes.copy("\(directory.path)/\(name)", to: "\(image.path)/\(name)")
            }
            let ledger = try EventLedger.open(directory: image.path, durability: .process, now: sampleTime).ledger
            return (image, ledger)
        }

        @Test("while the mark cannot be written commits stand, and how far it is behind is told")
        func commitsStand() throws {
            let ledger = try EventLedger.sample(in: directory)
            try ledger.append([.sample(1)])
            #expect(ledger.markFailure == nil)
            let full = try FullFile(mark)
            for number in 2...4 { try ledger.append([.sample(number)]) }
            let failure = try #require(ledger.markFailure)
            #expect(failure == LedgerMarkFailure(path: mark, code: ENOSPC, events: 9))
            #expect("\(failure)".contains("\(mark) cannot be written (No space left on device)"))
            #expect(ledger.markFailures == 3)
            #expect(ledger.position.sequence == 12)
            #expect(try marked(ledger) == 3)

            // After a kill nothing is missing, and none is claimed to be.
            let (_, killed) = try image(withLog: true)
            #expect(killed.renewal == nil && killed.position.sequence == 12)
            // A loss at the end is known as far as the mark went.
            let (_, lost) = try image(withLog: false)
            #expect(lost.position.sequence < 3)
            #expect(lost.renewal?.missingEvents == 3 - lost.position.sequence)

            try full.mend()
            try ledger.append([.sample(5)])
            #expect(ledger.markFailure == nil && ledger.markFailures == 3)
            #expect(try marked(ledger) == 15)
            try ledger.close()
        }

        @Test("a mark that cannot be created at the start is tried again with each commit")
        func createdLater() throws {
            let ledger = try EventLedger.sample(in: directory)
            try ledger.append([.sample(1)])
            try ledger.close()
            try FileBytes.remove(mark)
            let files = LedgerFiles(directory: directory.path)
            // A directory in its place can be neither opened for writing nor created.
            let isMade = unsafe mkdir(mark, 0o700) == 0
            try #require(isMade)
            let record = LedgerMark(files, holding: .absent)
            #expect(!record.write(life: ledger.id, LedgerPosition(batch: 2, sequence: 6)))
            #expect(record.failure == LedgerMarkFailure(path: mark, code: EISDIR, events: 6))
            #expect(!record.isWritten)
            let refused = #expect(throws: LedgerError.self) { _ = try EventLedger.sample(in: directory) }
            #expect(refused?.description.contains("ledger.mark: Is a directory") == true, "a start names it")

            let isGone = unsafe rmdir(mark) == 0
            try #require(isGone)
            #expect(record.write(life: ledger.id, LedgerPosition(batch: 3, sequence: 9)))
            #expect(record.failure == nil && record.failures == 1 && record.isWritten)
        }

        @Test("a damaged log that finds no space for its copy is told, and the ledger opens without one")
        func noSpaceForLog() throws {
            let disk = try MemoryDisk(megabytes: 12)
            let ledger = try EventLedger.sample(in: directory)
            for number in 1...40 { try ledger.append([.sample(number, bytes: 20_000)]) }
            for name in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.mark"] {
                try FileBytes.copy("\(directory.path)/\(name)", to: "\(disk.directory.path)/\(name)")
            }
            try ledger.close()
            let log = disk.directory.path + "/ledger.sqlite-wal"
            try FileBytes.truncate(log, to: FileBytes.read(log).count / 2)
            try disk.fill(megabytes: 8)
            let opened = try EventLedger.sample(in: disk.directory)
            #expect(opened.renewal?.reason == .mark)
            guard case .failed(let path, let reason) = opened.keptLog else {
                Issue.record("unexpected: \(String(describing: opened.keptLog))")
                return
            }
            #expect(path == disk.directory.path + "/ledger-damaged.sqlite-wal")
            #expect(reason.contains("are free"))
            #expect(try !disk.directory.names().contains { $0.hasPrefix("ledger-damaged") })
            try opened.close()
        }
    }
}
