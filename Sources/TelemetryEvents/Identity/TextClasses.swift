// SPDX-License-Identifier: Apache-2.0

/// The characters that the shapes of texts are made of, as bit sets of ASCII; all other bytes belong to no class.
enum TextClass {
    @inline(__always)
    private static func contains(_ byte: UInt8, _ low: UInt64, _ high: UInt64) -> Bool {
        guard byte < 128 else { return false }
        return (byte < 64 ? low : high) &>> UInt64(byte & 63) & 1 == 1
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { contains(byte, 0x03FF_0000_0000_0000, 0) }

    @inline(__always)
    static func isLower(_ byte: UInt8) -> Bool { contains(byte, 0, 0x07FF_FFFE_0000_0000) }

    @inline(__always)
    static func isUpper(_ byte: UInt8) -> Bool { contains(byte, 0, 0x0000_0000_07FF_FFFE) }

    @inline(__always)
    static func isLetter(_ byte: UInt8) -> Bool { contains(byte, 0, 0x07FF_FFFE_07FF_FFFE) }

    @inline(__always)
    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        contains(byte, 0x03FF_0000_0000_0000, 0x07FF_FFFE_07FF_FFFE)
    }
}

/// A closed set of words, looked up by their letters without regard to case and without allocating.
struct WordSet: Sendable {
    private let hashes: [UInt64]

    /// - Parameter words: the words, with a space between two.
    init(_ words: String) {
        var hashes: [UInt64] = []
        for word in words.utf8.split(separator: UInt8(ascii: " ")) {
            var hash = WordHash()
            for byte in word { hash.combine(byte) }
            hashes.append(hash.value)
        }
        self.hashes = hashes.sorted()
    }

    func contains(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var hash = WordHash()
        for index in range { hash.combine(bytes[index]) }
        var low = 0
        var high = hashes.count
        while low < high {
            let middle = (low + high) / 2
            if hashes[middle] == hash.value { return true }
            if hashes[middle] < hash.value { low = middle + 1 } else { high = middle }
        }
        return false
    }
}

/// FNV-1a over letters, ignoring case. Whoever makes a text collide with a known word only keeps a text of their own.
private struct WordHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func combine(_ byte: UInt8) {
        value = (value ^ UInt64(byte.lowercasedASCII)) &* 0x100_0000_01B3
    }
}

/// A position in a text that is checked against a shape.
struct ShapeCursor {
    var position: Int
    let end: Int

    init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    @inline(__always)
    var isAtEnd: Bool { position >= end }

    @inline(__always)
    func byte(_ bytes: Span<UInt8>, ahead: Int = 0) -> UInt8 {
        position &+ ahead < end ? bytes[position &+ ahead] : 0
    }

    /// The number of digits at an offset.
    func digits(_ bytes: Span<UInt8>, from offset: Int = 0) -> Int {
        var count = 0
        while position + offset + count < end, TextClass.isDigit(bytes[position + offset + count]) { count += 1 }
        return count
    }

    /// The number of zeros from here.
    func zeros(_ bytes: Span<UInt8>) -> Int {
        var count = 0
        while byte(bytes, ahead: count) == UInt8(ascii: "0") { count += 1 }
        return count
    }

    /// The number of letters and digits from here.
    func lettersAndDigits(_ bytes: Span<UInt8>) -> Int {
        var count = 0
        while position + count < end, TextClass.isLetterOrDigit(bytes[position + count]) { count += 1 }
        return count
    }

    /// The number of letters from here.
    func letters(_ bytes: Span<UInt8>) -> Int {
        var count = 0
        while position + count < end, TextClass.isLetter(bytes[position + count]) { count += 1 }
        return count
    }

    /// The value of digits at an offset; the caller has counted them, at most 18.
    func value(_ bytes: Span<UInt8>, from offset: Int = 0, digits: Int) -> Int64 {
        var value: Int64 = 0
        for index in position + offset..<position + offset + digits { value = value * 10 + Int64(bytes[index] & 0xF) }
        return value
    }
}

extension ShapeCursor {
    /// A time since 1970 that a plan or a build can carry: from 2020 to 2033, in seconds or milliseconds. No telephone
    /// number of ten digits in the North American plan begins with 1, and no card number does.
    func isEpoch(_ bytes: Span<UInt8>, digits: Int) -> Bool {
        switch digits {
        case 10: 1_577_836_800..<2_000_000_000 ~= value(bytes, digits: 10)
        case 13: 1_577_836_800_000..<2_000_000_000_000 ~= value(bytes, digits: 13)
        default: false
        }
    }

    /// A date without separators, alone or with hours, minutes, seconds and milliseconds.
    func isCompactDate(_ bytes: Span<UInt8>, digits: Int) -> Bool {
        guard [8, 10, 12, 14, 17].contains(digits), isDate(value(bytes, digits: 8)) else { return false }
        if digits >= 10, value(bytes, from: 8, digits: 2) > 59 { return false }
        if digits >= 12, !isTimeOfDay(value(bytes, from: 8, digits: 2), value(bytes, from: 10, digits: 2)) {
            return false
        }
        return digits < 14 || value(bytes, from: 12, digits: 2) <= 60
    }

    /// The length of `2025-11-15` and of a time behind it, also without its separators; 0 for anything else.
    func lengthOfDate(_ bytes: Span<UInt8>) -> Int {
        let separator = byte(bytes, ahead: 4)
        guard
            separator == UInt8(ascii: "-") || separator == UInt8(ascii: "_") || separator == UInt8(ascii: "."),
            digits(bytes) == 4, digits(bytes, from: 5) == 2, byte(bytes, ahead: 7) == separator,
            digits(bytes, from: 8) == 2,
            isDate(
                value(bytes, digits: 4) * 10_000 + value(bytes, from: 5, digits: 2) * 100
                    + value(bytes, from: 8, digits: 2)
            )
        else { return 0 }
        guard byte(bytes, ahead: 10) | 0x20 == UInt8(ascii: "t") else { return 10 }
        var ahead = self
        ahead.position += 11
        let time = ahead.lengthOfTime(bytes, mayBeCompact: true)
        return time == 0 ? 10 : 11 + time
    }

    /// The length of `05:53` or `05:53:00.250`, with `Z` or an offset; 0 for anything else.
    func lengthOfTime(_ bytes: Span<UInt8>, mayBeCompact: Bool = false) -> Int {
        var length = 0
        let run = digits(bytes)
        if mayBeCompact, run == 4 || run == 6 {
            guard isTimeOfDay(value(bytes, digits: 2), value(bytes, from: 2, digits: 2)) else { return 0 }
            length = run
        } else {
            guard
                run == 2, byte(bytes, ahead: 2) == UInt8(ascii: ":"), digits(bytes, from: 3) == 2,
                isTimeOfDay(value(bytes, digits: 2), value(bytes, from: 3, digits: 2))
            else { return 0 }
            length = 5
            if byte(bytes, ahead: 5) == UInt8(ascii: ":"), digits(bytes, from: 6) == 2 {
                length = 8
                let fraction = byte(bytes, ahead: 8) == UInt8(ascii: ".") ? digits(bytes, from: 9) : 0
                if 1...9 ~= fraction { length += 1 + fraction }
            }
        }
        return length + lengthOfOffset(bytes, from: length)
    }

    private func lengthOfOffset(_ bytes: Span<UInt8>, from offset: Int) -> Int {
        let sign = byte(bytes, ahead: offset)
        if sign | 0x20 == UInt8(ascii: "z") { return 1 }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), digits(bytes, from: offset + 1) == 2,
            byte(bytes, ahead: offset + 3) == UInt8(ascii: ":"), digits(bytes, from: offset + 4) == 2
        else { return 0 }
        return 6
    }

    private func isTimeOfDay(_ hour: Int64, _ minute: Int64) -> Bool { hour <= 23 && minute <= 59 }

    /// Whether eight digits are a day of this century.
    private func isDate(_ number: Int64) -> Bool {
        2_000..<2_100 ~= number / 10_000 && 1...12 ~= number / 100 % 100 && 1...31 ~= number % 100
    }

    /// Whether a UUID (RFC 9562) stands here.
    func isUUID(_ bytes: Span<UInt8>) -> Bool {
        guard position + 36 <= end else { return false }
        for offset in 0..<36 {
            let byte = bytes[position + offset]
            switch offset {
            case 8, 13, 18, 23: if byte != UInt8(ascii: "-") { return false }
            default: if !byte.isHexDigit { return false }
            }
        }
        return position + 36 == end || !TextClass.isLetterOrDigit(bytes[position + 36])
    }
}
