// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Foundation
import Logging
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

@Suite("A ledger and its key")
struct LedgerAndKeyTests {
    private let directory: TemporaryDirectory
    private var database: String { directory.file("ledger.sqlite") }
    private var key: String { directory.file(InstallationKey.fileName) }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func open() throws -> RecoveredLedger {
        try RecoveredLedger(
            directory: directory.path,
            durability: .process,
            now: startOfTest,
            Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    /// Opens the directory as a start of the service does, stores events and closes it.
    private func fill(events: Int = 3) throws {
        let opened = try open()
        if events > 0 {
            try opened.ledger.append([
                LedgerBatch(receivedAt: startOfTest, origin: 0, count: UInt32(events), receipt: [], events: [1, 2, 3])
            ])
        }
        try opened.ledger.close()
    }

    /// The sentence with which a start fails; the directory must then be as it was.
    private func refusal() throws -> String {
        let before = try contents()
        let error = #expect(throws: (any Error).self) { try open() }
        #expect(try contents() == before, "a failed start changes nothing")
        return error.map { "\($0)" } ?? ""
    }

    private func contents() throws -> [String: [UInt8]] {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        // The lock holds the last process id, and readers leave the log's index behind.
        let kept = names.filter { name in !["lock", "wal", "shm"].contains { name.hasSuffix($0) } }
        return try Dictionary(uniqueKeysWithValues: kept.map { ($0, try Files.read(directory.file($0))) })
    }

    private func remove(_ names: String...) throws {
        for name in names { try FileManager.default.removeItem(atPath: directory.file(name)) }
    }

    @Test(
        "a ledger of zero bytes or of a single one beside its key stops the start and is named with what to do",
        arguments: [0, 1]
    )
    func emptyLedgerBesideKey(bytes: Int) throws {
        try fill()
        try Files.write([UInt8](repeating: 0x53, count: bytes), to: database)
        let said = try refusal()
        let found = bytes == 0 ? "the file is empty" : "the file has a single byte"
        #expect(said.hasPrefix("expected the ledger in \(database), but \(found)"), "\(said)")
        #expect(said.contains("restore it") && said.contains("begin a new one"), "\(said)")
    }

    @Test("a single byte is left of a ledger beside its log: the start stops, and the log stays as it is")
    func singleByteBesideLog() throws {
        let opened = try open()
        try opened.ledger.append([LedgerBatch(receivedAt: startOfTest, origin: 0, count: 1, receipt: [], events: [1])])
        let log = try Files.read(database + "-wal")
        try opened.ledger.close()
        try Files.write([0x53], to: database)
        try Files.write(log, to: database + "-wal")
        #expect(try refusal().contains("the file has a single byte, with ledger.sqlite-wal"))
        #expect(try Files.read(database + "-wal") == log)
    }

    @Test(
        "a directory in the place of a file of the ledger stops the start and is named",
        arguments: ["ledger.reserve", "ledger.mark", "ledger.sqlite-wal", "ledger.sqlite", InstallationKey.fileName],
        [true, false]
    )
    func directoryInTheWay(name: String, isFirstStart: Bool) throws {
        if !isFirstStart { try fill() }
        let path = directory.file(name)
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let error = #expect(throws: (any Error).self) { try open() }
        let said = error.map { "\($0)" } ?? ""
        #expect(said.contains(path) && said.contains("directory"), "\(said)")
        let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        #expect(type == .typeDirectory, "it stays as it is")
    }

    @Test(
        "a ledger that is missing beside its key stops the start after a stop, after a kill, and beside its log",
        arguments: ["ledger.reserve", "ledger.sqlite-wal", "ledger.sqlite-shm", nil]
    )
    func missingLedgerBesideKey(trace: String?) throws {
        try fill()
        try remove("ledger.sqlite", "ledger.reserve")
        if let trace { try Files.write([1, 2, 3], to: directory.file(trace)) }
        let said = try refusal()
        #expect(said.hasPrefix("expected the ledger in \(database), but the file is missing"), "\(said)")
        #expect(said.contains(trace ?? "ledger.lock"), "\(said)")
    }

    @Test("a new ledger begins under a key whose directory has no other file, with that key")
    func keyOfAnotherDirectory() throws {
        try fill()
        let secret = try Files.read(key)
        try remove("ledger.sqlite", "ledger.reserve", "ledger.lock")
        try fill()
        #expect(try Files.read(key) == secret)
        #expect(try open().ledger.position.sequence == 3)
    }

    @Test("a large ledger whose pages with the key's fingerprint are damaged is set aside", arguments: 0..<2)
    func damagedFingerprint(place: Int) throws {
        try fill()
        let bytes = try Files.read(database)
        // The row of `state` and its entry in the index.
        let places = bytes.indices.filter { bytes[$0...].starts(with: "fingerprint".utf8) }
        try #require(places.count == 2)
        let file = try FileHandle(forUpdating: URL(filePath: database))
        try file.seek(toOffset: UInt64(places[place] / 8_192 * 8_192))
        try file.write(contentsOf: [UInt8](repeating: 0xFF, count: 8))
        // Of a file of this size not everything is checked when it is opened.
        try file.truncate(atOffset: 257 << 20)
        try file.close()
        let opened = try open()
        guard case .setAside(let path, _) = opened.opening else {
            Issue.record("unexpected: \(opened.opening)")
            return
        }
        #expect(FileManager.default.fileExists(atPath: path))
        try opened.ledger.close()
        try fill()
    }

    @Test("a new ledger begins where the creation of one was interrupted", arguments: [true, false])
    func interruptedCreation(hasDatabase: Bool) throws {
        try fill()
        try remove("ledger.sqlite", "ledger.reserve")
        if hasDatabase { try Files.write([], to: database) }
        try Files.write([], to: directory.file("ledger.new"))
        let opened = try open()
        #expect(opened.opening == .created)
        #expect(opened.ledger.position == .start)
        #expect(!FileManager.default.fileExists(atPath: directory.file("ledger.new")))
    }

    @Test("a key is created beside a database that a loss of power left unreadable in its creation")
    func creationEndedByPower() throws {
        try Files.write([UInt8](repeating: 7, count: 9_000), to: database)
        try Files.write([], to: directory.file("ledger.new"))
        let opened = try open()
        #expect(opened.ledger.position == .start)
        #expect(try Files.read(key).count == 32)
        #expect(!FileManager.default.fileExists(atPath: directory.file("ledger.new")))
        try opened.ledger.close()
    }

    @Test("a key is created beside a ledger that a first start left without one, and no event")
    func startEndedBeforeKey() throws {
        try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger.close()
        #expect(!FileManager.default.fileExists(atPath: key))
        try fill()
        #expect(try Files.read(key).count == 32)
        #expect(try open().ledger.position.sequence == 3)
    }

    @Test("a key that is missing beside a ledger with events stops the start")
    func missingKey() throws {
        try fill()
        try remove(InstallationKey.fileName)
        let said = try refusal()
        #expect(said.contains("\(key), but it is missing beside a ledger that was written under it"), "\(said)")
    }

    @Test("a key that is missing beside a damaged ledger stops the start before the ledger is set aside")
    func missingKeyDamagedLedger() throws {
        try fill()
        try remove(InstallationKey.fileName)
        try Files.write([UInt8](repeating: 7, count: 9_000), to: database)
        #expect(try refusal().contains("it is missing beside a ledger"))
    }

    @Test("another valid key stops the start with both fingerprints, and the ledger's own key lets it start again")
    func otherKey() throws {
        try fill()
        let secret = try Files.read(key)
        try Files.write([UInt8](1...32), to: key)
        let said = try refusal()
        #expect(said.contains("it is another key (fingerprint "), "\(said)")
        #expect(said.contains("restore the file"), "\(said)")
        try Files.write(secret, to: key)
        #expect(try open().ledger.position.sequence == 3)
    }

    @Test("a ledger of the version before gets its key's fingerprint at the first start, and refuses another one then")
    func ledgerWithoutFingerprint() throws {
        let older = try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger
        try older.append([LedgerBatch(receivedAt: startOfTest, origin: 0, count: 1, receipt: [], events: [1])])
        try older.close()
        let own = [UInt8](1...32)
        try Files.write(own, to: key)
        let opened = try open()
        #expect(opened.ledger.position.sequence == 1)
        #expect(try KeyFingerprint(in: opened.ledger.reader) == KeyFingerprint(of: opened.key))
        try opened.ledger.close()
        try Files.write(own.reversed(), to: key)
        #expect(try refusal().contains("it is another key"))
    }

    @Test("a ledger without an event takes the key that is put beside it before the first one")
    func otherKeyWithoutEvents() throws {
        try fill(events: 0)
        try Files.write([UInt8](1...32), to: key)
        let opened = try open()
        #expect(try KeyFingerprint(in: opened.ledger.reader) == KeyFingerprint(of: opened.key))
        try opened.ledger.close()
    }

    @Test("a damaged fingerprint is no other key: the start goes on and writes it again")
    func damagedFingerprint() throws {
        try fill()
        var bytes = try Files.read(database)
        let kept = try #require(try InstallationKey.load(from: directory.path).map { KeyFingerprint(of: $0) })
        let place = try #require(Data(bytes).range(of: Data(kept.text.utf8)))
        bytes[place.lowerBound] ^= 1
        try Files.write(bytes, to: database)
        let opened = try open()
        #expect(opened.opening == .opened)
        #expect(try KeyFingerprint(in: opened.ledger.reader) == kept)
        try opened.ledger.close()
    }

    @Test("the ledger that follows one that was set aside keeps the key and its fingerprint")
    func fingerprintAfterSettingAside() throws {
        try fill()
        let secret = try Files.read(key)
        try Files.write([UInt8](repeating: 7, count: 9_000), to: database)
        let opened = try open()
        #expect(opened.opening.isSetAside)
        #expect(try KeyFingerprint(in: opened.ledger.reader) == KeyFingerprint(of: opened.key))
        #expect(try Files.read(key) == secret)
        try opened.ledger.close()
        #expect(!FileManager.default.fileExists(atPath: directory.file("ledger.new")))
    }
}
