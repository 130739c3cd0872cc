// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Foundation
import Testing

@Suite("Opening the ledger")
struct OpeningTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("a new ledger has modes 0700 and 0600 and keeps its id")
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

    @Test(
        "a directory that is a link to another one, as systemd's DynamicUser makes it, holds the ledger of its target"
    )
    func opensThroughLink() throws {
        let (target, link) = (directory.path + "/private", directory.path + "/state")
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "private")
        let (first, opening) = try EventLedger.open(directory: link, durability: .power, now: sampleTime)
        #expect(opening == .created)
        try first.append([.sample(1)])
        try first.close()
        #expect(FileManager.default.fileExists(atPath: target + "/ledger.sqlite"))
        let (second, again) = try EventLedger.open(directory: target, durability: .power, now: sampleTime + 1)
        #expect(again == .opened && second.id == first.id)
    }

    @Test("two ledgers have different ids")
    func distinctIDs() throws {
        let other = try TemporaryDirectory()
        #expect(try EventLedger.sample(in: directory).id != EventLedger.sample(in: other).id)
    }

    @Test("a second ledger in a directory is refused with the process id of the first")
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

    @Test("a ledger of a newer schema is refused and stays unchanged")
    func refusesNewerSchema() throws {
        let ledger = try EventLedger.sample(in: directory)
        try ledger.append([.sample(1)])
        try ledger.close()
        let path = directory.path + "/ledger.sqlite"
        try FileBytes.write([0, 0, 0, 99], to: path, at: 60)
        let before = try FileBytes.read(path)
        #expect(throws: LedgerError.newerSchema(found: 99, supported: 3, path: path)) {
            try EventLedger.sample(in: directory)
        }
        #expect(throws: LedgerError.newerSchema(found: 99, supported: 3, path: path)) {
            try LedgerReader.open(directory: directory.path)
        }
        #expect(try FileBytes.read(path) == before)
        #expect(try !directory.names().contains { $0.contains("corrupt") })
    }

    @Test("a ledger file that cannot be opened is an error, and nothing is set aside")
    func refusesDirectoryInTheWay() throws {
        try FileManager.default.createDirectory(
            atPath: directory.path + "/ledger.sqlite",
            withIntermediateDirectories: false
        )
        #expect(throws: LedgerError.self) { try EventLedger.sample(in: directory) }
        #expect(try directory.names() == ["ledger.sqlite"])
    }

    @Test(
        "a directory in the place of one of the ledger's files is a clear error, and without it the ledger goes on",
        arguments: [
            "ledger.reserve", "ledger.mark", "ledger.lock", "ledger.new", "ledger.sqlite-wal", "ledger.sqlite-shm",
            "ledger.sqlite-journal",
        ]
    )
    func directoryInTheWay(name: String) throws {
        let ledger = try EventLedger.sample(in: directory)
        try ledger.append([.sample(1)])
        try ledger.close()
        let path = "\(directory.path)/\(name)"
        if try directory.names().contains(name) { try FileBytes.remove(path) }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let before = try directory.names()
        let openings: [() throws -> EventLedger] = [
            { try EventLedger.sample(in: directory) },
            { try EventLedger.openExisting(directory: directory.path, durability: .process) },
        ]
        for open in openings {
            let error = #expect(throws: LedgerError.self) { try open().close() }
            #expect(error == .obstructed(path: path, reason: "Is a directory"))
            #expect(error?.description.contains("\(path): Is a directory; move it away") == true)
        }
        #expect(try directory.names() == before)
        try FileManager.default.removeItem(atPath: path)
        #expect(try EventLedger.sample(in: directory).position.sequence == 3)
    }

    @Test("a link in the place of the reserve is a clear error, and what it leads to stays as it is")
    func linkInTheWay() throws {
        let other = directory.path + "/other"
        try FileBytes.write([1, 2, 3], to: other)
        let path = directory.path + "/ledger.reserve"
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other)
        #expect(throws: LedgerError.obstructed(path: path, reason: "it is a symbolic link")) {
            try EventLedger.sample(in: directory)
        }
        #expect(try FileBytes.read(other) == [1, 2, 3])
    }

    @Test("a directory that takes the reserve's place while the ledger is open is no lack of space")
    func reserveReplaced() throws {
        let ledger = try EventLedger.sample(in: directory)
        try ledger.keepRoom(checkpointBytes: 0)
        let path = directory.path + "/ledger.reserve"
        try FileBytes.remove(path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        // The reserve is to grow now, and cannot.
        try ledger.keepRoom(checkpointBytes: 32 << 20)
        try ledger.append([.sample(1)])
        try ledger.keepRoom(checkpointBytes: 32 << 20)
        #expect(try #require(ledger.room).roomForEvents > 0)
        #expect(try ledger.append([.sample(2)]).sequence == 6)
        try ledger.close()
    }

    @Test("an empty file that a crash left becomes a new ledger", arguments: [0, 1])
    func emptyFile(bytes: Int) throws {
        try FileBytes.write([UInt8](repeating: 0x53, count: bytes), to: directory.path + "/ledger.sqlite")
        let (ledger, opening) = try EventLedger.open(directory: directory.path, durability: .process, now: sampleTime)
        #expect(opening == .created)
        try ledger.append([.sample(1)])
    }
}

@Suite("Opening an existing ledger")
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

    @Test("openExisting creates no ledger where there is none")
    func absent() throws {
        #expect(throws: LedgerError.absent(path: path)) {
            try EventLedger.openExisting(directory: directory.path, durability: .process)
        }
        #expect(try directory.names() == [])
    }

    @Test("openExisting opens a ledger at its last position")
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

    @Test("openExisting leaves a damaged ledger in place, and its integrity check has findings")
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
