// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import CycleIndex
import EventLedger
import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

@Suite("The console's index of a ledger")
struct ConsoleIndexTests {
    /// What the console shows, as texts.
    private struct Shown {
        let cycles: [String]
        let counts: ConsoleCounts
        let recent: [ConsoleCounts]
        let since: Int64

        init(_ cycles: CycleView, _ counts: ConsoleCounts, _ recent: RecentCounts, now: Int64, _ reader: LedgerReader)
            throws
        {
            self.cycles = try cycles.page(CycleFilter(), limit: .max, reader).cycles.map { "\($0)" }
            self.counts = counts
            self.recent = (0..<64).map { recent.minutes[now / 60_000_000 - $0] }
            since = recent.since
        }

        /// What differs, in words.
        func difference(from other: Shown) -> [String] {
            var difference = cycles.difference(from: other.cycles).map { "\($0)" }
            for field in ConsoleCounts.fields where counts[field] != other.counts[field] {
                difference.append("\(field) is \(counts[field]), expected \(other.counts[field])")
            }
            for (back, pair) in zip(recent, other.recent).enumerated() {
                for field in ConsoleCounts.fields where pair.0[field] != pair.1[field] {
                    difference.append("\(field) \(back) min ago is \(pair.0[field]), expected \(pair.1[field])")
                }
            }
            if since != other.since { difference.append("since \(since), expected \(other.since)") }
            return difference
        }

        init(_ feed: ConsoleFeed, of pipeline: Pipeline, now: Int64) async throws {
            await waitUntil("the last batch is shown") { feed.snapshot?.position == pipeline.ledger.position }
            let snapshot = try #require(feed.snapshot)
            try self.init(snapshot.cycles, snapshot.counts, snapshot.recent, now: now, pipeline.ledger.reader)
        }

        init(recovering directory: TemporaryDirectory, now: Int64) throws {
            let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger
            var (projection, _) = try LedgerProjection.recover(
                from: ledger.reader,
                identityKey: EventText.identityKey,
                limits: LifecycleLimits(),
                index: try CycleIndex.saved(in: ledger.reader),
                now: now
            )
            projection.updateIndex()
            let index = try #require(projection.index)
            try self.init(index.view, projection.consoleCounts, index.counts, now: now, ledger.reader)
            try ledger.close()
        }
    }

    @Test(
        "the console's index after a crash at any moment is the one before it",
        arguments: 1...3 as ClosedRange<UInt64>
    )
    func crashes(seed: UInt64) async throws {
        var directory = try TemporaryDirectory()
        let clock = ManualClock()
        var feed = ConsoleFeed(pauseMicroseconds: 0)
        var pipeline = try Pipeline(in: directory, clock: clock, console: feed)
        var workload = Workload(seed: seed, cycles: 30)
        var restarts = 0
        for _ in 0..<120 {
            clock.advance(seconds: workload.pause())
            for submission in workload.happens(onceIn: 4) ? [.tick, workload.next()] : [workload.next()] {
                _ = try await pipeline.writer.submit(submission)
            }
            let shown = try await Shown(feed, of: pipeline, now: clock.now)
            guard workload.happens(onceIn: 4) else { continue }
            let image = try directory.crashImage()
            let recovered = try Shown(recovering: image, now: clock.now)
            try #require(recovered.difference(from: shown) == [])
            guard workload.happens(onceIn: 3) else { continue }
            restarts += 1
            if workload.happens(onceIn: 2) { directory = image }
            try await pipeline.close()
            feed = ConsoleFeed(pauseMicroseconds: 0)
            pipeline = try Pipeline(in: directory, clock: clock, console: feed)
        }
        let shown = try await Shown(feed, of: pipeline, now: clock.now)
        #expect(restarts > 3 && shown.cycles.count > 20)
        try await pipeline.close()

        // From the first batch, as a rebuild does it.
        let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger
        defer { try? ledger.close() }
        var (whole, _) = try LedgerProjection.recover(
            from: ledger.reader,
            identityKey: EventText.identityKey,
            limits: LifecycleLimits(),
            isFromStart: true,
            index: CycleIndex(at: .start, since: startOfTest)
        )
        whole.updateIndex()
        let index = try #require(whole.index)
        let rebuilt = try Shown(index.view, whole.consoleCounts, index.counts, now: clock.now, ledger.reader)
        #expect(rebuilt.difference(from: shown) == [])
    }

    @Test("the console's index names the device and the schedule of a cycle, its stages and what it broke")
    func names() async throws {
        let directory = try TemporaryDirectory()
        let feed = ConsoleFeed(pauseMicroseconds: 0)
        let pipeline = try Pipeline(in: directory, console: feed)
        let members = #""installationId":"device-1","platform":"ios","appVersion":"2.0.0""#
        _ = try await pipeline.submit([
            EventText.event("prefetch_scheduled", id: "notif-1", second: 0, members),
            EventText.event("prefetch_success", id: "notif-1", second: 60, members),
            EventText.event("prefetch_executed", id: "notif-1", second: 70, members),
        ])
        pipeline.clock.advance(seconds: 3 * 86_400)
        try await pipeline.tick()
        try await pipeline.close()
        let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger
        defer { try? ledger.close() }
        let view = try #require(try CycleIndex(ledger.reader)).view
        let cycle = try #require(try view.cycle(1, ledger.reader))
        #expect(cycle.name?.scheduleId == Array("notif-1".utf8))
        #expect(cycle.name?.installation?.fingerprint == cycle.verdict.installation)
        #expect(cycle.group.platform == "ios" && cycle.group.appVersion == "2.0.0")
        #expect(cycle.verdict.stages.scheduled != nil && cycle.verdict.stages.used == nil)
        #expect(cycle.verdict.violations.contains { $0.kind == .outOfOrder && $0.detail.contains("before") })
    }

    @Test("the console's index begins anew where its pages are damaged, and the counters go on")
    func damaged() async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        let pipeline = try Pipeline(in: directory, clock: clock, console: ConsoleFeed(pauseMicroseconds: 0))
        _ = try await pipeline.submit([EventText.scheduled("a"), EventText.scheduled("b")])
        clock.advance(seconds: 3 * 86_400)
        try await pipeline.tick()
        let page = pipeline.page
        try await pipeline.close()
        let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger
        var changes = StateChanges()
        changes.put("counts", [9])
        try ledger.checkpoint(projection: CycleIndex.name, at: ledger.position, changes: changes, now: 1)
        try ledger.close()
        let feed = ConsoleFeed(pauseMicroseconds: 0)
        let next = try Pipeline(in: directory, clock: clock, console: feed)
        #expect(next.page.difference(from: page) == [])
        _ = try await next.submit([EventText.scheduled("c")])
        let shown = try await Shown(feed, of: next, now: clock.now)
        #expect(shown.cycles.isEmpty && shown.since == clock.now)
        #expect(shown.counts[.scheduled] == 3 && shown.recent[0][.scheduled] == 1)
        try await next.close()
    }
}
