// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

@Suite("What the page says of the journal")
struct JournalSumsTests {
    private static let lag = "dnp_telemetry_journal_lag_seconds"
    private static let pending = "dnp_telemetry_journal_pending_entries"

    /// The lag of a page, which must be above 0 just where something is pending.
    private func lag(_ page: RegistryPage) throws -> Double {
        let lag = try #require(page.number(Self.lag))
        let pending = try #require(page[Self.pending])
        #expect((lag > 0) == (pending > 0), "a lag of \(lag) with \(pending) pending")
        return lag
    }

    /// Plays the journal that has taken everything.
    private func confirmAll(_ pipeline: Pipeline) {
        pipeline.progress?.willWrite(batchEndingAt: pipeline.ledger.position)
        pipeline.progress?.confirmed(pipeline.ledger.position.sequence)
    }

    @Test(
        "the journal's lag is above 0 from the commit until what is confirmed is saved, whatever the system clock does"
    )
    func lagWhilePending() async throws {
        let (wall, monotonic) = (ManualClock(), ManualClock())
        let pipeline = try Pipeline(
            in: try TemporaryDirectory(),
            clock: wall,
            monotonic: monotonic,
            isJournalManual: true
        )
        #expect(try lag(pipeline.page) == 0)
        _ = try await pipeline.submit([EventText.scheduled("a")])
        #expect(pipeline.page[Self.pending] == 1)
        #expect(try lag(pipeline.page) == 1e-6)
        monotonic.advance(seconds: 90)
        #expect(try lag(pipeline.page) == 90)
        for days in [30, -60] as [Int64] {
            wall.advance(seconds: days * 86_400)
            #expect(try lag(pipeline.page) == 90)
        }
        confirmAll(pipeline)
        #expect(try lag(pipeline.page) == 90, "it is not saved yet")

        wall.advance(seconds: 2)
        _ = try await pipeline.submit([EventText.scheduled("b")])
        // What is confirmed is saved behind the commit that answers.
        await waitUntil("the first entry is saved") { pipeline.page[Self.pending] == 1 }
        monotonic.advance(seconds: 3)
        #expect(try lag(pipeline.page) == 3)
        confirmAll(pipeline)
        wall.advance(seconds: 2)
        _ = try await pipeline.submit([EventText.scheduled("b")])
        await waitUntil("everything is saved") { pipeline.page[Self.pending] == 0 }
        #expect(try lag(pipeline.page) == 0)
        try await pipeline.close()
    }

    @Test("the journal's lag and what is pending agree on every page beside commits, confirmations and other scrapes")
    func lagBesideLoad() async throws {
        let pipeline = try Pipeline(in: try TemporaryDirectory(), tickInterval: .milliseconds(1), isJournalManual: true)
        let load = Task {
            for batch in 0..<300 {
                _ = try await pipeline.submit((0..<5).map { EventText.scheduled("cycle-\(batch)-\($0)") })
                pipeline.clock.advance(seconds: 2)
                if batch.isMultiple(of: 3) { confirmAll(pipeline) }
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<100 {
                        _ = try lag(pipeline.page)
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
        try await load.value
        try await pipeline.close()
    }
}
