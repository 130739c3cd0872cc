// SPDX-License-Identifier: Apache-2.0

/// A string of the input: the bytes between its quotes, and whether they contain escapes.
struct JSONText {
    var range: Range<Int>
    var isEscaped: Bool
}

extension [UInt8] {
    /// Appends a scanned JSON string with resolved escapes, which the scanner has validated.
    mutating func appendUnescaped(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        var index = range.lowerBound
        while index < range.upperBound {
            guard bytes[index] == UInt8(ascii: "\\"), index + 1 < range.upperBound else {
                append(bytes[index])
                index += 1
                continue
            }
            switch bytes[index + 1] {
            case UInt8(ascii: "b"): append(0x08)
            case UInt8(ascii: "f"): append(0x0C)
            case UInt8(ascii: "n"): append(0x0A)
            case UInt8(ascii: "r"): append(0x0D)
            case UInt8(ascii: "t"): append(0x09)
            case UInt8(ascii: "u"):
                index += appendEscapedScalar(bytes, at: index)
                continue
            default: append(bytes[index + 1])
            }
            index += 2
        }
    }

    /// Appends the scalar of one `\u` escape, or of the two of a surrogate pair, and returns the number of input bytes.
    private mutating func appendEscapedScalar(_ bytes: Span<UInt8>, at index: Int) -> Int {
        let high = UInt32(bytes.hexCodeUnit(at: index + 2) ?? 0xFFFD)
        var scalar = high
        var length = 6
        if 0xD800...0xDBFF ~= high {
            let low = UInt32(bytes.hexCodeUnit(at: index + 8) ?? 0xDC00)
            scalar = 0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)
            length = 12
        }
        append(contentsOf: UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter)
        return length
    }
}

extension Span<UInt8> {
    /// The length of the well-formed UTF-8 scalar at an index, or nil (Unicode 15, table 3-7).
    func lengthOfUTF8Scalar(at index: Int, end: Int) -> Int? {
        let first = self[index]
        func continues(_ offset: Int, _ low: UInt8 = 0x80, _ high: UInt8 = 0xBF) -> Bool {
            index + offset < end && self[index + offset] >= low && self[index + offset] <= high
        }
        switch first {
        case 0x00...0x7F: return 1
        case 0xC2...0xDF: return continues(1) ? 2 : nil
        case 0xE0: return continues(1, 0xA0) && continues(2) ? 3 : nil
        case 0xED: return continues(1, 0x80, 0x9F) && continues(2) ? 3 : nil
        case 0xE1...0xEF: return continues(1) && continues(2) ? 3 : nil
        case 0xF0: return continues(1, 0x90) && continues(2) && continues(3) ? 4 : nil
        case 0xF1...0xF3: return continues(1) && continues(2) && continues(3) ? 4 : nil
        case 0xF4: return continues(1, 0x80, 0x8F) && continues(2) && continues(3) ? 4 : nil
        default: return nil
        }
    }

    /// The 16-bit number of four hexadecimal digits, or nil.
    func hexCodeUnit(at start: Int) -> UInt16? {
        var unit: UInt16 = 0
        for index in start..<start + 4 {
            let byte = self[index]
            guard byte.isHexDigit else { return nil }
            unit = unit << 4 | UInt16(byte.isDigit ? byte - 0x30 : byte.lowercasedASCII - 0x57)
        }
        return unit
    }
}
