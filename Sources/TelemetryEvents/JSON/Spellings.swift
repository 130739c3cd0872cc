// SPDX-License-Identifier: Apache-2.0

/// The known names that the unknown ones of an input resemble, in bounded work: the first distinct names are compared, and
/// no name leaves the decoder.
struct Spellings {
    private static let maximumNames = 16
    private static let maximumBytes = 64

    private var names: [[UInt8]] = []
    private var nearest: [Int?] = []

    /// The place of the known name nearest to one; nil for a name that resembles none, is too long, or comes behind too
    /// many others.
    mutating func place(nearestTo bytes: Span<UInt8>, _ range: Range<Int>, in known: [String]) -> Int? {
        guard range.count <= Self.maximumBytes else { return nil }
        for index in names.indices where Self.areEqual(names[index], bytes, range) { return nearest[index] }
        guard names.count < Self.maximumNames else { return nil }
        let name = range.map { bytes[$0] }
        let found = NearestName.of(String(decoding: name, as: UTF8.self), in: known)
        names.append(name)
        nearest.append(found.flatMap { known.firstIndex(of: $0) })
        return nearest[names.count - 1]
    }

    private static func areEqual(_ name: [UInt8], _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard name.count == range.count else { return false }
        for index in name.indices where name[index] != bytes[range.lowerBound + index] { return false }
        return true
    }

    /// The kind of event nearest to a name: the only one that begins with it, else the one with the fewest changes.
    mutating func kind(nearestTo bytes: Span<UInt8>, _ range: Range<Int>) -> EventKind? {
        place(nearestTo: bytes, range, in: Self.kinds).map { EventKind.allCases[$0] }
    }

    private static let kinds = EventKind.allCases.map { "\($0.name)" }
}

/// Counts the unknown fields that resemble a known one. What the fast path has noted counts once that has read its event.
struct FieldSpellings {
    /// Of one event; further ones are not noted.
    private static let maximumNoted = 256

    private static let known =
        EventField.allCases.flatMap { $0.names.map { "\($0)" } } + ClientCounter.allCases.map { "\($0.name)" }

    private var spellings = Spellings()
    /// The places of the names that the fields of the current event resemble.
    private var noted: [Int] = []
    /// How many fields resembled each name; empty until one did.
    private var counts: [Int] = []

    @inline(never)
    mutating func note(_ name: JSONText, _ bytes: Span<UInt8>) {
        guard !name.isEscaped, noted.count < Self.maximumNoted,
            let place = spellings.place(nearestTo: bytes, name.range, in: Self.known)
        else { return }
        noted.append(place)
    }

    @inline(__always)
    mutating func keep() {
        if !noted.isEmpty { count() }
    }

    @inline(__always)
    mutating func discard() {
        if !noted.isEmpty { noted.removeAll(keepingCapacity: true) }
    }

    @inline(never)
    private mutating func count() {
        if counts.isEmpty { counts = Array(repeating: 0, count: Self.known.count) }
        for place in noted { counts[place] += 1 }
        noted.removeAll(keepingCapacity: true)
    }

    /// How many fields resembled each name that one did.
    var resembled: [String: Int] {
        var resembled: [String: Int] = [:]
        for (name, count) in zip(Self.known, counts) where count > 0 { resembled[name, default: 0] += count }
        return resembled
    }
}
