// SPDX-License-Identifier: Apache-2.0

/// A time as `yyyyMMddTHHmmssZ`, the basic format of ISO 8601, for names of files.
struct CompactTimestamp: CustomStringConvertible {
    let microseconds: Int64

    private static let microsecondsPerDay: Int64 = 86_400_000_000

    /// The civil date is Howard Hinnant's `civil_from_days` (https://howardhinnant.github.io/date_algorithms.html):
    /// eras of 400 years that begin in March.
    var description: String {
        let bounded = min(max(microseconds, 0), 253_402_300_799_999_999)
        let (days, rest) = bounded.quotientAndRemainder(dividingBy: Self.microsecondsPerDay)
        let shifted = days + 719_468
        let (era, dayOfEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let seconds = rest / 1_000_000
        return pad(year, 4) + pad(month, 2) + pad(day, 2) + "T" + pad(seconds / 3600, 2) + pad(seconds / 60 % 60, 2)
            + pad(seconds % 60, 2) + "Z"
    }

    private func pad(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
