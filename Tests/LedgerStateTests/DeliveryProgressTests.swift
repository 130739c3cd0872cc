// SPDX-License-Identifier: Apache-2.0

import EventLedger
import TestSupport
import Testing

@testable import LedgerState

@Suite("How far the journal has come")
struct DeliveryProgressTests {
    static func position(_ batch: Int64, _ sequence: UInt64) -> LedgerPosition {
        LedgerPosition(batch: batch, sequence: sequence)
    }

    static func progress(
        end: LedgerPosition = .start,
        oldest: Int64? = nil,
        clock: LedgerClock = .system
    ) -> DeliveryProgress {
        DeliveryProgress(.init(position: .start, cursor: nil, skipped: 0), end: end, oldest: oldest, clock: clock)
    }

    /// A clock whose wall time is `startOfTest` and some seconds, and whose monotonic time moves by itself.
    static func clock(wallSeconds: Int64 = 0, monotonic: ManualClock = ManualClock()) -> LedgerClock {
        LedgerClock(
            now: { startOfTest + wallSeconds * 1_000_000 },
            monotonic: { UInt64(clamping: monotonic.now) * 1_000 }
        )
    }

    static func age(of progress: DeliveryProgress) -> Int64? { progress.waiting.since.map { progress.age(since: $0) } }

    static func save(_ progress: DeliveryProgress) {
        if let reached = progress.unsaved { progress.saved(reached) }
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
    }

    @Test("what delivery passes over is saved with a position behind it, so that a restart does not count it twice")
    func passedOver() {
        let progress = Self.progress()
        progress.willWrite(batchEndingAt: Self.position(1, 12))
        progress.passOver(3, upTo: 4)
        progress.passOver(4, upTo: 11)
        #expect(progress.skipped == 7 && progress.unsaved == nil)
        progress.confirmed(5)
        #expect(progress.skipped == 7 && progress.unsaved?.skipped == 3)
        #expect(progress.dropped(pruned: 11, loaded: 5) == 7)
        #expect(progress.dropped(pruned: 20, loaded: 12) == 15)
        progress.confirmed(12)
        #expect(progress.skipped == 7 && progress.unsaved?.skipped == 7)
        progress.passOver(1, upTo: 12)
        #expect(progress.unsaved?.skipped == 8)
    }

    @Test("a destination's first position is saved before it has taken anything")
    func firstPosition() throws {
        let ledger = try EventLedger.open(
            directory: TemporaryDirectory().path,
            durability: .process,
            now: startOfTest
        ).ledger
        let first = try DeliveryProgress.resume(ledger, projection: "export new")
        let position = try #require(first.unsaved)
        first.saved(position)
        #expect(first.unsaved == nil)
        #expect(try DeliveryProgress.resume(ledger).unsaved == nil, "the journal's begins with the ledger")
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
        let reached = DeliveryProgress.Reached(position: end, cursor: cursor, skipped: skipped)
        try ledger.advance(
            projection: DeliveryProgress.journal,
            to: reached.position,
            note: reached.note,
            now: startOfTest
        )
        let saved = try #require(try ledger.reader.position(of: DeliveryProgress.journal))
        #expect(DeliveryProgress.Reached(saved) == reached)
        try ledger.close()
    }

    @Test("journal progress lags behind by the age of what the ledger held at the start, and not at all behind nothing")
    func lagAtStart() {
        let monotonic = ManualClock()
        let behind = Self.progress(
            end: Self.position(3, 30),
            oldest: startOfTest,
            clock: Self.clock(wallSeconds: 5, monotonic: monotonic)
        )
        #expect(Self.age(of: behind) == 5_000_000)
        behind.confirmed(29)
        Self.save(behind)
        monotonic.advance(seconds: 1)
        #expect(Self.age(of: behind) == 6_000_000)
        behind.confirmed(30)
        Self.save(behind)
        #expect(Self.age(of: behind) == nil)
        #expect(Self.age(of: Self.progress(end: .start, oldest: nil)) == nil)
        let ahead = Self.progress(end: Self.position(3, 30), oldest: startOfTest + 9_000_000, clock: Self.clock())
        #expect(Self.age(of: ahead) == 1, "received by a clock that was ahead")
    }

    @Test("journal progress lags until what was confirmed is saved, and by the time that no one sets")
    func lagUntilSaved() {
        let monotonic = ManualClock()
        let progress = Self.progress(clock: Self.clock(monotonic: monotonic))
        progress.committed(10)
        #expect(Self.age(of: progress) == 1)
        monotonic.advance(seconds: 2)
        progress.committed(20)
        progress.confirmed(20)
        #expect(Self.age(of: progress) == 2_000_000)
        Self.save(progress)
        #expect(Self.age(of: progress) == nil)
    }

    @Test("journal progress lags after a restart by the age of the first event that is not saved, not by what is kept")
    func lagBehindKeptBatches() throws {
        let directory = try TemporaryDirectory()
        let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger
        for second in [0, 3_600, 7_200] as [Int64] {
            try ledger.append([
                LedgerBatch(receivedAt: startOfTest + second * 1_000_000, origin: 1, count: 5, receipt: [], events: [1])
            ])
        }
        func age(behind position: LedgerPosition) throws -> Int64? {
            try ledger.advance(projection: DeliveryProgress.journal, to: position, note: "0 ", now: startOfTest)
            return Self.age(of: try DeliveryProgress.resume(ledger, clock: Self.clock(wallSeconds: 7_300)))
        }
        #expect(try age(behind: Self.position(0, 4)) == 7_300_000_000)
        #expect(try age(behind: Self.position(1, 5)) == 3_700_000_000)
        #expect(try age(behind: Self.position(1, 7)) == 3_700_000_000)
        #expect(try age(behind: Self.position(2, 14)) == 100_000_000)
        #expect(try age(behind: Self.position(3, 15)) == nil)
        try ledger.close()
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
        let fresh = try DeliveryProgress.resume(ledger)
        #expect(fresh.saved == .init(position: Self.position(2, 10), cursor: nil, skipped: 10))
        let later = try DeliveryProgress.resume(ledger, clock: Self.clock(wallSeconds: 1))
        #expect(Self.age(of: later) == 999_998)

        let known = DeliveryProgress.Reached(position: Self.position(1, 7), cursor: "c", skipped: 2)
        try ledger.advance(projection: "journal", to: known.position, note: known.note, now: startOfTest)
        let resumed = try DeliveryProgress.resume(ledger).saved
        #expect(resumed == .init(position: Self.position(2, 10), cursor: "c", skipped: 5))
        try ledger.close()
    }
}

@Suite("The journal's lag")
struct JournalLagTests {
    static let second: Int64 = 1_000_000

    @Test("the journal's lag counts from the oldest commit that is not confirmed")
    func oldest() {
        var lag = DeliveryLag()
        #expect(lag.since(behind: 0) == nil)
        for (sequence, second) in [(10, 0), (20, 2), (30, 4)] as [(UInt64, Int64)] {
            lag.committed(sequence, at: second * Self.second)
        }
        #expect(lag.since(behind: 0) == 0)
        #expect(lag.since(behind: 9) == 0)
        #expect(lag.since(behind: 10) == 2 * Self.second)
        #expect(lag.since(behind: 25) == 4 * Self.second)
        #expect(lag.since(behind: 30) == nil)
        lag.committed(31, at: 5 * Self.second)
        #expect(lag.since(behind: 30) == 5 * Self.second)
    }

    @Test("the journal's lag takes commits of one second for one, at its earliest time, and none without events")
    func resolution() {
        var lag = DeliveryLag()
        for step in 0..<100 as Range<Int64> { lag.committed(UInt64(step) + 1, at: step * 10_000) }
        lag.committed(100, at: 5 * Self.second)
        #expect(lag.since(behind: 99) == 0)
        #expect(lag.since(behind: 100) == nil)
    }

    @Test("the journal's lag stays right at its oldest end in memory that has a limit")
    func journalLagLimit() {
        var lag = DeliveryLag()
        let commits: Int64 = 100_000
        for step in 1...commits { lag.committed(UInt64(step), at: step * Self.second) }
        #expect(lag.since(behind: 0) == Self.second)
        #expect(lag.since(behind: 4_000) == 4_001 * Self.second)
        #expect(lag.since(behind: UInt64(commits) - 1) != nil)
        #expect(lag.since(behind: UInt64(commits)) == nil)
    }
}
