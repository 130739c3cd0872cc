// SPDX-License-Identifier: Apache-2.0

import EventLedger
import PrefetchLifecycle
import Testing

@testable import Collector

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

    @Test(
        "counts for nothing: the one before it and the batches behind that do",
        arguments: 1...4 as ClosedRange<UInt64>
    )
    func everyPart(seed: UInt64) async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        var workload = Workload(seed: seed, cycles: 30)
        func submit(to pipeline: Pipeline) async throws {
            for _ in 0..<40 {
                clock.advance(seconds: workload.pause())
                _ = try await pipeline.writer.submit(workload.next())
            }
        }
        let first = try Pipeline(in: directory, clock: clock)
        try await submit(to: first)
        try await first.close()
        let second = try Pipeline(in: directory, clock: clock)
        try await submit(to: second)
        let image = try directory.crashImage()
        let page = second.page
        try await second.close()

        let ledger = try EventLedger.open(directory: image.path, durability: .process, now: startOfTest).ledger
        var (projection, _) = try LedgerProjection.recover(
            from: ledger.reader,
            identityKey: EventText.identityKey,
            limits: LifecycleLimits()
        )
        while try !ledger.tidy(LedgerProjection.name) {}
        var changes = projection.takeChanges(at: ledger.position)
        var parts = 0
        while let part = changes.takePart(bytes: 400) {
            try ledger.stage(part, of: LedgerProjection.name)
            parts += 1
            let (recovered, batches) = try Self.recover(try image.crashImage())
            #expect(batches > 0)
            try #require(MetricsPage(of: recovered).difference(from: page) == [])
        }
        #expect(parts > 4)
        try ledger.commitStage(of: LedgerProjection.name, at: changes.position, now: startOfTest)
        let (recovered, batches) = try Self.recover(try image.crashImage())
        #expect(batches == 0)
        #expect(MetricsPage(of: recovered).difference(from: page) == [])
        try ledger.close()
    }
}
