// SPDX-License-Identifier: Apache-2.0

/// A position in a line that never passes the line's end.
struct LineCursor {
    var position: Int
    let end: Int

    @inline(__always)
    init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    @inline(__always)
    init(_ position: Int, _ end: Int) {
        self.position = position
        self.end = end
    }

    @inline(__always)
    var isAtEnd: Bool { position >= end }

    @inline(__always)
    var rest: Range<Int> { unsafe Range(uncheckedBounds: (Swift.min(position, end), end)) }

    /// The byte at a distance, or 0 past the end.
    @inline(__always)
    func peek(_ bytes: Span<UInt8>, _ distance: Int = 0) -> UInt8 {
        position + distance < end ? bytes[position + distance] : 0
    }

    @inline(__always)
    mutating func skipSpaces(_ bytes: Span<UInt8>) {
        while position < end,
            bytes[position] == UInt8(ascii: " ") || bytes[position] == UInt8(ascii: "\t")
        {
            position += 1
        }
    }

    /// Whether an array begins here whose first element is an object.
    @inline(__always)
    func beginsListOfObjects(_ bytes: Span<UInt8>) -> Bool {
        var cursor = self
        guard cursor.consume(UInt8(ascii: "["), bytes) else { return false }
        cursor.skipSpaces(bytes)
        return cursor.peek(bytes) == UInt8(ascii: "{")
    }

    /// Consumes the byte if it is next.
    @inline(__always)
    mutating func consume(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
        guard position < end, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// Consumes one to 18 decimal digits; nil otherwise.
    @inline(__always)
    mutating func digits(_ bytes: Span<UInt8>) -> UInt64? {
        let start = position
        var value: UInt64 = 0
        while position < end, bytes[position].isDigit {
            value = value &* 10 &+ UInt64(bytes[position] &- 0x30)
            position += 1
        }
        return position > start && position - start <= 18 ? value : nil
    }

    /// Consumes up to the next space.
    @inline(__always)
    mutating func word(_ bytes: Span<UInt8>) -> Range<Int> {
        let start = position
        while position < end, bytes[position] != UInt8(ascii: " "),
            bytes[position] != UInt8(ascii: "\t")
        {
            position += 1
        }
        return start..<position
    }
}
