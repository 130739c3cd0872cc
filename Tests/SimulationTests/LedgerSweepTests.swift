// SPDX-License-Identifier: Apache-2.0

import SystemPrimitives
import Testing

@testable import EventLedger

/// Each operation of the disk fails or is the last one in turn, where ``CollectorSimulation`` leaves that to chance.
@Suite("The ledger at each operation of its disk")
struct LedgerSweepTests {
    private static let now: Int64 = 1_763_185_000_000_000

    private static func open(_ disk: SimulatedDisk, _ durability: LedgerDurability) throws -> EventLedger {
        let (ledger, opening) = try EventLedger.open(
            directory: disk.directory,
            durability: durability,
            now: now,
            limits: LedgerLimits(),
            disk: disk
        )
        if case .setAside(_, let reason) = opening { Issue.record("a sound ledger is set aside: \(reason)") }
        return ledger
    }

    private static func batch(_ number: Int) -> LedgerBatch {
        let events = [UInt8](repeating: UInt8(number), count: 3_000)
        return LedgerBatch(receivedAt: now, origin: 1, count: 2, receipt: [], events: events)
    }

    @Test("one failed operation at the start, whichever it is, sets no sound ledger aside and loses nothing")
    func failuresAtTheStart() throws {
        for isClosed in [false, true] {
            var operation = 0
            var hasFailed = true
            while hasFailed {
                let disk = SimulatedDisk(totalBytes: 1 << 30)
                defer { disk.detach() }
                var ledger: EventLedger? = try Self.open(disk, .power)
                for number in 0..<12 { try ledger?.append([Self.batch(number)]) }
                if isClosed { try ledger?.close() }
                ledger = nil
                disk.restart(losesPower: false)
                disk.operationsUntilFailure = operation
                ledger = try? Self.open(disk, .power)
                hasFailed = disk.operationsUntilFailure == nil
                disk.operationsUntilFailure = nil
                ledger = nil
                disk.restart(losesPower: false)
                let again = try Self.open(disk, .power)
                #expect(again.position == LedgerPosition(batch: 12, sequence: 24), "operation \(operation)")
                #expect(again.lives.count == 1, "operation \(operation)")
                operation += 1
            }
            #expect(operation > 30)
        }
    }

    @Test(
        "a crash in any operation, with and without a loss of power, keeps every batch that was appended",
        arguments: [false, true]
    )
    func crashes(losesPower: Bool) throws {
        var operation = 0
        var isOver = false
        while !isOver {
            let disk = SimulatedDisk(totalBytes: 1 << 30)
            defer { disk.detach() }
            disk.random = SplitMix64(seed: UInt64(operation))
            disk.operationsUntilCrash = operation
            var appended: Int64 = 0
            do {
                let ledger = try Self.open(disk, .power)
                for number in 0..<6 {
                    try ledger.append([Self.batch(number)])
                    if !disk.isDown { appended += 1 }
                }
                try ledger.close()
            } catch {
                #expect(disk.isDown, "operation \(operation): \(error)")
            }
            isOver = !disk.isDown
            disk.restart(losesPower: losesPower)
            let ledger = try Self.open(disk, .power)
            #expect(
                ledger.position.batch >= appended && ledger.position.batch <= appended + 1,
                "operation \(operation)"
            )
            #expect(ledger.lives.count == 1, "operation \(operation)")
            #expect(try ledger.reader.verify().findings.isEmpty, "operation \(operation)")
            operation += 1
        }
        #expect(operation > 60)
    }
}
