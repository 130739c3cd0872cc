// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import PrefetchLifecycle
import RefreshLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

@Suite("What time closes, it closes at a place in the ledger")
struct TickTests {
    /// An attempt that fails without a reason, which is counted when its cycle closes.
    static let pending = [
        EventText.scheduled("a"), EventText.event("prefetch_executed", id: "a", second: 60),
        EventText.event("prefetch_failure", id: "a", second: 90),
    ]

    static let failures = #"dnp_prefetch_failure_total{reason="OTHER"}"#

    @Test("a cycle closes by a recorded tick, and closes there again in a rebuild")
    func recorded() async throws {
        let directory = try TemporaryDirectory()
        let pipeline = try Pipeline(in: directory, tickInterval: .milliseconds(1))
        _ = try await pipeline.submit(Self.pending)
        #expect(pipeline.page.openCycles == 1)
        #expect(pipeline.page[Self.failures] ?? 0 == 0)

        pipeline.clock.advance(seconds: 24 * 3_600 + 60)
        await waitUntil("the cycle is closed") { pipeline.page.openCycles == 0 }
        #expect(pipeline.page[Self.failures] == 1)
        #expect(pipeline.ledger.position == LedgerPosition(batch: 2, sequence: 3))
        let tick = try #require(try pipeline.ledger.reader.read(afterBatch: 1).first?.batch)
        #expect(tick.origin == IngestProcessor.tickOrigin)
        #expect(tick.count == 0)
        #expect(tick.receivedAt == pipeline.clock.now)
        #expect(tick.receipt.isEmpty && tick.events.isEmpty)

        let before = try LedgerProjection.refolded(from: pipeline.ledger.reader, upTo: 1)
        #expect(before.fold.openCycles == 1)
        #expect(before.fold.totals.failureOther == 0)
        let after = try LedgerProjection.refolded(from: pipeline.ledger.reader)
        #expect(after.fold.openCycles == 0)
        #expect(after.fold.totals.failureOther == 1)
        #expect(RegistryPage(of: after).difference(from: pipeline.page) == [])
        try await pipeline.close()
    }

    @Test("no tick is recorded while nothing is due")
    func nothingDue() async throws {
        let pipeline = try Pipeline(in: try TemporaryDirectory(), tickInterval: .milliseconds(1))
        _ = try await pipeline.submit(Self.pending)
        for hour in 1...23 {
            pipeline.clock.advance(seconds: 3_600)
            _ = try await pipeline.submit([EventText.event("plugin_started", id: "hour-\(hour)")])
        }
        let batches = try pipeline.ledger.reader.read(afterBatch: 0)
        #expect(batches.count == 24)
        #expect(batches.allSatisfy { $0.batch.origin != IngestProcessor.tickOrigin })
        #expect(pipeline.page.openCycles == 1)
        try await pipeline.close()
    }

    @Test("what was due while the service was down closes after its start")
    func afterDowntime() async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        let first = try Pipeline(in: directory, clock: clock)
        _ = try await first.submit(Self.pending)
        try await first.close()
        clock.advance(seconds: 30 * 86_400)

        let second = try Pipeline(in: directory, clock: clock, tickInterval: .milliseconds(1))
        await waitUntil("the cycle is closed") { second.page.openCycles == 0 }
        #expect(second.page[Self.failures] == 1)
        try await second.close()
    }

    @Test("a clock that was set back by a year holds up no cycle")
    func tickClockSetBack() async throws {
        let pipeline = try Pipeline(in: try TemporaryDirectory(), tickInterval: .milliseconds(1))
        pipeline.clock.advance(seconds: 365 * 86_400)
        _ = try await pipeline.submit([EventText.event("plugin_started", id: "ahead")])
        // Past the next tick also where none came while the clock was ahead.
        pipeline.clock.advance(seconds: -365 * 86_400 + 30)
        _ = try await pipeline.submit(Self.pending)
        #expect(pipeline.page.openCycles == 1)
        // The cycle is open for a day from then on.
        try await waitUntil("a tick has set the ledger's clock back") {
            try pipeline.ledger.reader.read(afterBatch: 1).contains {
                $0.batch.origin == IngestProcessor.tickOrigin && $0.batch.receivedAt == pipeline.clock.now
            }
        }
        pipeline.clock.advance(seconds: 86_400 + 60)
        await waitUntil("the cycle is closed") { pipeline.page.openCycles == 0 }
        let rebuilt = try LedgerProjection.refolded(from: pipeline.ledger.reader)
        #expect(RegistryPage(of: rebuilt).difference(from: pipeline.page) == [])
        try await pipeline.close()
    }

    @Test("what is too much for one tick goes on with the next at once, and closes there again in a rebuild")
    func severalTicks() async throws {
        let pipeline = try Pipeline(in: try TemporaryDirectory(), tickInterval: .milliseconds(1))
        for batch in 0..<20 {
            _ = try await pipeline.submit((0..<1_000).map { EventText.scheduled("cycle-\(batch)-\($0)") })
        }
        pipeline.clock.advance(seconds: 24 * 3_600 + 60)
        await waitUntil("the cycles are closed") { pipeline.page.openCycles == 0 }
        let ticks = try pipeline.ledger.reader.read(afterBatch: 20)
        #expect(ticks.count > 1 && ticks.allSatisfy { $0.batch.origin == IngestProcessor.tickOrigin })
        let halfway = try LedgerProjection.refolded(from: pipeline.ledger.reader, upTo: 21)
        #expect(halfway.fold.openCycles > 0 && halfway.fold.openCycles < 20_000)
        let rebuilt = try LedgerProjection.refolded(from: pipeline.ledger.reader)
        #expect(RegistryPage(of: rebuilt).difference(from: pipeline.page) == [])
        try await pipeline.close()
    }
}

@Suite("A tick's row holds the verdicts on what it closes")
struct TickVerdictTests {
    static let received = #"dnp_telemetry_events_received_total{source="collector",format="verdict"}"#
    static let drifted = #"dnp_prefetch_sequence_violations_total{violation="drift_exceeded"}"#

    /// A cycle whose notification came 240 s late, and one in order.
    static let cycles = [
        EventText.event("prefetch_scheduled", id: "late", #""notificationTime":"2025-11-15T05:51:40Z""#),
        EventText.event("prefetch_executed", id: "late", second: 60),
        EventText.event("prefetch_success", id: "late", second: 62),
        EventText.event("prefetch_used_for_notification", id: "late", second: 1_139),
        EventText.event("notification_delivered", id: "late", second: 1_140),
        EventText.event("prefetch_scheduled", id: "good"),
        EventText.event("prefetch_executed", id: "good", second: 60),
        EventText.event("prefetch_success", id: "good", second: 62),
        EventText.event("prefetch_cycle_complete", id: "good", second: 70, #""fetched":true,"usedCached":true"#),
    ]

    @Test(
        "a tick's row holds the verdicts on what it closes with a sentence each, numbered and counted like what is received"
    )
    func oneOfTwo() async throws {
        let pipeline = try Pipeline(in: try TemporaryDirectory(), tickInterval: .milliseconds(1))
        _ = try await pipeline.submit(Self.cycles)
        #expect(pipeline.page[Self.received] == 0)
        pipeline.clock.advance(seconds: 900)
        await waitUntil("the cycles are closed") { pipeline.page.openCycles == 0 }

        let tick = try #require(try pipeline.ledger.reader.read(afterBatch: 1).first)
        #expect(tick.batch.origin == IngestProcessor.tickOrigin)
        #expect(tick.firstSequence == 10 && tick.batch.count == 1)
        let verdict = try #require(try CycleVerdict.read(tick.batch.events).first)
        #expect(verdict.closedAt.microseconds == pipeline.clock.now)
        #expect("\(verdict.notificationTime?.description ?? "")" == "2025-11-15T05:51:40Z")
        #expect(verdict.outcome == .used)
        #expect(verdict.failureReason == nil)
        #expect(
            verdict.violations == [
                CycleViolation(kind: .driftExceeded, detail: "delivered 240 s after its time; iOS tolerates 180 s")
            ]
        )
        let events = EventText.decode([Self.cycles[0]]).events
        var cursor = EventCursor()
        let event = try #require(try cursor.next(in: events.bytes.span))
        #expect(verdict.schedule == EventText.identityKey.schedule(of: event, in: events.bytes.span))

        let page = pipeline.page
        #expect(page[Self.received] == 1)
        #expect(page[Self.drifted] == 1)
        #expect(page.accepted == 10)
        #expect(page.received == 10)
        #expect(page["dnp_telemetry_ledger_sequence"] == 10)
        try await pipeline.close()
    }

    struct Setting: Sendable, CustomTestStringConvertible {
        let seed: UInt64
        let limits: LifecycleLimits
        var testDescription: String { "seed \(seed), \(limits.openCycles) open cycles" }
    }

    static let settings = (1...2 as ClosedRange<UInt64>).map {
        Setting(seed: $0, limits: $0.isMultiple(of: 2) ? RecoveryTests.tight : LifecycleLimits())
    }

    @Test(
        "a tick's row holds the verdicts on what it closes whatever the history, the restarts and the checkpoints between",
        arguments: settings
    )
    func tickVerdictAnyHistory(setting: Setting) async throws {
        var directory = try TemporaryDirectory()
        let clock = ManualClock()
        var pipeline = try Pipeline(in: directory, clock: clock, limits: setting.limits)
        var workload = Workload(seed: setting.seed, cycles: 30)
        for _ in 0..<150 {
            clock.advance(seconds: workload.pause())
            _ = try await pipeline.writer.submit(workload.next())
            if workload.happens(onceIn: 3) { _ = try await pipeline.writer.submit(.tick) }
            let page = pipeline.page
            #expect(page.received == (page.accepted ?? 0) + (page.duplicates ?? 0) + page.rejected)
            #expect(page.accepted == page["dnp_telemetry_ledger_sequence"])
            #expect(page.effectBalance == 0)
            #expect(page.increments == page.lifecycleCounters)
            guard workload.happens(onceIn: 10) else { continue }
            // Closing saves a checkpoint; a crash leaves the one before and the rows behind it.
            if workload.happens(onceIn: 2) { directory = try directory.crashImage() }
            try await pipeline.close()
            pipeline = try Pipeline(in: directory, clock: clock, limits: setting.limits)
            try #require(pipeline.page.difference(from: page) == [])
        }
        await pipeline.writer.stop(within: .seconds(30))
        let found = try Self.compare(pipeline.ledger.reader, setting.limits)
        #expect(found.verdicts > 10)
        let page = pipeline.page
        #expect(page[Self.received] == found.verdicts)
        #expect(found.runs > 0)
        let counted = ViolationKind.allCases.reduce(0) { sum, kind in
            sum + (page["dnp_prefetch_sequence_violations_total{violation=\"\(kind.name)\"}"] ?? 0)
        }
        let evicted = page["dnp_telemetry_evicted_cycles_total"] ?? 0
        #expect(evicted > 0 ? counted >= found.rules : counted == found.rules)
        #expect((evicted > 0) == (setting.limits.openCycles == RecoveryTests.tight.openCycles))
        try pipeline.ledger.close()
    }

    /// Folds a ledger from its start and compares the records of each tick with what it closes; returns how many there
    /// are, and how many rules they tell to be broken.
    static func compare(
        _ reader: LedgerReader,
        _ limits: LifecycleLimits
    ) throws -> (verdicts: Int, rules: Int, runs: Int) {
        var fold = LifecycleFold(
            key: EventText.identityKey,
            limits: limits,
            keepsClosedCycles: true,
            anonymousIsOneInstallation: false
        )
        var refresh = RefreshFold(keepsClosedRuns: true, anonymousIsOneInstallation: false)
        var found = (verdicts: 0, rules: 0, runs: 0)
        var batch: Int64 = 0
        while case let rows = try reader.read(afterBatch: batch), !rows.isEmpty {
            for row in rows {
                batch = row.id
                let time = Timestamp(microseconds: row.batch.receivedAt)
                guard row.batch.origin == IngestProcessor.tickOrigin else {
                    let receipt = try #require(IngestReceipt(encoded: row.batch.receipt))
                    fold.remember(receipt.batchIdentities, receivedAt: time)
                    let others = fold.otherEvents
                    try fold.apply(row.batch.events.span, receivedAt: time)
                    if fold.otherEvents != others { try refresh.apply(row.batch.events.span, receivedAt: time) }
                    continue
                }
                _ = fold.takeClosedCycles()
                _ = refresh.takeClosedRuns()
                fold.tick(to: time)
                refresh.tick(to: time)
                let runs = refresh.takeClosedRuns().filter { !$0.violations.isEmpty }
                let runVerdicts = try RunVerdict.read(row.batch.events)
                #expect(
                    runVerdicts == runs.map { RunVerdict($0, closedAt: fold.clock, key: EventText.identityKey) }
                )
                let closed = fold.takeClosedCycles().filter { !$0.violations.isEmpty }
                let verdicts = try CycleVerdict.read(row.batch.events)
                #expect(verdicts == closed.map { CycleVerdict($0, closedAt: fold.clock) })
                #expect(verdicts.count + runVerdicts.count == Int(row.batch.count))
                found.verdicts += verdicts.count + runVerdicts.count
                found.runs += runVerdicts.count
                found.rules += verdicts.reduce(0) { $0 + $1.violations.count }
            }
        }
        return found
    }

    @Test("a tick that is not stored leaves its verdicts to the next one")
    func notStored() async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        let first = try Pipeline(in: directory, clock: clock)
        _ = try await first.submit(Self.cycles)
        clock.advance(seconds: 900)
        try first.ledger.close()
        await #expect(throws: SubmissionError.self) { try await first.writer.submit(.tick) }
        #expect(first.page.openCycles == 2)
        #expect(first.page[Self.received] == 0)
        await first.writer.stop(within: .seconds(30))

        let second = try Pipeline(in: directory, clock: clock)
        clock.advance(seconds: 60)
        for _ in 0..<2 { _ = try await second.writer.submit(.tick) }
        #expect(second.page[Self.received] == 1)
        #expect(second.page[Self.drifted] == 1)
        #expect(second.page.openCycles == 0)
        let rows = try second.ledger.reader.read(afterBatch: 1)
        #expect(rows.map(\.batch.count) == [1, 0])
        #expect(try CycleVerdict.read(rows[0].batch.events).map(\.closedAt.microseconds) == [clock.now])
        try await second.close()
    }
}
