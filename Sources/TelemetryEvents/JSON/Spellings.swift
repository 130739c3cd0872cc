// SPDX-License-Identifier: Apache-2.0

/// The known names that the unknown ones of an input resemble, in bounded work: the first distinct names are compared, and
/// no name leaves the decoder.
struct Spellings {
    private static let maximumNames = 16
    private static let maximumBytes = 64

    private var names: [[UInt8]] = []
    private var nearest: [String?] = []

    /// The known name nearest to one; nil for a name that resembles none, is too long, or comes behind too many others.
    mutating func known(nearestTo bytes: Span<UInt8>, _ range: Range<Int>, in known: [String]) -> String? {
        guard range.count <= Self.maximumBytes else { return nil }
        for (index, name) in names.enumerated() where name.count == range.count {
            if name.indices.allSatisfy({ name[$0] == bytes[range.lowerBound + $0] }) { return nearest[index] }
        }
        guard names.count < Self.maximumNames else { return nil }
        let name = range.map { bytes[$0] }
        let found = NearestName.of(String(decoding: name, as: UTF8.self), in: known)
        names.append(name)
        nearest.append(found)
        return found
    }

    /// The kind of event nearest to a name: the only one that begins with it, else the one with the fewest changes.
    mutating func kind(nearestTo bytes: Span<UInt8>, _ range: Range<Int>) -> EventKind? {
        let name = known(nearestTo: bytes, range, in: Self.kinds)
        return EventKind.allCases.first { "\($0.name)" == name }
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
    private var noted: [String] = []

    @inline(never)
    mutating func note(_ name: JSONText, _ bytes: Span<UInt8>) {
        guard !name.isEscaped, noted.count < Self.maximumNoted,
            let known = spellings.known(nearestTo: bytes, name.range, in: Self.known)
        else { return }
        noted.append(known)
    }

    @inline(__always)
    mutating func keep(in decoded: inout DecodedEvents) {
        if !noted.isEmpty { count(in: &decoded) }
    }

    @inline(__always)
    mutating func discard() {
        if !noted.isEmpty { noted.removeAll(keepingCapacity: true) }
    }

    @inline(never)
    private mutating func count(in decoded: inout DecodedEvents) {
        for name in noted { decoded.resembledFields[name, default: 0] += 1 }
        noted.removeAll(keepingCapacity: true)
    }
}
