// SPDX-License-Identifier: Apache-2.0

/// A date of the proleptic Gregorian calendar and its distance from 1970.
///
/// Days are counted in 400-year eras of 146,097 days that begin on 1 March, so that the leap day is an era's last and
/// the length of the months follows one line: `(153 * month + 2) / 5`.
enum CivilDate {
    /// A thousand eras, added so that no year that a `Timestamp` reaches is negative and small words do.
    private static let addedYears: Int64 = 400_000
    private static let addedDays: Int64 = 146_097_000

    /// For years from -399,999 to 5,000,000.
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
