// SPDX-License-Identifier: Apache-2.0

import EventLedger
import LedgerState
import PrefetchLifecycle
import TelemetryEvents

@testable import CycleIndex

/// Reads an input as each of the pages that are not of a fold: nothing comes of it, or what comes of it is read back as it
/// was once it is encoded again.
enum SmallPages {
    static func check(_ page: [UInt8]) {
        if let accounts = IngestAccounts(encoded: page) {
            guard IngestAccounts(encoded: accounts.encoded) == accounts else {
                finding("accounts that change when they are saved again", page, accounts.encoded)
            }
        }
        if let receipt = IngestReceipt(encoded: page) {
            guard IngestReceipt(encoded: receipt.encoded) == receipt else {
                finding("a receipt that changes when it is encoded again", page, receipt.encoded)
            }
        }
        checkCounts(page)
        checkSegment(page)
        checkNames(page)
    }

    private static func checkCounts(_ page: [UInt8]) {
        guard let counts = RecentCounts(encoded: page)?.encoded else { return }
        guard RecentCounts(encoded: counts)?.encoded == counts else {
            finding("recent counts that change when they are saved again", page, counts)
        }
    }

    /// Every record of a segment that is read is the same once it is written again.
    private static func checkSegment(_ page: [UInt8]) {
        guard let segment = OpenSegment(page) else { return }
        let offsets = CycleRecord.offsets(of: page, from: OpenSegment.headerBytes)
        guard segment.count == offsets.count else { finding("\(segment.count) records at \(offsets.count) offsets") }
        for offset in offsets {
            _ = CycleRecord.scheduleId(page, at: offset)
            guard let record = CycleRecord.read(page, at: offset) else { continue }
            let once = encoded(record)
            guard let read = CycleRecord.read(once, at: 0), encoded(read) == once else {
                finding("a closed cycle that changes when it is saved again", page)
            }
        }
    }

    private static func encoded(_ record: (closed: ClosedCycle, name: CycleName?, closedAt: Timestamp)) -> [UInt8] {
        var bytes: [UInt8] = []
        CycleRecord.append(record.closed, record.name, closedAt: record.closedAt, to: &bytes)
        return bytes
    }

    /// The names of a page can be looked up, and the page grows by others.
    private static func checkNames(_ page: [UInt8]) {
        var names = CycleNames(limit: 4_096)
        names.restore(StateKey(CycleNames.prefix).appending(0).appending(0), page)
        names.restored()
        var rest = page
        while let key = rest.littleEndianWord(at: 0) {
            _ = names.name(schedule: key, installation: key)
            rest.removeFirst(min(rest.count, 25))
        }
        let name = CycleName(installation: nil, scheduleId: Array("daily".utf8))
        names.remember(name, of: 1)
        guard names.name(schedule: 1, installation: 0) != nil else { finding("a name that is not remembered") }
        var changes = StateChanges()
        names.put(into: &changes)
    }
}

/// Folds rows of the ledger whose receipts and records are any bytes: what can be read counts, and the accounts can be
/// saved and restored.
enum LedgerRows {
    private static let maximumRows = 8

    static func check(_ instructions: inout Instructions) {
        var projection = LedgerProjection(identityKey: IdentityKey(1, 2), limits: LifecycleLimits())
        var position = LedgerPosition.start
        var rows = 0
        while !instructions.isEmpty, rows < maximumRows {
            rows += 1
            let batch = batch(&instructions)
            position = LedgerPosition(batch: position.batch + 1, sequence: position.sequence + UInt64(batch.count))
            checkRecords(batch)
            // A damaged row counts as far as it can be read.
            try? projection.apply(batch, at: position)
            let encoded = projection.accounts.encoded
            guard IngestAccounts(encoded: encoded) == projection.accounts else {
                finding("accounts that change when they are saved", encoded)
            }
        }
        let now = receivedAt.microseconds + 10 * 86_400 * 1_000_000
        _ = projection.verdicts(closingAt: now)
        _ = projection.takeChanges(at: position)
    }

    private static func batch(_ instructions: inout Instructions) -> LedgerBatch {
        let origin = UInt16(instructions.byte())
        let count = UInt32(instructions.byte())
        let seconds = Int64(instructions.number(bytes: 2))
        let receipt = instructions.bytes(instructions.number(bytes: 1))
        let events = instructions.bytes(instructions.number(bytes: 2))
        let receivedAt = receivedAt.microseconds + seconds * 60_000_000
        return LedgerBatch(receivedAt: receivedAt, origin: origin, count: count, receipt: receipt, events: events)
    }

    /// Reading a row ends, and what is read can be told.
    private static func checkRecords(_ batch: LedgerBatch) {
        var cursor = LedgerRecordCursor(origin: batch.origin)
        var records = 0
        while let record = try? cursor.next(in: batch.events.span) {
            records += 1
            guard records <= batch.events.count else { finding("\(records) records in \(batch.events.count) bytes") }
            switch record {
            case .event: break
            case .cycle(let verdict):
                if verdict.json.contains(0x0A) { finding("a verdict of more than one line", verdict.json) }
            case .run(let verdict):
                if verdict.json.contains(0x0A) { finding("a verdict of more than one line", verdict.json) }
            }
        }
    }
}
