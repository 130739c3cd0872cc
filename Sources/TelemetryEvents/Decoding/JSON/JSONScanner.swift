// SPDX-License-Identifier: Apache-2.0

/// A text of the input: its bytes between the quotes, and whether they hold escapes.
struct JSONText {
    var range: Range<Int>
    var isEscaped: Bool
}

/// A position in JSON bytes that moves over one token at a time (RFC 8259).
///
/// It is total: every input ends in a token or in a fault, and no read passes `end`.
struct JSONScanner {
    var position: Int
    var end: Int

    init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    @inline(__always)
    mutating func skipWhitespace(_ bytes: Span<UInt8>) {
        guard position < end, bytes[position] <= UInt8(ascii: " ") else { return }
        skipWhitespaceRun(bytes)
    }

    private mutating func skipWhitespaceRun(_ bytes: Span<UInt8>) {
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
            default: return
            }
        }
    }

    /// The next byte that is no white space, not consumed; nil at the end.
    @inline(__always)
    mutating func peek(_ bytes: Span<UInt8>) -> UInt8? {
        skipWhitespace(bytes)
        return position < end ? bytes[position] : nil
    }

    @inline(__always)
    mutating func expect(_ byte: UInt8, _ bytes: Span<UInt8>) throws(JSONFault) {
        guard let found = peek(bytes) else { throw JSONFault(.truncated) }
        guard found == byte else { throw JSONFault(.malformedJSON) }
        position += 1
    }

    /// Reads a string; the position is at its opening quote.
    @inline(__always)
    mutating func string(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONText {
        try expect(UInt8(ascii: "\""), bytes)
        let start = position
        skipPlainText(bytes)
        guard position < end, bytes[position] == UInt8(ascii: "\"") else { return try string(from: start, bytes) }
        position += 1
        return JSONText(range: start..<position - 1, isEscaped: false)
    }

    /// Reads the rest of a string that begins at `start`.
    @inline(never)
    private mutating func string(from start: Int, _ bytes: Span<UInt8>) throws(JSONFault) -> JSONText {
        var isEscaped = false
        while position < end {
            skipPlainText(bytes)
            guard position < end else { break }
            let byte = bytes[position]
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
                guard let length = bytes.lengthOfUTF8Scalar(at: position, end: end) else {
                    throw JSONFault(.invalidUTF8)
                }
                position += length
            }
        }
        throw JSONFault(.truncated)
    }

    /// Moves to the next byte that is not plain text, or among the last seven bytes.
    @inline(__always)
    private mutating func skipPlainText(_ bytes: Span<UInt8>) {
        while position + 8 <= end {
            let special = Self.specialBytes(bytes.word(at: position))
            guard special == 0 else {
                position += special.trailingZeroBitCount >> 3
                return
            }
            position += 8
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
        guard position + 1 < end else { throw JSONFault(.truncated) }
        switch bytes[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            let unit = try codeUnit(bytes)
            if 0xD800...0xDBFF ~= unit {
                guard position + 1 < end, bytes[position] == UInt8(ascii: "\\"),
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
        guard position + 6 <= end else { throw JSONFault(.truncated) }
        guard let unit = bytes.hexCodeUnit(at: position + 2) else { throw JSONFault(.malformedJSON) }
        position += 6
        return unit
    }

    /// Reads a number.
    mutating func number(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONNumber {
        var number = JSONNumber()
        skipWhitespace(bytes)
        if position < end, bytes[position] == UInt8(ascii: "-") {
            number.isNegative = true
            position += 1
        }
        let firstDigit = position
        while position < end, position - firstDigit < JSONNumber.exactDigits, bytes[position].isDigit {
            number.mantissa = number.mantissa &* 10 &+ UInt64(bytes[position] &- 0x30)
            position += 1
        }
        while position < end, bytes[position].isDigit {
            number.append(digit: bytes[position], afterPoint: false)
            position += 1
        }
        guard position > firstDigit else { throw JSONFault(position < end ? .malformedJSON : .truncated) }
        if bytes[firstDigit] == UInt8(ascii: "0"), position > firstDigit + 1 { throw JSONFault(.malformedJSON) }
        if position < end, bytes[position] == UInt8(ascii: ".") {
            position += 1
            let firstDecimal = position
            while position < end, bytes[position].isDigit {
                number.append(digit: bytes[position], afterPoint: true)
                position += 1
            }
            guard position > firstDecimal else { throw JSONFault(position < end ? .malformedJSON : .truncated) }
        }
        if position < end, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            try exponent(of: &number, bytes)
        }
        return number
    }

    private mutating func exponent(of number: inout JSONNumber, _ bytes: Span<UInt8>) throws(JSONFault) {
        var isNegative = false
        if position < end, bytes[position] == UInt8(ascii: "-") || bytes[position] == UInt8(ascii: "+") {
            isNegative = bytes[position] == UInt8(ascii: "-")
            position += 1
        }
        let firstDigit = position
        var exponent = 0
        while position < end, bytes[position].isDigit {
            exponent = min(exponent * 10 + Int(bytes[position] - 0x30), JSONNumber.largestExponent)
            position += 1
        }
        guard position > firstDigit else { throw JSONFault(position < end ? .malformedJSON : .truncated) }
        number.exponent += isNegative ? -exponent : exponent
    }

    /// Consumes `true`, `false` or `null`.
    mutating func literal(_ text: StaticString, _ bytes: Span<UInt8>) throws(JSONFault) {
        let length = text.utf8CodeUnitCount
        guard position + length <= end else { throw JSONFault(.truncated) }
        guard bytes.equals(text, in: position..<position + length) else { throw JSONFault(.malformedJSON) }
        position += length
    }

    /// Consumes a whole value of any type; `depth` is how many levels enclose it.
    mutating func skipValue(_ bytes: Span<UInt8>, depth: Int) throws(JSONFault) {
        guard let first = peek(bytes) else { throw JSONFault(.truncated) }
        switch first {
        case UInt8(ascii: "\""): _ = try string(bytes)
        case UInt8(ascii: "{"): try skipObject(bytes, depth: depth)
        case UInt8(ascii: "["): try skipArray(bytes, depth: depth)
        case UInt8(ascii: "t"): try literal("true", bytes)
        case UInt8(ascii: "f"): try literal("false", bytes)
        case UInt8(ascii: "n"): try literal("null", bytes)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try number(bytes)
        default: throw JSONFault(.malformedJSON)
        }
    }

    private mutating func skipObject(_ bytes: Span<UInt8>, depth: Int) throws(JSONFault) {
        guard depth < JSONLimits.depth else { throw JSONFault(.tooDeep) }
        position += 1
        if peek(bytes) == UInt8(ascii: "}") {
            position += 1
            return
        }
        while true {
            _ = try string(bytes)
            try expect(UInt8(ascii: ":"), bytes)
            try skipValue(bytes, depth: depth + 1)
            if try endsList(with: UInt8(ascii: "}"), bytes) { return }
        }
    }

    private mutating func skipArray(_ bytes: Span<UInt8>, depth: Int) throws(JSONFault) {
        guard depth < JSONLimits.depth else { throw JSONFault(.tooDeep) }
        position += 1
        if peek(bytes) == UInt8(ascii: "]") {
            position += 1
            return
        }
        while true {
            try skipValue(bytes, depth: depth + 1)
            if try endsList(with: UInt8(ascii: "]"), bytes) { return }
        }
    }

    /// Consumes a comma (false) or the closing byte (true).
    mutating func endsList(with closing: UInt8, _ bytes: Span<UInt8>) throws(JSONFault) -> Bool {
        guard let next = peek(bytes) else { throw JSONFault(.truncated) }
        guard next == closing || next == UInt8(ascii: ",") else { throw JSONFault(.malformedJSON) }
        position += 1
        return next == closing
    }
}
