// SPDX-License-Identifier: Apache-2.0

/// Numbered entries encoded in journald's native protocol, one behind the other in one reused array.
///
/// Entries are separated by an empty line, so that any run of neighbouring entries is a datagram as it stands.
public struct JournalEntryBuffer: Sendable {
    /// Where an entry stands in the bytes, without the empty line behind it.
    struct Slot: Sendable {
        let sequence: UInt64
        let start: Int
        let end: Int
    }

    /// The most fields that journald takes in one entry (`ENTRY_FIELD_COUNT_MAX`), less those that it adds itself.
    static let maximumFields = 960

    /// The encoded entries.
    public private(set) var bytes: [UInt8] = []
    private(set) var slots: [Slot] = []
    private let prefix: [UInt8]
    private let sequenceField: JournalField?
    private let maximumEntryBytes: Int
    private let maximumBytes: Int

    /// An empty buffer.
    ///
    /// - Parameters:
    ///   - constant: Fields that every entry starts with.
    ///   - sequenceField: The field that carries an entry's number in decimal, if there is to be one.
    ///   - maximumEntryBytes: The limit for one encoded entry.
    ///   - maximumBytes: When the buffer counts as full; the last entry may lie across it.
    public init(
        constant: [(JournalField, String)] = [],
        sequenceField: JournalField? = nil,
        maximumEntryBytes: Int = 8 << 20,
        maximumBytes: Int = 8 << 20
    ) {
        var encoded = JournalEntry(appendingTo: [])
        for (field, value) in constant { encoded.append(field, value) }
        prefix = encoded.finished()
        self.sequenceField = sequenceField
        self.maximumEntryBytes = maximumEntryBytes
        self.maximumBytes = maximumBytes
    }

    /// The number of entries.
    public var count: Int { slots.count }
    /// Whether there is no entry.
    public var isEmpty: Bool { slots.isEmpty }
    /// Whether the limit of bytes is reached, so that a source should stop here.
    public var isFull: Bool { bytes.count >= maximumBytes }
    /// The number of the last entry.
    public var lastSequence: UInt64? { slots.last?.sequence }

    /// The number of an entry.
    public func sequence(at index: Int) -> UInt64 { slots[index].sequence }

    /// Where neighbouring entries stand in ``bytes``, without the empty line behind the last.
    public func byteRange(of entries: Range<Int>) -> Range<Int> {
        guard let first = entries.first, let last = entries.last else { return 0..<0 }
        return slots[first].start..<slots[last].end
    }

    /// Encodes one more entry.
    ///
    /// - Parameters:
    ///   - sequence: Its number, above the previous entry's.
    ///   - fill: Appends the fields.
    /// - Throws: ``JournalEntryError``; the buffer is then as it was before, but for ``JournalEntryError/overwritten``.
    public mutating func append(
        sequence: UInt64,
        _ fill: (inout JournalEntry) -> Void
    ) throws(JournalEntryError) {
        if let previous = lastSequence, sequence <= previous {
            throw .notAscending(sequence: sequence, previous: previous)
        }
        let start = bytes.count
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        var entry = JournalEntry(appendingTo: taken)
        taken = []
        entry.append(encoded: prefix)
        if let sequenceField { entry.append(sequenceField, sequence) }
        let ownFields = entry.fields
        fill(&entry)
        let (fields, isOverwritten) = (entry.fields, entry.isOverwritten)
        bytes = entry.finished()

        let error: JournalEntryError? =
            if isOverwritten {
                .overwritten(sequence: sequence)
            } else if fields == ownFields {
                .empty(sequence: sequence)
            } else if fields > Self.maximumFields {
                .tooManyFields(sequence: sequence, limit: Self.maximumFields)
            } else if bytes.count - start > maximumEntryBytes {
                .tooLarge(sequence: sequence, limit: maximumEntryBytes)
            } else {
                nil
            }
        if let error {
            if isOverwritten { removeAll() } else { bytes.removeSubrange(start...) }
            throw error
        }
        slots.append(Slot(sequence: sequence, start: start, end: bytes.count))
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Removes all entries and keeps the memory.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        slots.removeAll(keepingCapacity: true)
    }
}
