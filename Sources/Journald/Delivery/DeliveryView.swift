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
    /// Selects the entries that both indexes have, that of the identifier and that of the stream.
    let entriesOfStream: [JournalMatch]

    private let stream: [UInt8]
    private let streamField: JournalField
    private let sequenceField: JournalField

    init(_ configuration: JournalDeliveryConfiguration) {
        stream = Array(configuration.stream.utf8)
        streamField = configuration.streamField
        sequenceField = configuration.sequenceField
        entries = [.equal(.syslogIdentifier, configuration.identifier)]
        entriesAndMarkers =
            entries + [.equal(.syslogIdentifier, DeliveryMarkers.identifier(of: configuration.identifier))]
        entriesOfStream = entries + [.equal(streamField, stream)]
    }

    /// The number of the reader's current entry; nil when it is not one of the stream, or cannot be read.
    func sequence(in reader: JournalReader) -> UInt64? {
        guard let sequence = try? reader.number(of: sequenceField),
            (try? reader.hasValue(stream, of: streamField)) == true
        else { return nil }
        return sequence
    }
}
