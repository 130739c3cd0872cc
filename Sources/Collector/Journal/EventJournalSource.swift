// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Journald
internal import LedgerState
internal import Synchronization
internal import TelemetryEvents

/// Reads the events and verdicts of the ledger in order and renders them as journal entries, for the writer's thread.
///
/// The batch being read stays in memory, so that a large one is read from the ledger once.
final class EventJournalSource: JournalSource {
    private struct Place {
        var batches: [StoredBatch] = []
        var index = 0
        /// Nil before the first record of a batch is read.
        var cursor: LedgerRecordCursor?
        /// The number of the record that the cursor has read last.
        var sequence: UInt64 = 0
    }

    private let reader: LedgerReader
    private let progress: JournalProgress
    private let key: IdentityKey
    private let place = Mutex(Place())

    /// - Parameter key: the key of the hashes that identify cycles.
    init(_ reader: LedgerReader, progress: JournalProgress, key: IdentityKey) {
        self.reader = reader
        self.progress = progress
        self.key = key
    }

    func read(after sequence: UInt64, limit: Int, into buffer: inout JournalEntryBuffer) throws {
        try place.withLock { place in
            if place.sequence != sequence || place.batches.isEmpty { try seek(sequence, &place) }
            while buffer.count < limit, !buffer.isFull {
                guard place.index < place.batches.count else {
                    try load(&place)
                    if place.batches.isEmpty { return }
                    continue
                }
                try append(from: &place, to: &buffer, limit: limit)
            }
        }
    }

    /// Begins with the batch that holds the event behind a number, and reads up to it.
    private func seek(_ sequence: UInt64, _ place: inout Place) throws {
        place = Place(batches: try batches(after: sequence), sequence: sequence)
        guard let first = place.batches.first, first.firstSequence <= sequence else { return }
        var current = first.firstSequence - 1
        let records = first.batch.events
        var cursor = LedgerRecordCursor(origin: first.batch.origin)
        while current < sequence, (try? cursor.next(in: records.span)) ?? nil != nil { current += 1 }
        place.cursor = cursor
    }

    private func load(_ place: inout Place) throws {
        place = Place(batches: try batches(after: place.sequence), sequence: place.sequence)
    }

    /// The batches from the one that holds the event behind a number on; a damaged one is passed over, as recovery does.
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

    private func append(from place: inout Place, to buffer: inout JournalEntryBuffer, limit: Int) throws {
        let stored = place.batches[place.index]
        progress.willWrite(batchEndingAt: stored.position)
        if place.cursor == nil, stored.firstSequence - 1 > place.sequence {
            progress.passOver(stored.firstSequence - 1 - place.sequence)
            place.sequence = stored.firstSequence - 1
        }
        var cursor = place.cursor ?? LedgerRecordCursor(origin: stored.batch.origin)
        let records = stored.batch.events
        while buffer.count < limit, !buffer.isFull {
            let next: LedgerRecord?
            do throws(LedgerRecordError) {
                next = try cursor.next(in: records.span)
            } catch {
                progress.passOver(stored.position.sequence - place.sequence)
                next = nil
            }
            guard let record = next else {
                place.index += 1
                place.cursor = nil
                place.sequence = max(place.sequence, stored.position.sequence)
                return
            }
            place.cursor = cursor
            place.sequence += 1
            try buffer.append(sequence: place.sequence) { entry in
                switch record {
                case .event(let event): EventJournalEntry.append(event, records, key: key, to: &entry)
                case .verdict(let verdict): VerdictJournalEntry.append(verdict, to: &entry)
                }
            }
        }
    }
}
