// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import PrefetchLifecycle
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

@Suite("The watch on the system clock")
struct ClockWatchTests {
    private static let minute: Int64 = 60_000_000
    private static let day = 24 * 60 * minute

    @Test("a clock that runs or is slewed is believed")
    func runningClockIsBelieved() {
        var watch = ClockWatch(lastRow: nil)
        for step in 0..<1_000 as Range<Int64> {
            #expect(watch.look(now: step * Self.minute + step * 100_000, monotonic: step * Self.minute) == .believed)
        }
    }

    @Test("a clock that leaps is doubted until it has stood for a quarter of an hour", arguments: [8 * day, -8 * day])
    func leapIsDoubted(leap: Int64) {
        var watch = ClockWatch(lastRow: nil)
        #expect(watch.look(now: 0, monotonic: 0) == .believed)
        #expect(watch.look(now: Self.minute + leap, monotonic: Self.minute) == .leapt(leap))
        for minute in 2..<16 as Range<Int64> {
            #expect(watch.look(now: minute * Self.minute + leap, monotonic: minute * Self.minute) == .doubted)
        }
        #expect(watch.look(now: 16 * Self.minute + leap, monotonic: 16 * Self.minute) == .believed)
        #expect(watch.look(now: 17 * Self.minute + leap, monotonic: 17 * Self.minute) == .believed)
    }

    /// A watch on a clock that has stood for so many minutes, until 0.
    private static func watch(stood minutes: Int64) -> ClockWatch {
        var watch = ClockWatch(lastRow: nil)
        for minute in -minutes...0 { _ = watch.look(now: minute * Self.minute, monotonic: minute * Self.minute) }
        return watch
    }

    @Test("a clock that is back where it had stood is believed at once, and one that leaps on waits again")
    func leapBackIsBelieved() {
        var watch = Self.watch(stood: 15)
        #expect(watch.look(now: Self.day, monotonic: 0) == .leapt(Self.day))
        #expect(watch.look(now: Self.minute, monotonic: Self.minute) == .believed)
        #expect(watch.look(now: Self.day, monotonic: 2 * Self.minute) == .leapt(Self.day - 2 * Self.minute))
        #expect(watch.look(now: 3 * Self.day, monotonic: 10 * Self.minute) == .leapt(2 * Self.day - 8 * Self.minute))
        #expect(watch.look(now: 3 * Self.day + 8 * Self.minute, monotonic: 18 * Self.minute) == .doubted)
        #expect(watch.look(now: 3 * Self.day + 15 * Self.minute, monotonic: 25 * Self.minute) == .believed)
    }

    @Test(
        "of a clock that leaps in its first quarter of an hour no time is believed until it has stood, however often it is back",
        arguments: [0, 1, 14] as [Int64],
        [30 * day, -30 * day, 6 * minute]
    )
    func leapsOfAFreshClock(minutes: Int64, leap: Int64) {
        var watch = Self.watch(stood: minutes)
        var monotonic = Self.minute
        for round in 0..<5 as Range<Int64> {
            let isAhead = round % 2 == 0
            let time = monotonic + (isAhead ? leap : 0)
            #expect(watch.look(now: time, monotonic: monotonic) == .leapt(isAhead ? leap : -leap))
            #expect(watch.believedTime(monotonic: monotonic) == nil)
            monotonic += 10 * Self.minute
            #expect(watch.look(now: time + 10 * Self.minute, monotonic: monotonic) == .doubted)
        }
        monotonic += 5 * Self.minute
        #expect(watch.look(now: monotonic + leap, monotonic: monotonic) == .believed)
        #expect(watch.believedTime(monotonic: monotonic) == monotonic + leap)
    }

    @Test("the believed time goes on through a leap as if there were none, and follows the clock once that has stood")
    func believedTime() {
        var watch = ClockWatch(lastRow: nil)
        #expect(watch.believedTime(monotonic: 0) == nil)
        _ = watch.look(now: Self.day - 15 * Self.minute, monotonic: -15 * Self.minute)
        _ = watch.look(now: Self.day, monotonic: 0)
        #expect(watch.believedTime(monotonic: Self.minute) == Self.day + Self.minute)
        _ = watch.look(now: 9 * Self.day, monotonic: Self.minute)
        #expect(watch.believedTime(monotonic: 2 * Self.minute) == Self.day + 2 * Self.minute)
        _ = watch.look(now: 9 * Self.day + 15 * Self.minute, monotonic: 16 * Self.minute)
        #expect(watch.believedTime(monotonic: 17 * Self.minute) == 9 * Self.day + 16 * Self.minute)

        var doubtful = ClockWatch(lastRow: 100 * Self.day)
        _ = doubtful.look(now: 200 * Self.day, monotonic: 0)
        #expect(doubtful.believedTime(monotonic: Self.minute) == nil, "a start long after the last row")
    }

    @Test(
        "a start is believed where it follows the last row within a day",
        arguments: [(-day, false), (-6 * minute, false), (-minute, true), (0, true), (day, true), (day + 1, false)]
    )
    func startIsCompared(passed: Int64, isBelieved: Bool) {
        var watch = ClockWatch(lastRow: 100 * Self.day)
        let now = 100 * Self.day + passed
        #expect(watch.look(now: now, monotonic: 7) == (isBelieved ? .believed : .leapt(passed)))
        #expect(watch.look(now: now + 15 * Self.minute, monotonic: 7 + 15 * Self.minute) == .believed)
    }
}

/// The whole way of ingest under a clock that someone sets (docs/lifecycle.md, A clock that leaps).
@Suite("A clock that leaps under the service")
struct ClockLeapTests {
    private static let day: Int64 = 86_400
    private static let doubted = "dnp_telemetry_clock_doubted"

    @Test(
        "a batch of minutes ago counts once, however often the clock goes ahead and back, over restarts and crashes",
        arguments: [8, 16, 400] as [Int64]
    )
    func batchIsRemembered(days: Int64) async throws {
        var directory = try TemporaryDirectory()
        let clock = ManualClock()
        var pipeline = try Pipeline(in: directory, clock: clock)
        let batch = [EventText.scheduled("a"), EventText.scheduled("b")]
        #expect(try await pipeline.submit(batch, key: "k") == .counted(accepted: 2, duplicates: 0))
        for round in 1...6 as ClosedRange<Int64> {
            for step in [round * days * Self.day, 60, -round * days * Self.day] {
                clock.advance(seconds: step)
                let ahead = [EventText.scheduled("ahead-\(round)-\(step)")]
                #expect(
                    try await pipeline.submit(ahead, key: "\(round) \(step)") == .counted(accepted: 1, duplicates: 0)
                )
                #expect(
                    try await pipeline.submit(ahead, key: "\(round) \(step)") == .counted(accepted: 0, duplicates: 1)
                )
                #expect(try await pipeline.submit(batch) == .counted(accepted: 0, duplicates: 2))
                #expect(try await pipeline.submit(batch, key: "k") == .counted(accepted: 0, duplicates: 2))
                guard round % 2 == 0 else { continue }
                let page = pipeline.page
                if step == 60 { directory = try directory.crashImage() }
                try await pipeline.close()
                pipeline = try Pipeline(in: directory, clock: clock)
                try #require(pipeline.page.difference(from: page) == [])
            }
            #expect(try await pipeline.submit(batch) == .counted(accepted: 0, duplicates: 2))
        }
        #expect(pipeline.page.accepted == 2 + 18)
        await pipeline.writer.stop(within: .seconds(30))
        let saved = try ProjectionState(savedIn: pipeline.ledger.reader)
        let whole = try ProjectionState(refolding: pipeline.ledger.reader, limits: LifecycleLimits())
        #expect(saved.difference(from: whole) == [])
        try pipeline.ledger.close()
    }

    /// Both clocks of a machine, of which someone sets the one.
    private struct Clocks {
        let wall = ManualClock()
        let monotonic = ManualClock()

        /// A watch under which they have stood for a quarter of an hour.
        var watch: ClockWatch {
            var watch = ClockWatch(lastRow: nil)
            for past in [ClockWatch.confirmationMicroseconds, 0] {
                _ = watch.look(now: wall.now - past, monotonic: monotonic.now - past)
            }
            return watch
        }

        var reading: ClockReading {
            ClockReading(LedgerClock(now: { wall.now }, monotonic: { UInt64(clamping: monotonic.now) * 1_000 }))
        }

        /// Lets time pass, in steps that are no leaps to whoever looks between the two clocks.
        func pass(seconds: Int64) {
            for start in stride(from: 0, to: seconds, by: 200) {
                let step = min(200, seconds - start)
                monotonic.advance(seconds: step)
                wall.advance(seconds: step)
            }
        }
    }

    private static func pipeline(
        _ clocks: Clocks,
        keepSeconds: Int64 = 100 * 365 * day,
        isJournalManual: Bool = false
    ) throws -> Pipeline {
        try Pipeline(
            in: try TemporaryDirectory(),
            clock: clocks.wall,
            tickInterval: .milliseconds(1),
            watch: clocks.watch,
            monotonic: clocks.monotonic,
            keepSeconds: keepSeconds,
            isJournalManual: isJournalManual
        )
    }

    private static func isSaved(_ pipeline: Pipeline) -> Bool {
        let saved = try? pipeline.ledger.reader.position(of: LedgerProjection.name)
        return (saved ?? nil)?.position.batch ?? 0 >= 1
    }

    private static func pruned(_ pipeline: Pipeline) -> Int64? {
        try? pipeline.ledger.reader.statistics().pruned.batch
    }

    @Test("a leap ahead deletes no batch before its retention is over, and by the true clock it goes then")
    func leapDeletesNothing() async throws {
        let clocks = Clocks()
        let pipeline = try Self.pipeline(clocks, keepSeconds: 7 * Self.day)
        _ = try await pipeline.submit(TickTests.pending)
        await waitUntil("a checkpoint holds the batch") { Self.isSaved(pipeline) }
        clocks.pass(seconds: 60)
        clocks.wall.advance(seconds: 8 * Self.day)
        await waitUntil("the leap is noticed") { pipeline.page[Self.doubted] == 1 }
        // Retention runs once a second of this clock.
        for second in 1...3 {
            clocks.pass(seconds: 1)
            _ = try await pipeline.submit([EventText.event("plugin_started", id: "ahead-\(second)")])
        }
        #expect(Self.pruned(pipeline) == 0)

        clocks.wall.advance(seconds: -8 * Self.day)
        await waitUntil("the clock is believed again") { pipeline.page[Self.doubted] == 0 }
        clocks.pass(seconds: 6 * Self.day)
        _ = try await pipeline.submit([EventText.event("plugin_started", id: "a day before")])
        #expect(Self.pruned(pipeline) == 0)
        clocks.pass(seconds: Self.day)
        await waitUntil("the batch is deleted") { Self.pruned(pipeline) ?? 0 >= 1 }
        try await pipeline.close()
    }

    @Test("a batch that need not be kept is deleted whatever the clock says, also after it was set back")
    func noRetentionAsksNoClock() async throws {
        let clocks = Clocks()
        let pipeline = try Self.pipeline(clocks, keepSeconds: 0, isJournalManual: true)
        _ = try await pipeline.submit(TickTests.pending)
        await waitUntil("a checkpoint holds the batch") { Self.isSaved(pipeline) }
        clocks.wall.advance(seconds: -Self.day)
        await waitUntil("the leap is noticed") { pipeline.page[Self.doubted] == 1 }
        #expect(Self.pruned(pipeline) == 0, "the journal does not have it")
        pipeline.progress?.willWrite(batchEndingAt: pipeline.ledger.position)
        pipeline.progress?.confirmed(pipeline.ledger.position.sequence)
        clocks.pass(seconds: 2)
        await waitUntil("the batch is deleted") { Self.pruned(pipeline) == 1 }
        try await pipeline.close()
    }

    @Test("a leap ahead closes no cycle before the clock has stood there, and none once it is back")
    func leapClosesNothing() async throws {
        let clocks = Clocks()
        let pipeline = try Self.pipeline(clocks)
        _ = try await pipeline.submit(TickTests.pending)
        clocks.pass(seconds: 60)
        clocks.wall.advance(seconds: 8 * Self.day)
        await waitUntil("the leap is noticed") { pipeline.page[Self.doubted] == 1 }
        _ = try await pipeline.submit([EventText.event("prefetch_executed", id: "b", second: 60)])
        #expect(pipeline.page.openCycles == 2)

        clocks.wall.advance(seconds: -8 * Self.day)
        await waitUntil("the clock is believed again, and a tick has set the ledger's clock back") {
            pipeline.page[Self.doubted] == 0 && pipeline.ledger.position.batch == 3
        }
        #expect(pipeline.page.openCycles == 2)
        #expect(pipeline.page["dnp_telemetry_clock_leaps_total"] == 1)

        clocks.pass(seconds: Self.day + 600)
        await waitUntil("both cycles close by the true clock") { pipeline.page.openCycles == 0 }
        #expect(pipeline.page[TickTests.failures] == 1)
        let page = pipeline.page
        let rebuilt = try LedgerProjection.refolded(from: pipeline.ledger.reader)
        let clock = "dnp_telemetry_clock_leaps_total"
        #expect(RegistryPage(of: rebuilt).difference(from: page).filter { !$0.hasPrefix(clock) } == [])
        try await pipeline.close()
    }

    @Test("a clock that has stood ahead for a quarter of an hour closes what is due")
    func leapThatStandsCloses() async throws {
        let clocks = Clocks()
        let pipeline = try Self.pipeline(clocks)
        _ = try await pipeline.submit(TickTests.pending)
        clocks.pass(seconds: 60)
        clocks.wall.advance(seconds: 8 * Self.day)
        await waitUntil("the leap is noticed") { pipeline.page[Self.doubted] == 1 }
        #expect(pipeline.page.openCycles == 1)
        clocks.pass(seconds: 15 * 60 + 200)
        // A tick that stalls between reading the two clocks sees a leap, behind which the clock must stand anew.
        await waitUntil("the cycle is closed") {
            clocks.pass(seconds: 60)
            return pipeline.page.openCycles == 0
        }
        await waitUntil("the clock is believed") { pipeline.page[Self.doubted] == 0 }
        try await pipeline.close()
    }

    @Test(
        "a leap while the service starts is noticed, and further ones ahead and back close nothing until one has stood"
    )
    func leapsAtTheStart() async throws {
        let clocks = Clocks()
        let started = clocks.reading
        clocks.wall.advance(seconds: 30 * Self.day)
        let pipeline = try Pipeline(
            in: try TemporaryDirectory(),
            clock: clocks.wall,
            tickInterval: .milliseconds(1),
            watch: ClockWatch(lastRow: nil),
            started: started,
            monotonic: clocks.monotonic,
            keepSeconds: 7 * Self.day
        )
        for (index, days) in [-30, 30, -30].enumerated() {
            await waitUntil("the leap is noticed") { pipeline.page["dnp_telemetry_clock_leaps_total"] == index + 1 }
            _ = try await pipeline.submit([EventText.scheduled("cycle-\(index)")])
            clocks.pass(seconds: 60)
            clocks.wall.advance(seconds: Int64(days) * Self.day)
        }
        await waitUntil("the clock is back") { pipeline.page["dnp_telemetry_clock_leaps_total"] == 4 }
        #expect(pipeline.page.openCycles == 3)
        #expect(pipeline.page[Self.doubted] == 1)
        clocks.pass(seconds: 15 * 60 + 200)
        await waitUntil("the clock is believed") { pipeline.page[Self.doubted] == 0 }
        #expect(pipeline.page.openCycles == 3)
        #expect(Self.pruned(pipeline) == 0)
        clocks.pass(seconds: Self.day + 600)
        await waitUntil("the cycles close by the true clock") { pipeline.page.openCycles == 0 }
        try await pipeline.close()
    }

    @Test("a tick has the time that was believed, though the clock leaps before it is stored")
    func leapBehindTheTick() async throws {
        let clocks = Clocks()
        let pipeline = try Pipeline(
            in: try TemporaryDirectory(),
            clock: clocks.wall,
            watch: clocks.watch,
            monotonic: clocks.monotonic
        )
        _ = try await pipeline.submit(TickTests.pending)
        clocks.pass(seconds: Self.day + 600)
        let believed = clocks.wall.now
        let stored = try await pipeline.writer.perform { (processor, _) -> Int64? in
            guard let tick = processor.tick(now: believed) else { return nil }
            guard case .append(let row, _) = processor.prepare(tick, receivedAt: believed + 30 * Self.day * 1_000_000)
            else { return nil }
            return row.receivedAt
        }
        #expect(stored == believed)
        try await pipeline.close()
    }
}
