// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Journald
internal import LedgerState
internal import Logging
internal import TelemetryEvents

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Where events go besides the ledger, as a running thing that can be woken and stopped.
enum JournalOutput: Sendable {
    case journald(ConfirmedJournalWriter)
    case standardOutput(StandardOutputJournal)
    case off

    func wake() {
        switch self {
        case .journald(let writer): writer.wake()
        case .standardOutput(let journal): journal.wake()
        case .off: break
        }
    }

    var statistics: JournalDeliveryStatistics? {
        if case .journald(let writer) = self { writer.statistics } else { nil }
    }

    var cursor: String? {
        if case .journald(let writer) = self { writer.checkpoint.cursor } else { nil }
    }

    /// Delivers what it can in the given time and ends.
    func stop(within limit: Duration) async {
        switch self {
        case .journald(let writer): _ = await writer.stop(within: limit)
        case .standardOutput(let journal): await journal.stop()
        case .off: break
        }
    }
}

extension JournalOutput {
    /// - Parameters:
    ///   - key: the key of the hashes that identify cycles.
    ///   - directory: the ledger's, which is read by a connection of its own.
    ///   - location: the journal that takes the entries.
    static func journald(
        _ ledger: EventLedger,
        _ progress: JournalProgress,
        key: IdentityKey,
        directory: String,
        location: JournalLocation = .machine,
        socket: String,
        log: Logger = Logger(label: "dnp-telemetry")
    ) throws -> JournalOutput {
        let configuration = JournalDeliveryConfiguration(
            identifier: EventJournalEntry.identifier,
            streamField: JournalProgress.ledgerField,
            stream: ledger.id,
            sequenceField: JournalProgress.sequenceField,
            location: location,
            socketPath: socket
        )
        let start = progress.saved
        return .journald(
            try ConfirmedJournalWriter(
                configuration,
                from: JournalCheckpoint(position: start.position.sequence, cursor: start.cursor),
                source: EventJournalSource(
                    try LedgerReader.open(directory: directory),
                    progress: progress,
                    key: key,
                    log: log
                ),
                onConfirmed: { progress.confirmed($0) }
            )
        )
    }
}

extension JournalOutput {
    /// Whether there is a socket to write to; journald may still come later.
    static func exists(_ socket: String) -> Bool {
        unsafe access(socket, W_OK) == 0
    }
}
