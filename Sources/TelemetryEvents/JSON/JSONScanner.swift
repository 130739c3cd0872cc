// SPDX-License-Identifier: Apache-2.0

/// A text of the input: its bytes between the quotes, and whether they hold escapes.
struct JSONText {
    var range: Range<Int>
    var isEscaped: Bool
}

/// A position in JSON bytes that moves over one token at a time (RFC 8259).
///
/// It is total: every input ends in a token or in a fault, and no read passes the end of the bytes.
struct JSONScanner {
    var position: Int
    /// Whether a line feed is no white space, since what is read must not reach over its line's end.
    var stopsAtLineFeed = false

    /// The next byte that is no white space, not consumed; nil at the end.
    @inline(__always)
    mutating func peek(_ bytes: Span<UInt8>) -> UInt8? {
        guard let byte = bytes.byte(at: position) else { return nil }
        return byte > UInt8(ascii: " ") ? byte : peekBehindWhitespace(bytes)
    }

    private mutating func peekBehindWhitespace(_ bytes: Span<UInt8>) -> UInt8? {
        while let byte = bytes.byte(at: position) {
            switch byte {
            case UInt8(ascii: "\n") where stopsAtLineFeed: return byte
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position &+= 1
            default: return byte
            }
        }
        return nil
    }

    @inline(__always)
    mutating func expect(_ byte: UInt8, _ bytes: Span<UInt8>) throws(JSONFault) {
        if bytes.byte(at: position) != byte { try skipWhitespace(before: byte, bytes) }
        position &+= 1
    }

    private mutating func skipWhitespace(before byte: UInt8, _ bytes: Span<UInt8>) throws(JSONFault) {
        guard let found = peek(bytes) else { throw JSONFault(.truncated) }
        guard found == byte else { throw JSONFault(.malformedJSON) }
    }

    /// Reads a string; the position is at its opening quote.
    @inline(__always)
    mutating func string(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONText {
        try expect(UInt8(ascii: "\""), bytes)
        let start = position
        skipPlainText(bytes)
        let end = position
        guard bytes.byte(at: end) == UInt8(ascii: "\"") else { return try string(from: start, bytes) }
        position = end &+ 1
        return JSONText(range: start..<end, isEscaped: false)
    }

    /// Reads the rest of a string that begins at `start`.
    @inline(never)
    private mutating func string(from start: Int, _ bytes: Span<UInt8>) throws(JSONFault) -> JSONText {
        var isEscaped = false
        while let byte = bytes.byte(at: position) {
            if byte == UInt8(ascii: "\"") {
                position += 1
                return JSONText(range: start..<position - 1, isEscaped: isEscaped)
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
                try skipEscape(bytes)
            } else if byte < 0x20 {
                throw JSONFault(.malformedJSON)
            } else if byte < 0x80 {
                position += 1
            } else {
                guard let length = bytes.lengthOfUTF8Scalar(at: position, end: bytes.count) else {
                    throw JSONFault(.invalidUTF8)
                }
                position += length
            }
            skipPlainText(bytes)
        }
        throw JSONFault(.truncated)
    }

    /// Moves to the next byte that is not plain text, or among the last seven bytes.
    @inline(__always)
    private mutating func skipPlainText(_ bytes: Span<UInt8>) {
        while let word = bytes.wordIfThere(at: position) {
            let special = Self.specialBytes(word)
            guard special == 0 else {
                position &+= special.trailingZeroBitCount &>> 3
                return
            }
            position &+= 8
        }
    }

    /// The high bit of the first byte that is a quote, a backslash, a control character or part of a longer UTF-8
    /// sequence, and perhaps of bytes behind it; 0 when none of the eight is.
    ///
    /// A byte minus one borrows into its high bit only when it is zero, so `x ^ pattern` finds equal bytes.
    @inline(__always)
    private static func specialBytes(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
        let backslashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
        return ((quotes &- ones) | (backslashes &- ones) | (word &- ones &* 0x20) | word) & highs
    }

    private mutating func skipEscape(_ bytes: Span<UInt8>) throws(JSONFault) {
        guard position + 1 < bytes.count else { throw JSONFault(.truncated) }
        switch bytes[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            let unit = try codeUnit(bytes)
            if 0xD800...0xDBFF ~= unit {
                guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
                    bytes[position + 1] == UInt8(ascii: "u"),
                    case 0xDC00...0xDFFF = try codeUnit(bytes)
                else { throw JSONFault(.invalidUTF8) }
            } else if 0xDC00...0xDFFF ~= unit {
                throw JSONFault(.invalidUTF8)
            }
        default:
            throw JSONFault(.malformedJSON)
        }
    }

    /// Consumes `\\uXXXX`.
    private mutating func codeUnit(_ bytes: Span<UInt8>) throws(JSONFault) -> UInt16 {
        guard position + 6 <= bytes.count else { throw JSONFault(.truncated) }
        guard let unit = bytes.hexCodeUnit(at: position + 2) else { throw JSONFault(.malformedJSON) }
        position += 6
        return unit
    }

    /// Consumes `true`, `false` or `null`.
    mutating func literal(_ text: StaticString, _ bytes: Span<UInt8>) throws(JSONFault) {
        let length = text.utf8CodeUnitCount
        guard position + length <= bytes.count else { throw JSONFault(.truncated) }
        guard bytes.equals(text, in: position..<position + length) else { throw JSONFault(.malformedJSON) }
        position += length
    }

    /// Consumes a comma (false) or the closing byte (true).
    @inline(__always)
    mutating func endsList(with closing: UInt8, _ bytes: Span<UInt8>) throws(JSONFault) -> Bool {
        guard let next = peek(bytes) else { throw JSONFault(.truncated) }
        guard next == closing || next == UInt8(ascii: ",") else { throw JSONFault(.malformedJSON) }
        position &+= 1
        return next == closing
    }
}
