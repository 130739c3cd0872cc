// SPDX-License-Identifier: Apache-2.0

/// Numbered entries in journald's native protocol, one after the other in a reused array.
///
/// An empty line separates entries, so that any run of consecutive entries is a valid datagram.
public struct JournalEntryBuffer: Sendable {
    /// Where an entry is in ``bytes``, without the empty line after it.
    private struct Slot: Sendable {
        let sequence: UInt64
        let start: Int
        let end: Int
    }

    /// The maximum number of fields in an entry (journald's `ENTRY_FIELD_COUNT_MAX`), less those that it adds itself.
    private static let maximumFields = 960

    /// The encoded entries.
    public private(set) var bytes: [UInt8] = []
    private var slots: [Slot] = []
    /// The encoded fields that entries after a number start with, in ascending order of these.
    private let prefixes: [(after: UInt64, fields: [UInt8])]
    private let sequenceField: JournalField?
    private let maximumEntryBytes: Int
    private let maximumBytes: Int

    /// An empty buffer.
    ///
    /// - Parameters:
    ///   - constant: Fields that every entry starts with.
    ///   - sequenceField: The field that holds an entry's number in decimal; nil for none.
    ///   - maximumEntryBytes: The maximum size of an encoded entry.
    ///   - maximumBytes: The size at which the buffer is full; the last entry may exceed it.
    public init(
        constant: [(JournalField, String)] = [],
        sequenceField: JournalField? = nil,
        maximumEntryBytes: Int = 8 << 20,
        maximumBytes: Int = 8 << 20
    ) {
        prefixes = [(0, Self.encoded(constant))]
        self.sequenceField = sequenceField
        self.maximumEntryBytes = maximumEntryBytes
        self.maximumBytes = maximumBytes
    }

    /// An empty buffer for the entries of a stream, each of which names it by its number.
    init(
        _ configuration: JournalDeliveryConfiguration,
        _ streams: StreamNames
    ) {
        prefixes = streams.parts.map { part in
            let constant: [(JournalField, String)] = [
                (configuration.streamField, part.name), (.syslogIdentifier, configuration.identifier),
            ]
            return (part.after, Self.encoded(constant))
        }
        sequenceField = configuration.sequenceField
        maximumEntryBytes = configuration.maximumEntryBytes
        maximumBytes = min(configuration.windowBytes, 1 << 20)
    }

    private static func encoded(_ constant: [(JournalField, String)]) -> [UInt8] {
        var encoded = JournalEntry(appendingTo: [])
        for (field, value) in constant { encoded.append(field, value) }
        return encoded.finished()
    }

    /// The fields that the entry with a number starts with.
    private func prefix(of sequence: UInt64) -> [UInt8] {
        var index = prefixes.count - 1
        while index > 0, sequence <= prefixes[index].after { index -= 1 }
        return prefixes[index].fields
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

    /// Where consecutive entries are in ``bytes``, without the empty line after the last.
    public func byteRange(of entries: Range<Int>) -> Range<Int> {
        guard let first = entries.first, let last = entries.last else { return 0..<0 }
        return slots[first].start..<slots[last].end
    }

    /// Appends an entry.
    ///
    /// - Parameters:
    ///   - sequence: Its number, above the previous entry's.
    ///   - fill: Appends the fields.
    /// - Throws: ``JournalEntryError``; the buffer is then unchanged, or empty after ``JournalEntryError/overwritten``.
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
        entry.append(encoded: prefix(of: sequence))
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

/// Why a ``JournalEntryBuffer`` refused an entry.
public enum JournalEntryError: Error, Hashable, CustomStringConvertible {
    /// The entry has no field of its own.
    case empty(sequence: UInt64)
    /// The entry has more fields than journald accepts.
    case tooManyFields(sequence: UInt64, limit: Int)
    /// The encoded entry is larger than the buffer's limit.
    case tooLarge(sequence: UInt64, limit: Int)
    /// The sequence number is not greater than the previous entry's.
    case notAscending(sequence: UInt64, previous: UInt64)
    /// A closure that writes a value removed earlier bytes; the buffer was emptied.
    case overwritten(sequence: UInt64)

    /// The problem and what to do about it.
    public var description: String {
        switch self {
        case .empty(let sequence):
            "entry \(sequence) has no fields; append at least MESSAGE"
        case .tooManyFields(let sequence, let limit):
            "entry \(sequence) has more than \(limit) fields; journald would refuse it"
        case .tooLarge(let sequence, let limit):
            "entry \(sequence) takes more than \(limit) bytes; shorten its values or raise the buffer's limit"
        case .notAscending(let sequence, let previous):
            "entry \(sequence) follows entry \(previous); sequence numbers must ascend within a buffer"
        case .overwritten(let sequence):
            "a value of entry \(sequence) removed bytes in front of it; a writing closure may only append"
        }
    }
}
