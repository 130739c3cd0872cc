// SPDX-License-Identifier: Apache-2.0

/// Eight bytes of text, read as decimal digits all at once; the first byte is the lowest.
struct DecimalWord {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080
    /// What is left of each byte when it is a digit: 0 to 9.
    private let digits: UInt64
    /// The high bit of each byte that is no digit, and perhaps of bytes behind it.
    private let strangers: UInt64
    private let separators: UInt64

    @inline(__always)
    init(_ word: UInt64) {
        self.init(word, zero: Self.ones &* 0x30, separators: 0)
    }

    /// Expects a separator in the bytes of a mask.
    @inline(__always)
    init(_ word: UInt64, separator: UInt8, at mask: UInt64) {
        let zeros = Self.ones &* 0x30 & ~mask | Self.ones &* UInt64(separator) & mask
        self.init(word, zero: zeros, separators: mask)
    }

    @inline(__always)
    private init(_ word: UInt64, zero: UInt64, separators: UInt64) {
        digits = word ^ zero
        strangers = (digits &+ Self.ones &* 0x76 | digits) & Self.highs
        self.separators = separators
    }

    /// Whether every byte is a digit, or its separator.
    @inline(__always)
    var isValid: Bool { strangers | digits & separators == 0 }

    /// The number of two digits that begins at a byte.
    @inline(__always)
    func pair(at byte: UInt64) -> Int64 {
        let pair = digits >> (8 * byte)
        return Int64(truncatingIfNeeded: (pair & 0xF) * 10 + pair >> 8 & 0xF)
    }

    /// The number that the first six bytes make; nil when one of them is no digit.
    @inline(__always)
    var firstSixDigits: Int64? {
        guard strangers & 0x0000_FFFF_FFFF_FFFF == 0 else { return nil }
        // Two zeros in front make it eight; then neighbours are joined to pairs, the pairs to fours, the fours to eight.
        let eight = digits << 16
        let pairs = eight &* 10 &+ eight >> 8
        let high = (pairs & 0x0000_00FF_0000_00FF) &* 0x000F_4240_0000_0064
        let low = (pairs >> 16 & 0x0000_00FF_0000_00FF) &* 0x0000_2710_0000_0001
        return Int64(truncatingIfNeeded: (high &+ low) >> 32)
    }
}
