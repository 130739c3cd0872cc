// SPDX-License-Identifier: Apache-2.0

/// What a writer looks at to confirm its entries: those with its identifier, as `journalctl -t` lists them.
///
/// journald adds an entry to its file first and then to the index of each of its fields. A journald that is killed in
/// between leaves an entry that is listed without a match, and not by the fields that were not reached. So an entry is
/// confirmed by the view that people and pipelines use, and what it does not show is sent again. The stream is compared
/// by the entry's own value, since its index may have been reached or not.
struct DeliveryView: Sendable {
    /// Selects the entries of the identifier, of all streams.
    let entries: [JournalMatch]
    /// Selects the same, and the markers.
    let entriesAndMarkers: [JournalMatch]
    let streamField: JournalField
    /// The names of the stream.
    var streams: StreamNames {
        didSet { names = Self.names(of: streams) }
    }

    private let sequenceField: JournalField
    private var names: [[UInt8]]

    init(_ configuration: JournalDeliveryConfiguration) {
        streamField = configuration.streamField
        sequenceField = configuration.sequenceField
        streams = configuration.streams
        names = Self.names(of: configuration.streams)
        entries = [.equal(.syslogIdentifier, configuration.identifier)]
        entriesAndMarkers =
            entries + [.equal(.syslogIdentifier, DeliveryMarkers.identifier(of: configuration.identifier))]
    }

    private static func names(of streams: StreamNames) -> [[UInt8]] { streams.parts.map { Array($0.name.utf8) } }

    /// Selects the entries that both indexes have, that of the identifier and that of the stream.
    var entriesOfStream: [JournalMatch] { entries + streams.matches(streamField) }

    /// The number of the reader's current entry, of whatever stream; nil when it has none.
    func number(in reader: JournalReader) throws(JournalReaderError) -> UInt64? {
        try reader.number(of: sequenceField)
    }

    /// The number of the reader's current entry; nil when it is not one of the stream under the name that is the number's.
    func sequence(in reader: JournalReader) throws(JournalReaderError) -> UInt64? {
        guard let number = try number(in: reader),
            try reader.hasValue(names[streams.index(of: number)], of: streamField)
        else { return nil }
        return number
    }
}
