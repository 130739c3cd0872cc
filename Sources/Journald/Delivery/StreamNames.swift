// SPDX-License-Identifier: Apache-2.0

/// The names of a writer's stream, each for the numbers after a point.
///
/// A stream whose numbers could be given twice continues under another name and keeps counting. What stands under a
/// former name after that point is history: it confirms nothing.
public struct StreamNames: Hashable, Sendable {
    /// A name and the numbers that it is for.
    public struct Part: Hashable, Sendable {
        /// The value of the stream's field.
        public let name: String
        /// The name is for the numbers after this one, up to the next part's.
        public let after: UInt64
    }

    /// The parts in ascending order; there is at least one.
    public private(set) var parts: [Part]

    /// A stream with one name, for the numbers after a point.
    public init(_ name: String, after number: UInt64 = 0) {
        parts = [Part(name: name, after: number)]
    }

    /// Gives the numbers after a point another name.
    public mutating func proceed(as name: String, after number: UInt64) {
        parts.append(Part(name: name, after: max(number, newest.after)))
    }

    /// The part that new numbers belong to.
    public var newest: Part { parts[parts.count - 1] }

    /// The index of the part that a number belongs to.
    func index(of number: UInt64) -> Int {
        var index = parts.count - 1
        while index > 0, number <= parts[index].after { index -= 1 }
        return index
    }

    /// The last number of a part.
    func last(of index: Int) -> UInt64 {
        index + 1 < parts.count ? parts[index + 1].after : .max
    }

    /// The condition for the entries of all parts.
    func matches(_ field: JournalField) -> [JournalMatch] {
        parts.map { .equal(field, $0.name) }
    }
}

/// What a scan found in the journal that is not the writer's own.
public struct JournalComparison: Hashable, Sendable {
    /// The last number that may stand under the newest name by right.
    public let given: UInt64
    /// The greatest number under each name that has numbers beyond its own.
    public let strays: [String: UInt64]
}

/// Sorts the entries of a scan: the writer's own, and history.
struct StreamSorter {
    let streams: StreamNames
    /// The last number that the newest part may have by right.
    let given: UInt64
    private let names: [[UInt8]]
    private var greatest: [UInt64]

    init(_ streams: StreamNames, given: UInt64) {
        self.streams = streams
        self.given = given
        names = streams.parts.map { Array($0.name.utf8) }
        greatest = streams.parts.map { _ in 0 }
    }

    /// The part whose name an entry has; nil for an entry of another stream.
    ///
    /// - Parameter isSelected: Whether the reader reads only entries of the stream, which need no look where there is one
    ///   name.
    func part(of reader: JournalReader, _ field: JournalField, isSelected: Bool) throws(JournalReaderError) -> Int? {
        if isSelected, names.count == 1 { return 0 }
        if names.count == 1 { return try reader.hasValue(names[0], of: field) ? 0 : nil }
        guard let value = try reader.value(of: field, maximumBytes: 4_096) else { return nil }
        return names.lastIndex(of: value)
    }

    /// Whether a number under a part's name is the writer's own.
    mutating func admits(_ number: UInt64, of part: Int) -> Bool {
        guard number > min(streams.last(of: part), given) else { return streams.index(of: number) == part }
        greatest[part] = max(greatest[part], number)
        return false
    }

    /// What was not admitted.
    var comparison: JournalComparison {
        var strays: [String: UInt64] = [:]
        for (part, number) in zip(streams.parts, greatest) where number > 0 { strays[part.name] = number }
        return JournalComparison(given: given, strays: strays)
    }
}
