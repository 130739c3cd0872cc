// SPDX-License-Identifier: Apache-2.0

/// `<165>1 2025-11-15T05:48:00.003Z host app 4242 ID47 [id name="value"] message`
enum RFC5424Line {
    /// Takes what follows the priority; false when it is in another wrapper.
    static func takeRest(
        _ bytes: Span<UInt8>,
        _ rest: LineCursor,
        stamps: inout LogStampReader,
        into line: inout UnwrappedLine
    ) -> Bool {
        var cursor = rest
        guard let version = cursor.digits(bytes), version >= 1, version <= 99,
            cursor.consume(UInt8(ascii: " "), bytes)
        else { return false }
        if cursor.peek(bytes) == UInt8(ascii: "-") {
            cursor.position += 1
        } else {
            guard let stamp = stamps.dateAndTime(bytes, &cursor) else { return false }
            line.stamp = stamp
        }
        let header = cursor
        if takeHeader(bytes, &cursor, into: &line) {
            line.takeMessage(bytes, cursor)
        } else {
            line.takeAnywhere(bytes, header)
        }
        return true
    }

    /// Takes what stands between the time and the message; false when it is broken.
    private static func takeHeader(
        _ bytes: Span<UInt8>,
        _ cursor: inout LineCursor,
        into line: inout UnwrappedLine
    ) -> Bool {
        guard let host = field(bytes, &cursor) else { return false }
        if !isNil(bytes, host) { line.device = host }
        guard field(bytes, &cursor) != nil, let process = field(bytes, &cursor) else { return false }
        var digits = LineCursor(process)
        if let number = digits.digits(bytes), digits.isAtEnd { line.process = number }
        guard field(bytes, &cursor) != nil, cursor.consume(UInt8(ascii: " "), bytes) else { return false }
        guard skipStructuredData(bytes, &cursor) else { return false }
        skipByteOrderMark(bytes, &cursor)
        return true
    }

    /// Consumes a space and the field behind it.
    private static func field(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Range<Int>? {
        guard cursor.consume(UInt8(ascii: " "), bytes) else { return nil }
        let word = cursor.word(bytes)
        return word.isEmpty ? nil : word
    }

    private static func isNil(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        range.count == 1 && bytes[range.lowerBound] == UInt8(ascii: "-")
    }

    /// Consumes `-` or the elements in brackets, whose values may hold escaped quotes and brackets.
    private static func skipStructuredData(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        if cursor.consume(UInt8(ascii: "-"), bytes) {
            cursor.skipSpaces(bytes)
            return true
        }
        guard cursor.peek(bytes) == UInt8(ascii: "[") else { return false }
        while cursor.peek(bytes) == UInt8(ascii: "["), bytes.marker(at: cursor.position, end: cursor.end) == nil {
            guard skipElement(bytes, &cursor) else { return false }
        }
        cursor.skipSpaces(bytes)
        return true
    }

    private static func skipElement(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        var isQuoted = false
        while !cursor.isAtEnd {
            let byte = bytes[cursor.position]
            cursor.position += 1
            switch byte {
            case UInt8(ascii: "\\") where isQuoted: cursor.position += 1
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "]") where !isQuoted: return true
            default: break
            }
        }
        return false
    }

    private static func skipByteOrderMark(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) {
        if cursor.peek(bytes) == 0xEF, cursor.peek(bytes, 1) == 0xBB, cursor.peek(bytes, 2) == 0xBF {
            cursor.position += 3
        }
    }
}
