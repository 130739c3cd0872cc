// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState
internal import TelemetryEvents

/// Reads every batch of a ledger once: are they sound, do their numbers follow, and what do the accounts come to.
struct BatchAudit {
    private(set) var check = LedgerCheck(.batches)
    /// The accounts at the end; nil when something before it is missing, which the check then tells.
    private(set) var accounts: SavedAccounts?
    /// Where the ledger ends.
    private(set) var end: LedgerPosition
    private var batches: UInt64 = 0
    private var events: UInt64 = 0
    private var first: UInt64?

    /// - Parameters:
    ///   - reader: the ledger.
    ///   - saved: the accounts of the checkpoint, when they could be read.
    init(
        _ reader: LedgerReader,
        from saved: SavedAccounts?,
        progress: (LedgerProgress) -> Void
    ) throws(LedgerError) {
        accounts = saved
        let start = try reader.statistics().pruned
        if let saved, saved.position.batch < start.batch { accounts = try SavedAccounts(from: reader) }
        end = start
        var reached = LedgerProgress()
        var walk = try LedgerWalk(reader, after: start)
        do throws(LedgerError) {
            while let step = try walk.next() {
                try take(step, reader)
                reached.events = events
                progress(reached)
            }
        } catch {
            guard case .corrupt(let detail) = error else { throw error }
            check.fail("the database cannot be read on: \(detail)")
        }
        end = walk.last
        if accounts?.position.batch ?? 0 < end.batch { accounts = nil }
        conclude(start)
    }

    private mutating func take(_ step: LedgerWalk.Step, _ reader: LedgerReader) throws(LedgerError) {
        switch step {
        case .batch(let stored):
            batches += 1
            events += UInt64(stored.batch.count)
            if stored.batch.count > 0, first == nil { first = stored.firstSequence }
            take(stored)
        case .damaged(let batch, let detail):
            check.fail("batch \(batch): \(detail)")
        case .gap(let last, let batch, let sequence):
            check.fail("batch \(batch) begins with event \(sequence), and what is before it ends at \(last)")
        case .deleted(let position):
            guard let known = accounts, known.position.batch < position.batch else { return }
            accounts = try SavedAccounts(from: reader)
        }
    }

    private mutating func take(_ stored: StoredBatch) {
        if let receipt = IngestReceipt(encoded: stored.batch.receipt) {
            accounts?.add(stored, receipt)
        } else {
            check.fail("batch \(stored.id): its receipt cannot be read")
            accounts?.add(stored, IngestReceipt())
        }
        let records = stored.batch.events
        var cursor = LedgerRecordCursor(origin: stored.batch.origin)
        var count: UInt32 = 0
        do throws(LedgerRecordError) {
            while try cursor.next(in: records.span) != nil { count += 1 }
        } catch {
            check.fail("batch \(stored.id): \(error)")
            return
        }
        if count != stored.batch.count {
            check.fail("batch \(stored.id): \(stored.batch.count) events expected, it holds \(count)")
        }
    }

    private mutating func conclude(_ start: LedgerPosition) {
        check.add("batches", batches)
        check.add("events", events)
        check.add("endSequence", end.sequence)
        let deleted = start.batch > 0 ? "; up to \(start), they were deleted" : ""
        guard batches > 0 else {
            check.sentence = "none is left\(deleted)"
            return
        }
        let numbers = first.map { ", numbers \($0) to \(end.sequence)" } ?? ""
        check.sentence = "\(batches) batches with \(events) events\(numbers)\(deleted)"
    }
}
