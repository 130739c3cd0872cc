// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Foundation
import LedgerState
import PrefetchLifecycle
import TestSupport
import Testing

@testable import Collector

extension OneAtATime {
    @Suite("The writer of a ledger that fills its file system")
    struct FullLedgerTests {
        enum Journal: String, Sendable, CaseIterable {
            case healthy, off, away
        }

        struct Setting: Sendable, CustomTestStringConvertible {
            let megabytes: Int
            let eventsPerCycle: Int
            let journal: Journal
            var testDescription: String { "\(megabytes) MiB, \(eventsPerCycle) events a cycle, journal \(journal)" }
        }

        static let settings = [
            Setting(megabytes: 12, eventsPerCycle: 1, journal: .healthy),
            Setting(megabytes: 24, eventsPerCycle: 4, journal: .away),
            Setting(megabytes: 64, eventsPerCycle: 4, journal: .off),
            Setting(megabytes: 256, eventsPerCycle: 1, journal: .away),
        ]

        /// What a file of ballast leaves to events: it takes minutes to fill a large disk.
        private static let room = 1 << 20

        /// What a sender sees of a ledger, and how long it was refused.
        private final class Sender {
            let pipeline: Pipeline
            let setting: Setting
            private(set) var accepted = 0
            private var number = 0
            private(set) var longestRefusal = Duration.zero

            init(_ pipeline: Pipeline, _ setting: Setting) {
                self.pipeline = pipeline
                self.setting = setting
            }

            private static let kinds = [
                "prefetch_scheduled", "prefetch_executed", "prefetch_success", "prefetch_used_for_notification",
            ]
            private static let events = 60
            private static let padding = String(repeating: "x", count: 90)

            /// The next events: their ids are long, so that they soon fill a disk.
            private func next() -> [String] {
                defer { number += 1 }
                return (0..<Self.events).map { index in
                    let cycle = index / setting.eventsPerCycle
                    let kind = Self.kinds[index % setting.eventsPerCycle]
                    let event = String(repeating: "e", count: 100)
                    return EventText.event(
                        kind,
                        id: "n\(number)-\(cycle)-\(Self.padding)",
                        second: Int64(index % setting.eventsPerCycle),
                        #""eventId":"\#(event)""#
                    )
                }
            }

            /// Whether a submission was stored; false when there was no space.
            private func submit(_ lines: [String]) async throws -> Bool {
                do throws(SubmissionError) {
                    _ = try await pipeline.submit(lines)
                } catch {
                    guard case .failed(.full) = error else { throw error }
                    return false
                }
                accepted += lines.count
                return true
            }

            /// Sends until it has been refused for as long as some turns of upkeep take.
            func sendUntilFull() async throws {
                var refusedSince: ContinuousClock.Instant?
                while refusedSince.map({ ContinuousClock.now - $0 < .milliseconds(500) }) ?? true {
                    if try await submit(next()) {
                        refusedSince = nil
                    } else {
                        refusedSince = refusedSince ?? ContinuousClock.now
                        try await Task.sleep(for: .milliseconds(20))
                    }
                }
            }

            /// Sends that many submissions, each until it is stored.
            func send(_ count: Int) async throws {
                for _ in 0..<count { try await send(next()) }
            }

            /// Sends a submission until it is stored.
            func send(_ lines: [String]) async throws {
                let start = ContinuousClock.now
                while try await !submit(lines) {
                    let refused = ContinuousClock.now - start
                    try #require(refused < .seconds(30), "refused for 30 s: \(String(describing: room))")
                    try await Task.sleep(for: .milliseconds(5))
                }
                longestRefusal = max(longestRefusal, ContinuousClock.now - start)
            }

            private var room: LedgerRoom? { pipeline.ledger.room }

            /// Says that the journal has everything.
            func confirm() {
                pipeline.progress?.willWrite(batchEndingAt: pipeline.ledger.position)
                pipeline.progress?.confirmed(pipeline.ledger.position.sequence)
            }
        }

        @Test(
            "events go on within 10 seconds of what filled the disk, nothing acknowledged is lost, and the page tells how near the end is",
            .timeLimit(.minutes(5)),
            arguments: settings
        )
        func goesOn(setting: Setting) async throws {
            let disk = try SmallDisk(megabytes: setting.megabytes)
            let pipeline = try Pipeline(
                in: disk.directory,
                ledgerClock: .system,
                tickInterval: .milliseconds(100),
                keepSeconds: 0,
                isJournalManual: setting.journal != .off
            )
            let sender = Sender(pipeline, setting)
            let empty = try #require(pipeline.ledger.room)
            #expect(empty.roomForEvents > Int64(setting.megabytes) << 20 / 2)
            try disk.load(ballast: Int(empty.roomForEvents) - Self.room)
            switch setting.journal {
            case .away:
                for _ in 0..<2 {
                    try await sender.sendUntilFull()
                    let full = try #require(pipeline.ledger.room)
                    #expect(full.roomForEvents < Self.room / 3)
                    #expect(full.reserveBytes > 0)
                    sender.confirm()
                    try await sender.send(10)
                    sender.confirm()
                }
            case .healthy, .off:
                // More than there is room for.
                for _ in 0..<Self.room / 7_500 {
                    try await sender.send(1)
                    sender.confirm()
                }
            }
            #expect(sender.longestRefusal < .seconds(10))
            let received = #"dnp_telemetry_events_received_total{source="http",format="ndjson"}"#
            #expect(pipeline.page[received] == sender.accepted)
            #expect(pipeline.page["dnp_telemetry_checkpoint_failures_total"] == 0)
            #expect(pipeline.page["dnp_telemetry_retention_failures_total"] == 0)
            try await pipeline.close()

            let again = try Pipeline(in: disk.directory, ledgerClock: .system, isJournalManual: true)
            #expect(again.page[received] == sender.accepted)
            #expect(again.recovery.damagedBatches == [])
            #expect(try again.ledger.reader.integrityFindings() == [])
            try await again.close()
        }

        @Test(
            "a disk of 12 MiB goes on to take batches of 1,000 cycles, whatever the console remembers of them",
            .timeLimit(.minutes(5))
        )
        func takesLargeBatches() async throws {
            let disk = try SmallDisk(megabytes: 12)
            let pipeline = try Pipeline(
                in: disk.directory,
                ledgerClock: .system,
                tickInterval: .milliseconds(100),
                keepSeconds: 0,
                console: ConsoleFeed()
            )
            let sender = Sender(pipeline, Setting(megabytes: 12, eventsPerCycle: 1, journal: .off))
            for batch in 0..<180 { try await sender.send((0..<1_000).map { EventText.scheduled("q-\(batch)-\($0)") }) }
            #expect(sender.longestRefusal < .seconds(10))
            #expect(pipeline.page.scheduled == 180_000)
            try await pipeline.close()
        }

        @Test(
            "cycles that stay open for a day never fill a small disk: old ones are closed early, and a rebuild agrees"
        )
        func openCyclesAreBounded() async throws {
            let disk = try SmallDisk(megabytes: 6)
            let clock = ManualClock()
            let pipeline = try Pipeline(
                in: disk.directory,
                clock: clock,
                tickInterval: .milliseconds(5),
                keepSeconds: 7 * 86_400
            )
            await waitUntil("the limits suit the disk") { pipeline.ledger.position.batch == 1 }
            let setting = Setting(megabytes: 6, eventsPerCycle: 1, journal: .off)
            let sender = Sender(pipeline, setting)
            for _ in 0..<40 {
                clock.advance(seconds: 1)
                try await sender.send(1)
            }
            let open = try #require(pipeline.page.openCycles)
            #expect(open <= LifecycleLimits().openCycles >> 10)
            #expect(pipeline.page["dnp_telemetry_evicted_cycles_total"] == 2_400 - open)
            #expect(pipeline.page.scheduled == 2_400)

            let rebuilt = try LedgerProjection.refolded(from: pipeline.ledger.reader)
            #expect(RegistryPage(of: rebuilt).difference(from: pipeline.page) == [])
            try await pipeline.close()
            let again = try Pipeline(in: disk.directory, clock: clock)
            #expect(again.page.openCycles == open)
            _ = try await again.submit([EventText.scheduled("one more")])
            #expect(again.page.openCycles == open)
            try await again.close()
        }
    }
}
