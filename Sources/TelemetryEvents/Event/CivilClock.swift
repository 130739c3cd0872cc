// SPDX-License-Identifier: Apache-2.0

/// A date and a time of day as RFC 3339 writes them, without fraction and offset: `2025-11-15T05:48:32`.
struct CivilClock {
    /// How many bytes it takes.
    static let length = 19
    let secondsSince1970: Int64

    /// Reads the 19 bytes at a place, which must be there; a `t` or a space may stand for the `T`. Nil for anything else.
    @inline(__always)
    init?(_ bytes: Span<UInt8>, at start: Int) {
        let date = DecimalWord(bytes.word(at: start), separator: UInt8(ascii: "-"), at: 0xFF00_00FF_0000_0000)
        let time = DecimalWord(bytes.word(at: start + 11), separator: UInt8(ascii: ":"), at: 0x0000_FF00_00FF_0000)
        let tens = Int64(bytes[start + 8] &- 0x30)
        let ones = Int64(bytes[start + 9] &- 0x30)
        let separator = bytes[start + 10]
        guard
            date.isValid, time.isValid, tens <= 9, ones <= 9,
            separator | 0x20 == UInt8(ascii: "t") || separator == UInt8(ascii: " ")
        else { return nil }
        let year = date.pair(at: 0) * 100 + date.pair(at: 2)
        let month = date.pair(at: 5)
        let day = tens * 10 + ones
        let (hour, minute, second) = (time.pair(at: 0), time.pair(at: 3), time.pair(at: 6))
        guard
            month >= 1, month <= 12, day >= 1, hour <= 23, minute <= 59, second <= 60,
            day <= 28 || day <= CivilDate.daysInMonth(month, year: year)
        else { return nil }
        let days = CivilDate.daysSince1970(year: year, month: month, day: day)
        secondsSince1970 = days * 86_400 + hour * 3_600 + minute * 60 + second
    }
}
