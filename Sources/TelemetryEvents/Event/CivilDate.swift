// SPDX-License-Identifier: Apache-2.0

/// A date and a time of day as RFC 3339 writes them, without fraction and offset: `2025-11-15T05:48:32`.
struct CivilClock {
    /// How many bytes it takes.
    static let length = 19
    let secondsSince1970: Int64

    /// Reads the 19 bytes at a place; a `t` or a space may stand for the `T`. Nil for anything else.
    ///
    /// - Parameter known: the date read before, which is mostly the same and then need not be read.
    @inline(__always)
    init?(_ bytes: Span<UInt8>, at start: Int, known: inout KnownDate) {
        // `2025-11-`, `5-11-15T` and `05:48:32`.
        guard let first = bytes.wordIfThere(at: start), let middle = bytes.wordIfThere(at: start &+ 3),
            let last = bytes.wordIfThere(at: start &+ 11)
        else { return nil }
        let separator = UInt8(truncatingIfNeeded: middle &>> 56)
        guard separator | 0x20 == UInt8(ascii: "t") || separator == UInt8(ascii: " "), known.read(first, middle) else {
            return nil
        }
        let time = DecimalWord(last, separator: UInt8(ascii: ":"), at: 0x0000_FF00_00FF_0000)
        let (hour, minute, second) = (time.pair(at: 0), time.pair(at: 3), time.pair(at: 6))
        guard time.isValid, hour <= 23, minute <= 59, second <= 60 else { return nil }
        secondsSince1970 = known.days &* 86_400 &+ hour &* 3_600 &+ minute &* 60 &+ second
    }
}

/// A date and the text that it was read from.
struct KnownDate {
    private static let dayDigits: UInt64 = 0x00FF_FF00_0000_0000
    private var yearAndMonth: UInt64 = 0
    /// No text has these digits.
    private var day: UInt64 = .max
    private(set) var days: Int64 = 0

    /// Takes the date whose first bytes are `2025-11-`, with the day as the sixth and seventh byte of `middle`; false for
    /// what is no date.
    @inline(__always)
    mutating func read(_ first: UInt64, _ middle: UInt64) -> Bool {
        first == yearAndMonth && middle & Self.dayDigits == day || readOther(first, middle)
    }

    @inline(never)
    private mutating func readOther(_ first: UInt64, _ middle: UInt64) -> Bool {
        let date = DecimalWord(first, separator: UInt8(ascii: "-"), at: 0xFF00_00FF_0000_0000)
        let digits = DecimalWord(middle | ~Self.dayDigits, separator: 0xFF, at: ~Self.dayDigits)
        guard date.isValid, digits.isValid else { return false }
        let (year, month) = (date.pair(at: 0) * 100 + date.pair(at: 2), date.pair(at: 5))
        let dayOfMonth = digits.pair(at: 5)
        guard
            month >= 1, month <= 12, dayOfMonth >= 1, dayOfMonth <= CivilDate.daysInMonth(month, year: year)
        else { return false }
        yearAndMonth = first
        day = middle & Self.dayDigits
        days = CivilDate.daysSince1970(year: year, month: month, day: dayOfMonth)
        return true
    }
}
