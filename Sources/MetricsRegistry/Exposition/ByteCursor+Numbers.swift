// SPDX-License-Identifier: Apache-2.0

extension ByteCursor {
    /// Writes a whole number in decimal digits.
    @inline(__always)
    mutating func write(decimal value: UInt64) {
        if value < 100_000_000 {
            writeLeading(value)
        } else {
            writeLong(value)
        }
    }

    /// Writes a double as Prometheus reads it: `NaN`, `+Inf`, `-Inf`, a whole number up to 2^53 without a fraction,
    /// anything else with the fewest digits that give the same double.
    mutating func write(double value: Double) {
        if value.magnitude < 0x1p53, value == value.rounded(.towardZero) {
            if value < 0 { write(UInt8(ascii: "-")) }
            write(decimal: UInt64(value.magnitude))
        } else if value.isFinite {
            value.write(to: &self)
            removeEmptyFraction()
        } else {
            write(value.isNaN ? "NaN" : value < 0 ? "-Inf" : "+Inf")
        }
    }

    /// Writes the decimals of a number of millionths between 1 and 999,999, without zeros at their end.
    mutating func write(millionths: UInt64) {
        let digits = Self.eightDigits(millionths) >> 16
        write(characters: digits | Self.zeros, count: 8 - digits.leadingZeroBitCount / 8)
    }

    @inline(never)
    private mutating func writeLong(_ value: UInt64) {
        let (high, low) = value.quotientAndRemainder(dividingBy: 100_000_000)
        write(decimal: high)
        write(characters: Self.eightDigits(low) | Self.zeros, count: 8)
    }

    @inline(__always)
    private mutating func writeLeading(_ value: UInt64) {
        let digits = Self.eightDigits(value)
        let leadingZeros = min(digits.trailingZeroBitCount / 8, 7)
        write(characters: (digits | Self.zeros) >> UInt64(8 * leadingZeros), count: 8 - leadingZeros)
    }

    private static var zeros: UInt64 { 0x3030_3030_3030_3030 }

    /// The eight digits of a number below 10^8, one a byte, the most significant in the lowest byte.
    ///
    /// The number is halved three times, in all lanes at once: into two of four digits, four of two, eight of one. A
    /// division by 100 of less than 10,000 is a multiplication by 10486 / 2^20, one by 10 of less than 100 a
    /// multiplication by 103 / 2^10.
    @inline(__always)
    static func eightDigits(_ value: UInt64) -> UInt64 {
        let (high, low) = value.quotientAndRemainder(dividingBy: 10_000)
        let fours = high | low << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
        let twos = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
        return tens | (twos &- tens &* 10) << 8
    }
}

extension UInt64 {
    /// The sum, or the largest number where that is smaller, so that a cumulative count never falls.
    @inline(__always)
    func addingUpToMaximum(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
