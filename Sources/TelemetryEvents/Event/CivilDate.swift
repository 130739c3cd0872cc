// SPDX-License-Identifier: Apache-2.0

/// Conversions between dates of the proleptic Gregorian calendar and days since 1970.
///
/// Days are counted in 400-year eras of 146,097 days that begin on 1 March, so that the leap day is an era's last day
/// and the month lengths follow one formula: `(153 * month + 2) / 5`.
enum CivilDate {
    /// A thousand eras, added so that no year within the range of `Timestamp` is negative and 32-bit arithmetic
    /// suffices.
    private static let addedYears: Int64 = 400_000
    private static let addedDays: Int64 = 146_097_000

    /// Valid for years from -399,999 to 5,000,000.
    @inline(__always)
    static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = UInt32(truncatingIfNeeded: year &+ addedYears &- (month <= 2 ? 1 : 0))
        let shiftedMonth = UInt32(truncatingIfNeeded: month > 2 ? month &- 3 : month &+ 9)
        let leapDays = shifted / 4 &- shifted / 100 &+ shifted / 400
        let days = shifted &* 365 &+ leapDays &+ (153 &* shiftedMonth &+ 2) / 5
        return Int64(days) &+ day &- 1 &- 719_468 &- addedDays
    }

    static func date(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = daysSince1970 + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }

    static func daysInMonth(_ month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// The date and time of day of RFC 3339, without fraction and offset: `2025-11-15T05:48:32`.
struct CivilClock {
    /// The length in bytes.
    static let length = 19
    let secondsSince1970: Int64
    /// Whether the second is 60, which counts as the second behind it.
    let isLeapSecond: Bool

    /// Parses the 19 bytes at an index; accepts `T`, `t` or a space as the separator. Nil for anything else.
    ///
    /// - Parameter known: a cache of the last parsed date, which most times share.
    @inline(__always)
    init?(_ bytes: Span<UInt8>, at start: Int, known: inout DateCache) {
        // The three overlapping words `2025-11-`, `5-11-15T` and `05:48:32` cover all 19 bytes.
        guard let first = bytes.wordIfInBounds(at: start), let middle = bytes.wordIfInBounds(at: start &+ 3),
            let last = bytes.wordIfInBounds(at: start &+ 11)
        else { return nil }
        let separator = UInt8(truncatingIfNeeded: middle &>> 56)
        guard separator | 0x20 == UInt8(ascii: "t") || separator == UInt8(ascii: " "), known.read(first, middle) else {
            return nil
        }
        let time = DecimalWord(last, separator: UInt8(ascii: ":"), at: 0x0000_FF00_00FF_0000)
        let (hour, minute, second) = (time.pair(at: 0), time.pair(at: 3), time.pair(at: 6))
        guard time.isValid, hour <= 23, minute <= 59, second <= 60 else { return nil }
        isLeapSecond = second == 60
        secondsSince1970 = known.days &* 86_400 &+ hour &* 3_600 &+ minute &* 60 &+ second
    }
}

/// Caches the last parsed date with the text it was parsed from.
struct DateCache {
    private static let dayDigits: UInt64 = 0x00FF_FF00_0000_0000
    private var yearAndMonth: UInt64 = 0
    /// A value that no text's digits have.
    private var day: UInt64 = .max
    private(set) var days: Int64 = 0

    /// Parses the date whose first bytes are `2025-11-`, with the day in the sixth and seventh byte of `middle`; false
    /// if it is not a valid date.
    @inline(__always)
    mutating func read(_ first: UInt64, _ middle: UInt64) -> Bool {
        first == yearAndMonth && middle & Self.dayDigits == day || parse(first, middle)
    }

    @inline(never)
    private mutating func parse(_ first: UInt64, _ middle: UInt64) -> Bool {
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

/// Eight bytes of text, parsed as decimal digits in one word; the first byte is the lowest.
struct DecimalWord {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080
    /// Each byte XOR its expected zero or separator: 0 to 9 for a digit.
    private let digits: UInt64
    /// The high bit of each byte that is not a digit; bytes after the first may be marked wrongly.
    private let nonDigits: UInt64
    private let separators: UInt64

    @inline(__always)
    init(_ word: UInt64) {
        self.init(word, zero: Self.ones &* 0x30, separators: 0)
    }

    /// Expects a separator at the bytes of a mask.
    @inline(__always)
    init(_ word: UInt64, separator: UInt8, at mask: UInt64) {
        let zeros = Self.ones &* 0x30 & ~mask | Self.ones &* UInt64(separator) & mask
        self.init(word, zero: zeros, separators: mask)
    }

    @inline(__always)
    private init(_ word: UInt64, zero: UInt64, separators: UInt64) {
        digits = word ^ zero
        nonDigits = (digits &+ Self.ones &* 0x76 | digits) & Self.highs
        self.separators = separators
    }

    /// Whether every byte is a digit or its expected separator.
    @inline(__always)
    fileprivate var isValid: Bool { nonDigits | digits & separators == 0 }

    /// The two-digit number at a byte.
    @inline(__always)
    func pair(at byte: UInt64) -> Int64 {
        let pair = digits >> (8 * byte)
        return Int64(truncatingIfNeeded: (pair & 0xF) * 10 + pair >> 8 & 0xF)
    }

    /// The number of the first six digits; nil if one of them is not a digit.
    @inline(__always)
    var firstSixDigits: Int64? {
        guard nonDigits & 0x0000_FFFF_FFFF_FFFF == 0 else { return nil }
        // Two leading zeros make it eight digits, which are combined into pairs, then fours, then all eight.
        let eight = digits << 16
        let pairs = eight &* 10 &+ eight >> 8
        let high = (pairs & 0x0000_00FF_0000_00FF) &* 0x000F_4240_0000_0064
        let low = (pairs >> 16 & 0x0000_00FF_0000_00FF) &* 0x0000_2710_0000_0001
        return Int64(truncatingIfNeeded: (high &+ low) >> 32)
    }
}
