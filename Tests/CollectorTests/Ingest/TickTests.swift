// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import PrefetchLifecycle
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

    @Test("a clock that was set back holds up no tick")
    func clockSetBack() async throws {
        let pipeline = try Pipeline(in: try TemporaryDirectory(), tickInterval: .milliseconds(1))
        pipeline.clock.advance(seconds: 365 * 86_400)
        _ = try await pipeline.submit([EventText.event("plugin_started", id: "ahead")])
        pipeline.clock.advance(seconds: -365 * 86_400)
        _ = try await pipeline.submit(Self.pending)
        #expect(pipeline.page.openCycles == 1)
        pipeline.clock.advance(seconds: 366 * 86_400 + 3_600)
        await waitUntil("the cycle is closed") { pipeline.page.openCycles == 0 }
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
