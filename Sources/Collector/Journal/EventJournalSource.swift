// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Journald
internal import LedgerState
internal import Logging
internal import Synchronization
internal import TelemetryEvents

/// Reads the events and verdicts of the ledger in order and renders them as journal entries, on the writer's thread.
///
/// The current batch stays in memory, so that a large one is read from the ledger once.
///
/// Each failure to read reaches the writer as an error, which it shows in its statistics and answers with a retry after
/// a backoff. The log reports a failure once, and its end. A record that is still unreadable at the last attempt must
/// not stop the delivery for good: the rest of its batch is skipped, counted and logged.
final class EventJournalSource: JournalSource {
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

    private struct State {
        var place = Place()
        /// The last number that was skipped: the writer may read the same batches again, and counts nothing twice.
        var skipped: UInt64 = 0
        /// The number after which the writer reads.
        var readAfter: UInt64 = 0
        /// The number after which an unreadable record was met, and how often. Attempts count for a position and not for a
        /// batch: while nothing can be sent the position stays, so several unreadable batches in a row are skipped in one read.
        var failed: (after: UInt64, attempts: Int)?
        /// The failure that was logged last; nil while the ledger can be read.
        var failure: String?
    }

    /// A record that cannot be read, in a batch that is stored as it was committed.
    private struct UnreadableRecord: Error, CustomStringConvertible {
        let batch: Int64
        let cause: LedgerRecordError

        var description: String { "batch \(batch): \(cause)" }
    }

    private let reader: LedgerReader
    private let progress: JournalProgress
    private let key: IdentityKey
    private let log: Logger
    private let state = Mutex(State())

    /// - Parameter key: the key of the hashes that identify cycles.
    init(_ reader: LedgerReader, progress: JournalProgress, key: IdentityKey, log: Logger) {
        self.reader = reader
        self.progress = progress
        self.key = key
        self.log = log
    }

    func read(after sequence: UInt64, limit: Int, into buffer: inout JournalEntryBuffer) throws {
        try state.withLock { state in
            do {
                try fill(&buffer, after: sequence, limit: limit, &state)
            } catch {
                // The next attempt reads from the ledger, not from memory.
                state.place = Place()
                logFailure(error, &state)
                throw error
            }
            logRecovery(&state)
        }
    }

    private func fill(
        _ buffer: inout JournalEntryBuffer,
        after sequence: UInt64,
        limit: Int,
        _ state: inout State
    ) throws {
        state.readAfter = sequence
        if state.place.sequence != sequence || state.place.batches.isEmpty { try seek(sequence, &state) }
        while buffer.count < limit, !buffer.isFull {
            guard state.place.index < state.place.batches.count else {
                try load(&state.place)
                if state.place.batches.isEmpty { return }
                continue
            }
            guard try append(from: &state, to: &buffer, limit: limit) else { return }
        }
    }

    /// Moves to the record that follows a number, which may be in the middle of a batch.
    private func seek(_ sequence: UInt64, _ state: inout State) throws {
        state.place = Place(batches: try batches(after: sequence), sequence: sequence)
        guard let first = state.place.batches.first, first.firstSequence <= sequence else { return }
        var current = first.firstSequence - 1
        let records = first.batch.events
        var cursor = LedgerRecordCursor(origin: first.batch.origin)
        do throws(LedgerRecordError) {
            while current < sequence, try cursor.next(in: records.span) != nil { current += 1 }
        } catch {
            try retryOrSkip(first, error, &state)
            progress.willWrite(batchEndingAt: first.position)
            state.place.index = 1
            return
        }
        state.place.cursor = cursor
    }

    private func load(_ place: inout Place) throws {
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

    /// Appends entries of the current batch; false when what the buffer holds must be delivered first.
    private func append(
        from state: inout State,
        to buffer: inout JournalEntryBuffer,
        limit: Int
    ) throws -> Bool {
        let stored = state.place.batches[state.place.index]
        progress.willWrite(batchEndingAt: stored.position)
        if state.place.cursor == nil, stored.firstSequence - 1 > state.place.sequence {
            skip(upTo: stored.firstSequence - 1, because: "their batches are damaged or gone", &state)
        }
        var cursor = state.place.cursor ?? LedgerRecordCursor(origin: stored.batch.origin)
        let records = stored.batch.events
        while buffer.count < limit, !buffer.isFull {
            let next: LedgerRecord?
            do throws(LedgerRecordError) {
                next = try cursor.next(in: records.span)
            } catch {
                guard buffer.isEmpty else { return false }
                try retryOrSkip(stored, error, &state)
                next = nil
            }
            guard let record = next else {
                state.place.index += 1
                state.place.cursor = nil
                state.place.sequence = max(state.place.sequence, stored.position.sequence)
                return true
            }
            state.place.cursor = cursor
            state.place.sequence += 1
            try buffer.append(sequence: state.place.sequence) { entry in
                switch record {
                case .event(let event): EventJournalEntry.append(event, records, key: key, to: &entry)
                case .verdict(let verdict): VerdictJournalEntry.append(verdict, to: &entry)
                }
            }
        }
        return true
    }

    /// Throws while the batch is to be read once more; at the last attempt skips what follows the unreadable record,
    /// whose length is unknown.
    private func retryOrSkip(_ stored: StoredBatch, _ cause: LedgerRecordError, _ state: inout State) throws {
        let failure = UnreadableRecord(batch: stored.id, cause: cause)
        let earlier = state.failed.flatMap { $0.after == state.readAfter ? $0.attempts : nil } ?? 0
        state.failed = (state.readAfter, min(earlier + 1, Self.maximumAttempts))
        guard earlier + 1 >= Self.maximumAttempts else { throw failure }
        skip(upTo: stored.position.sequence, because: failure.description, &state)
    }

    private func skip(upTo end: UInt64, because reason: String, _ state: inout State) {
        let start = max(state.place.sequence, state.skipped)
        state.place.sequence = max(state.place.sequence, end)
        guard end > start else { return }
        state.skipped = end
        progress.passOver(end - start)
        log.error(
            "events cannot be read from the ledger and are not written to the journal: \(reason)",
            metadata: ["first": "\(start + 1)", "last": "\(end)"]
        )
    }

    private func logFailure(_ error: any Error, _ state: inout State) {
        let failure = "\(error)"
        guard failure != state.failure else { return }
        state.failure = failure
        log.error("cannot read events for the journal: \(failure); trying again")
    }

    private func logRecovery(_ state: inout State) {
        guard state.failure != nil else { return }
        state.failure = nil
        log.notice("events for the journal can be read again")
    }
}
