// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Foundation
import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

extension OneAtATime {
    @Suite("Verdicts in a real journal")
    struct VerdictJournalTests {
        static func text(_ entry: [String: Any], _ field: String) -> String? { entry[field] as? String }

        @Test(
            "verdicts in a real journal stand there once after the cycle has closed, beside the events of their cycle"
        )
        func found() async throws {
            let journald = try NamespacedJournald()
            let pipeline = try Pipeline(in: try TemporaryDirectory(), journald: journald)
            _ = try await pipeline.submit(TickVerdictTests.cycles)
            await pipeline.waitForJournal()
            #expect(try journald.entries("DNP_EVENT=cycle_closed").isEmpty)
            pipeline.clock.advance(seconds: 900)
            _ = try await pipeline.writer.submit(.tick)
            await pipeline.waitForJournal()

            let verdict = try #require(try journald.entries("DNP_EVENT=cycle_closed").first)
            let cycle = try #require(Self.text(verdict, "DNP_CYCLE"))
            #expect(cycle.count == 16)
            let expected = [
                "PRIORITY": "4", "MESSAGE_ID": "\(VerdictJournalEntry.messageID)", "DNP_VIOLATION": "drift_exceeded",
                "DNP_OUTCOME": "used", "DNP_SCHEDULED_FOR": "2025-11-15T05:51:40Z", "DNP_SEQ": "10",
                "DNP_TIMESTAMP": "2025-11-15T05:51:40Z", "DNP_LEDGER": pipeline.ledger.id,
            ]
            for (field, value) in expected { #expect(Self.text(verdict, field) == value, "\(field)") }
            #expect(verdict["DNP_REASON"] == nil)
            let record = try #require(try pipeline.ledger.reader.read(afterBatch: 1).first?.batch.events)
            let json = try #require(try CycleVerdict.read(record).first).json
            #expect(Self.text(verdict, "MESSAGE") == String(decoding: json, as: UTF8.self))

            let ofCycle = try journald.entries("DNP_CYCLE=\(cycle)").compactMap { Self.text($0, "DNP_EVENT") }
            #expect(
                ofCycle == [
                    "prefetch_scheduled", "prefetch_executed", "prefetch_success", "prefetch_used_for_notification",
                    "notification_delivered", "cycle_closed",
                ]
            )
            #expect(try journald.entries().count == 10)
            try await pipeline.close()
        }

        @Test("verdicts in a real journal of several rules name each; different hashes are an error")
        func severalRules() async throws {
            let journald = try NamespacedJournald()
            let pipeline = try Pipeline(in: try TemporaryDirectory(), journald: journald)
            _ = try await pipeline.submit([
                EventText.event("prefetch_executed", id: "a", second: 10),
                EventText.event("prefetch_failure", id: "a", second: 11, #""reason":"NETWORK""#),
                EventText.event("content_cached", id: "a", second: 20, #""contentHash":"aa""#),
                EventText.event("prefetch_used_for_notification", id: "a", second: 30, #""contentHash":"bb""#),
            ])
            pipeline.clock.advance(seconds: 2 * 86_400)
            _ = try await pipeline.writer.submit(.tick)
            await pipeline.waitForJournal()
            let verdict = try #require(try journald.entries("DNP_VIOLATION=content_hash_mismatch").first)
            #expect(Self.text(verdict, "PRIORITY") == "3")
            #expect(Self.text(verdict, "DNP_REASON") == "NETWORK")
            #expect(
                verdict["DNP_VIOLATION"] as? [String] == [
                    "executed_without_scheduled", "used_without_success", "content_hash_mismatch",
                ]
            )
            try await pipeline.close()
        }

        @Test(
            "verdicts in a real journal stand there once, as the events do, over crashes at any moment",
            arguments: 1...3 as ClosedRange<UInt64>
        )
        func crashes(seed: UInt64) async throws {
            let journald = try NamespacedJournald()
            let clock = ManualClock()
            var directory = try TemporaryDirectory()
            var pipeline = try Pipeline(in: directory, clock: clock, journald: journald)
            var workload = Workload(seed: seed, cycles: 12)
            // An image from before the ledger was compared with the journal would get another name, while the writer that was
            // open, which no kill stops here, still sends under its own.
            // The first submission may have no event: then the empty journal holds all that the ledger does from the start.
            _ = try await pipeline.writer.submit(workload.next())
            await pipeline.waitForJournal()
            for _ in 0..<120 {
                clock.advance(seconds: workload.pause())
                _ = try await pipeline.writer.submit(workload.next())
                if workload.happens(onceIn: 3) { _ = try await pipeline.writer.submit(.tick) }
                guard workload.happens(onceIn: 20) else { continue }
                // What a kill leaves: the ledger as it was before the writer and the journal came to an end.
                directory = try directory.crashImage()
                try await pipeline.close()
                pipeline = try Pipeline(in: directory, clock: clock, journald: journald)
                _ = try await pipeline.writer.submit(workload.next())
                await pipeline.waitForJournal()
            }
            await pipeline.waitForJournal()
            let entries = try journald.entries()
            let sequences = entries.compactMap { Self.text($0, "DNP_SEQ").flatMap { UInt64($0) } }
            #expect(sequences == Array(1...pipeline.ledger.position.sequence))
            let verdicts = entries.filter { Self.text($0, "DNP_EVENT")?.hasSuffix("_closed") == true }
            #expect(verdicts.count == pipeline.page[TickVerdictTests.received])
            #expect(verdicts.count > 0)
            clock.advance(seconds: 2)
            _ = try await pipeline.writer.submit(workload.next())
            await pipeline.waitForJournal()
            try await pipeline.close()
            let page = pipeline.page
            let confirmed = page["dnp_telemetry_journal_entries_confirmed_total"] ?? 0
            #expect(confirmed + (page["dnp_telemetry_journal_pending_entries"] ?? 0) == page.accepted)
        }
    }
}
