// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Foundation
import Logging
import PrefetchLifecycle
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

extension OneAtATime {
    @Suite("A group that could not be stored")
    struct AbortedGroupTests {
        @Test("a group that could not be stored leaves no trace, so that a retry counts once")
        func abortedGroupFullDisk() async throws {
            let disk = try SmallDisk()
            let pipeline = try Pipeline(in: disk.directory)
            let filler = disk.directory.file("filler")
            let first = [EventText.scheduled("first")]
            #expect(try await pipeline.submit(first, key: "first") == .counted(accepted: 1, duplicates: 0))
            let before = pipeline.page

            try Files.write([UInt8](repeating: 1, count: 500_000), to: filler)
            let large = (0..<8_000).map { EventText.scheduled("large-\($0)") }
            let results = await pipeline.submitTogether([.lines(large, key: "large")])
            for result in results {
                guard case .failure(.failed(.full)) = result else {
                    Issue.record("not full: \(result)")
                    continue
                }
            }
            #expect(pipeline.page.difference(from: before) == [])
            #expect(pipeline.writer.statistics.failedGroups == 1)

            try FileManager.default.removeItem(atPath: filler)
            let small = [large[7], EventText.scheduled("small")]
            #expect(try await pipeline.submit(small, key: "small") == .counted(accepted: 2, duplicates: 0))
            #expect(try await pipeline.submit(small, key: "small") == .counted(accepted: 0, duplicates: 2))
            #expect(try await pipeline.submit(first, key: "first") == .counted(accepted: 0, duplicates: 1))
            let rest = Array(large[..<100])
            #expect(try await pipeline.submit(rest, key: "large") == .counted(accepted: 99, duplicates: 1))
            #expect(pipeline.page.accepted == 102)
            #expect(pipeline.page.scheduled == 102)

            let live = pipeline.page
            let (recovered, _) = try LedgerProjection.recover(
                from: pipeline.ledger.reader,
                identityKey: EventText.identityKey,
                limits: .init()
            )
            #expect(RegistryPage(of: recovered).difference(from: live) == [])
            try await pipeline.close()
        }

        @Test("a group that could not be stored is reported to every submitter, and what the page shows stays true")
        func closedLedger() async throws {
            let directory = try TemporaryDirectory()
            let pipeline = try Pipeline(in: directory)
            _ = try await pipeline.submit([EventText.scheduled("a")])
            let before = pipeline.page
            try pipeline.ledger.close()

            let results = await pipeline.submitTogether([
                .lines([EventText.scheduled("b")], key: "k"), .lines([EventText.scheduled("a")], key: "k"),
            ])
            for result in results {
                guard case .failure(.failed) = result else {
                    Issue.record("stored: \(result)")
                    continue
                }
            }
            #expect(pipeline.page["dnp_telemetry_events_accepted_total"] == before.accepted)
            #expect(pipeline.page.duplicates == 0)
            await pipeline.writer.stop(within: .seconds(30))

            let second = try Pipeline(in: directory)
            #expect(
                try await second.submit([EventText.scheduled("b")], key: "k") == .counted(accepted: 1, duplicates: 0)
            )
            try await second.close()
        }
    }
}

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

    @Test(
        "a ledger whose saved state cannot be read is folded anew while all of it is there, and its next checkpoint can be read"
    )
    func ledgerRoomWhole() async throws {
        let accepted = try await prepare(pruned: false)
        let room = try RecoveredLedger(directory: directory.path, durability: .process, now: startOfTest, log)
        #expect(!room.opening.isSetAside)
        #expect(room.projection.accounts.accepted == accepted)
        #expect(try room.ledger.reader.position(of: LedgerProjection.name) == nil)
        try room.ledger.close()
    }

    @Test(
        "a ledger whose saved state cannot be read is set aside when batches were deleted, and the service begins anew"
    )
    func ledgerRoomPruned() async throws {
        _ = try await prepare(pruned: true)
        let room = try RecoveredLedger(directory: directory.path, durability: .process, now: startOfTest, log)
        #expect(room.opening.isSetAside)
        #expect(room.projection.accounts.accepted == 0)
        try room.ledger.close()
    }
}
