// SPDX-License-Identifier: Apache-2.0

import Glibc

extension [UInt8] {
    /// Appends the bytes of a span.
    mutating func append(span: borrowing RawSpan) {
        unsafe span.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }

    /// Appends a number's decimal digits.
    mutating func append(decimal value: some FixedWidthInteger) {
        if value < 0 { append(UInt8(ascii: "-")) }
        let start = count
        var rest = value.magnitude
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
            rest = quotient
        } while rest != 0
        self[start...].reverse()
    }

    /// Whether a byte occurs at or behind an offset. O(n).
    func contains(_ byte: UInt8, from offset: Int) -> Bool {
        unsafe withUnsafeBytes { all in
            guard offset < all.count, let base = all.baseAddress else { return false }
            return unsafe memchr(base + offset, Int32(byte), all.count - offset) != nil
        }
    }

    /// Inserts a 64-bit length, little endian.
    mutating func insertLength(_ length: UInt64, at offset: Int) {
        append(contentsOf: repeatElement(0, count: 8))
        for index in stride(from: count - 9, through: offset, by: -1) { self[index + 8] = self[index] }
        for position in 0..<8 { self[offset + position] = UInt8(truncatingIfNeeded: length >> (8 * UInt64(position))) }
    }
}
