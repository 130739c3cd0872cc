// SPDX-License-Identifier: Apache-2.0

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
