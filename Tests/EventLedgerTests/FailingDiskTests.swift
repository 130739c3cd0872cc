// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Glibc
import Testing

@Suite("A disk that refuses writes")
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

    @Test("is told as what it is: without space or over its quota it is full, else it fails", arguments: codes)
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

    @Test("is told so at the start too, of a new ledger and of one that is there", arguments: codes)
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
