// SPDX-License-Identifier: Apache-2.0

/// Detects what must never be stored, logged or served (docs/security.md): e-mail addresses, telephone numbers,
/// decentralised identifiers and tokens.
enum SensitiveText {
    /// Whether the range contains personal data. O(range).
    static func isFound(in bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        mightContain(in: bytes, range) && isFoundByScanning(in: bytes, range)
    }

    /// A fast pre-check, eight bytes at a time: personal data contains `@`, `:`, `J` or a byte below `,`, or else at
    /// least ten digits.
    @inline(__always)
    private static func mightContain(in bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        var digits: UInt64 = 0
        var index = range.lowerBound
        while index < range.upperBound {
            guard var word = bytes.wordIfInBounds(at: index) else { return true }
            let left = range.upperBound &- index
            if left < 8 {
                let inside: UInt64 = .max &>> UInt64(64 &- 8 &* left)
                word = word & inside | ones &* UInt64(UInt8(ascii: "a")) & ~inside
            }
            // Each sum sets a byte's high bit if that byte, below 0x80, is at least the named character.
            let fromComma = word &+ ones &* (0x80 - 0x2C)
            let fromZero = word &+ ones &* (0x80 - 0x30)
            let fromColon = word &+ ones &* (0x80 - 0x3A)
            let behindAt = word &+ ones &* (0x80 - 0x41)
            let notJ = (word ^ ones &* UInt64(UInt8(ascii: "J"))) &+ ones &* 0x7F
            let marks = word | ~fromComma | fromColon & ~behindAt | ~notJ
            if marks & highs != 0 { return true }
            digits &+= ((fromZero & ~fromColon & highs) &>> 7 &* ones) &>> 56
            index &+= 8
        }
        return digits >= 10
    }

    @inline(never)
    private static func isFoundByScanning(in bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        for index in range {
            switch bytes[index] {
            case UInt8(ascii: "@"):
                if isEmail(bytes, at: index, range) { return true }
            case UInt8(ascii: "+"), UInt8(ascii: "("):
                if digits(bytes, from: index + 1, range) >= 7 { return true }
            case UInt8(ascii: "d"), UInt8(ascii: "D"):
                if isDID(bytes, at: index, range) { return true }
            case UInt8(ascii: "e"):
                if isToken(bytes, at: index, range) { return true }
            case UInt8(ascii: "b"), UInt8(ascii: "B"):
                if startsIgnoringCase("bearer ", bytes, at: index, range) { return true }
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if isGroupedNumber(bytes, at: index, range) || isInternationalNumber(bytes, at: index, range) {
                    return true
                }
            default:
                break
            }
        }
        return false
    }

    private static func isEmail(_ bytes: Span<UInt8>, at index: Int, _ range: Range<Int>) -> Bool {
        index > range.lowerBound && index + 1 < range.upperBound && bytes[index - 1] > 0x20 && bytes[index + 1] > 0x20
    }

    /// `did:method:...` (W3C DID Core 1.0, 3.1).
    private static func isDID(_ bytes: Span<UInt8>, at index: Int, _ range: Range<Int>) -> Bool {
        guard startsIgnoringCase("did:", bytes, at: index, range) else { return false }
        var next = index + 4
        while next < range.upperBound, bytes[next].isLetterOrDigit { next += 1 }
        return next > index + 4 && next < range.upperBound && bytes[next] == UInt8(ascii: ":")
    }

    /// A JSON Web Token begins with the base64url form of `{"`.
    private static func isToken(_ bytes: Span<UInt8>, at index: Int, _ range: Range<Int>) -> Bool {
        guard index + 13 <= range.upperBound, bytes.equals("eyJ", in: index..<index + 3) else { return false }
        for next in index + 3..<index + 13 {
            let byte = bytes[next]
            guard byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") else { return false }
        }
        return true
    }

    /// `00` as the international prefix, then at least nine digits, not preceded by a letter or digit.
    private static func isInternationalNumber(_ bytes: Span<UInt8>, at index: Int, _ range: Range<Int>) -> Bool {
        guard index + 11 <= range.upperBound, bytes.equals("00", in: index..<index + 2) else { return false }
        return (index == range.lowerBound || !bytes[index - 1].isLetterOrDigit)
            && bytes.decimal(at: index + 2, digits: 9) != nil
    }

    /// Three, three and four digits with equal separators, as in 415-555-0123.
    private static func isGroupedNumber(_ bytes: Span<UInt8>, at index: Int, _ range: Range<Int>) -> Bool {
        guard index + 12 <= range.upperBound else { return false }
        let separator = bytes[index + 3]
        guard
            separator == UInt8(ascii: "-") || separator == UInt8(ascii: ".") || separator == UInt8(ascii: " "),
            bytes[index + 7] == separator,
            index == range.lowerBound || !bytes[index - 1].isLetterOrDigit,
            index + 12 == range.upperBound || !bytes[index + 12].isLetterOrDigit
        else { return false }
        return bytes.decimal(at: index, digits: 3) != nil && bytes.decimal(at: index + 4, digits: 3) != nil
            && bytes.decimal(at: index + 8, digits: 4) != nil
    }

    /// The maximum length of a telephone number with its separators.
    private static let longestNumber = 32

    /// Counts the following digits, skipping the usual separators of telephone numbers.
    private static func digits(_ bytes: Span<UInt8>, from start: Int, _ range: Range<Int>) -> Int {
        var count = 0
        for index in start..<min(start + longestNumber, range.upperBound) {
            switch bytes[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): count += 1
            case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "("), UInt8(ascii: ")"): break
            default: return count
            }
        }
        return count
    }

    private static func startsIgnoringCase(
        _ text: StaticString,
        _ bytes: Span<UInt8>,
        at index: Int,
        _ range: Range<Int>
    ) -> Bool {
        let end = index + text.utf8CodeUnitCount
        return end <= range.upperBound && bytes.equalsIgnoringCase(text, in: index..<end)
    }
}
