// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState
internal import Logging

/// Reads the events and verdicts of the ledger in order, for the journal or another destination.
///
/// The current batch stays in memory, so that a large one is read from the ledger once.
///
/// Each failure to read reaches the caller as an error, which retries after a backoff. The log reports a failure once, and
/// its end. A record that is still unreadable at the last attempt must not stop the delivery for good: the rest of its
/// batch is skipped, counted and logged.
struct UndeliveredRecords {
    /// How often the ledger is read from one position before the unreadable batches met there are skipped.
    static let maximumAttempts = 3

    private struct Place {
        var batches: [StoredBatch] = []
        var index = 0
        /// Nil before the first record of a batch is read.
        var cursor: LedgerRecordCursor?
        /// The number of the record that the cursor has read last.
        var sequence: UInt64 = 0
    }

    /// A record that cannot be read, in a batch that is stored as it was committed.
    private struct UnreadableRecord: Error, CustomStringConvertible {
        let batch: Int64
        let cause: LedgerRecordError

        var description: String { "batch \(batch): \(cause)" }
    }

    private let reader: LedgerReader
    private let progress: DeliveryProgress
    /// Where the records go, as the log names it.
    private let destination: String
    private let log: Logger

    private var place = Place()
    /// The last number that was skipped: the same batches may be read again, and nothing counts twice.
    private var skipped: UInt64 = 0
    /// The number after which the caller reads.
    private var readAfter: UInt64 = 0
    /// The number after which an unreadable record was met, and how often. Attempts count for a position and not for a
    /// batch: while nothing can be sent the position stays, so several unreadable batches in a row are skipped in one read.
    private var failed: (after: UInt64, attempts: Int)?
    /// The failure that was logged last; nil while the ledger can be read.
    private var failure: String?

    init(_ reader: LedgerReader, progress: DeliveryProgress, destination: String = "the journal", log: Logger) {
        self.reader = reader
        self.progress = progress
        self.destination = destination
        self.log = log
    }

    /// The number of the record that was read or skipped last.
    var sequence: UInt64 { place.sequence }

    /// The last number in memory: what stands up to it in the ledger may be deleted, and is read nevertheless.
    var loaded: UInt64 { max(place.sequence, place.batches.last?.position.sequence ?? 0) }

    /// Passes the records that follow a number to a closure, until it returns false or there are no more.
    ///
    /// - Parameter take: Gets a record, its number and the batch that it is in; returns whether it has room for more.
    mutating func read(after sequence: UInt64, _ take: (LedgerRecord, UInt64, LedgerBatch) throws -> Bool) throws {
        do {
            try fill(after: sequence, take)
        } catch {
            // The next attempt reads from the ledger, not from memory.
            place = Place()
            logFailure(error)
            throw error
        }
        logRecovery()
    }

    private mutating func fill(
        after sequence: UInt64,
        _ take: (LedgerRecord, UInt64, LedgerBatch) throws -> Bool
    ) throws {
        readAfter = sequence
        if place.sequence != sequence || place.batches.isEmpty { try seek(sequence) }
        var taken = 0
        while true {
            guard place.index < place.batches.count else {
                try load()
                if place.batches.isEmpty { return }
                continue
            }
            guard try takeBatch(&taken, take) else { return }
        }
    }

    /// Moves to the record that follows a number, which may be in the middle of a batch.
    private mutating func seek(_ sequence: UInt64) throws {
        place = Place(batches: try batches(after: sequence), sequence: sequence)
        guard let first = place.batches.first, first.firstSequence <= sequence else { return }
        var current = first.firstSequence - 1
        let records = first.batch.events
        var cursor = LedgerRecordCursor(origin: first.batch.origin)
        do throws(LedgerRecordError) {
            while current < sequence, try cursor.next(in: records.span) != nil { current += 1 }
        } catch {
            try retryOrSkip(first, error)
            progress.willWrite(batchEndingAt: first.position)
            place.index = 1
            return
        }
        place.cursor = cursor
    }

    private mutating func load() throws {
        place = Place(batches: try batches(after: place.sequence), sequence: place.sequence)
    }

    /// The batches from the one that holds the event after a number; a damaged one is skipped, as recovery does.
    private func batches(after sequence: UInt64) throws(LedgerError) -> [StoredBatch] {
        do throws(LedgerError) {
            return try reader.read(afterSequence: sequence)
        } catch {
            guard case .damagedBatch(var damaged, _) = error else { throw error }
            while true {
                do throws(LedgerError) {
                    return try reader.read(afterBatch: damaged)
                } catch {
                    guard case .damagedBatch(let next, _) = error else { throw error }
                    damaged = next
                }
            }
        }
    }

    /// Passes on what is left of the current batch.
    ///
    /// - Returns: False when there is no room, or when what was taken must be delivered first.
    private mutating func takeBatch(
        _ taken: inout Int,
        _ take: (LedgerRecord, UInt64, LedgerBatch) throws -> Bool
    ) throws -> Bool {
        let stored = place.batches[place.index]
        progress.willWrite(batchEndingAt: stored.position)
        if place.cursor == nil, stored.firstSequence - 1 > place.sequence {
            skip(upTo: stored.firstSequence - 1, because: "their batches are damaged or gone")
        }
        var cursor = place.cursor ?? LedgerRecordCursor(origin: stored.batch.origin)
        let records = stored.batch.events
        while true {
            let next: LedgerRecord?
            do throws(LedgerRecordError) {
                next = try cursor.next(in: records.span)
            } catch {
                guard taken == 0 else { return false }
                try retryOrSkip(stored, error)
                next = nil
            }
            guard let record = next else {
                place.index += 1
                place.cursor = nil
                place.sequence = max(place.sequence, stored.position.sequence)
                return true
            }
            place.cursor = cursor
            place.sequence += 1
            taken += 1
            guard try take(record, place.sequence, stored.batch) else { return false }
        }
    }

    /// Throws while the batch is to be read once more; at the last attempt skips what follows the unreadable record,
    /// whose length is unknown.
    private mutating func retryOrSkip(_ stored: StoredBatch, _ cause: LedgerRecordError) throws {
        let unreadable = UnreadableRecord(batch: stored.id, cause: cause)
        let earlier = failed.flatMap { $0.after == readAfter ? $0.attempts : nil } ?? 0
        failed = (readAfter, min(earlier + 1, Self.maximumAttempts))
        guard earlier + 1 >= Self.maximumAttempts else { throw unreadable }
        skip(upTo: stored.position.sequence, because: unreadable.description)
    }

    private mutating func skip(upTo end: UInt64, because reason: String) {
        let start = max(place.sequence, skipped)
        place.sequence = max(place.sequence, end)
        guard end > start else { return }
        skipped = end
        progress.passOver(end - start, upTo: end)
        log.error(
            "events cannot be read from the ledger and do not get to \(destination): \(reason)",
            metadata: ["first": "\(start + 1)", "last": "\(end)"]
        )
    }

    private mutating func logFailure(_ error: any Error) {
        let message = "\(error)"
        guard message != failure else { return }
        failure = message
        log.error("cannot read events for \(destination): \(message); trying again")
    }

    private mutating func logRecovery() {
        guard failure != nil else { return }
        failure = nil
        log.notice("events for \(destination) can be read again")
    }
}
