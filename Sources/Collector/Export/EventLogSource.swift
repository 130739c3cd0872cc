// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Export
internal import Journald
internal import LedgerState
internal import Logging
internal import Synchronization
internal import TelemetryEvents

/// The events and verdicts of the ledger as log records of OTLP, with what the journal says of them.
///
/// The body is the journal's `MESSAGE` and the attributes its other fields. A record's identity is the ledger's life and
/// the number in it, as in the journal, so that a receiver can tell a repeat from another event.
final class EventLogSource: LogSource {
    private let records: Mutex<UndeliveredRecords>
    private let progress: DeliveryProgress
    private let ledger: EventLedger
    private let destination: String
    private let key: IdentityKey
    private let log: Logger
    /// The last number that was loaded from the ledger.
    private let lastLoaded: Atomic<UInt64>

    /// - Parameters:
    ///   - destination: its name in the log.
    ///   - key: the key of the hashes that identify cycles.
    init(
        _ ledger: EventLedger,
        _ reader: LedgerReader,
        _ progress: DeliveryProgress,
        destination: String,
        key: IdentityKey,
        log: Logger
    ) {
        self.ledger = ledger
        self.progress = progress
        self.destination = destination
        self.key = key
        self.log = log
        lastLoaded = Atomic(progress.latest)
        records = Mutex(UndeliveredRecords(reader, progress: progress, destination: destination, log: log))
    }

    var position: UInt64 { progress.latest }

    /// How many events were deleted from the ledger, or cannot be read, before the destination had them.
    func dropped(pruned: LedgerPosition) -> UInt64 {
        progress.dropped(pruned: pruned.sequence, loaded: lastLoaded.load(ordering: .relaxed))
    }

    func delivered(_ sequence: UInt64) { progress.confirmed(sequence) }

    func read(after sequence: UInt64, into logs: inout OTLPLogs, maximumBytes: Int) throws -> UInt64 {
        let lives = ledger.lives
        let end = try records.withLock { records in
            try records.read(after: sequence) { record, number, batch in
                let life = lives.last { $0.after.sequence < number } ?? lives[0]
                append(record, number, batch, life.id, to: &logs)
                return logs.byteCount < maximumBytes
            }
            let end = max(records.sequence, sequence)
            lastLoaded.max(records.loaded, ordering: .relaxed)
            return end > sequence ? end : try passOverDeleted(after: sequence)
        }
        lastLoaded.max(end, ordering: .relaxed)
        return end
    }

    /// The number after which the ledger has events, where those that follow were deleted and none came after them.
    private func passOverDeleted(after sequence: UInt64) throws -> UInt64 {
        let pruned = try ledger.reader.statistics().pruned.sequence
        guard pruned > sequence else { return sequence }
        progress.passOver(pruned - sequence, upTo: pruned)
        log.error(
            "events were deleted from the ledger before \(destination) had them",
            metadata: ["first": "\(sequence + 1)", "last": "\(pruned)"]
        )
        return pruned
    }

    private func append(
        _ record: LedgerRecord,
        _ number: UInt64,
        _ batch: LedgerBatch,
        _ life: String,
        to logs: inout OTLPLogs
    ) {
        let time =
            switch record {
            case .event(let event): event.timestamp.microseconds
            case .cycle(let verdict): verdict.closedAt.microseconds
            case .run(let verdict): verdict.closedAt.microseconds
            }
        logs.append(
            time: time,
            observed: batch.receivedAt,
            identity: { identity in
                identity += life.utf8
                identity.append(UInt8(ascii: ":"))
                identity.appendDecimal(number)
            }
        ) { log in
            EventJournalEntry.append(record, batch, key: key, to: &log)
            log.append(JournalEntryNames.ledgerField) { $0 += life.utf8 }
            log.append(JournalEntryNames.sequenceField) { $0.appendDecimal(number) }
        }
    }
}

extension OTLPLogs.Record: EntryFields {
    mutating func message(writing text: (inout [UInt8]) -> Void) { body(writing: text) }

    mutating func priority(_ level: Int) { severity(ofPriority: level) }

    mutating func event(_ name: StaticString) {
        self.name(name)
        append(EventJournalEntry.event, name)
    }

    mutating func append(_ field: JournalField, _ value: StaticString) { attribute(field.bytes, value) }

    mutating func append(_ field: JournalField, _ value: Int64) {
        attribute(field.bytes) { $0.appendDecimal(value) }
    }

    mutating func append(_ field: JournalField, writing value: (inout [UInt8]) -> Void) {
        attribute(field.bytes, writing: value)
    }

    mutating func append(_ field: JournalField, all values: [StaticString]) {
        if !values.isEmpty { attribute(field.bytes, all: values) }
    }
}
