// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EventLedger

@Suite("Lives of a ledger")
struct LivesTests {
    enum LogDamage: String, CaseIterable {
        case flippedByte, cut, deleted
    }

    let directory: TemporaryDirectory
    let image: TemporaryDirectory
    var mark: String { directory.path + "/ledger.mark" }
    var keptLog: String { image.path + "/ledger-damaged.sqlite-wal" }

    init() throws {
        directory = try TemporaryDirectory()
        image = try TemporaryDirectory()
    }

    /// Copies what a process killed now would leave.
    func takeImage(to image: TemporaryDirectory) throws {
        for name in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.mark"] where try directory.names().contains(name) {
            try FileBytes.copy("\(directory.path)/\(name)", to: "\(image.path)/\(name)")
        }
    }

    func open(_ directory: TemporaryDirectory, at time: Int64 = sampleTime + 9) throws -> EventLedger {
        try EventLedger.open(directory: directory.path, durability: .process, now: time).ledger
    }

    /// A ledger of 20 batches in the database and 20 in the log, as a kill leaves it in `image`.
    func fill() throws {
        let first = try EventLedger.sample(in: directory)
        try first.journalCompared()
        try first.append((1...20).map { .sample($0, bytes: 2_000) })
        try first.close()
        let second = try EventLedger.sample(in: directory)
        try second.journalCompared()
        for number in 21...40 { try second.append([.sample(number, bytes: 2_000)]) }
        try takeImage(to: image)
        try second.close()
    }

    @Test("a ledger has one life, with its own id, which restarts keep")
    func oneLife() throws {
        let ledger = try EventLedger.sample(in: directory)
        #expect(ledger.lives.map(\.id) == [ledger.id])
        #expect(ledger.lives.first?.reason == .created && ledger.lives.first?.startedAt == sampleTime)
        #expect(try FileBytes.mode(mark) == 0o600)
        try ledger.append([.sample(1)])
        try ledger.close()
        let again = try open(directory)
        #expect(again.lives == ledger.lives)
        #expect(again.renewal == nil)
        #expect(try again.reader.lives() == ledger.lives)
        #expect(
            try again.reader.acknowledged()
                == .read(life: ledger.id, position: LedgerPosition(batch: 1, sequence: 3))
        )
        #expect(again.markFailures == 0)
    }

    @Test("after a kill the ledger has its life, and its mark is where it ends")
    func kill() throws {
        try fill()
        let ledger = try open(image)
        #expect(ledger.renewal == nil && ledger.lives.count == 1)
        #expect(ledger.position == LedgerPosition(batch: 40, sequence: 120))
        #expect(try ledger.keptLog == nil && !image.names().contains("ledger-damaged.sqlite-wal"))
    }

    @Test(
        "a damaged write-ahead log is known at the start, with how many events are missing, and kept as it was found",
        arguments: LogDamage.allCases
    )
    func damagedLog(damage: LogDamage) throws {
        try fill()
        let log = image.path + "/ledger.sqlite-wal"
        let bytes = try FileBytes.read(log)
        switch damage {
        case .flippedByte: try FileBytes.write([bytes[bytes.count / 2] ^ 1], to: log, at: bytes.count / 2)
        case .cut: try FileBytes.truncate(log, to: bytes.count / 2)
        case .deleted: try FileBytes.remove(log)
        }
        let damaged = damage == .deleted ? nil : try FileBytes.read(log)
        let ledger = try open(image)
        #expect(ledger.keptLog == (damage == .deleted ? nil : .copied(path: keptLog)))
        let end = ledger.position
        #expect(end.sequence >= 60 && end.sequence < 120)
        if damage == .deleted { #expect(end == LedgerPosition(batch: 20, sequence: 60)) }
        let life = try #require(ledger.renewal)
        #expect(life.reason == .mark && life.startedAt == sampleTime + 9)
        #expect(life.id.count == 32 && life.id != ledger.id)
        #expect(life.after == end && life.acknowledged == LedgerPosition(batch: 40, sequence: 120))
        #expect(life.missingEvents == 120 - end.sequence && life.missingBatches == 40 - end.batch)
        #expect("\(life)".contains("\(life.missingEvents) events in \(life.missingBatches) batches"))
        #expect(ledger.lives.map(\.number) == [1, 2])

        try ledger.append([.sample(1)])
        try ledger.close()
        let again = try open(image)
        #expect(again.renewal == nil, "it is told once")
        #expect(again.lives == ledger.lives, "and not forgotten")
        if let damaged {
            #expect(try FileBytes.read(keptLog) == damaged)
            #expect(try FileBytes.mode(keptLog) == 0o600)
        }
    }

    /// Cuts the log of the image in half; returns what is left.
    private func cutLog() throws -> [UInt8] {
        let log = image.path + "/ledger.sqlite-wal"
        try FileBytes.truncate(log, to: FileBytes.read(log).count / 2)
        return try FileBytes.read(log)
    }

    @Test("one log is kept: a start killed after it keeps the copy, and the log of a later loss replaces it")
    func oneKeptLog() throws {
        try fill()
        let first = try cutLog()
        try FileBytes.write(first, to: keptLog)
        // A start that was killed while it wrote the life has overwritten what lay behind the damage.
        try FileBytes.write([0, 0, 0, 0], to: image.path + "/ledger.sqlite-wal", at: first.count - 4)
        let ledger = try open(image)
        #expect(ledger.keptLog == .copied(path: keptLog))
        #expect(try FileBytes.read(keptLog) == first)
        try ledger.close()

        let second = try open(image)
        for number in 41...60 { try second.append([.sample(number, bytes: 2_000)]) }
        let other = try TemporaryDirectory()
        for name in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.mark", "ledger-damaged.sqlite-wal"] {
            try FileBytes.copy("\(image.path)/\(name)", to: "\(other.path)/\(name)")
        }
        try second.close()
        let log = other.path + "/ledger.sqlite-wal"
        try FileBytes.truncate(log, to: FileBytes.read(log).count / 2)
        let later = try FileBytes.read(log)
        let kept = other.path + "/ledger-damaged.sqlite-wal"
        #expect(try open(other).keptLog == .copied(path: kept))
        #expect(try FileBytes.read(kept) == later)
        #expect(try !other.names().contains { $0.hasSuffix(".part") })
    }

    @Test("a killed start begins the life again or has it, whichever file was written last")
    func killsWhileBeginning() throws {
        try fill()
        try FileBytes.remove(image.path + "/ledger.sqlite-wal")
        let evidence = try FileBytes.read(image.path + "/ledger.mark")
        let database = try FileBytes.read(image.path + "/ledger.sqlite")
        let first = try #require(try open(image).renewal)

        // Killed before the life was stored.
        for name in try image.names() { try FileBytes.remove("\(image.path)/\(name)") }
        try FileBytes.write(database, to: image.path + "/ledger.sqlite")
        try FileBytes.write(evidence, to: image.path + "/ledger.mark")
        let ledger = try open(image)
        let second = try #require(ledger.renewal)
        #expect(second.id != first.id && second.missingEvents == 60)
        try ledger.close()

        // Killed before the mark was written.
        try FileBytes.write(evidence, to: image.path + "/ledger.mark")
        let third = try open(image)
        #expect(third.renewal == nil && third.lives.last?.id == second.id)
        try third.append([.sample(1)])
        try third.close()
        #expect(try open(image).lives.count == 2)
    }

    @Test("numbers given before the journal was compared get a life of their own where the mark begins another one")
    func uncompared() throws {
        let ledger = try EventLedger.sample(in: directory)
        try ledger.journalCompared()
        try ledger.append([.sample(1)])
        try ledger.close()
        // The journal may hold other events under the numbers from 4 on, which a loss of power took from the ledger.
        let second = try EventLedger.sample(in: directory)
        try second.append([.sample(2), .sample(3)])
        try takeImage(to: image)
        try second.append([.sample(4)])
        try FileBytes.copy(mark, to: image.path + "/ledger.mark")
        let evidence = try FileBytes.read(mark)
        try second.close()

        let third = try open(image)
        #expect(third.renewal?.reason == .mark && third.renewal?.missingEvents == 3)
        #expect(third.lives.map(\.reason) == [.created, .uncompared, .mark])
        #expect(third.lives.map(\.after.sequence) == [0, 3, 9])
        #expect(third.comparable == 9)
        let shown = try #require(try third.journalShowed(ledger.id, upTo: 5))
        #expect(shown.reason == .uncompared && shown.missingEvents == 2 && shown.witness == .journal)
        try third.close()
        // Killed before the mark was written.
        try FileBytes.write(evidence, to: image.path + "/ledger.mark")
        let fourth = try open(image)
        #expect(fourth.renewal == nil && fourth.lives == third.lives)
        try fourth.close()
    }

    @Test("an older copy of the database beside a newer mark begins a life", arguments: [true, false])
    func olderDatabase(hasLives: Bool) throws {
        let ledger = try EventLedger.sample(in: directory)
        try ledger.append([.sample(1)])
        try ledger.close()
        try takeImage(to: image)
        let newer = try EventLedger.sample(in: directory)
        if hasLives { _ = try newer.beginLife(after: 3, shown: 9, now: sampleTime) }
        try newer.append([.sample(2), .sample(3)])
        try FileBytes.copy(mark, to: image.path + "/ledger.mark")
        let older = try open(image)
        #expect(older.renewal?.missingEvents == 6)
        #expect(older.renewal?.after == LedgerPosition(batch: 1, sequence: 3))
    }

    @Test("a deleted or a damaged database is told by the mark that it left", arguments: [true, false])
    func lostDatabase(isDeleted: Bool) throws {
        try fill()
        let database = image.path + "/ledger.sqlite"
        // With its log, the first page would be restored from there.
        try FileBytes.remove(database + "-wal")
        if isDeleted {
            try FileBytes.remove(database)
        } else {
            try FileBytes.write([UInt8](repeating: 0xA5, count: 100), to: database)
        }
        let ledger = try open(image)
        #expect(ledger.position == .start)
        #expect(ledger.renewal?.missingEvents == 120)
        #expect(ledger.lives.map(\.after.sequence) == [0, 0])
    }

    @Test("a missing or damaged mark begins a life, of which nothing is known to be missing", arguments: [true, false])
    func lostMark(isDeleted: Bool) throws {
        try fill()
        let mark = image.path + "/ledger.mark"
        if isDeleted { try FileBytes.remove(mark) } else { try FileBytes.write([1, 2, 3], to: mark, at: 20) }
        let reader = try LedgerReader.open(directory: image.path)
        #expect(try reader.acknowledged() == (isDeleted ? .absent : .unreadable))
        let ledger = try open(image)
        #expect(ledger.renewal?.reason == .unmarked)
        #expect(ledger.renewal?.missingEvents == 0)
        #expect(ledger.renewal?.after == LedgerPosition(batch: 40, sequence: 120))
        try ledger.close()
        #expect(try open(image).renewal == nil)
    }

    /// A ledger that was never closed, so that all of its batches are in the log, as a kill leaves it in `image`.
    func fillLog() throws -> EventLedger {
        let ledger = try EventLedger.sample(in: directory)
        for number in 1...40 { try ledger.append([.sample(number, bytes: 2_000)]) }
        try takeImage(to: image)
        return ledger
    }

    @Test("a mark that a loss of power left without content during the creation begins no life")
    func markOfCreation() throws {
        try FileBytes.write([], to: directory.path + "/ledger.new")
        try FileBytes.write([UInt8](repeating: 0, count: 4_096), to: mark)
        let ledger = try open(directory)
        #expect(ledger.renewal == nil && ledger.lives.count == 1)
        try ledger.append([.sample(1)])
        try ledger.close()
        #expect(try open(directory).lives.count == 1)
    }

    @Test("a new database says in its own file that there is a mark, before it acknowledges anything")
    func rememberedMark() throws {
        let ledger = try EventLedger.sample(in: directory)
        try FileBytes.copy(directory.path + "/ledger.sqlite", to: image.path + "/ledger.sqlite")
        let reader = try LedgerReader.open(directory: image.path)
        #expect(try reader.acknowledged() == .absent)
        #expect(try reader.identity().id == ledger.id)
        #expect(try !directory.names().contains("ledger.new"))
    }

    @Test("a ledger that lost both its log and its mark begins a life, though it looks like a new one")
    func lostLogAndMark() throws {
        let ledger = try fillLog()
        try FileBytes.remove(image.path + "/ledger.sqlite-wal")
        try FileBytes.remove(image.path + "/ledger.mark")
        #expect(try LedgerReader.open(directory: image.path).acknowledged() == .absent)
        let (opened, opening) = try EventLedger.open(directory: image.path, durability: .process, now: sampleTime)
        #expect(opening == .opened)
        #expect(opened.position == .start && opened.id == ledger.id)
        let life = try #require(opened.renewal)
        #expect(life.reason == .unmarked && life.after == .start && life.id != ledger.id)
        #expect(opened.lives.map(\.number) == [1, 2])
        // What the journal still has of the former life is known to be missing then.
        #expect(try opened.journalShowed(ledger.id, upTo: 120)?.missingEvents == 120)
        try opened.append([.sample(1)])
        try opened.close()
        #expect(try open(image).renewal == nil, "it is told once")
    }

    @Test("a ledger of a version that wrote no mark opens without a word, and keeps all batches")
    func neverMarked() throws {
        try fill()
        let older = try LedgerConnection(
            path: directory.path + "/ledger.sqlite",
            readOnly: false,
            setUp: ["UPDATE meta SET is_marked = 0, comparable = NULL"]
        )
        try older.close()
        try FileBytes.remove(mark)
        let ledger = try open(directory)
        #expect(ledger.renewal == nil && ledger.lives.count == 1)
        #expect(ledger.position == LedgerPosition(batch: 40, sequence: 120))
        // From now on it has one.
        let other = try TemporaryDirectory()
        try FileBytes.copy(directory.path + "/ledger.sqlite", to: other.path + "/ledger.sqlite")
        #expect(try LedgerReader.open(directory: other.path).acknowledged() == .absent)
    }

    @Test("a log whose header is damaged is kept as it was found, and what was in it is missing", arguments: 0..<4)
    func damagedLogHeader(offset: Int) throws {
        _ = try fillLog()
        let log = image.path + "/ledger.sqlite-wal"
        try FileBytes.write([FileBytes.read(log)[offset] ^ 0xFF], to: log, at: offset)
        let damaged = try FileBytes.read(log)
        let reader = try LedgerReader.open(directory: image.path)
        #expect(try reader.statistics().end == .start)
        #expect(
            try reader.acknowledged()
                == .read(life: reader.identity().id, position: LedgerPosition(batch: 40, sequence: 120))
        )
        let ledger = try open(image)
        #expect(ledger.keptLog == .copied(path: keptLog))
        #expect(try FileBytes.read(keptLog) == damaged)
        #expect(ledger.position == .start && ledger.renewal?.missingEvents == 120)
    }

    @Test("a database whose tables were all in a lost log is set aside; one that was being made is a new ledger")
    func lostTables() throws {
        // As earlier versions left it before its first write-back.
        for isInCreation in [false, true] {
            let connection = try LedgerConnection(
                path: directory.path + "/ledger.sqlite",
                readOnly: false,
                setUp: LedgerLimits().writerSetUp(.process, isNew: true) + ["CREATE TABLE meta (id INTEGER)"]
            )
            let state = try TemporaryDirectory()
            try FileBytes.copy(directory.path + "/ledger.sqlite", to: state.path + "/ledger.sqlite")
            try connection.close()
            try FileBytes.remove(directory.path + "/ledger.sqlite")
            let bytes = try FileBytes.read(state.path + "/ledger.sqlite")
            #expect(!bytes.isEmpty)
            if isInCreation { try FileBytes.write([], to: state.path + "/ledger.new") }
            let error = #expect(throws: LedgerError.self) { try LedgerReader.open(directory: state.path) }
            let opening = try EventLedger.open(directory: state.path, durability: .process, now: sampleTime).opening
            if isInCreation {
                #expect(error == .absent(path: state.path + "/ledger.sqlite"))
                #expect(opening == .created)
            } else {
                #expect("\(String(describing: error))".contains("application id"))
                guard case .setAside(let aside, _) = opening else {
                    Issue.record("unexpected: \(opening)")
                    return
                }
                #expect(try FileBytes.read(aside) == bytes)
            }
            #expect(try !state.names().contains("ledger.new"))
        }
    }

    @Test("opening for maintenance leaves the evidence to the next start of the service")
    func maintenance() throws {
        try fill()
        try FileBytes.remove(image.path + "/ledger.sqlite-wal")
        let evidence = try FileBytes.read(image.path + "/ledger.mark")
        try EventLedger.openExisting(directory: image.path, durability: .power).close()
        #expect(try FileBytes.read(image.path + "/ledger.mark") == evidence)
        #expect(try open(image).renewal?.missingEvents == 60)
    }

    @Test("opening for maintenance keeps a damaged log, too, before it is moved into the database")
    func maintenanceKeepsLog() throws {
        try fill()
        let damaged = try cutLog()
        let ledger = try EventLedger.openExisting(directory: image.path, durability: .power)
        #expect(ledger.keptLog == .copied(path: keptLog) && ledger.renewal == nil)
        try ledger.close()
        #expect(try FileBytes.read(keptLog) == damaged)
    }

    @Test("a life begun because of the journal is stored, and what the journal shows later is added")
    func journalLives() throws {
        let ledger = try EventLedger.sample(in: directory)
        try ledger.append([.sample(1), .sample(2)])
        let life = try ledger.beginLife(after: 3, shown: 5, now: sampleTime + 1)
        #expect(life.reason == .journal && life.after.sequence == 3 && life.missingEvents == 2)
        #expect(try ledger.journalShowed(ledger.id, upTo: 5) == nil, "known")
        #expect(try ledger.journalShowed(life.id, upTo: 99) == nil, "nothing has replaced that life")
        #expect(try ledger.journalShowed(ledger.id, upTo: 20)?.missingEvents == 17)
        try ledger.append([.sample(3)])
        try ledger.close()
        let again = try open(directory)
        #expect(again.lives == ledger.lives)
        #expect(again.lives.last?.missingEvents == 17)
        #expect(again.renewal == nil)
    }

    @Test("until the journal was compared, a restart does not raise what may stand in it by right")
    func comparable() throws {
        let first = try EventLedger.sample(in: directory)
        #expect(first.comparable == 0)
        try first.append([.sample(1)])
        try first.close()
        let second = try open(directory)
        #expect(second.comparable == 0, "nothing was sent so far")
        try second.append([.sample(2)])
        try second.journalCompared()
        try second.append([.sample(3)])
        try second.close()
        let third = try open(directory)
        #expect(third.comparable == 9, "anything may have been sent")
        try third.append([.sample(4)])
        try third.close()
        #expect(try open(directory).comparable == 9)
    }

    @Test("no more than 256 lives are kept beside the first one")
    func manyLives() throws {
        let ledger = try EventLedger.sample(in: directory)
        for _ in 0..<260 { _ = try ledger.beginLife(after: 0, shown: 1, now: sampleTime) }
        let stored = try ledger.reader.lives()
        #expect(stored.count == 257)
        #expect(stored.first?.id == ledger.id && stored.last?.number == 261)
        #expect(stored.dropFirst().first?.number == 6)
    }
}
