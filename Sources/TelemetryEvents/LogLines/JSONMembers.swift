// SPDX-License-Identifier: Apache-2.0

/// A member of an object: its key without quotes, and its raw value.
struct JSONMember {
    var key: Range<Int>
    var value: Range<Int>
    /// Whether the value is a string with escapes.
    var isEscaped: Bool
}

/// Iterates over the members of one JSON object by its quotes and brackets, without validating anything else.
struct JSONMembers {
    private var cursor: LineCursor
    private var hasStarted = false
    /// Whether the closing brace has been read.
    private(set) var isComplete = false

    init(_ range: Range<Int>) {
        cursor = LineCursor(range)
    }

    /// Returns the next member; nil after the last one, or if the object is malformed.
    mutating func next(_ bytes: Span<UInt8>) -> JSONMember? {
        cursor.skipSpaces(bytes)
        if !hasStarted {
            hasStarted = true
            guard cursor.consume(UInt8(ascii: "{"), bytes) else { return nil }
        } else {
            _ = cursor.consume(UInt8(ascii: ","), bytes)
        }
        cursor.skipSpaces(bytes)
        if cursor.consume(UInt8(ascii: "}"), bytes) {
            isComplete = true
            return nil
        }
        guard let key = string(bytes) else { return nil }
        cursor.skipSpaces(bytes)
        guard cursor.consume(UInt8(ascii: ":"), bytes) else { return nil }
        cursor.skipSpaces(bytes)
        let start = cursor.position
        var isEscaped = false
        switch cursor.peek(bytes) {
        case UInt8(ascii: "\""):
            guard let text = string(bytes) else { return nil }
            isEscaped = text.isEscaped
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard skipBrackets(bytes) else { return nil }
        default:
            skipScalar(bytes)
        }
        guard cursor.position > start, !cursor.isAtEnd else { return nil }
        return JSONMember(key: key.range, value: start..<cursor.position, isEscaped: isEscaped)
    }

    private mutating func string(_ bytes: Span<UInt8>) -> JSONText? {
        guard cursor.consume(UInt8(ascii: "\""), bytes) else { return nil }
        let start = cursor.position
        var isEscaped = false
        while true {
            skipPlainText(bytes)
            switch cursor.peek(bytes) {
            case UInt8(ascii: "\"") where !cursor.isAtEnd:
                cursor.position += 1
                return JSONText(range: start..<cursor.position - 1, isEscaped: isEscaped)
            case UInt8(ascii: "\\") where cursor.position + 1 < cursor.end:
                isEscaped = true
                cursor.position += 2
            default:
                return nil
            }
        }
    }

    /// Advances to the next quote or backslash, or to the end.
    @inline(__always)
    private mutating func skipPlainText(_ bytes: Span<UInt8>) {
        while cursor.position + 8 <= cursor.end {
            let word = bytes.word(at: cursor.position)
            let found = word.bytes(equalTo: UInt8(ascii: "\"")) | word.bytes(equalTo: UInt8(ascii: "\\"))
            if found != 0 {
                cursor.position += found.trailingZeroBitCount / 8
                return
            }
            cursor.position += 8
        }
        while !cursor.isAtEnd, bytes[cursor.position] != UInt8(ascii: "\""),
            bytes[cursor.position] != UInt8(ascii: "\\")
        {
            cursor.position += 1
        }
    }

    private mutating func skipBrackets(_ bytes: Span<UInt8>) -> Bool {
        var depth = 0
        while !cursor.isAtEnd {
            switch bytes[cursor.position] {
            case UInt8(ascii: "\""):
                guard string(bytes) != nil else { return false }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            cursor.position += 1
            if depth == 0 { return true }
        }
        return false
    }

    /// The end of the object or the array that begins the range; nil where it does not end.
    static func endOfBrackets(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var members = JSONMembers(range)
        return members.skipBrackets(bytes) ? members.cursor.position : nil
    }

    /// The end of the string that begins the range; nil where it does not end.
    static func endOfString(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var members = JSONMembers(range)
        return members.string(bytes) == nil ? nil : members.cursor.position
    }

    private mutating func skipScalar(_ bytes: Span<UInt8>) {
        while !cursor.isAtEnd {
            switch bytes[cursor.position] {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: "\""), 0...0x20: return
            default: cursor.position += 1
            }
        }
    }

    /// Appends a string with resolved escapes; anything else unchanged.
    static func appendText(_ bytes: Span<UInt8>, _ range: Range<Int>, to output: inout [UInt8]) {
        var index = range.lowerBound
        while index < range.upperBound {
            let backslash = bytes.firstIndex(of: UInt8(ascii: "\\"), in: index..<range.upperBound)
            guard let backslash, backslash + 1 < range.upperBound else {
                return output.append(bytes, index..<range.upperBound)
            }
            output.append(bytes, index..<backslash)
            index = backslash
            if bytes[index + 1] == UInt8(ascii: "u") {
                index = appendScalar(bytes, at: index, end: range.upperBound, to: &output)
                continue
            }
            switch bytes[index + 1] {
            case UInt8(ascii: "b"): output.append(0x08)
            case UInt8(ascii: "f"): output.append(0x0C)
            case UInt8(ascii: "n"): output.append(0x0A)
            case UInt8(ascii: "r"): output.append(0x0D)
            case UInt8(ascii: "t"): output.append(0x09)
            default: output.append(bytes[index + 1])
            }
            index += 2
        }
    }

    /// Appends the scalar of one `\u` escape, or of two; an unpaired surrogate becomes the replacement character.
    private static func appendScalar(
        _ bytes: Span<UInt8>,
        at index: Int,
        end: Int,
        to output: inout [UInt8]
    ) -> Int {
        guard let high = codeUnit(bytes, at: index, end: end) else {
            output.append(bytes[index + 1])
            return index + 2
        }
        var scalar = UInt32(high)
        var next = index + 6
        if 0xD800...0xDBFF ~= high, let low = codeUnit(bytes, at: next, end: end), 0xDC00...0xDFFF ~= low {
            scalar = 0x10000 + (scalar - 0xD800) << 10 + (UInt32(low) - 0xDC00)
            next += 6
        }
        output.append(contentsOf: UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter)
        return next
    }

    private static func codeUnit(_ bytes: Span<UInt8>, at index: Int, end: Int) -> UInt16? {
        guard index + 6 <= end, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        return bytes.hexCodeUnit(at: index + 2)
    }

    /// Appends an array of byte values; other numbers are dropped.
    static func appendByteNumbers(_ bytes: Span<UInt8>, _ range: Range<Int>, to output: inout [UInt8]) {
        var cursor = LineCursor(range)
        while !cursor.isAtEnd {
            if let number = cursor.digits(bytes) {
                if number <= 0xFF { output.append(UInt8(number)) }
            } else {
                cursor.position += 1
            }
        }
    }
}
