// SPDX-License-Identifier: Apache-2.0

internal import Journald
internal import LedgerState
internal import LogInput
internal import TelemetryEvents

/// The lines of consecutive journal entries, with the position after them.
struct JournalBatch: Equatable, Sendable {
    /// How many entries a batch has at most.
    static let maximumEntries = 1_024
    /// With this many bytes of lines a batch is full.
    static let fullBytes = 256 << 10
    /// The longest `MESSAGE` that is read, in bytes; the rest is skipped.
    static let longestMessage = 1 << 20
    /// The largest plausible difference between an entry's source time and its reception, in microseconds.
    private static let longestDelay: Int64 = 86_400_000_000

    private(set) var lines: [UInt8] = []
    private(set) var carriers: [LineCarrier] = []
    private(set) var entries = 0
    /// Entries that collectors wrote.
    private(set) var skipped = 0
    /// Entries that could not be read.
    private(set) var unreadable = 0
    var position: JournalPosition
    /// Whether no matching entry follows.
    var isAtEnd = false

    init(at position: JournalPosition) {
        self.position = position
    }

    var count: Int { entries + skipped + unreadable }
    var isFull: Bool { count >= Self.maximumEntries || lines.count >= Self.fullBytes }

    /// Appends the lines of an entry's message, each with a line feed.
    ///
    /// - Parameters:
    ///   - device: the name of the entry's device.
    ///   - namesDevice: whether a field that the settings name says so, against what the lines say.
    ///   - program: the name of the program that wrote the entry.
    mutating func take(
        _ message: [UInt8],
        writtenAt: Int64,
        stream: UInt64,
        device: [UInt8] = [],
        namesDevice: Bool = false,
        program: [UInt8] = []
    ) {
        entries += 1
        var cutter = LineCutter(dividesAtGaps: false)
        cutter.cut(message.count > Self.longestMessage ? Array(message[..<Self.longestMessage]) : message, into: &lines)
        cutter.finish(into: &lines)
        var carrier = LineCarrier(
            end: lines.count,
            writtenAt: Timestamp(microseconds: writtenAt),
            stream: stream,
            device: device
        )
        carrier.namesDevice = namesDevice
        carrier.program = program
        carriers.append(carrier)
    }

    mutating func skip() { skipped += 1 }

    mutating func skipUnreadable() { unreadable += 1 }

    /// The time at which an entry was written: its source timestamp if plausible, else its reception by journald.
    static func time(realtime: UInt64, source: UInt64?) -> Int64 {
        let received = Int64(clamping: realtime)
        guard let source = source.flatMap({ Int64(exactly: $0) }), source <= received, received - source <= longestDelay
        else { return received }
        return source
    }
}

extension JournalBatch {
    private static let collectors = [EventJournalEntry.identifier, EventJournalEntry.identifier + "-sync"].map {
        Array($0.utf8)
    }

    /// Appends the reader's current entry.
    mutating func take(_ reader: JournalReader, _ streams: inout JournalStreams) throws(JournalReaderError) {
        if try Self.isOfCollector(reader) { return skip() }
        let message = try reader.value(of: .message, maximumBytes: Self.longestMessage)
        let time = Self.time(
            realtime: try reader.realtimeMicroseconds(),
            source: try reader.number(of: .sourceRealtime)
        )
        take(
            message ?? [],
            writtenAt: time,
            stream: try streams.stream(of: reader),
            device: try streams.device(of: reader),
            namesDevice: streams.hasDeviceField,
            program: try streams.program(of: reader)
        )
    }

    /// Whether a collector, this one or another, wrote an entry: as its journal, which has the ledger's field, or on its
    /// standard output. Reading these again would be a loop.
    private static func isOfCollector(_ reader: JournalReader) throws(JournalReaderError) -> Bool {
        if try reader.hasValue(of: JournalEntryNames.ledgerField) { return true }
        for name in collectors where try reader.hasValue(name, of: .syslogIdentifier) { return true }
        return try reader.hasValue(collectors[0], of: .command)
    }
}

/// Separates the lines of one program in the journal from those of others, by identifier, else by command name.
///
/// The process id would not do, since logger(1) runs as a new process for each line. Each program of each host is a device
/// of its own, unless a field of the entries names their devices.
struct JournalStreams {
    private static let longestName = 256
    private static let maximumKnown = 256

    private let pseudonyms: any Pseudonymising
    private let deviceField: JournalField?
    private var known: [[UInt8]: UInt64] = [:]

    /// - Parameter deviceField: the field that names the device of an entry.
    init(_ pseudonyms: any Pseudonymising, deviceField: JournalField? = nil) {
        self.pseudonyms = pseudonyms
        self.deviceField = deviceField
    }

    /// Whether a field names the devices.
    var hasDeviceField: Bool { deviceField != nil }

    /// The name of the current entry's device: the field's value, or host and program; empty for an entry that names none.
    func device(of reader: JournalReader) throws(JournalReaderError) -> [UInt8] {
        if let deviceField { return try name(deviceField, reader) ?? [] }
        let host = try name(.host, reader) ?? []
        let program = try program(of: reader)
        return host.isEmpty && program.isEmpty ? [] : host + [0] + program
    }

    /// The program that wrote the current entry, by identifier, else by command name; empty for an entry that names none.
    func program(of reader: JournalReader) throws(JournalReaderError) -> [UInt8] {
        if let identifier = try name(.syslogIdentifier, reader) { return identifier }
        return try name(.command, reader) ?? []
    }

    /// The stream of the reader's current entry; 0 for an entry that names no program.
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
