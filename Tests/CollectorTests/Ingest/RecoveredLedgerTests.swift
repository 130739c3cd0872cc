// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Logging
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

@Suite("A ledger whose saved state cannot be read")
struct LedgerRoomTests {
    private let directory: TemporaryDirectory
    private let log = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Some events, behind a checkpoint with a page of another form.
    private func prepare(pruned: Bool) async throws -> UInt64 {
        _ = try InstallationKey(directory: directory.path)
        let pipeline = try Pipeline(in: directory)
        var workload = Workload(seed: 5, cycles: 10)
        for _ in 0..<20 { _ = try await pipeline.writer.submit(workload.next()) }
        let accepted = pipeline.ledger.position.sequence
        try await pipeline.close()

        let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: startOfTest).ledger
        var changes = StateChanges()
        changes.put("fold/totals", [1, 2, 3])
        try ledger.checkpoint(
            projection: LedgerProjection.name,
            at: ledger.position,
            changes: changes,
            now: startOfTest
        )
        if pruned { try ledger.prune(upTo: ledger.position, keepSince: .max, limit: 1) }
        try ledger.close()
        return accepted
    }

    @Test("is folded anew while all of it is there, and its next checkpoint can be read")
    func whole() async throws {
        let accepted = try await prepare(pruned: false)
        let room = try RecoveredLedger(directory: directory.path, durability: .process, now: startOfTest, log)
        #expect(!room.opening.isSetAside)
        #expect(room.projection.accounts.accepted == accepted)
        #expect(try room.ledger.reader.position(of: LedgerProjection.name) == nil)
        try room.ledger.close()
    }

    @Test("is set aside when batches were deleted, and the service begins anew")
    func pruned() async throws {
        _ = try await prepare(pruned: true)
        let room = try RecoveredLedger(directory: directory.path, durability: .process, now: startOfTest, log)
        #expect(room.opening.isSetAside)
        #expect(room.projection.accounts.accepted == 0)
        try room.ledger.close()
    }
}
