// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Foundation
import LifecycleMetrics
import MetricsRegistry
import PrefetchLifecycle
import RefreshLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

/// What the second app's events do beside the prefetch's (docs/second-app.md).
@Suite("The second app in the ledger")
struct SecondAppTests {
    static func event(_ kind: String, second: Int64, _ properties: String = "") -> String {
        let time = Timestamp(microseconds: startOfTest + second * 1_000_000)
        return #"{"event":"\#(kind)","timestamp":"\#(time)","installationId":"a","properties":{\#(properties)}}"#
    }

    /// A run that notifies 50 days after the test.
    static let run = [
        event("refresh_started", second: 0),
        event("refresh_checked", second: 1, #""daysSinceTest":50,"available":false"#),
        event("refresh_notification_sent", second: 2),
        event("refresh_completed", second: 3, #""success":true,"durationSeconds":3"#),
        event("refresh_scheduled", second: 3, #""hours":4"#),
    ]

    private static func value(_ name: String, _ page: RegistryPage) -> Int? { page["aiq_background_refresh_\(name)"] }

    @Test("a run counts its moments at once, its outcome after two seconds, and its violations when it closes")
    func whenRunsCount() async throws {
        let pipeline = try Pipeline(in: try TemporaryDirectory(), tickInterval: .milliseconds(1))
        _ = try await pipeline.submit(Self.run)
        var page = pipeline.page
        #expect(Self.value(#"checks_total{available="false"}"#, page) == 1)
        #expect(Self.value(#"notifications_total{result="sent"}"#, page) == 1)
        #expect(Self.value(#"runs_total{outcome="completed"}"#, page) == 0)
        #expect(Self.value("open_runs", page) == 1)
        pipeline.clock.advance(seconds: 10)
        await waitUntil("the outcome is counted") { Self.value("open_runs", pipeline.page) == 0 }
        #expect(Self.value(#"runs_total{outcome="completed"}"#, pipeline.page) == 1)
        #expect(Self.value(#"violations_total{violation="notified_too_soon"}"#, pipeline.page) == 0)
        pipeline.clock.advance(seconds: 900)
        await waitUntil("the run is closed") {
            Self.value(#"violations_total{violation="notified_too_soon"}"#, pipeline.page) == 1
        }
        page = pipeline.page
        #expect(page.lifecycleCounters == 0 && page.increments == 0)
        #expect(page.effects == ["counted": 4, "repeated_stage": 0, "informational": 2, "late": 0])
        #expect(page.effectBalance == 0)
        let rows = try pipeline.ledger.reader.read(afterBatch: 1)
        let verdicts = try rows.flatMap { try RunVerdict.read($0.batch.events) }
        let verdict = try #require(verdicts.first)
        #expect(verdicts.count == 1)
        #expect(verdict.outcome == .completed)
        #expect(verdict.begin.microseconds == startOfTest)
        #expect(verdict.violations.map(\.kind) == [.notifiedTooSoon])
        let events = EventText.decode([Self.run[0]]).events
        var cursor = EventCursor()
        let event = try #require(try cursor.next(in: events.bytes.span))
        #expect(
            verdict.installation
                == event.installation.map { EventText.identityKey.runs(ofInstallation: $0.fingerprint) }
        )
        try await pipeline.close()
    }

    @Test("an event that is sent again, and the analytics event of a line's moment, count nothing twice")
    func nothingTwice() async throws {
        let pipeline = try Pipeline(in: try TemporaryDirectory())
        _ = try await pipeline.submit(Self.run)
        let again = try await pipeline.submit(Self.run)
        #expect(again == .counted(accepted: 0, duplicates: Self.run.count))
        let told = try await pipeline.submit([
            Self.event("backgroundRefreshNotificationSent", second: 3),
            Self.event("backgroundRefreshCompleted", second: 4, #""success":true"#),
        ])
        #expect(told == .counted(accepted: 2, duplicates: 0))
        pipeline.clock.advance(seconds: 10)
        try await pipeline.tick()
        let page = pipeline.page
        #expect(Self.value(#"notifications_total{result="sent"}"#, page) == 1)
        #expect(Self.value(#"runs_total{outcome="completed"}"#, page) == 1)
        #expect(page.effects["repeated_stage"] == 2)
        #expect(page.effectBalance == 0)
        try await pipeline.close()
    }

    @Test("a ledger without events of the second app has no page of it in its checkpoint, and a rebuild finds it equal")
    func noPages() async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        let first = try Pipeline(in: directory, clock: clock)
        _ = try await first.submit([EventText.scheduled("a")])
        clock.advance(seconds: 3 * 86_400)
        try await first.tick()
        try await first.close()
        func saved() throws -> ProjectionState {
            let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: clock.now).ledger
            defer { try? ledger.close() }
            let saved = try ProjectionState(savedIn: ledger.reader)
            #expect(saved.difference(from: try ProjectionState(refolding: ledger.reader, limits: .init())) == [])
            return saved
        }
        #expect(try saved().pages.keys.filter { $0.contains("refresh") } == [])

        let second = try Pipeline(in: directory, clock: clock)
        _ = try await second.submit(Self.run)
        #expect(Self.value(#"checks_total{available="false"}"#, second.page) == 1)
        try await second.close()
        #expect(
            try saved().pages.keys.filter { $0.contains("refresh") }.sorted() == [
                "fold/refresh-installations/00000000", "fold/refresh-totals",
            ]
        )
    }

    @Test("the families of an app that is off are not on the page, and all others are as they are")
    func appOff() async throws {
        let pipeline = try Pipeline(in: try TemporaryDirectory())
        _ = try await pipeline.submit([EventText.scheduled("a")] + Self.run)
        let projection = try LedgerProjection.refolded(from: pipeline.ledger.reader)
        func page(_ apps: Set<App>) -> String {
            let registry = MetricsRegistry(now: { startOfTest })
            var metrics = ProjectionMetrics(registry, created: startOfTest, journal: nil, apps: apps)
            metrics.publish(projection)
            return String(decoding: registry.exposition(), as: UTF8.self)
        }
        let both = page([.dnp, .aiq]).split(separator: "\n")
        let one = page([.dnp]).split(separator: "\n")
        #expect(one == both.filter { !$0.contains("aiq_background_refresh_") })
        #expect(both.count > one.count + 50)
        try await pipeline.close()
    }

    @Test("labels divide the second app's families by platform and version, and their sums are the same")
    func labelled() async throws {
        let versions = ["1.0", "1.1"].flatMap { version in
            ["ios", "android"].map { #","platform":"\#($0)","appVersion":"\#(version)"}"# }
        }
        let events = versions.flatMap { members in Self.run.map { String($0.dropLast()) + members } } + Self.run
        let pipeline = try Pipeline(in: try TemporaryDirectory(), labels: [.platform, .appVersion])
        _ = try await pipeline.submit(events)
        pipeline.clock.advance(seconds: 3_600)
        try await pipeline.tick()
        let projection = try LedgerProjection.refolded(from: pipeline.ledger.reader)
        #expect(RegistryPage(of: projection, labels: [.platform, .appVersion]).difference(from: pipeline.page) == [])
        let plain = RegistryPage(of: projection)
        let labelled = RegistryPage(of: projection, labels: [.platform, .appVersion])
        #expect(labelled.labels(of: "aiq_background_refresh_checks_total") == ["available", "platform", "app_version"])
        #expect(labelled.labels(of: "aiq_background_refresh_duration_seconds") == ["platform", "app_version"])
        #expect(labelled.labels(of: "aiq_background_refresh_open_runs") == [])
        let sums = labelled.summed(over: [.platform, .appVersion])
        for name in plain.names where name.hasPrefix("aiq_") {
            #expect(sums[name] == plain.number(name), "\(name)")
        }
        try await pipeline.close()
    }

    @Test("a tick with more runs than one may close goes on with the next, whose rows stay small")
    func severalRefreshTicks() async throws {
        var fold = RefreshFold(anonymousIsOneInstallation: false)
        for device in 0..<120 {
            let lines = (0..<400).map { run in
                let time = Timestamp(microseconds: startOfTest + Int64(run) * 60_000_000)
                return #"{"event":"refresh_started","timestamp":"\#(time)","installationId":"\#(device)"}"#
            }
            let decoded = JSONEventDecoder.decode(
                Array(lines.joined(separator: "\n").utf8).span,
                framing: .lines,
                receivedAt: Timestamp(microseconds: startOfTest),
                pseudonyms: NumberedPseudonym(),
                identityKey: EventText.identityKey
            )
            try fold.apply(decoded.events.bytes.span, receivedAt: Timestamp(microseconds: startOfTest))
        }
        #expect(fold.openRuns == 48_000)
        let now = Timestamp(microseconds: startOfTest + 86_400_000_000)
        var ticks = 0
        while fold.isTickDue(at: now) {
            let violations = fold.violations(closingAt: now)
            #expect(violations.count <= 16_384 + 512)
            var records: [UInt8] = []
            for run in violations {
                VerdictRecord.append(RunVerdict(run, closedAt: now, key: EventText.identityKey), to: &records)
            }
            #expect(records.count < 8 << 20)
            fold.tick(to: now)
            ticks += 1
        }
        #expect(ticks == 3)
        #expect(fold.openRuns == 0)
        #expect(fold.totals.runs(.incomplete) == 48_000)
    }
}

/// A pseudonym for each device.
private struct NumberedPseudonym: Pseudonymising {
    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym {
        var word: UInt64 = 0
        for index in bytes.indices { word = word << 8 | UInt64(bytes[index]) }
        return Pseudonym(high: word, low: 1)
    }
}
