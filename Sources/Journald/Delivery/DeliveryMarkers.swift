// SPDX-License-Identifier: Apache-2.0

/// The entries by which a writer finds out that journald has dealt with all that was sent before.
struct DeliveryMarkers: Sendable {
    /// Carries a text that no other synchronisation uses.
    static let idField: JournalField = "JOURNAL_SYNC_ID"
    /// Carries the marker's place, 1 to 3.
    static let placeField: JournalField = "JOURNAL_SYNC_PLACE"

    private let identifier: String
    private let instance: String

    init(identifier: String, random: inout some RandomNumberGenerator) {
        self.identifier = "\(identifier)-sync"
        instance = Hexadecimal.digits(random.next()) + Hexadecimal.digits(random.next())
    }

    /// The id of a synchronisation.
    func id(attempt: UInt64) -> String { "\(instance).\(attempt)" }

    /// A datagram of markers.
    func datagram(_ datagram: MarkerDatagram, attempt: UInt64) throws(JournalEntryError) -> [UInt8] {
        let constant: [(JournalField, String)] = [
            (.syslogIdentifier, identifier), (Self.idField, id(attempt: attempt)),
        ]
        var buffer = JournalEntryBuffer(constant: constant)
        let places: ClosedRange<UInt64> =
            switch datagram {
            case .pair: 1...2
            case .last: 3...3
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
}
