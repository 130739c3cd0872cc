// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import CycleIndex
import EventLedger
import TestSupport
import Testing

@testable import Collector
@testable import LedgerTools

@Suite("A rebuild of the console's index")
struct RebuiltIndexTests {
    private func cycles(_ directory: TemporaryDirectory) throws -> [String] {
        let reader = try LedgerReader.open(directory: directory.path)
        let view = try #require(try CycleIndex(reader)).view
        return try view.page(CycleFilter(), limit: .max, reader).cycles.map { "\($0)" }
    }

    private func write(_ kept: KeptLedger) throws -> RebuildReport {
        let ledger = try EventLedger.open(directory: kept.path, durability: .process, now: startOfTest).ledger
        defer { try? ledger.close() }
        return try LedgerRebuild(ledger.reader, EventText.identityKey).write(to: ledger, now: startOfTest)
    }

    @Test(
        "a rebuild writes the console's index as it was, and again after damage",
        arguments: 1...2 as ClosedRange<UInt64>
    )
    func rebuilt(seed: UInt64) async throws {
        let kept = try await KeptLedger(seed: seed, console: ConsoleFeed(pauseMicroseconds: 0))
        let cycles = try cycles(kept.directory)
        #expect(cycles.count > 10)
        #expect(try write(kept).result == .equal)
        #expect(try self.cycles(kept.directory) == cycles)

        try kept.execute("UPDATE state SET value = x'00' WHERE projection = 'console' AND key = x'6F70656E'")
        let reader = try LedgerReader.open(directory: kept.path)
        #expect(throws: LedgerError.self) { _ = try CycleIndex(reader) }
        #expect(try write(kept).result == .equal)
        #expect(try self.cycles(kept.directory) == cycles)
    }

    @Test("a rebuild of a ledger without a console's index makes none")
    func none() async throws {
        let kept = try await KeptLedger(seed: 3)
        _ = try write(kept)
        let reader = try LedgerReader.open(directory: kept.path)
        #expect(try reader.position(of: CycleIndex.name) == nil)
    }
}
