// SPDX-License-Identifier: Apache-2.0

internal import Journald
internal import LedgerState
internal import LogInput
internal import TelemetryEvents

/// The lines of some entries of the journal, with the position behind these.
struct JournalBatch: Equatable, Sendable {
    /// The most entries of one batch.
    static let maximumEntries = 1_024
    /// After how many bytes of lines a batch is full.
    static let fullBytes = 256 << 10
    /// The longest `MESSAGE` that is read, in bytes; what follows is passed over.
    static let longestMessage = 1 << 20
    /// How much earlier than journald took it an entry may say that it was written, in microseconds.
    static let longestDelay: Int64 = 86_400_000_000

    private(set) var lines: [UInt8] = []
    private(set) var carriers: [LineCarrier] = []
    private(set) var entries = 0
    /// Entries that collectors wrote.
    private(set) var skipped = 0
    /// Entries that could not be read, one by one.
    private(set) var unreadable = 0
    var position: JournalPosition
    /// Whether nothing that matches stands behind it.
    var isAtEnd = false

    init(at position: JournalPosition) {
        self.position = position
    }

    var count: Int { entries + skipped + unreadable }
    var isFull: Bool { count >= Self.maximumEntries || lines.count >= Self.fullBytes }

    /// Takes the message of an entry as its lines, each with a line feed.
    mutating func take(_ message: [UInt8], writtenAt: Int64, stream: UInt64) {
        entries += 1
        var cutter = LineCutter(dividesAtGaps: false)
        cutter.cut(message.count > Self.longestMessage ? Array(message[..<Self.longestMessage]) : message, into: &lines)
        cutter.finish(into: &lines)
        carriers.append(
            LineCarrier(end: lines.count, writtenAt: Timestamp(microseconds: writtenAt), stream: stream)
        )
    }

    mutating func skip() { skipped += 1 }

    mutating func passUnreadable() { unreadable += 1 }

    /// When an entry was written: when journald took it, or the time before that which the kernel has told journald.
    static func time(realtime: UInt64, source: UInt64?) -> Int64 {
        let taken = Int64(clamping: realtime)
        guard let source = source.flatMap({ Int64(exactly: $0) }), source <= taken, taken - source <= longestDelay
        else { return taken }
        return source
    }
}

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
