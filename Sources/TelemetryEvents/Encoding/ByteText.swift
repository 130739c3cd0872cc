// SPDX-License-Identifier: Apache-2.0

extension StaticString {
    /// The UTF-8 bytes as an array.
    var bytes: [UInt8] {
        withUTF8Buffer { unsafe [UInt8]($0) }
    }
}

extension Span<UInt8> {
    /// Loads eight bytes as one little-endian word; bounds-checked, needs no alignment.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// The byte at an index, or nil if out of bounds.
    @inline(__always)
    func byte(at index: Int) -> UInt8? {
        guard UInt(bitPattern: index) < UInt(bitPattern: count) else { return nil }
        return unsafe self[unchecked: index]
    }

    /// Loads eight bytes as one little-endian word, or nil if fewer than eight remain.
    @inline(__always)
    func wordIfInBounds(at index: Int) -> UInt64? {
        guard index >= 0, index <= count &- 8 else { return nil }
        return unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
    }

    /// Packs up to eight leading bytes of the range into one big-endian word.
    @inline(__always)
    func packedHead(_ range: Range<Int>) -> UInt64 {
        guard let word = wordIfInBounds(at: range.lowerBound), !range.isEmpty else { return packedHeadAtEnd(range) }
        return range.count >= 8 ? word.byteSwapped : word.byteSwapped &>> UInt64(64 &- 8 &* range.count)
    }

    @inline(never)
    private func packedHeadAtEnd(_ range: Range<Int>) -> UInt64 {
        var word: UInt64 = 0
        for index in range.lowerBound..<Swift.min(range.upperBound, range.lowerBound + 8) {
            word = word << 8 | UInt64(self[index])
        }
        return word
    }

    /// Whether two ranges hold the same bytes, eight at a time.
    @inline(__always)
    func areEqual(_ first: Range<Int>, _ second: Range<Int>) -> Bool {
        let count = first.count
        guard count == second.count else { return false }
        var offset = 0
        while offset < count {
            guard
                let word = wordIfInBounds(at: first.lowerBound &+ offset),
                let other = wordIfInBounds(at: second.lowerBound &+ offset)
            else { return false }
            let left = count &- offset
            let unequal = left >= 8 ? word ^ other : (word ^ other) &<< UInt64(64 &- 8 &* left)
            if unequal != 0 { return false }
            offset &+= 8
        }
        return true
    }

    /// Whether the range equals the text.
    func equals(_ text: StaticString, in range: Range<Int>) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { expected in
            for offset in 0..<range.count where unsafe expected[offset] != self[range.lowerBound + offset] {
                return false
            }
            return true
        }
    }

    /// Whether the range equals the text, ignoring ASCII case.
    func equalsIgnoringCase(_ text: StaticString, in range: Range<Int>) -> Bool {
        range.count == text.utf8CodeUnitCount && containsIgnoringCase(text, in: range)
    }

    /// Whether the range contains the text, ignoring ASCII case. O(range × text) in the worst case.
    func containsIgnoringCase(_ text: StaticString, in range: Range<Int>) -> Bool {
        let length = text.utf8CodeUnitCount
        guard length > 0, range.count >= length else { return false }
        return text.withUTF8Buffer { wanted in
            let first = unsafe wanted[0].lowercasedASCII
            var start = range.lowerBound
            while start + length <= range.upperBound {
                if self[start].lowercasedASCII == first {
                    var offset = 1
                    while offset < length, unsafe self[start + offset].lowercasedASCII == wanted[offset].lowercasedASCII
                    {
                        offset += 1
                    }
                    if offset == length { return true }
                }
                start += 1
            }
            return false
        }
    }

    /// Parses exactly `digits` decimal digits; nil if any byte is not a digit.
    func decimal(at start: Int, digits: Int) -> Int64? {
        var value: Int64 = 0
        for index in start..<start + digits {
            guard self[index].isDigit else { return nil }
            value = value * 10 + Int64(self[index] - 0x30)
        }
        return value
    }

    /// Loads eight bytes as one little-endian word, padded with zeros past the end.
    @inline(__always)
    func paddedWord(at index: Int) -> UInt64 {
        index + 8 <= count ? word(at: index) : wordAtEnd(at: index)
    }

    @inline(never)
    private func wordAtEnd(at index: Int) -> UInt64 {
        var word: UInt64 = 0
        var position = count - 1
        while position >= index {
            word = word << 8 | UInt64(self[position])
            position -= 1
        }
        return word
    }

    /// The first index of a byte in a range, scanning 16 bytes at a time.
    @inline(__always)
    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        let wanted = SIMD16<UInt8>(repeating: byte)
        var position = range.lowerBound
        while position + 16 <= range.upperBound {
            let block = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: position, as: SIMD16<UInt8>.self)
            let found = unsafe unsafeBitCast(block .== wanted, to: SIMD2<UInt64>.self)
            if found[0] != 0 { return position + found[0].trailingZeroBitCount / 8 }
            if found[1] != 0 { return position + 8 + found[1].trailingZeroBitCount / 8 }
            position += 16
        }
        while position < range.upperBound {
            if self[position] == byte { return position }
            position += 1
        }
        return nil
    }

    /// The first index of either byte in a range, or the range's end.
    @inline(__always)
    func firstIndex(of byte: UInt8, or other: UInt8, in range: Range<Int>) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        var position = range.lowerBound
        while position + 8 <= range.upperBound {
            let word = word(at: position)
            let first = word ^ ones &* UInt64(byte)
            let second = word ^ ones &* UInt64(other)
            let found = ((first &- ones) & ~first | (second &- ones) & ~second) & highs
            if found != 0 { return position + found.trailingZeroBitCount / 8 }
            position += 8
        }
        while position < range.upperBound, self[position] != byte, self[position] != other { position += 1 }
        return position
    }
}

extension UInt8 {
    var lowercasedASCII: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
    fileprivate var isLowercaseASCII: Bool { self >= 0x61 && self <= 0x7A }
    var uppercasedASCII: UInt8 { isLowercaseASCII ? self & ~0x20 : self }
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }
    var isLetterOrDigit: Bool { isDigit || (lowercasedASCII >= 0x61 && lowercasedASCII <= 0x7A) }
    var isHexDigit: Bool { isDigit || (lowercasedASCII >= 0x61 && lowercasedASCII <= 0x66) }
}

extension [UInt8] {
    /// Appends the last `digits` decimal digits of a non-negative number, zero-padded.
    mutating func appendDecimal(_ value: Int64, digits: Int) {
        var divisor: Int64 = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            append(0x30 + UInt8(truncatingIfNeeded: value / divisor % 10))
            divisor /= 10
        }
    }

    /// Appends a number in decimal digits.
    public mutating func appendDecimal(_ value: Int64) {
        if value < 0 { append(UInt8(ascii: "-")) }
        appendDecimal(value.magnitude)
    }

    /// Appends an unsigned number in decimal digits.
    public mutating func appendDecimal(_ value: UInt64) {
        // UInt64.max has 20 digits.
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var (rest, first) = (value, 20)
            repeat {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                first -= 1
                unsafe digits[first] = 0x30 + UInt8(truncatingIfNeeded: digit)
                rest = quotient
            } while rest > 0
            unsafe append(contentsOf: digits[first...])
        }
    }

    /// Appends microseconds as decimal milliseconds without trailing zeros.
    public mutating func appendMilliseconds(_ microseconds: Int64) {
        appendScaled(microseconds, unit: 1_000)
    }

    /// Appends a count of millionths of `unit` as a decimal number without trailing zeros: 2432500 at 1000 is 2432.5.
    mutating func appendScaled(_ value: Int64, unit: Int64) {
        appendDecimal(value / unit)
        var rest = value % unit
        guard rest != 0 else { return }
        append(UInt8(ascii: "."))
        var scale = unit / 10
        while rest > 0 {
            append(0x30 + UInt8(truncatingIfNeeded: rest / scale))
            rest %= scale
            scale /= 10
        }
    }

    /// Appends the bytes of a static string.
    public mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    /// Appends a range of a span.
    package mutating func append(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: UnsafeBufferPointer(rebasing: $0[range])) }
    }

    /// Appends a word as 16 hexadecimal digits.
    package mutating func appendHex(_ word: UInt64) {
        appendWord(Self.hexadecimalDigits(UInt32(truncatingIfNeeded: word >> 32)))
        appendWord(Self.hexadecimalDigits(UInt32(truncatingIfNeeded: word)))
    }

    /// The eight digits of a half word, the first one in the highest byte.
    private static func hexadecimalDigits(_ half: UInt32) -> UInt64 {
        // Each nibble moves to a byte of its own; those of 10 and above go on from "0" plus 10 to "a".
        var nibbles = UInt64(half)
        nibbles = (nibbles | nibbles << 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles << 4) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return nibbles + 0x3030_3030_3030_3030 + letters * 0x27
    }

    /// Appends the bytes of a word, the highest first.
    private mutating func appendWord(_ word: UInt64) {
        unsafe Swift.withUnsafeBytes(of: word.bigEndian) { unsafe append(contentsOf: $0) }
    }
}

extension UInt64 {
    /// Sets the high bit of each byte that equals `byte`; bytes above the first match may be marked wrongly.
    @inline(__always)
    func bytes(equalTo byte: UInt8) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let difference = self ^ ones &* UInt64(byte)
        return (difference &- ones) & ~difference & 0x8080_8080_8080_8080
    }
}
