// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Journald
internal import LedgerState
internal import Logging
internal import Synchronization
internal import TelemetryEvents

/// Renders the events and verdicts of the ledger as journal entries, on the writer's thread.
///
/// A failure to read reaches the writer as an error, which it shows in its statistics and answers with a retry after a
/// backoff.
final class EventJournalSource: JournalSource {
    private let key: IdentityKey
    private let records: Mutex<UndeliveredRecords>

    /// - Parameter key: the key of the hashes that identify cycles.
    init(_ reader: LedgerReader, progress: DeliveryProgress, key: IdentityKey, log: Logger) {
        self.key = key
        records = Mutex(UndeliveredRecords(reader, progress: progress, log: log))
    }

    func read(after sequence: UInt64, limit: Int, into buffer: inout JournalEntryBuffer) throws {
        try records.withLock { records in
            try records.read(after: sequence) { record, number, batch in
                try buffer.append(sequence: number) { entry in
                    EventJournalEntry.append(record, batch, key: key, to: &entry)
                }
                return buffer.count < limit && !buffer.isFull
            }
        }
    }
}
