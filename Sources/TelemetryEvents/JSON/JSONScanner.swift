// SPDX-License-Identifier: Apache-2.0

/// A position in JSON bytes that advances token by token (RFC 8259).
///
/// Total: every input yields a token or a fault, and no read passes the end.
struct JSONScanner {
    var position: Int
    /// Whether a line feed ends the input instead of counting as white space.
    var stopsAtLineFeed = false

    /// The next byte after white space, not consumed; nil at the end.
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

    /// Advances to the next byte that is not plain text, or to within the last seven bytes.
    @inline(__always)
    private mutating func skipPlainText(_ bytes: Span<UInt8>) {
        while let word = bytes.wordIfInBounds(at: position) {
            let special = Self.specialBytes(word)
            guard special == 0 else {
                position &+= special.trailingZeroBitCount &>> 3
                return
            }
            position &+= 8
        }
    }

    /// The high bit of the first byte that is a quote, a backslash, a control character or part of a multi-byte UTF-8
    /// sequence; bytes after it may be marked wrongly. Zero if there is none.
    ///
    /// A byte minus one borrows into its high bit only if it is zero, so `x ^ pattern` finds equal bytes.
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

    /// Consumes `\u` and four hexadecimal digits (RFC 8259, section 7).
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

    /// Consumes a comma (returns false) or the closing byte (returns true).
    @inline(__always)
    mutating func endsList(with closing: UInt8, _ bytes: Span<UInt8>) throws(JSONFault) -> Bool {
        guard let next = peek(bytes) else { throw JSONFault(.truncated) }
        guard next == closing || next == UInt8(ascii: ",") else { throw JSONFault(.malformedJSON) }
        position &+= 1
        return next == closing
    }

    // MARK: Values

    /// Consumes a value of any type; `depth` is the number of enclosing levels.
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

    /// Reads a number.
    @inline(__always)
    mutating func number(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONNumber {
        var number = JSONNumber()
        var next = peek(bytes)
        if next == UInt8(ascii: "-") {
            number.isNegative = true
            position &+= 1
            next = bytes.byte(at: position)
        }
        let firstDigit = position
        while let digit = next, digit.isDigit, position &- firstDigit < JSONNumber.exactDigits {
            number.mantissa = number.mantissa &* 10 &+ UInt64(digit &- 0x30)
            position &+= 1
            next = bytes.byte(at: position)
        }
        guard position > firstDigit else { throw JSONFault(next != nil ? .malformedJSON : .truncated) }
        if position > firstDigit &+ 1, bytes.byte(at: firstDigit) == UInt8(ascii: "0") {
            throw JSONFault(.malformedJSON)
        }
        if let next, next.isDigit || next == UInt8(ascii: ".") || next | 0x20 == UInt8(ascii: "e") {
            try restOfNumber(&number, bytes)
        }
        return number
    }

    /// Reads further digits, decimals and an exponent.
    @inline(never)
    private mutating func restOfNumber(_ number: inout JSONNumber, _ bytes: Span<UInt8>) throws(JSONFault) {
        while let digit = bytes.byte(at: position), digit.isDigit {
            number.append(digit: digit, afterPoint: false)
            position += 1
        }
        if bytes.byte(at: position) == UInt8(ascii: ".") {
            position += 1
            let firstDecimal = position
            while let digit = bytes.byte(at: position), digit.isDigit {
                number.append(digit: digit, afterPoint: true)
                position += 1
            }
            guard position > firstDecimal else { throw fault(bytes) }
        }
        if let next = bytes.byte(at: position), next | 0x20 == UInt8(ascii: "e") {
            position += 1
            try exponent(of: &number, bytes)
        }
    }

    private mutating func exponent(of number: inout JSONNumber, _ bytes: Span<UInt8>) throws(JSONFault) {
        let sign = bytes.byte(at: position)
        if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { position += 1 }
        let firstDigit = position
        var exponent = 0
        while let digit = bytes.byte(at: position), digit.isDigit {
            exponent = min(exponent * 10 + Int(digit - 0x30), JSONNumber.largestExponent)
            position += 1
        }
        guard position > firstDigit else { throw fault(bytes) }
        number.exponent += sign == UInt8(ascii: "-") ? -exponent : exponent
    }

    private func fault(_ bytes: Span<UInt8>) -> JSONFault {
        JSONFault(position < bytes.count ? .malformedJSON : .truncated)
    }

    // MARK: Recovery

    /// Skips a malformed value by its brackets alone, so that its neighbours in the list can be read.
    ///
    /// Stops after the bracket that closes the value, before a comma or a closing bracket of the enclosing list, at a
    /// line feed inside a string (its quote is missing, so later brackets cannot be trusted), or at the end.
    ///
    /// - Returns: whether the end of the value was found.
    @discardableResult
    mutating func skipBrokenElement(_ bytes: Span<UInt8>) -> Bool {
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                guard skipString(bytes) else { return false }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return true }
                depth -= 1
                if depth == 0 {
                    position += 1
                    return true
                }
            case UInt8(ascii: ",") where depth == 0:
                return true
            default:
                break
            }
            position += 1
        }
        return false
    }

    /// Skips the rest of an object that is malformed between two members, by its brackets alone, up to behind its brace.
    ///
    /// - Returns: whether its brace was found; otherwise it stops as `skipBrokenElement` does.
    mutating func skipRestOfObject(_ bytes: Span<UInt8>) -> Bool {
        while skipBrokenElement(bytes) {
            switch bytes.byte(at: position) {
            case UInt8(ascii: "}"):
                position += 1
                return true
            case UInt8(ascii: ","), UInt8(ascii: "]"): position += 1
            default: continue
            }
        }
        return false
    }

    /// Skips a string; false if a line feed or the end precedes its closing quote.
    private mutating func skipString(_ bytes: Span<UInt8>) -> Bool {
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\\"):
                position = min(position + 2, bytes.count)
            case UInt8(ascii: "\""):
                position += 1
                return true
            case UInt8(ascii: "\n"):
                return false
            default:
                position += 1
            }
        }
        return false
    }

    /// Skips at least one byte, up to the next object, array or line end.
    mutating func skipGarbage(_ bytes: Span<UInt8>) {
        guard position < bytes.count else { return }
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\n"): return
            default: position += 1
            }
        }
    }

    /// The index of the current line's line feed, or the end.
    func endOfLine(_ bytes: Span<UInt8>) -> Int {
        var index = position
        while let word = bytes.wordIfInBounds(at: index) {
            let lineFeeds = word.bytes(equalTo: UInt8(ascii: "\n"))
            if lineFeeds != 0 { return index &+ lineFeeds.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        while let byte = bytes.byte(at: index), byte != UInt8(ascii: "\n") { index &+= 1 }
        return index
    }
}

/// A JSON number as digits and a power of ten, so that integers and decimals are exact.
struct JSONNumber {
    /// Larger exponents count as infinite: no field holds more than 19 digits.
    fileprivate static let largestExponent = 10_000
    /// This many digits always fit 64 bits.
    fileprivate static let exactDigits = 18

    fileprivate var isNegative = false
    fileprivate var mantissa: UInt64 = 0
    fileprivate var exponent = 0
    private var droppedDigit = false

    mutating func append(digit: UInt8, afterPoint: Bool) {
        let value = UInt64(digit - 0x30)
        if mantissa < UInt64.max / 10 - 1 {
            mantissa = mantissa * 10 + value
            if afterPoint { exponent -= 1 }
        } else {
            if value != 0 { droppedDigit = true }
            if !afterPoint, exponent < Self.largestExponent { exponent += 1 }
        }
    }

    /// The value times ten to `power`, rounded towards zero; nil if out of range.
    ///
    /// - Parameter exact: also nil if rounding would change the value.
    func scaled(byPowerOfTen power: Int, in range: ClosedRange<Int64>, exact: Bool = false) -> Int64? {
        var value = mantissa
        var shift = exponent + power
        if exact, droppedDigit { return nil }
        while shift > 0, value != 0 {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            value = product
            shift -= 1
        }
        while shift < 0, value != 0 {
            if exact, value % 10 != 0 { return nil }
            value /= 10
            shift += 1
        }
        guard value <= UInt64(Int64.max) else { return nil }
        let signed = isNegative ? -Int64(value) : Int64(value)
        if isNegative, mantissa != 0, range.lowerBound == 0 { return nil }
        return range.contains(signed) ? signed : nil
    }
}

/// The reason for rejecting an event whose index is not yet known.
struct JSONFault: Error {
    var reason: RejectionReason
    var field: EventField?
    /// The known kind that an unknown one resembles.
    var nearestKind: EventKind?

    init(_ reason: RejectionReason, _ field: EventField? = nil, nearestKind: EventKind? = nil) {
        self.reason = reason
        self.field = field
        self.nearestKind = nearestKind
    }
}
