// SPDX-License-Identifier: Apache-2.0

internal import Journald
internal import LedgerState

extension JournalBatch {
    private static let collectors = [EventJournalEntry.identifier, EventJournalEntry.identifier + "-sync"].map {
        Array($0.utf8)
    }

    /// Takes the reader's current entry.
    mutating func take(_ reader: JournalReader, _ streams: inout JournalStreams) throws(JournalReaderError) {
        if try Self.isOfCollector(reader) { return skip() }
        let message = try reader.value(of: .message, maximumBytes: Self.longestMessage)
        let time = Self.time(
            realtime: try reader.realtimeMicroseconds(),
            source: try reader.number(of: .sourceRealtime)
        )
        take(message ?? [], writtenAt: time, stream: try streams.stream(of: reader))
    }

    /// Whether a collector wrote an entry, this one or another: as a projection of its ledger, which has the ledger's
    /// field, or on its standard output.
    private static func isOfCollector(_ reader: JournalReader) throws(JournalReaderError) -> Bool {
        if try reader.hasValue(of: JournalProgress.ledgerField) { return true }
        for name in collectors where try reader.hasValue(name, of: .syslogIdentifier) { return true }
        return try reader.hasValue(collectors[0], of: .command)
    }
}
