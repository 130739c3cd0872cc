// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import LedgerState
@testable import LedgerTools
@testable import LogInput

@Suite("A row of the ledger of which a part cannot be read")
struct DamagedRowTests {
    private static let unreadableReceipt: [UInt8] = [0xFF]

    /// Three batches of an event each under right checksums, the second with a receipt that cannot be read.
    private func ledgerWithDamagedReceipt() throws -> KeptLedger {
        try ledger(receipts: [[], Self.unreadableReceipt, []])
    }

    private func ledger(receipts: [[UInt8]], after rows: [LedgerBatch] = []) throws -> KeptLedger {
        let kept = KeptLedger(in: try TemporaryDirectory())
        _ = try InstallationKey(directory: kept.path)
        let ledger = try EventLedger.open(directory: kept.path, durability: .process, now: startOfTest).ledger
        let batches = receipts.enumerated().map { index, receipt in
            LedgerBatch(
                receivedAt: startOfTest + Int64(index),
                origin: EventOrigin(.http, .ndjson).rawValue,
                count: 1,
                receipt: receipt,
                events: EventText.decode([EventText.scheduled("id-\(index)")]).events.bytes
            )
        }
        for batch in rows + batches { try ledger.append([batch]) }
        try ledger.close()
        return kept
    }

    private func report(_ kept: KeptLedger) throws -> RebuildReport {
        try LedgerRebuild(try LedgerReader.open(directory: kept.path), EventText.identityKey).report()
    }

    @Test("recovery names a batch whose receipt cannot be read, and counts its events")
    func recoveryNamesDamagedReceipt() throws {
        let kept = try ledgerWithDamagedReceipt()
        let (projection, recovery) = try LedgerProjection.recover(
            from: try LedgerReader.open(directory: kept.path),
            identityKey: EventText.identityKey,
            limits: LifecycleLimits()
        )
        #expect(recovery.damagedBatches == [2])
        #expect(recovery.batches == 3)
        #expect(projection.accounts.accepted == 3)
        #expect(projection.fold.totals.scheduled == 3)
    }

    private func recover(_ kept: KeptLedger) throws -> (LedgerProjection, LedgerProjection.Recovery) {
        try LedgerProjection.recover(
            from: try LedgerReader.open(directory: kept.path),
            identityKey: EventText.identityKey,
            limits: LifecycleLimits()
        )
    }

    @Test("recovery tells how many events were in a batch that is damaged or missing, and counts the others")
    func recoveryTellsLostEvents() throws {
        for (isMissing, batch) in [(false, 2), (false, 3), (true, 2)] as [(Bool, Int64)] {
            let kept = try ledger(receipts: [[], [], []])
            try isMissing ? kept.execute("DELETE FROM batch WHERE id = \(batch)") : kept.flip("id-\(batch - 1)")
            let (projection, recovery) = try recover(kept)
            #expect(recovery.damagedBatches == (isMissing ? [] : [batch]))
            #expect(recovery.missingBatches == (isMissing ? [batch...batch] : []))
            #expect(recovery.skippedBatches == 1 && recovery.lostEvents == 1)
            #expect(recovery.batches == 2)
            #expect(projection.accounts.accepted == 2)
        }
        let (_, sound) = try recover(try ledger(receipts: [[], [], []]))
        #expect(sound.skippedBatches == 0 && sound.lostEvents == 0)
    }

    @Test("verify fails for a batch whose receipt cannot be read")
    func verifyNamesDamagedReceipt() throws {
        let kept = try ledgerWithDamagedReceipt()
        let failed = try LedgerVerify(stateDirectory: kept.path).verdict(.none).checks.filter { $0.result == .failed }
        #expect(failed.map(\.name) == [.batches])
        #expect(failed.first?.findings == ["batch 2: its receipt cannot be read"])
    }

    @Test("a rebuild reports a batch whose receipt cannot be read, and is different")
    func rebuildNamesDamagedReceipt() throws {
        let report = try report(try ledgerWithDamagedReceipt())
        #expect(report.result == .different)
        #expect(report.problems == ["batch 2 is damaged and only partly in it: its receipt cannot be read"])
        #expect(report.events == 3)
    }

    @Test("a rebuild reports a batch whose events cannot be read, and is different")
    func rebuildNamesDamagedEvents() throws {
        let row = LedgerBatch(receivedAt: startOfTest, origin: 0x0101, count: 1, receipt: [], events: [0xFF])
        let report = try report(try ledger(receipts: [[]], after: [row]))
        #expect(report.result == .different)
        #expect(report.problems.count == 1)
        #expect(report.problems.first?.hasPrefix("batch 1 is damaged and only partly in it: expected ") == true)
    }

    @Test("a rebuild saves nothing while a receipt cannot be read")
    func rebuildRefusesDamagedReceipt() throws {
        let kept = try ledgerWithDamagedReceipt()
        #expect(throws: UnreadableLedger.self) {
            try LedgerRebuild.write(stateDirectory: kept.path, now: startOfTest)
        }
        let reader = try LedgerReader.open(directory: kept.path)
        #expect(try reader.position(of: LedgerProjection.name) == nil)
    }

    @Test("a dump of the rows prints a receipt that cannot be read as null, names its batch and is not whole")
    func dumpNamesDamagedReceipt() throws {
        let dump = try ledgerWithDamagedReceipt().dump(.rows)
        #expect(dump.lines.count == 3)
        #expect(dump.lines[1].contains(#""receipt":null"#))
        #expect(dump.warnings == ["batch 2: its receipt cannot be read"])
        #expect(!dump.outcome.isWhole)
    }
}
