// SPDX-License-Identifier: Apache-2.0

/// Converts a UTF-16 text to UTF-8, as PowerShell's redirection of `adb logcat` writes one.
struct UTF16Text {
    /// How many bytes are looked at to detect the encoding.
    private static let reach = 1_024

    private let isBigEndian: Bool
    /// How many bytes of the mark are still to be skipped.
    private var mark: Int
    /// The first byte of a code unit whose second has not been read.
    private var half: UInt8?
    /// The first code unit of a surrogate pair whose second has not been read.
    private var high: UInt16?

    /// Detects UTF-16 by the first bytes of a text: by the zeros that it has beside the characters of ASCII, with a mark or
    /// without. Two bytes that look like a mark before other text are none. Nil for another encoding.
    init?(detectedIn bytes: ArraySlice<UInt8>) {
        let hasMark = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
        let text = bytes.dropFirst(hasMark ? 2 : 0).prefix(Self.reach)
        let units = text.count / 2
        var zeros = (first: 0, second: 0)
        for unit in 0..<units {
            if text[text.startIndex + 2 * unit] == 0 { zeros.first += 1 }
            if text[text.startIndex + 2 * unit + 1] == 0 { zeros.second += 1 }
        }
        if hasMark {
            isBigEndian = bytes.first == 0xFE
            let (expected, other) = isBigEndian ? (zeros.first, zeros.second) : (zeros.second, zeros.first)
            guard units == 0 || (expected > 0 && expected * 8 >= units && other * 4 <= expected) else { return nil }
        } else {
            isBigEndian = zeros.first > zeros.second
            let (expected, other) = isBigEndian ? (zeros.first, zeros.second) : (zeros.second, zeros.first)
            guard units >= 3, expected * 4 >= units * 3, other * 16 <= units else { return nil }
        }
        mark = hasMark ? 2 : 0
    }

    /// Appends the characters whose end is in `bytes`; an unpaired surrogate becomes the replacement character.
    mutating func append(_ bytes: ArraySlice<UInt8>, to text: inout [UInt8]) {
        for byte in bytes {
            if mark > 0 {
                mark -= 1
            } else if let first = half {
                half = nil
                append(isBigEndian ? UInt16(first) << 8 | UInt16(byte) : UInt16(byte) << 8 | UInt16(first), to: &text)
            } else {
                half = byte
            }
        }
    }

    private mutating func append(_ unit: UInt16, to text: inout [UInt8]) {
        if let first = high {
            high = nil
            if 0xDC00...0xDFFF ~= unit {
                let scalar = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(unit) - 0xDC00)
                return Self.append(scalar, to: &text)
            }
            Self.append(0xFFFD, to: &text)
        }
        switch unit {
        case 0xD800...0xDBFF: high = unit
        case 0xDC00...0xDFFF: Self.append(0xFFFD, to: &text)
        default: Self.append(UInt32(unit), to: &text)
        }
    }

    private static func append(_ scalar: UInt32, to text: inout [UInt8]) {
        if scalar < 0x80 { return text.append(UInt8(scalar)) }
        text.append(contentsOf: UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter)
    }
}
