// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import PrefetchLifecycle
import TestSupport
import Testing

@testable import LedgerState

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
        "counts for nothing: the one before it and the batches behind that do",
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
