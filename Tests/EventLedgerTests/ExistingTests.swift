// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Testing

@Suite("A ledger that has to be there")
struct ExistingTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path + "/ledger.sqlite" }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func fill() throws {
        let ledger = try EventLedger.sample(in: directory)
        try ledger.append((1...300).map { .sample($0, bytes: 2_000) })
        try ledger.close()
    }

    @Test("is not made where there is none")
    func absent() throws {
        #expect(throws: LedgerError.absent(path: path)) {
            try EventLedger.openExisting(directory: directory.path, durability: .process)
        }
        #expect(try directory.names() == [])
    }

    @Test("goes on where it ended")
    func opens() throws {
        try fill()
        let ledger = try EventLedger.openExisting(directory: directory.path, durability: .process)
        #expect(ledger.position == LedgerPosition(batch: 300, sequence: 900))
        #expect(try ledger.reader.integrityFindings() == [])
        #expect(throws: LedgerError.self) {
            try EventLedger.openExisting(directory: directory.path, durability: .process)
        }
        try ledger.close()
    }

    @Test("stays where it is when it is damaged, and its pages tell")
    func damaged() throws {
        try fill()
        let pages = try FileBytes.read(path).count / 8192
        try FileBytes.write([UInt8](repeating: 0xFF, count: 8192), to: path, at: pages / 2 * 8192)
        let before = try FileBytes.read(path)
        let error = #expect(throws: LedgerError.self) {
            try EventLedger.openExisting(directory: directory.path, durability: .process)
        }
        guard case .corrupt? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try FileBytes.read(path) == before)
        #expect(try directory.names().contains("ledger.sqlite"))
        #expect(try directory.names().contains("ledger.reserve"), "the room for the next opening is kept")
        let reader = try LedgerReader.open(directory: directory.path)
        #expect(try reader.integrityFindings() != [])
    }
}
