// SPDX-License-Identifier: Apache-2.0

internal import Journald
internal import TelemetryEvents

/// What tells the lines of one program in the journal from those of others: its identifier, else its name. Its process
/// would not do, since many write each line by a process of its own (logger(1)).
struct JournalStreams {
    private static let longestName = 256
    private static let maximumKnown = 256

    private let pseudonyms: any Pseudonymising
    private var known: [[UInt8]: UInt64] = [:]

    init(_ pseudonyms: any Pseudonymising) {
        self.pseudonyms = pseudonyms
    }

    /// The stream of the reader's current entry; 0 when it tells nothing of its program.
    mutating func stream(of reader: JournalReader) throws(JournalReaderError) -> UInt64 {
        guard let name = try name(.syslogIdentifier, reader) else {
            return try name(.command, reader).map { stream($0) } ?? 0
        }
        return stream(name)
    }

    private func name(_ field: JournalField, _ reader: JournalReader) throws(JournalReaderError) -> [UInt8]? {
        try reader.value(of: field, maximumBytes: Self.longestName)
    }

    private mutating func stream(_ name: [UInt8]) -> UInt64 {
        if let stream = known[name] { return stream }
        if known.count >= Self.maximumKnown { known.removeAll() }
        let stream = pseudonyms.pseudonym(of: name.span).high
        known[name] = stream
        return stream
    }
}
