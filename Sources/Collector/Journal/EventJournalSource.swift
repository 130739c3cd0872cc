// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Journald
internal import Synchronization
internal import TelemetryEvents

/// Reads the events of the ledger in order and renders them as journal entries, for the writer's thread.
///
/// The batch being read stays in memory, so that a large one is read from the ledger once.
final class EventJournalSource: JournalSource {
    private struct Place {
        var batches: [StoredBatch] = []
        var index = 0
        var cursor = EventCursor()
        /// The number of the event that the cursor has read last.
        var sequence: UInt64 = 0
    }

    private let reader: LedgerReader
    private let progress: JournalProgress
    private let place = Mutex(Place())

    init(_ reader: LedgerReader, progress: JournalProgress) {
        self.reader = reader
        self.progress = progress
    }

    func read(after sequence: UInt64, limit: Int, into buffer: inout JournalEntryBuffer) throws {
        try place.withLock { place in
            if place.sequence != sequence || place.batches.isEmpty {
                try seek(sequence, &place)
            }
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
        place = Place(batches: try reader.read(afterSequence: sequence), sequence: sequence)
        guard let first = place.batches.first else { return }
        place.sequence = first.firstSequence - 1
        let events = first.batch.events
        while place.sequence < sequence, try place.cursor.next(in: events.span) != nil { place.sequence += 1 }
        place.sequence = max(place.sequence, sequence)
    }

    private func load(_ place: inout Place) throws {
        let sequence = place.sequence
        place = Place(batches: try reader.read(afterSequence: sequence), sequence: sequence)
    }

    private func append(from place: inout Place, to buffer: inout JournalEntryBuffer, limit: Int) throws {
        let stored = place.batches[place.index]
        progress.willWrite(batchEndingAt: stored.position)
        if place.cursor.offset == 0 { place.sequence = stored.firstSequence - 1 }
        let records = stored.batch.events
        while buffer.count < limit, !buffer.isFull {
            guard let event = try place.cursor.next(in: records.span) else {
                place.index += 1
                place.cursor = EventCursor()
                place.sequence = stored.position.sequence
                return
            }
            place.sequence += 1
            try buffer.append(sequence: place.sequence) { entry in
                EventJournalEntry.append(event, records, to: &entry)
            }
        }
    }
}
