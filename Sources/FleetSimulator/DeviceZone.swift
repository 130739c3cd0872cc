// SPDX-License-Identifier: Apache-2.0

/// A date of the Gregorian calendar.
struct CalendarDate: Equatable, Sendable {
    var year: Int64
    var month: Int64
    var day: Int64

    /// Valid from 1970 on. Days are counted from 1 March, so that the leap day is a year's last one.
    init(daysSince1970 days: Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let ofEra = shifted % 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * ofYear + 2) / 153
        day = ofYear - (153 * month + 2) / 5 + 1
        self.month = month < 10 ? month + 3 : month - 9
        year = yearOfEra + era * 400 + (self.month <= 2 ? 1 : 0)
    }

    init(year: Int64, month: Int64, day: Int64) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    var daysSince1970: Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let month = month > 2 ? month - 3 : month + 9
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + (153 * month + 2) / 5 + day - 1 - 719_468
    }

    /// The days since 1970 of the n-th Sunday of a month; the last one where `number` is 0.
    static func sunday(_ number: Int64, of month: Int64, in year: Int64) -> Int64 {
        if number == 0 {
            let next = CalendarDate(year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1).daysSince1970
            return next - 1 - (next - 1 + 4) % 7
        }
        let first = CalendarDate(year: year, month: month, day: 1).daysSince1970
        return first + (7 - (first + 4) % 7) % 7 + (number - 1) * 7
    }
}

/// The time zone that a device is in, with its rule for daylight saving time.
struct DeviceZone: Equatable, Sendable {
    enum Rule { case none, european, american }

    /// Standard time minus UTC, in minutes.
    let minutes: Int64
    let rule: Rule

    static let all = [
        DeviceZone(minutes: 0, rule: .none), DeviceZone(minutes: 0, rule: .european),
        DeviceZone(minutes: 60, rule: .european), DeviceZone(minutes: 120, rule: .european),
        DeviceZone(minutes: -300, rule: .american), DeviceZone(minutes: -360, rule: .american),
        DeviceZone(minutes: -480, rule: .american), DeviceZone(minutes: -180, rule: .none),
        DeviceZone(minutes: 330, rule: .none), DeviceZone(minutes: 345, rule: .none),
        DeviceZone(minutes: 480, rule: .none), DeviceZone(minutes: 540, rule: .none),
    ]

    /// Those that have daylight saving time.
    static let saving = all.filter { $0.rule != .none }

    /// Local time minus UTC at a moment, in microseconds.
    func offset(at time: Int64) -> Int64 {
        let isSaving: Bool
        switch rule {
        case .none: isSaving = false
        case .european:
            let year = Self.year(of: time)
            let begin = CalendarDate.sunday(0, of: 3, in: year) * 86_400 + 3_600
            let end = CalendarDate.sunday(0, of: 10, in: year) * 86_400 + 3_600
            isSaving = time >= begin * 1_000_000 && time < end * 1_000_000
        case .american:
            let year = Self.year(of: time + minutes * 60_000_000)
            let begin = CalendarDate.sunday(2, of: 3, in: year) * 86_400 + 7_200 - minutes * 60
            let end = CalendarDate.sunday(1, of: 11, in: year) * 86_400 + 3_600 - minutes * 60
            isSaving = time >= begin * 1_000_000 && time < end * 1_000_000
        }
        return (minutes + (isSaving ? 60 : 0)) * 60_000_000
    }

    private static func year(of time: Int64) -> Int64 {
        CalendarDate(daysSince1970: time.floored(by: 86_400_000_000)).year
    }

    /// The moment of a local time: of one that comes twice the first, of one that is left out the one after the gap.
    func moment(day: Int64, minuteOfDay: Int64) -> Int64 {
        let local = (day * 1_440 + minuteOfDay) * 60_000_000
        let standard = local - minutes * 60_000_000
        guard rule != .none else { return standard }
        let saving = standard - 3_600_000_000
        return offset(at: saving) == (minutes + 60) * 60_000_000 ? saving : standard
    }
}
