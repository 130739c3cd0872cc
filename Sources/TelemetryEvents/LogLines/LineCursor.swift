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

    /// Whether an array begins here whose first element is an object, or an array of that kind.
    @inline(__always)
    func beginsListOfObjects(_ bytes: Span<UInt8>) -> Bool {
        var cursor = self
        return cursor.skipBrackets(bytes) > 0 && cursor.peek(bytes) == UInt8(ascii: "{")
    }

    /// Consumes opening brackets with the spaces behind them, and returns how many there were.
    @inline(__always)
    mutating func skipBrackets(_ bytes: Span<UInt8>) -> Int {
        var brackets = 0
        while consume(UInt8(ascii: "["), bytes) {
            brackets += 1
            skipSpaces(bytes)
        }
        return brackets
    }

    /// Whether the line is JSON from the array here on, to its end or to where it was cut.
    ///
    /// Text in brackets before other text, such as the name of a thread or a kernel's time, is none.
    @inline(never)
    func beginsJSONArray(_ bytes: Span<UInt8>) -> Bool {
        guard peek(bytes) == UInt8(ascii: "[") else { return false }
        let line = bytes.extracting(0..<end)
        var scanner = JSONScanner(position: position)
        do throws(JSONFault) {
            try scanner.skipValue(line, depth: 0)
        } catch {
            let read = position..<Swift.min(scanner.position, end)
            return error.reason != .malformedJSON || line.firstIndex(of: UInt8(ascii: "{"), in: read) != nil
        }
        while let next = scanner.peek(line) {
            guard next == UInt8(ascii: "[") || next == UInt8(ascii: "{") else { return false }
            do throws(JSONFault) {
                try scanner.skipValue(line, depth: 0)
            } catch {
                return error.reason != .malformedJSON
            }
        }
        return true
    }

    /// Whether a string begins here that holds an object or an array: JSON that was encoded twice.
    @inline(__always)
    func beginsQuotedJSON(_ bytes: Span<UInt8>) -> Bool {
        peek(bytes) == UInt8(ascii: "\"")
            && (peek(bytes, 1) == UInt8(ascii: "{") || peek(bytes, 1) == UInt8(ascii: "["))
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

    /// Consumes up to the next space, or up to and with the next comma or semicolon.
    mutating func skipField(_ bytes: Span<UInt8>) {
        while position < end, bytes[position] != UInt8(ascii: " "), bytes[position] != UInt8(ascii: "\t") {
            position += 1
            let last = bytes[position - 1]
            if last == UInt8(ascii: ",") || last == UInt8(ascii: ";") { return }
        }
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
