// SPDX-License-Identifier: Apache-2.0

/// A time inside a message, in the forms that Swift and Kotlin print: RFC 3339, or a date with a space before the time and
/// before the offset, with or without a zone, perhaps inside `Optional(...)`.
struct LogTime {
    /// Microseconds since 1970 by the wall clock of the zone.
    var wallMicroseconds: Int64
    /// Seconds east of UTC; nil without a zone.
    var offset: Int32?

    /// Reads a time at the beginning of a range; nil when there is none.
    init?(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        var start = range.lowerBound
        while start < range.upperBound, bytes[start] == UInt8(ascii: " ") || bytes[start] == UInt8(ascii: "\"") {
            start += 1
        }
        if start < range.upperBound, bytes[start] == UInt8(ascii: "O") {
            guard start + 9 <= range.upperBound, bytes.equals("Optional(", in: start..<start + 9) else { return nil }
            start += 9
        }
        guard
            range.upperBound - start >= 19,
            let day = bytes.calendarDay(at: start),
            bytes[start + 10] | 0x20 == UInt8(ascii: "t") || bytes[start + 10] == UInt8(ascii: " "),
            let time = bytes.clockTime(at: start + 11)
        else { return nil }
        var position = start + 19
        wallMicroseconds = day * 86_400_000_000 + time
        if position < range.upperBound, bytes[position] == UInt8(ascii: ".") {
            position += 1
            wallMicroseconds += bytes.decimals(at: &position, end: range.upperBound)
        }
        offset = bytes.zoneOffset(at: &position, end: range.upperBound)
    }

    /// The time in UTC; without a zone it is in the one given.
    func timestamp(in zone: ZoneOffsets) -> Timestamp {
        guard let offset else { return Timestamp(microseconds: zone.utcMicroseconds(wall: wallMicroseconds)) }
        return Timestamp(microseconds: wallMicroseconds - Int64(offset) * 1_000_000)
    }
}

extension Span<UInt8> {
    /// The days since 1970 of `yyyy-MM-dd`; nil for anything else. Ten bytes must be there.
    func calendarDay(at start: Int) -> Int64? {
        guard
            let year = decimal(at: start, digits: 4), self[start + 4] == UInt8(ascii: "-"),
            let month = decimal(at: start + 5, digits: 2), self[start + 7] == UInt8(ascii: "-"),
            let day = decimal(at: start + 8, digits: 2),
            (1...12).contains(month), day >= 1, day <= CivilDate.daysInMonth(month, year: year)
        else { return nil }
        return CivilDate.daysSince1970(year: year, month: month, day: day)
    }

    /// The microseconds of `HH:mm:ss`; nil for anything else. Eight bytes must be there.
    func clockTime(at start: Int) -> Int64? {
        guard
            let hour = decimal(at: start, digits: 2), self[start + 2] == UInt8(ascii: ":"),
            let minute = decimal(at: start + 3, digits: 2), self[start + 5] == UInt8(ascii: ":"),
            let second = decimal(at: start + 6, digits: 2),
            hour <= 23, minute <= 59, second <= 60
        else { return nil }
        return (hour * 3_600 + minute * 60 + second) * 1_000_000
    }

    /// The microseconds of the decimals at a position, which moves behind them.
    func decimals(at position: inout Int, end: Int) -> Int64 {
        var scale: Int64 = 100_000
        var fraction: Int64 = 0
        while position < end, self[position].isDigit {
            fraction += Int64(self[position] - 0x30) * scale
            scale /= 10
            position += 1
        }
        return fraction
    }

    /// The seconds east of UTC of `Z`, `±hh:mm` or `±hhmm`, perhaps behind a space; the position moves behind it. Nil, and
    /// the position stays, when there is none.
    func zoneOffset(at position: inout Int, end: Int) -> Int32? {
        var start = position
        if start < end, self[start] == UInt8(ascii: " ") { start += 1 }
        guard start < end else { return nil }
        if self[start] | 0x20 == UInt8(ascii: "z") {
            position = start + 1
            return 0
        }
        guard
            self[start] == UInt8(ascii: "+") || self[start] == UInt8(ascii: "-"), start + 5 <= end,
            let hours = decimal(at: start + 1, digits: 2), hours <= 23
        else { return nil }
        let minutesStart = self[start + 3] == UInt8(ascii: ":") ? start + 4 : start + 3
        guard minutesStart + 2 <= end, let minutes = decimal(at: minutesStart, digits: 2), minutes <= 59 else {
            return nil
        }
        position = minutesStart + 2
        return Int32(hours * 3_600 + minutes * 60) * (self[start] == UInt8(ascii: "-") ? -1 : 1)
    }
}
