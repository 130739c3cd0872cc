// SPDX-License-Identifier: Apache-2.0

import EventLedger
import TestSupport
import Testing

@testable import LedgerState

@Suite("How far the journal has come")
struct JournalProgressTests {
    static func position(_ batch: Int64, _ sequence: UInt64) -> LedgerPosition {
        LedgerPosition(batch: batch, sequence: sequence)
    }

    static func progress(end: LedgerPosition = .start, oldest: Int64? = nil) -> JournalProgress {
        JournalProgress(.init(position: .start, cursor: nil, skipped: 0), end: end, oldest: oldest)
    }

    @Test("journal progress moves by events, and by batches once these are whole")
    func batchEnds() throws {
        let progress = Self.progress()
        for end in [Self.position(1, 10), Self.position(2, 10), Self.position(3, 25)] {
            progress.willWrite(batchEndingAt: end)
        }
        progress.confirmed(4)
        #expect(progress.unsaved?.position == Self.position(0, 4))
        progress.confirmed(10)
        #expect(progress.unsaved?.position == Self.position(2, 10))
        progress.confirmed(24)
        #expect(progress.unsaved?.position == Self.position(2, 24))
        progress.confirmed(25)
        #expect(progress.unsaved?.position == Self.position(3, 25))
        #expect(progress.latest == 25)
    }

    @Test("journal progress never moves back, and takes a batch that is written again for the same one")
    func writtenAgain() {
        let progress = Self.progress()
        progress.willWrite(batchEndingAt: Self.position(1, 10))
        progress.willWrite(batchEndingAt: Self.position(2, 20))
        progress.confirmed(12)
        progress.willWrite(batchEndingAt: Self.position(1, 10))
        progress.willWrite(batchEndingAt: Self.position(2, 20))
        progress.confirmed(5)
        #expect(progress.unsaved?.position == Self.position(1, 12))
        progress.confirmed(20)
        #expect(progress.unsaved?.position == Self.position(2, 20))
        progress.willWrite(batchEndingAt: Self.position(2, 20))
        progress.confirmed(20)
        #expect(progress.unsaved?.position == Self.position(2, 20))
    }

    @Test("journal progress shows as saved only what was saved")
    func saving() throws {
        let progress = Self.progress()
        #expect(progress.unsaved == nil)
        progress.willWrite(batchEndingAt: Self.position(1, 10))
        progress.confirmed(10)
        #expect(progress.saved.position == .start)
        let reached = try #require(progress.unsaved)
        progress.confirmed(11)
        progress.saved(reached)
        #expect(progress.saved.position == Self.position(1, 10))
        #expect(progress.unsaved?.position == Self.position(1, 11))
    }

    @Test("journal progress keeps the last cursor it was told, and what it passed over")
    func cursorAndSkipped() {
        let progress = Self.progress()
        progress.passed(cursor: nil)
        #expect(progress.unsaved == nil)
        progress.passed(cursor: "s=1;i=2")
        progress.passed(cursor: nil)
        #expect(progress.unsaved?.cursor == "s=1;i=2")
        progress.passOver(3)
        progress.passOver(4)
        #expect(progress.unsaved?.skipped == 7)
    }

    @Test(
        "journal progress is the same after it was saved in a ledger and read back",
        arguments: [nil, "s=4c0fb6;i=3;b=9f;m=1a;t=63;x=7e", "with a space"],
        [0, 17, UInt64.max]
    )
    func note(cursor: String?, skipped: UInt64) throws {
        let directory = try TemporaryDirectory()
        let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger
        let batch = LedgerBatch(receivedAt: startOfTest, origin: 1, count: 9, receipt: [], events: [1])
        let end = try ledger.append([batch])
        let reached = JournalProgress.Reached(position: end, cursor: cursor, skipped: skipped)
        try ledger.advance(
            projection: JournalProgress.projection,
            to: reached.position,
            note: reached.note,
            now: startOfTest
        )
        let saved = try #require(try ledger.reader.position(of: JournalProgress.projection))
        #expect(JournalProgress.Reached(saved) == reached)
        try ledger.close()
    }

    @Test("journal progress lags behind by the age of what the ledger held at the start, and not at all behind nothing")
    func lagAtStart() {
        let behind = Self.progress(end: Self.position(3, 30), oldest: startOfTest)
        #expect(behind.lag(now: startOfTest + 5_000_000) == 5_000_000)
        behind.confirmed(29)
        #expect(behind.lag(now: startOfTest + 6_000_000) == 6_000_000)
        behind.confirmed(30)
        #expect(behind.lag(now: startOfTest + 7_000_000) == 0)
        #expect(Self.progress(end: .start, oldest: nil).lag(now: startOfTest) == 0)
    }

    @Test("journal progress starts behind what has left the ledger, which it counts as skipped")
    func resumeBehindPruned() throws {
        let directory = try TemporaryDirectory()
        let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger
        for number in 0..<4 {
            try ledger.append([
                LedgerBatch(
                    receivedAt: startOfTest + Int64(number),
                    origin: 1,
                    count: 5,
                    receipt: [],
                    events: [UInt8(number)]
                )
            ])
        }
        try ledger.prune(upTo: Self.position(2, 10), keepSince: .max)
        let fresh = try JournalProgress.resume(ledger)
        #expect(fresh.saved == .init(position: Self.position(2, 10), cursor: nil, skipped: 10))
        #expect(fresh.lag(now: startOfTest + 2 + 1_000) == 1_000)

        let known = JournalProgress.Reached(position: Self.position(1, 7), cursor: "c", skipped: 2)
        try ledger.advance(projection: "journal", to: known.position, note: known.note, now: startOfTest)
        let resumed = try JournalProgress.resume(ledger).saved
        #expect(resumed == .init(position: Self.position(2, 10), cursor: "c", skipped: 5))
        try ledger.close()
    }
}

@Suite("The journal's lag")
struct JournalLagTests {
    static let second: Int64 = 1_000_000

    @Test("the journal's lag is the age of the oldest commit that is not confirmed")
    func oldest() {
        var lag = JournalLag()
        #expect(lag.age(behind: 0, now: startOfTest) == 0)
        lag.committed(10, at: startOfTest)
        lag.committed(20, at: startOfTest + 2 * Self.second)
        lag.committed(30, at: startOfTest + 4 * Self.second)
        let now = startOfTest + 5 * Self.second
        #expect(lag.age(behind: 0, now: now) == 5 * Self.second)
        #expect(lag.age(behind: 9, now: now) == 5 * Self.second)
        #expect(lag.age(behind: 10, now: now) == 3 * Self.second)
        #expect(lag.age(behind: 25, now: now) == 1 * Self.second)
        #expect(lag.age(behind: 30, now: now) == 0)
        lag.committed(31, at: now)
        #expect(lag.age(behind: 30, now: now + Self.second) == Self.second)
    }

    @Test("the journal's lag takes commits of one second for one, at its earliest time")
    func resolution() {
        var lag = JournalLag()
        for step in 0..<100 { lag.committed(UInt64(step) + 1, at: startOfTest + Int64(step) * 10_000) }
        #expect(lag.age(behind: 99, now: startOfTest + Self.second) == Self.second)
        #expect(lag.age(behind: 100, now: startOfTest + Self.second) == 0)
    }

    @Test("the journal's lag is never negative, whatever the clock does")
    func journalLagClockSetBack() {
        var lag = JournalLag()
        lag.committed(1, at: startOfTest)
        #expect(lag.age(behind: 0, now: startOfTest - Self.second) == 0)
        lag.committed(2, at: startOfTest - 10 * Self.second)
        #expect(lag.age(behind: 1, now: startOfTest + Self.second) == Self.second)
        #expect(lag.age(behind: 2, now: startOfTest + Self.second) == 0)
    }

    @Test("the journal's lag stays right at its oldest end in memory that has a limit")
    func journalLagLimit() {
        var lag = JournalLag()
        let commits: Int64 = 100_000
        for step in 1...commits { lag.committed(UInt64(step), at: startOfTest + step * Self.second) }
        let now = startOfTest + commits * Self.second
        #expect(lag.age(behind: 0, now: now) == (commits - 1) * Self.second)
        #expect(lag.age(behind: 4_000, now: now) == (commits - 4_001) * Self.second)
        #expect(lag.age(behind: UInt64(commits) - 1, now: now) > 0)
        #expect(lag.age(behind: UInt64(commits), now: now) == 0)
    }
}
