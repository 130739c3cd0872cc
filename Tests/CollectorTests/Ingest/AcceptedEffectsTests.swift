// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import PrefetchLifecycle
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

/// What is accepted and not counted shows on the page (docs/metrics.md, What accepted events did).
@Suite("What accepted events did, on the page")
struct AcceptedEffectsTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let events: [String]
        let family: String
        let effects: [String: Int]

        var testDescription: String { name }
    }

    static let rows = [
        Row(
            name: "two event ids for one stage",
            events: ["x", "y"].map {
                EventText.event("prefetch_executed", id: "a", second: 60, #""eventId":"\#($0)""#)
            },
            family: "dnp_prefetch_executed_total",
            effects: ["counted": 1, "repeated_stage": 1, "informational": 0, "late": 0]
        ),
        Row(
            name: "a schedule told three times",
            events: (0..<3).map { EventText.event("prefetch_scheduled", id: "a", second: $0) },
            family: "dnp_prefetch_scheduled_total",
            effects: ["counted": 1, "repeated_stage": 2, "informational": 0, "late": 0]
        ),
        Row(
            name: "200 failures of one attempt",
            events: (0..<200).map {
                EventText.event("prefetch_failure", id: "a", second: 60 + $0, #""reason":"NETWORK""#)
            },
            family: #"dnp_prefetch_failure_total{reason="NETWORK"}"#,
            effects: ["counted": 1, "repeated_stage": 199, "informational": 0, "late": 0]
        ),
        Row(
            name: "what tells of no stage",
            events: ["plugin_started", "prefetch_started", "content_cached"].map { EventText.event($0, id: "a") }
                + [EventText.scheduled("a")],
            family: "dnp_prefetch_scheduled_total",
            effects: ["counted": 1, "repeated_stage": 0, "informational": 3, "late": 0]
        ),
    ]

    @Test("an accepted event that no counter grows for shows in its effect", arguments: rows)
    func effectShows(row: Row) async throws {
        let pipeline = try Pipeline(in: try TemporaryDirectory())
        _ = try await pipeline.submit(row.events)
        let page = pipeline.page
        #expect(page.accepted == row.events.count)
        #expect(page[row.family] == 1)
        #expect(page.effects == row.effects)
        #expect(page.increments == page.lifecycleCounters)
        try await pipeline.close()
    }

    @Test("verdicts on closed cycles and the events of a damaged batch are informational")
    func verdictsAreInformational() async throws {
        let directory = try TemporaryDirectory()
        let pipeline = try Pipeline(in: directory)
        _ = try await pipeline.submit(TickVerdictTests.cycles)
        let before = pipeline.page.effects
        pipeline.clock.advance(seconds: 900)
        try await pipeline.tick()
        var page = pipeline.page
        #expect(page.accepted == 10)
        #expect(page.effects["informational"] == (before["informational"] ?? 0) + 1)
        #expect(page.effectBalance == 0)
        try pipeline.ledger.append([
            LedgerBatch(receivedAt: startOfTest, origin: 0x0101, count: 3, receipt: [], events: [0xFF])
        ])
        let image = try directory.crashImage()
        try await pipeline.close()

        let recovered = try Pipeline(in: image)
        page = recovered.page
        #expect(page.accepted == 13)
        #expect(page.effects["informational"] == (before["informational"] ?? 0) + 4)
        #expect(page.effectBalance == 0)
        try await recovered.close()
    }

    @Test(
        "effects and increments add up after the upgrade from a version that noted none",
        arguments: 1...3 as ClosedRange<UInt64>
    )
    func olderCheckpoint(seed: UInt64) async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        let first = try Pipeline(in: directory, clock: clock)
        var workload = Workload(seed: seed, cycles: 20)
        for _ in 0..<80 {
            clock.advance(seconds: workload.pause())
            if workload.happens(onceIn: 4) { try await first.tick() }
            _ = try await first.writer.submit(workload.next())
        }
        let old = first.page
        try await first.close()
        try directory.makeCheckpointOlder()

        let second = try Pipeline(in: directory, clock: clock)
        let page = second.page
        #expect(page.effectBalance == 0)
        #expect(page.increments == page.lifecycleCounters)
        #expect(page.effects["repeated_stage"] == 0 && page.effects["late"] == 0)
        let noted = ["dnp_telemetry_accepted_effects_total", "dnp_telemetry_lifecycle_increments_total"]
        #expect(page.difference(from: old).allSatisfy { line in noted.contains { line.hasPrefix($0) } })

        for _ in 0..<20 {
            clock.advance(seconds: workload.pause())
            _ = try await second.writer.submit(workload.next())
            #expect(second.page.effectBalance == 0)
            #expect(second.page.increments == second.page.lifecycleCounters)
        }
        let last = second.page
        try await second.close()
        let third = try Pipeline(in: directory, clock: clock)
        #expect(third.page.difference(from: last) == [])
        try await third.close()
    }
}
