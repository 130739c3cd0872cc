// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Glibc
internal import Journald
internal import LedgerState
internal import Logging
internal import TelemetryEvents

/// The journal that events are delivered to besides the ledger.
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

    /// Delivers what fits into the given time, then ends.
    func stop(within limit: Duration) async {
        switch self {
        case .journald(let writer): _ = await writer.stop(within: limit)
        case .standardOutput(let journal): await journal.stop()
        case .off: break
        }
    }
}

extension JournalOutput {
    /// The output that a configuration names, from where the journal's progress left off.
    ///
    /// - Parameter progress: nil only where no journal is written.
    init(
        _ configuration: ServeConfiguration,
        _ ledger: EventLedger,
        _ progress: DeliveryProgress?,
        key: IdentityKey,
        log: Logger
    ) throws {
        self =
            switch (configuration.journal, progress) {
            case (.journald, let progress?):
                try .journald(
                    ledger,
                    progress,
                    key: key,
                    directory: configuration.stateDirectory,
                    socket: configuration.journalSocket,
                    log: log
                )
            case (.stdout, let progress?): .standardOutput(StandardOutputJournal(ledger.reader, progress, log: log))
            default: .off
            }
    }

    /// An output that confirms what journald took by reading it back.
    ///
    /// - Parameters:
    ///   - key: the key of the hashes that identify cycles.
    ///   - directory: the ledger's, which is read by a connection of its own.
    ///   - location: the journal that takes the entries.
    static func journald(
        _ ledger: EventLedger,
        _ progress: DeliveryProgress,
        key: IdentityKey,
        directory: String,
        location: JournalLocation = .machine,
        socket: String,
        log: Logger = Logger(label: "dnp-telemetry")
    ) throws -> JournalOutput {
        let start = progress.saved
        let witness = JournalWitness(ledger, confirmed: start.position.sequence, log: log)
        var configuration = JournalDeliveryConfiguration(
            identifier: EventJournalEntry.identifier,
            streamField: JournalEntryNames.ledgerField,
            stream: ledger.id,
            sequenceField: JournalEntryNames.sequenceField,
            location: location,
            socketPath: socket
        )
        configuration.streams = witness.streams
        configuration.given = ledger.comparable
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
                onConfirmed: { progress.confirmed($0) },
                onCompared: { try witness.compare($0) }
            )
        )
    }
}

extension JournalOutput {
    /// What the start screen says of the journal.
    static func description(_ configuration: ServeConfiguration) -> String {
        switch configuration.journal {
        case .off: "off"
        case .stdout: "standard output, as JSON lines"
        case .journald:
            isPresent(configuration.journalSocket)
                ? "journald (journalctl -t dnp-telemetry -o cat -f)"
                : "journald is absent: nothing listens at \(configuration.journalSocket); events wait in the ledger"
        }
    }

    /// Whether a socket can be written to; journald may still start later.
    private static func isPresent(_ socket: String) -> Bool {
        unsafe access(socket, W_OK) == 0
    }
}
