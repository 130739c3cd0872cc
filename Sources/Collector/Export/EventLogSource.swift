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
    private static let ledger = Array("DNP_LEDGER".utf8)
    private static let sequence = Array("DNP_SEQ".utf8)

    private struct State {
        var records: UndeliveredRecords
        /// One entry of the journal, which is never sent.
        var entry = JournalEntryBuffer()
    }

    private let state: Mutex<State>
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
        let records = UndeliveredRecords(reader, progress: progress, destination: destination, log: log)
        state = Mutex(State(records: records))
    }

    var position: UInt64 { progress.latest }

    /// How many events were deleted from the ledger, or cannot be read, before the destination had them.
    func dropped(pruned: LedgerPosition) -> UInt64 {
        progress.dropped(pruned: pruned.sequence, loaded: lastLoaded.load(ordering: .relaxed))
    }

    func delivered(_ sequence: UInt64) { progress.confirmed(sequence) }

    func read(after sequence: UInt64, into logs: inout OTLPLogs, maximumBytes: Int) throws -> UInt64 {
        let lives = ledger.lives
        let end = try state.withLock { state in
            var entry = state.entry
            try state.records.read(after: sequence) { record, number, batch in
                entry.removeAll()
                try entry.append(sequence: number) { EventJournalEntry.append(record, batch, key: key, to: &$0) }
                let life = lives.last { $0.after.sequence < number } ?? lives[0]
                Self.append(record, number, received: batch.receivedAt, life.id, entry, to: &logs)
                return logs.byteCount < maximumBytes
            }
            state.entry = entry
            let end = max(state.records.sequence, sequence)
            lastLoaded.max(state.records.loaded, ordering: .relaxed)
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

    private static func append(
        _ record: LedgerRecord,
        _ number: UInt64,
        received: Int64,
        _ life: String,
        _ entry: JournalEntryBuffer,
        to logs: inout OTLPLogs
    ) {
        var message: ArraySlice<UInt8> = []
        var name: ArraySlice<UInt8> = []
        var priority = 6
        var fields: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []
        var violations: [ArraySlice<UInt8>] = []
        entry.forEachField(ofEntry: 0) { field, value in
            if field.elementsEqual("MESSAGE".utf8) {
                message = value
            } else if field.elementsEqual("PRIORITY".utf8) {
                priority = value.first.map { Int($0) - 0x30 } ?? 6
            } else if field.elementsEqual("DNP_VIOLATION".utf8) {
                violations.append(value)
            } else {
                if field.elementsEqual("DNP_EVENT".utf8) { name = value }
                fields.append((field, value))
            }
        }
        let sequence = Array("\(number)".utf8)
        let time =
            switch record {
            case .event(let event): event.timestamp.microseconds
            case .cycle(let verdict): verdict.closedAt.microseconds
            case .run(let verdict): verdict.closedAt.microseconds
            }
        logs.append(
            OTLPLogs.Record(
                time: time,
                observed: received,
                priority: priority,
                name: name,
                body: message,
                identity: Array(life.utf8) + [UInt8(ascii: ":")] + sequence
            )
        ) { log in
            log.logAttribute(ledger, life.utf8)
            log.logAttribute(Self.sequence, sequence)
            for field in fields { log.logAttribute(field.name, field.value) }
            if !violations.isEmpty { log.logAttribute("DNP_VIOLATION".utf8, list: violations) }
        }
    }
}
