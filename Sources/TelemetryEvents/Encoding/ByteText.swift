// SPDX-License-Identifier: Apache-2.0

extension StaticString {
    /// The UTF-8 bytes as an array.
    var bytes: [UInt8] {
        withUTF8Buffer { unsafe [UInt8]($0) }
    }
}

extension Span<UInt8> {
    /// Eight bytes as one word, the first the lowest. The load is checked against the end and needs no alignment.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// The byte at a place, or nil outside.
    @inline(__always)
    func byte(at index: Int) -> UInt8? {
        guard UInt(bitPattern: index) < UInt(bitPattern: count) else { return nil }
        return unsafe self[unchecked: index]
    }

    /// Eight bytes as one word, the first the lowest, or nil where there are fewer.
    @inline(__always)
    func wordIfThere(at index: Int) -> UInt64? {
        guard index >= 0, index <= count &- 8 else { return nil }
        return unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
    }

    /// Up to eight leading bytes of the range as one word, the first the highest.
    @inline(__always)
    func packedHead(_ range: Range<Int>) -> UInt64 {
        guard let word = wordIfThere(at: range.lowerBound), !range.isEmpty else { return packedHeadAtEnd(range) }
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

    /// Up to eight trailing bytes of the range as one word.
    func packedTail(_ range: Range<Int>) -> UInt64 {
        packedHead(Swift.max(range.lowerBound, range.upperBound - 8)..<range.upperBound)
    }

    /// Whether the range holds exactly the text.
    func equals(_ text: StaticString, in range: Range<Int>) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { expected in
            for offset in 0..<range.count where unsafe expected[offset] != self[range.lowerBound + offset] {
                return false
            }
            return true
        }
    }

    /// Whether the range holds the text in any letter case (ASCII).
    func equalsIgnoringCase(_ text: StaticString, in range: Range<Int>) -> Bool {
        range.count == text.utf8CodeUnitCount && containsIgnoringCase(text, in: range)
    }

    /// Whether the range contains the text in any letter case (ASCII). O(range × text) at worst.
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
}

extension UInt8 {
    var lowercasedASCII: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }
    var isLetterOrDigit: Bool { isDigit || (lowercasedASCII >= 0x61 && lowercasedASCII <= 0x7A) }
    var isHexDigit: Bool { isDigit || (lowercasedASCII >= 0x61 && lowercasedASCII <= 0x66) }
}

extension [UInt8] {
    /// Appends the last `digits` decimal digits of a number that is not negative, zeros in front.
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

    /// Appends a number in decimal digits.
    public mutating func appendDecimal(_ value: UInt64) {
        var divisor: UInt64 = 1
        while value / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(0x30 + UInt8(truncatingIfNeeded: value / divisor % 10))
            divisor /= 10
        }
    }

    /// Appends microseconds as milliseconds in decimals, without trailing zeros.
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

    /// Appends the bytes of a text known at compile time.
    public mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    /// Appends a range of other bytes.
    mutating func append(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: UnsafeBufferPointer(rebasing: $0[range])) }
    }
}
