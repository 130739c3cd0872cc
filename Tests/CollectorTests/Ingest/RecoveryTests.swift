// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import MetricsRegistry
import PrefetchLifecycle
import TestSupport
import Testing

@testable import Collector
@testable import EventLedger
@testable import LedgerState

@Suite("A restart goes on where the ledger is")
struct RecoveryTests {
    /// Limits that the workload reaches, so that cycles and identities are evicted.
    static var tight: LifecycleLimits {
        var limits = LifecycleLimits()
        limits.openCycles = 12
        limits.identities = 64
        limits.deduplicationWindow = 2 * 86_400 * 1_000_000
        limits.factsPerCycle = 10
        return limits
    }

    struct Setting: Sendable, CustomTestStringConvertible {
        let seed: UInt64
        let isTight: Bool
        var limits: LifecycleLimits { isTight ? RecoveryTests.tight : LifecycleLimits() }
        var testDescription: String { "seed \(seed), \(isTight ? "tight" : "default") limits" }
    }

    static let settings = (1...2 as ClosedRange<UInt64>).flatMap {
        [Setting(seed: $0, isTight: false), Setting(seed: $0, isTight: true)]
    }

    @Test(
        "a restart goes on with the page of the moment at which it was cut off, whatever the moment",
        arguments: settings
    )
    func everyPrefix(setting: Setting) async throws {
        let directory = try TemporaryDirectory()
        let pipeline = try Pipeline(in: directory, limits: setting.limits)
        var workload = Workload(seed: setting.seed, cycles: 30)
        for _ in 0..<40 {
            pipeline.clock.advance(seconds: workload.pause())
            if workload.happens(onceIn: 5) { _ = try await pipeline.writer.submit(.tick) }
            _ = try await pipeline.writer.submit(workload.next())
            let page = pipeline.page

            let image = try directory.crashImage()
            let ledger = try EventLedger.open(directory: image.path, durability: .process, now: startOfTest).ledger
            let (recovered, recovery) = try LedgerProjection.recover(
                from: ledger.reader,
                identityKey: EventText.identityKey,
                limits: setting.limits
            )
            try ledger.close()
            #expect(recovery.damagedBatches == [])
            try #require(RegistryPage(of: recovered).difference(from: page) == [])
            try #require(recovered.sources == (try await pipeline.sources))
        }
        try await pipeline.close()
    }

    @Test("a rebuild of the whole ledger gives the same bytes as all its lives did", arguments: settings)
    func rebuild(setting: Setting) async throws {
        var directory = try TemporaryDirectory()
        let clock = ManualClock()
        var pipeline = try Pipeline(in: directory, clock: clock, limits: setting.limits)
        var workload = Workload(seed: setting.seed, cycles: 30)
        var restarts = 0
        for _ in 0..<160 {
            clock.advance(seconds: workload.pause())
            if workload.happens(onceIn: 4) { _ = try await pipeline.writer.submit(.tick) }
            _ = try await pipeline.writer.submit(workload.next())
            guard workload.happens(onceIn: 12) else { continue }
            restarts += 1
            let page = pipeline.page
            if workload.happens(onceIn: 2) { directory = try directory.crashImage() }
            try await pipeline.close()
            pipeline = try Pipeline(in: directory, clock: clock, limits: setting.limits)
            try #require(pipeline.page.difference(from: page) == [])
        }
        #expect(restarts > 5)
        let page = pipeline.page
        await pipeline.writer.stop(within: .seconds(30))

        let rebuilt = try LedgerProjection.refolded(from: pipeline.ledger.reader, limits: setting.limits)
        #expect(RegistryPage(of: rebuilt).difference(from: page) == [])
        let saved = try ProjectionState(savedIn: pipeline.ledger.reader)
        let whole = try ProjectionState(refolding: pipeline.ledger.reader, limits: setting.limits)
        #expect(saved.position == pipeline.ledger.position)
        #expect(saved.difference(from: whole) == [])
        if setting.isTight {
            #expect((page["dnp_telemetry_evicted_cycles_total"] ?? 0) > 0)
            #expect((page["dnp_telemetry_evicted_identities_total"] ?? 0) > 0)
        }
        try pipeline.ledger.close()
    }

    @Test(
        "everything adds up on every page over restarts, whatever is repeated, refused or closed between",
        arguments: settings
    )
    func addsUp(setting: Setting) async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        var pipeline = try Pipeline(in: directory, clock: clock, limits: setting.limits)
        var workload = Workload(seed: setting.seed + 100, cycles: 20)
        var before = [Int](repeating: 0, count: 4)
        var past: [IngestSubmission] = []
        for _ in 0..<60 {
            clock.advance(seconds: workload.pause())
            let steps = [
                workload.happens(onceIn: 4) ? [.tick] : [],
                workload.happens(onceIn: 3) ? past.suffix(1) : [], [workload.next()],
            ].flatMap(\.self)
            for submission in steps {
                _ = try await pipeline.writer.submit(submission)
                let page = pipeline.page
                let accounts = [page.received, page.accepted ?? 0, page.duplicates ?? 0, page.rejected]
                try #require(accounts[0] == accounts[1...].reduce(0, +))
                #expect(page.accepted == page["dnp_telemetry_ledger_sequence"])
                #expect(page.effectBalance == 0)
                #expect(page.increments == page.lifecycleCounters)
                #expect(zip(before, accounts).allSatisfy { $0 <= $1 })
                before = accounts
            }
            past = steps
            guard workload.happens(onceIn: 20) else { continue }
            try await pipeline.close()
            pipeline = try Pipeline(in: directory, clock: clock, limits: setting.limits)
        }
        #expect(before.allSatisfy { $0 > 0 })
        try await pipeline.close()
    }

    @Test("a restart goes on with the identities of a time in which nothing new came")
    func emptyGeneration() async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        let event = [EventText.event("prefetch_scheduled", id: "a")]
        var pipeline = try Pipeline(in: directory, clock: clock)
        _ = try await pipeline.submit(event)
        clock.advance(seconds: 5 * 86_400)
        _ = try await pipeline.writer.submit(.tick)
        try await pipeline.close()

        pipeline = try Pipeline(in: directory, clock: clock)
        clock.advance(seconds: 86_400)
        _ = try await pipeline.submit([EventText.event("prefetch_scheduled", id: "b")])
        clock.advance(seconds: 6 * 86_400 + 3_600)
        _ = try await pipeline.submit([EventText.event("prefetch_scheduled", id: "c")])
        let page = pipeline.page
        let rebuilt = try LedgerProjection.refolded(from: pipeline.ledger.reader)
        #expect(RegistryPage(of: rebuilt).difference(from: page) == [])
        try await pipeline.close()
    }

    @Test("a restart goes on past a damaged batch, which it names and counts in a metric")
    func recoveryDamagedBatch() async throws {
        let directory = try TemporaryDirectory()
        let pipeline = try Pipeline(in: directory)
        for id in ["a", "b", "c"] { _ = try await pipeline.submit([EventText.scheduled(id)]) }
        try pipeline.ledger.append([
            LedgerBatch(receivedAt: startOfTest, origin: 0x0101, count: 1, receipt: [], events: [0xFF])
        ])
        let image = try directory.crashImage()
        try await pipeline.close()

        let recovered = try Pipeline(in: image)
        #expect(recovered.recovery.damagedBatches == [4])
        #expect(recovered.page.scheduled == 3)
        #expect(recovered.page["dnp_telemetry_unreadable_batches_total"] == 1)
        try await recovered.close()
        let next = try Pipeline(in: image)
        #expect(next.page["dnp_telemetry_unreadable_batches_total"] == 0, "the checkpoint is behind the batch")
        try await next.close()
    }

    @Test("after a damaged newest batch the journal lags behind nothing, and its sums are those of what is left")
    func journalAfterDamagedBatch() async throws {
        let directory = try TemporaryDirectory()
        let pipeline = try Pipeline(in: directory)
        for id in ["a", "b", "c"] { _ = try await pipeline.submit([EventText.scheduled(id)]) }
        let image = try directory.crashImage()
        try await pipeline.close()
        try LedgerConnection(
            path: image.file("ledger.sqlite"),
            readOnly: false,
            setUp: ["UPDATE batch SET checksum = checksum + 1 WHERE id = 3"]
        ).close()

        let recovered = try Pipeline(in: image, isJournalManual: true)
        #expect(recovered.recovery.damagedBatches == [3] && recovered.recovery.lostEvents == 1)
        let progress = try #require(recovered.progress)
        func confirm(_ sequence: UInt64) {
            progress.confirmed(sequence)
            if let reached = progress.unsaved { progress.saved(reached) }
        }
        func expectSums(confirmed: Int, pending: Int, after id: String) async throws {
            _ = try await recovered.submit([EventText.scheduled(id)])
            let page = recovered.page
            #expect(page["dnp_telemetry_journal_entries_confirmed_total"] == confirmed)
            #expect(page["dnp_telemetry_journal_entries_skipped_total"] == 0)
            #expect(page["dnp_telemetry_journal_pending_entries"] == pending)
            #expect(page["dnp_telemetry_events_accepted_total"] == confirmed + pending)
        }
        confirm(2)
        #expect(progress.waiting.since == nil)
        try await expectSums(confirmed: 2, pending: 1, after: "d")
        progress.passOver(1, upTo: 3)
        confirm(4)
        try await expectSums(confirmed: 3, pending: 1, after: "e")
        confirm(5)
        try await expectSums(confirmed: 4, pending: 1, after: "f")
        try await recovered.close()
    }
}

@Suite("The exemplars after a restart")
struct RecoveredExemplarTests {
    @Test(
        "the exemplars after a restart are those of what was committed since the last checkpoint, as they were; none after a clean stop"
    )
    func sinceTheCheckpoint() async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        let pipeline = try Pipeline(in: directory, clock: clock)
        _ = try await pipeline.submit([
            EventText.event("prefetch_failure", id: "saved", #""reason":"AUTH""#),
            EventText.event("prefetch_success", id: "saved-too", #""duration_ms":90000"#),
        ])
        await waitUntil("a checkpoint is saved") {
            ((try? pipeline.ledger.reader.loadState(LedgerProjection.name) { _, _ in }) ?? nil) != nil
        }
        let saved = exemplars(on: pipeline)
        #expect(saved.count == 2)

        clock.advance(seconds: 5)
        _ = try await pipeline.submit([
            EventText.event("prefetch_failure", id: "late", #""reason":"NETWORK""#),
            EventText.event("prefetch_success", id: "late-too", #""duration_ms":700"#),
        ])
        let late = exemplars(on: pipeline).filter { !saved.contains($0) }
        #expect(late.count == 2)
        let image = try directory.crashImage()
        try await pipeline.close()

        let recovered = try Pipeline(in: image, clock: clock)
        #expect(exemplars(on: recovered) == late)
        try await recovered.close()
        let again = try Pipeline(in: directory, clock: clock)
        #expect(exemplars(on: again) == [])
        try await again.close()
    }

    /// The samples of the page that have an exemplar, each with it and without its own value.
    private func exemplars(on pipeline: Pipeline) -> [String] {
        let page = String(decoding: pipeline.registry.exposition(.openMetrics), as: UTF8.self)
        return page.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.count > 2 && words[2] == "#" ? "\(words[0]) \(words[3...].joined(separator: " "))" : nil
        }
    }
}

@Suite("A checkpoint that was cut off between two parts")
struct CheckpointPartsTests {
    static func recover(_ directory: TemporaryDirectory) throws -> (LedgerProjection, Int) {
        let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger
        let (projection, recovery) = try LedgerProjection.recover(
            from: ledger.reader,
            identityKey: EventText.identityKey,
            limits: LifecycleLimits()
        )
        try ledger.close()
        return (projection, recovery.batches)
    }

    /// A ledger without any checkpoint, and the page of its end.
    static func history(seed: UInt64) async throws -> (TemporaryDirectory, RegistryPage) {
        let directory = try TemporaryDirectory()
        let pipeline = try Pipeline(in: directory)
        var workload = Workload(seed: seed, cycles: 30)
        for _ in 0..<80 {
            pipeline.clock.advance(seconds: workload.pause())
            _ = try await pipeline.writer.submit(workload.next())
        }
        let page = pipeline.page
        await pipeline.writer.stop(within: .seconds(30))
        try pipeline.ledger.forget(projection: LedgerProjection.name)
        try pipeline.ledger.close()
        return (directory, page)
    }

    @Test(
        "a checkpoint cut off between two parts counts for nothing: the one before it and the batches behind that do",
        arguments: 1...4 as ClosedRange<UInt64>
    )
    func everyPart(seed: UInt64) async throws {
        let (directory, page) = try await Self.history(seed: seed)
        let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger
        let half = ledger.position.batch / 2
        var projection = try LedgerProjection.refolded(from: ledger.reader, upTo: half)
        while try !ledger.tidy(LedgerProjection.name) {}
        var changes = projection.takeChanges(at: projection.position)
        while let part = changes.takePart(bytes: 1) { try ledger.stage(part, of: LedgerProjection.name) }
        try ledger.commitStage(of: LedgerProjection.name, at: changes.position, now: startOfTest)
        while try !ledger.tidy(LedgerProjection.name) {}

        let rest = try ledger.reader.read(afterBatch: half)
        for stored in rest { try projection.apply(stored.batch, at: stored.position) }
        changes = projection.takeChanges(at: projection.position)
        var parts = 0
        while let part = changes.takePart(bytes: 1) {
            try ledger.stage(part, of: LedgerProjection.name)
            parts += 1
            let (recovered, batches) = try Self.recover(try directory.crashImage())
            #expect(batches == rest.count)
            try #require(RegistryPage(of: recovered).difference(from: page) == [])
        }
        #expect(parts > 2)
        try ledger.commitStage(of: LedgerProjection.name, at: changes.position, now: startOfTest)
        let (recovered, batches) = try Self.recover(try directory.crashImage())
        #expect(batches == 0)
        #expect(RegistryPage(of: recovered).difference(from: page) == [])
        try ledger.close()
    }
}
