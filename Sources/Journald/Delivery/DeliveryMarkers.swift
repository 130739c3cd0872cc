// SPDX-License-Identifier: Apache-2.0

/// One of the two datagrams that a synchronisation sends.
enum MarkerDatagram: Equatable, Sendable {
    /// Two entries: when the second one is stored too, journald stores every entry of a datagram.
    case pair
    /// One entry: when it is stored, nothing sent before it is still queued.
    case last
}

/// The entries by which a writer learns that journald has processed all that was sent before them.
struct DeliveryMarkers: Sendable {
    /// The place of the marker in ``MarkerDatagram/last``.
    static let lastPlace: UInt64 = 3

    /// Holds an id that no other synchronisation uses.
    private static let idField: JournalField = "JOURNAL_SYNC_ID"
    /// Holds the marker's place, 1 to 3.
    private static let placeField: JournalField = "JOURNAL_SYNC_PLACE"

    private let identifier: String
    private let instance: String
    /// The cursor of the last marker; every entry of this writer follows it.
    private(set) var lastCursor: String?

    init(identifier: String, random: inout some RandomNumberGenerator) {
        self.identifier = Self.identifier(of: identifier)
        instance = ID128.random(using: &random).description
    }

    /// `SYSLOG_IDENTIFIER` of the markers of a writer.
    static func identifier(of writer: String) -> String { "\(writer)-sync" }

    /// The entries of a datagram, in journald's native protocol.
    func datagram(_ datagram: MarkerDatagram, attempt: UInt64) throws(JournalEntryError) -> [UInt8] {
        let constant: [(JournalField, String)] = [
            (.syslogIdentifier, identifier), (Self.idField, id(attempt)),
        ]
        var buffer = JournalEntryBuffer(constant: constant)
        let places: ClosedRange<UInt64> =
            switch datagram {
            case .pair: 1...2
            case .last: Self.lastPlace...Self.lastPlace
            }
        for place in places {
            try buffer.append(sequence: place) { entry in
                entry.append(.priority, 6)
                entry.append(Self.placeField, place)
                entry.append(.message, "Journal synchronisation \(attempt), marker \(place) of 3")
            }
        }
        return buffer.bytes
    }

    /// The error for markers that were sent and not read back in time.
    static func unanswered(in location: JournalLocation) -> String {
        """
        journald took a marker and didn't store it in time: it may be stalled, dropping entries (RateLimitBurst=, \
        MaxLevelStore=, Storage=, a full disk), or storing them where this process doesn't read (\(location))
        """
    }

    /// Restricts a reader to the markers of a synchronisation.
    func select(attempt: UInt64, in reader: JournalReader) throws(JournalReaderError) {
        try reader.setMatches([.equal(Self.idField, id(attempt))])
        try reader.seekToHead()
    }

    /// Reads the selected markers from the head, because the index finds them in whichever file they are.
    ///
    /// - Parameter reader: Nil where the journal is not open.
    /// - Returns: The places of the stored markers.
    mutating func read(_ reader: JournalReader?) throws(JournalReaderError) -> Set<UInt64> {
        guard let reader else { return [] }
        try reader.process()
        try reader.seekToHead()
        var places: Set<UInt64> = []
        var entries = 0
        while entries < 16, try reader.next() {
            entries += 1
            guard let place = try reader.number(of: Self.placeField) else { continue }
            places.insert(place)
            if place == Self.lastPlace { lastCursor = try reader.cursor() }
        }
        return places
    }

    /// Forgets what was read of an earlier synchronisation.
    mutating func forget() { lastCursor = nil }

    /// The value that ``isLast(_:id:)`` compares with.
    func id(attempt: UInt64) -> [UInt8] { Array(id(attempt).utf8) }

    /// Whether the reader's current entry is the last marker of the synchronisation with an id.
    static func isLast(_ reader: JournalReader, id: [UInt8]) throws(JournalReaderError) -> Bool {
        guard try reader.number(of: placeField) == lastPlace else { return false }
        return try reader.hasValue(id, of: idField)
    }

    private func id(_ attempt: UInt64) -> String { "\(instance).\(attempt)" }
}
