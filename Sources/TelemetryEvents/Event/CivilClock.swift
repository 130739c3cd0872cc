// SPDX-License-Identifier: Apache-2.0

/// A date and a time of day as RFC 3339 writes them, without fraction and offset: `2025-11-15T05:48:32`.
struct CivilClock {
    /// How many bytes it takes.
    static let length = 19
    let secondsSince1970: Int64

    /// Reads the 19 bytes at a place; a `t` or a space may stand for the `T`. Nil for anything else.
    @inline(__always)
    init?(_ bytes: Span<UInt8>, at start: Int) {
        guard let first = bytes.wordIfThere(at: start), let middle = bytes.wordIfThere(at: start &+ 3),
            let last = bytes.wordIfThere(at: start &+ 11)
        else { return nil }
        // `2025-11-`, `5-11-15T` and `05:48:32`.
        let date = DecimalWord(first, separator: UInt8(ascii: "-"), at: 0xFF00_00FF_0000_0000)
        let dayWithoutT = middle & 0x00FF_FFFF_FFFF_FFFF | UInt64(UInt8(ascii: "-")) &<< 56
        let day = DecimalWord(dayWithoutT, separator: UInt8(ascii: "-"), at: 0xFF00_00FF_0000_FF00)
        let time = DecimalWord(last, separator: UInt8(ascii: ":"), at: 0x0000_FF00_00FF_0000)
        let separator = UInt8(truncatingIfNeeded: middle &>> 56)
        guard
            date.isValid, day.isValid, time.isValid,
            separator | 0x20 == UInt8(ascii: "t") || separator == UInt8(ascii: " ")
        else { return nil }
        self.init(
            year: date.pair(at: 0) &* 100 &+ date.pair(at: 2),
            month: date.pair(at: 5),
            day: day.pair(at: 5),
            seconds: time
        )
    }

    @inline(__always)
    private init?(year: Int64, month: Int64, day: Int64, seconds time: DecimalWord) {
        let (hour, minute, second) = (time.pair(at: 0), time.pair(at: 3), time.pair(at: 6))
        guard
            month >= 1, month <= 12, day >= 1, hour <= 23, minute <= 59, second <= 60,
            day <= 28 || day <= CivilDate.daysInMonth(month, year: year)
        else { return nil }
        let days = CivilDate.daysSince1970(year: year, month: month, day: day)
        secondsSince1970 = days &* 86_400 &+ hour &* 3_600 &+ minute &* 60 &+ second
    }
}
