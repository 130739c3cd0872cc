// SPDX-License-Identifier: Apache-2.0

/// Lowercase hexadecimal digits, as journald writes 128-bit ids.
enum Hexadecimal {
    /// The digit of a value below 16.
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + (value & 15) - 10
    }

    /// Sixteen digits of a number.
    static func digits(_ number: UInt64) -> String {
        let digits = stride(from: 60, through: 0, by: -4).map { digit(UInt8(truncatingIfNeeded: number >> $0) & 15) }
        return String(decoding: digits, as: UTF8.self)
    }
}
