// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Foundation
import PrefetchLifecycle
import TestSupport
import Testing

@testable import LedgerState

@Suite("A group that could not be stored")
struct AbortedGroupTests {
    @Test("leaves no trace, so that a retry counts once")
    func fullDisk() async throws {
        let disk = try SmallDisk()
        let pipeline = try Pipeline(in: disk.directory)
        let filler = disk.directory.file("filler")
        let first = [EventText.scheduled("first")]
        #expect(try await pipeline.submit(first, key: "first") == .counted(accepted: 1, duplicates: 0))
        let before = pipeline.page

        try Files.write([UInt8](repeating: 1, count: 500_000), to: filler)
        let padding = String(repeating: "x", count: 100)
        let large = (0..<8_000).map { EventText.scheduled("large-\($0)-\(padding)") }
        let results = await pipeline.submitTogether([
            .lines(large, key: "large"), .lines([large[7], EventText.scheduled("small")], key: "small"),
        ])
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

    @Test("is reported to every submitter, and what the page shows stays true")
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
        #expect(try await second.submit([EventText.scheduled("b")], key: "k") == .counted(accepted: 1, duplicates: 0))
        try await second.close()
    }
}
