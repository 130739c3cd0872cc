// SPDX-License-Identifier: Apache-2.0

/// When a line was written, as it says itself. Year and zone may be missing.
struct LogStamp: Hashable, Sendable {
    /// The wall clock in microseconds since 1970, as if in UTC. Without a year: in the leap year 2000.
    var wallMicroseconds: Int64
    var hasYear = true
    /// Seconds east of UTC; nil if the line has no zone.
    var offsetSeconds: Int32?
}

/// Parses the times of log lines. Caches the last date, which most lines share.
struct LogStampReader: Sendable {
    private var dateHead: UInt64 = 0
    private var dateTail: UInt16 = 0
    private var dateMicroseconds: Int64 = 0

    /// Parses `yyyy-MM-dd`, `T` or a space, `HH:mm:ss`, and optionally decimals and a zone.
    @inline(__always)
    mutating func dateAndTime(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> LogStamp? {
        let start = cursor.position
        guard start + 19 <= cursor.end, bytes[start + 4] == UInt8(ascii: "-") else { return nil }
        let separator = bytes[start + 10]
        guard separator == UInt8(ascii: " ") || separator | 0x20 == UInt8(ascii: "t") else {
            return nil
        }
        guard let midnight = date(bytes, at: start), let seconds = bytes.timeOfDay(at: start + 11)
        else { return nil }
        cursor.position = start + 19
        var stamp = LogStamp(wallMicroseconds: midnight &+ seconds &* 1_000_000)
        stamp.wallMicroseconds &+= bytes.fraction(&cursor)
        guard bytes.zone(&cursor, &stamp.offsetSeconds) else { return nil }
        return stamp
    }

    /// The midnight of a date, in microseconds since 1970.
    @inline(__always)
    private mutating func date(_ bytes: Span<UInt8>, at start: Int) -> Int64? {
        let head = bytes.word(at: start)
        let tail = UInt16(bytes[start + 8]) << 8 | UInt16(bytes[start + 9])
        if head == dateHead, tail == dateTail { return dateMicroseconds }
        guard let midnight = Self.midnight(bytes, at: start) else { return nil }
        dateHead = head
        dateTail = tail
        dateMicroseconds = midnight
        return midnight
    }

    /// The midnight of `MM-dd` in the year 2000, in microseconds.
    @inline(__always)
    private mutating func dayOfLeapYear(_ bytes: Span<UInt8>, at start: Int) -> Int64? {
        let head = bytes.paddedWord(at: start) & 0xFF_FFFF_FFFF
        if head == dateHead { return dateMicroseconds }
        guard let month = bytes.decimal(at: start, digits: 2), let day = bytes.decimal(at: start + 3, digits: 2),
            let midnight = Self.microseconds(year: 2_000, month: month, day: day)
        else { return nil }
        dateHead = head
        dateMicroseconds = midnight
        return midnight
    }

    @inline(never)
    private static func midnight(_ bytes: Span<UInt8>, at start: Int) -> Int64? {
        guard bytes[start + 7] == UInt8(ascii: "-"),
            let year = bytes.decimal(at: start, digits: 4),
            let month = bytes.decimal(at: start + 5, digits: 2),
            let day = bytes.decimal(at: start + 8, digits: 2)
        else { return nil }
        return microseconds(year: year, month: month, day: day)
    }

    /// The midnight of a date, in microseconds since 1970; nil for an invalid date.
    static func microseconds(year: Int64, month: Int64, day: Int64) -> Int64? {
        guard month >= 1, month <= 12, day >= 1, day <= CivilDate.daysInMonth(month, year: year) else {
            return nil
        }
        return CivilDate.daysSince1970(year: year, month: month, day: day) * 86_400_000_000
    }

    /// Parses the time in a member of an object: a date and a time, or the seconds, milliseconds, microseconds or
    /// nanoseconds since 1970.
    mutating func time(_ bytes: Span<UInt8>, of member: Range<Int>) -> LogStamp? {
        var cursor = LineCursor(member)
        var stamp: LogStamp?
        return logcatTime(bytes, &cursor, &stamp) ? stamp : nil
    }

    /// The time of 10, 13, 16 or 19 digits, which are the units of the years 2001 to 2286.
    private static func wholeEpoch(_ bytes: Span<UInt8>, _ member: Range<Int>) -> LogStamp? {
        guard member.count >= 10, member.count <= 19, member.count % 3 == 1 else { return nil }
        for index in member where !bytes[index].isDigit { return nil }
        let read = Swift.min(member.count, 16)
        var cursor = LineCursor(member.lowerBound, member.lowerBound + read)
        guard var microseconds = cursor.digits(bytes), microseconds > 0 else { return nil }
        for _ in stride(from: read, to: 16, by: 3) { microseconds *= 1_000 }
        guard microseconds / 1_000_000 >= leastEpoch else { return nil }
        return LogStamp(wallMicroseconds: Int64(microseconds), offsetSeconds: 0)
    }

    // MARK: Times of logcat and syslog

    /// Smaller values are seconds since boot, not since 1970.
    private static let leastEpoch: UInt64 = 1_000_000_000
    private static let greatestEpoch: UInt64 = 99_999_999_999

    /// Parses a time of logcat: with or without a year, since 1970, or since boot (which yields no stamp).
    ///
    /// - Returns: whether there was a time.
    @inline(__always)
    mutating func logcatTime(_ bytes: Span<UInt8>, _ cursor: inout LineCursor, _ stamp: inout LogStamp?) -> Bool {
        if cursor.peek(bytes, 2) == UInt8(ascii: "-") {
            stamp = monthAndDay(bytes, &cursor) ?? dayFirst(bytes, &cursor)
            return stamp != nil
        }
        if cursor.peek(bytes, 4) == UInt8(ascii: "-") {
            stamp = dateAndTime(bytes, &cursor)
            return stamp != nil
        }
        return otherTime(bytes, &cursor, &stamp)
    }

    /// Parses a time as loggers and servers write it: `2025/11/15 05:48:00`, `20251115T054800Z`, `15.11.2025 05:48:00`,
    /// `15 Nov 2025 05:48:00`, `15/Nov/2025:05:48:00 +0000`, or a number of seconds since 1970 or since boot.
    ///
    /// Not `11/15/2025`, which may be of the 11th of the 15th month.
    @inline(never)
    private func otherTime(_ bytes: Span<UInt8>, _ cursor: inout LineCursor, _ stamp: inout LogStamp?) -> Bool {
        if let found = yearFirst(bytes, &cursor) ?? basicDateAndTime(bytes, &cursor) ?? dayFirst(bytes, &cursor) {
            stamp = found
            return true
        }
        if seconds(bytes, &cursor, &stamp) { return true }
        return epoch(bytes, &cursor, &stamp)
    }

    /// Parses `2025/11/15 05:48:00`; milliseconds may follow a colon, as CocoaLumberjack writes them.
    private func yearFirst(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> LogStamp? {
        let start = cursor.position
        guard start + 19 <= cursor.end, bytes[start + 4] == UInt8(ascii: "/"), bytes[start + 7] == UInt8(ascii: "/"),
            bytes[start + 10] == UInt8(ascii: " "),
            let year = bytes.decimal(at: start, digits: 4), let month = bytes.decimal(at: start + 5, digits: 2),
            let day = bytes.decimal(at: start + 8, digits: 2)
        else { return nil }
        return time(bytes, at: start + 11, of: (year, month, day), &cursor)
    }

    /// Parses `20251115T054800Z`.
    private func basicDateAndTime(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> LogStamp? {
        let start = cursor.position
        guard start + 15 <= cursor.end, bytes[start + 8] == UInt8(ascii: "T"),
            let year = bytes.decimal(at: start, digits: 4), let month = bytes.decimal(at: start + 4, digits: 2),
            let day = bytes.decimal(at: start + 6, digits: 2), let hour = bytes.decimal(at: start + 9, digits: 2),
            let minute = bytes.decimal(at: start + 11, digits: 2),
            let second = bytes.decimal(at: start + 13, digits: 2), hour <= 23, minute <= 59, second <= 60,
            let midnight = Self.microseconds(year: year, month: month, day: day)
        else { return nil }
        let ahead = LineCursor(start + 15, cursor.end)
        return stamp(bytes, midnight &+ (hour * 3_600 + minute * 60 + second) &* 1_000_000, ahead, &cursor)
    }

    /// Parses `15 Nov 2025 05:48:00`, `15/Nov/2025:05:48:00 +0000` and `15.11.2025 05:48:00`.
    private func dayFirst(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> LogStamp? {
        var ahead = cursor
        guard let day = ahead.digits(bytes), day >= 1, day <= 31 else { return nil }
        let separator = ahead.peek(bytes)
        ahead.position += 1
        let month: Int64
        switch separator {
        case UInt8(ascii: " "), UInt8(ascii: "/"), UInt8(ascii: "-"):
            guard let named = bytes.monthName(at: ahead.position, end: ahead.end) else { return nil }
            month = named
            ahead.position += 3
        case UInt8(ascii: "."):
            guard ahead.position + 2 <= ahead.end, let number = bytes.decimal(at: ahead.position, digits: 2) else {
                return nil
            }
            month = number
            ahead.position += 2
        default: return nil
        }
        guard ahead.consume(separator, bytes), ahead.position + 13 <= ahead.end,
            let year = bytes.decimal(at: ahead.position, digits: 4)
        else { return nil }
        ahead.position += 4
        _ = ahead.consume(UInt8(ascii: ","), bytes)
        guard ahead.consume(UInt8(ascii: " "), bytes) || ahead.consume(UInt8(ascii: ":"), bytes) else { return nil }
        return time(bytes, at: ahead.position, of: (year, month, Int64(day)), &cursor)
    }

    /// Parses `HH:mm:ss`, decimals and a zone behind a date.
    private func time(
        _ bytes: Span<UInt8>,
        at start: Int,
        of date: (year: Int64, month: Int64, day: Int64),
        _ cursor: inout LineCursor
    ) -> LogStamp? {
        guard start + 8 <= cursor.end, let seconds = bytes.timeOfDay(at: start),
            let midnight = Self.microseconds(year: date.year, month: date.month, day: date.day)
        else { return nil }
        var ahead = LineCursor(start + 8, cursor.end)
        var microseconds = midnight &+ seconds &* 1_000_000
        if ahead.peek(bytes) == UInt8(ascii: ":"), ahead.position + 4 <= ahead.end,
            let milliseconds = bytes.decimal(at: ahead.position + 1, digits: 3)
        {
            microseconds &+= milliseconds &* 1_000
            ahead.position += 4
        }
        return stamp(bytes, microseconds, ahead, &cursor)
    }

    private func stamp(
        _ bytes: Span<UInt8>,
        _ microseconds: Int64,
        _ rest: LineCursor,
        _ cursor: inout LineCursor
    ) -> LogStamp? {
        var ahead = rest
        var stamp = LogStamp(wallMicroseconds: microseconds)
        stamp.wallMicroseconds &+= bytes.fraction(&ahead)
        guard bytes.zone(&ahead, &stamp.offsetSeconds) else { return nil }
        cursor = ahead
        return stamp
    }

    /// Parses the whole seconds, milliseconds, microseconds or nanoseconds since 1970, and a colon behind them.
    private func epoch(_ bytes: Span<UInt8>, _ cursor: inout LineCursor, _ stamp: inout LogStamp?) -> Bool {
        var ahead = cursor
        while ahead.peek(bytes).isDigit { ahead.position += 1 }
        guard !ahead.peek(bytes).isLetterOrDigit,
            let found = Self.wholeEpoch(bytes, cursor.position..<ahead.position)
        else { return false }
        stamp = found
        _ = ahead.consume(UInt8(ascii: ":"), bytes)
        cursor = ahead
        return true
    }

    /// Parses `MM-dd HH:mm:ss`, decimals and a zone.
    @inline(__always)
    private mutating func monthAndDay(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> LogStamp? {
        let start = cursor.position
        guard start + 14 <= cursor.end, bytes[start + 2] == UInt8(ascii: "-"), bytes[start + 5] == UInt8(ascii: " "),
            let seconds = bytes.timeOfDay(at: start + 6),
            let midnight = dayOfLeapYear(bytes, at: start)
        else { return nil }
        cursor.position = start + 14
        var stamp = LogStamp(wallMicroseconds: midnight &+ seconds &* 1_000_000, hasYear: false)
        stamp.wallMicroseconds &+= bytes.fraction(&cursor)
        guard bytes.zone(&cursor, &stamp.offsetSeconds) else { return nil }
        return stamp
    }

    /// Parses `Nov 15 05:48:00`, `Nov 15 2025 05:48:00` or `Nov 15, 2025, 05:48:00` with optional decimals; the day may be padded with a space.
    mutating func namedMonth(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> LogStamp? {
        guard let month = bytes.monthName(at: cursor.position, end: cursor.end) else { return nil }
        var ahead = LineCursor(cursor.position + 3, cursor.end)
        guard ahead.consume(UInt8(ascii: " "), bytes) else { return nil }
        ahead.skipSpaces(bytes)
        guard let day = ahead.digits(bytes), day <= 31 else { return nil }
        _ = ahead.consume(UInt8(ascii: ","), bytes)
        guard ahead.consume(UInt8(ascii: " "), bytes) else { return nil }
        ahead.skipSpaces(bytes)
        var year: Int64?
        if ahead.peek(bytes, 4) == UInt8(ascii: " ") || ahead.peek(bytes, 4) == UInt8(ascii: ","),
            ahead.position + 4 <= ahead.end
        {
            year = bytes.decimal(at: ahead.position, digits: 4)
            guard year != nil else { return nil }
            ahead.position += 4
            _ = ahead.consume(UInt8(ascii: ","), bytes)
            ahead.skipSpaces(bytes)
        }
        guard ahead.position + 8 <= ahead.end, let seconds = bytes.timeOfDay(at: ahead.position),
            let midnight = Self.microseconds(year: year ?? 2_000, month: month, day: Int64(day))
        else { return nil }
        ahead.position += 8
        var stamp = LogStamp(wallMicroseconds: midnight &+ seconds &* 1_000_000, hasYear: year != nil)
        stamp.wallMicroseconds &+= bytes.fraction(&ahead)
        guard bytes.zone(&ahead, &stamp.offsetSeconds) else { return nil }
        _ = ahead.consume(UInt8(ascii: ":"), bytes)
        cursor = ahead
        return stamp
    }

    /// Parses seconds with decimals.
    func seconds(_ bytes: Span<UInt8>, _ cursor: inout LineCursor, _ stamp: inout LogStamp?) -> Bool {
        var ahead = cursor
        guard let seconds = ahead.digits(bytes), ahead.peek(bytes) == UInt8(ascii: "."), ahead.peek(bytes, 1).isDigit
        else { return false }
        let fraction = bytes.fraction(&ahead)
        guard !ahead.peek(bytes).isLetterOrDigit else { return false }
        if seconds >= Self.leastEpoch, seconds <= Self.greatestEpoch {
            stamp = LogStamp(wallMicroseconds: Int64(seconds) &* 1_000_000 &+ fraction, offsetSeconds: 0)
        }
        cursor = ahead
        return true
    }
}

extension Span<UInt8> {
    /// The seconds since midnight of `HH:mm:ss`. The eight bytes must be in bounds.
    @inline(__always)
    fileprivate func timeOfDay(at index: Int) -> Int64? {
        let time = paddedWord(at: index) ^ 0x3030_3A30_303A_3030
        // Digits are now 0 to 9 and colons 0; any other byte sets a high bit.
        guard ((time &+ 0x7676_7F76_767F_7676) | time) & 0x8080_8080_8080_8080 == 0 else { return nil }
        let hour = (time & 0xF) * 10 + (time >> 8 & 0xF)
        let minute = (time >> 24 & 0xF) * 10 + (time >> 32 & 0xF)
        let second = (time >> 48 & 0xF) * 10 + (time >> 56 & 0xF)
        guard hour <= 23, minute <= 59, second <= 60 else { return nil }
        return Int64(hour * 3_600 + minute * 60 + second)
    }

    /// Consumes decimals after a point or a comma and returns microseconds, truncated.
    @inline(__always)
    fileprivate func fraction(_ cursor: inout LineCursor) -> Int64 {
        let point = cursor.peek(self)
        guard point == UInt8(ascii: ".") || point == UInt8(ascii: ",") else { return 0 }
        var index = cursor.position + 1
        guard index < cursor.end, self[index].isDigit else { return 0 }
        var value: Int64 = 0
        var scale: Int64 = 1_000_000
        while index < cursor.end, self[index].isDigit {
            if scale > 1 {
                value = value &* 10 &+ Int64(self[index] &- 0x30)
                scale /= 10
            }
            index += 1
        }
        cursor.position = index
        return value &* scale
    }

    /// Consumes an optional `Z`, `UTC`, `+hh:mm`, `+hhmm` or `+hh`, after at most one space, or `GMT+hhmm` and the like.
    ///
    /// - Returns: whether the time ends here; a letter or digit may not follow directly.
    @inline(__always)
    fileprivate func zone(_ cursor: inout LineCursor, _ offset: inout Int32?) -> Bool {
        guard cursor.position < cursor.end else { return true }
        let isApart = self[cursor.position] == UInt8(ascii: " ")
        var ahead = cursor
        if isApart { ahead.position += 1 }
        switch ahead.peek(self) {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"):
            if ahead.peek(self, 1).isLetterOrDigit { return isApart }
            ahead.position += 1
            offset = 0
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            guard let seconds = numericOffset(&ahead, isApart: isApart) else { return true }
            offset = seconds
        case UInt8(ascii: "U"), UInt8(ascii: "G"):
            let word = paddedWord(at: ahead.position) & 0xFF_FFFF
            guard word == 0x43_5455 || word == 0x54_4D47, ahead.position + 3 <= ahead.end,
                !ahead.peek(self, 3).isLetterOrDigit
            else { return isApart }
            ahead.position += 3
            offset = 0
            let sign = ahead.peek(self)
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
                offset = numericOffset(&ahead, isApart: false) ?? shortOffset(&ahead) ?? 0
            }
        default:
            return isApart || !self[cursor.position].isLetterOrDigit
        }
        cursor = ahead
        return true
    }

    /// Consumes a sign and `hh:mm`, `hhmm` or, directly after the time, `hh`.
    @inline(__always)
    private func numericOffset(_ cursor: inout LineCursor, isApart: Bool) -> Int32? {
        let start = cursor.position
        guard start + 3 <= cursor.end, let hours = decimal(at: start + 1, digits: 2), hours <= 23 else {
            return nil
        }
        var minutes: Int64 = 0
        var index = start + 3
        let minutesAt = cursor.peek(self, 3) == UInt8(ascii: ":") ? index + 1 : index
        if minutesAt + 2 <= cursor.end, let read = decimal(at: minutesAt, digits: 2), read <= 59 {
            minutes = read
            index = minutesAt + 2
        } else if isApart {
            return nil
        }
        guard index == cursor.end || !self[index].isLetterOrDigit else { return nil }
        cursor.position = index
        let seconds = Int32(truncatingIfNeeded: hours * 3_600 + minutes * 60)
        return self[start] == UInt8(ascii: "-") ? -seconds : seconds
    }

    /// Consumes a sign and the one digit of an hour, as in `GMT+1`.
    private func shortOffset(_ cursor: inout LineCursor) -> Int32? {
        guard cursor.peek(self, 1).isDigit, !cursor.peek(self, 2).isLetterOrDigit else { return nil }
        let seconds = Int32(cursor.peek(self, 1) &- 0x30) * 3_600
        let isWest = cursor.peek(self) == UInt8(ascii: "-")
        cursor.position += 2
        return isWest ? -seconds : seconds
    }

    /// The month whose three-letter name is here.
    fileprivate func monthName(at index: Int, end: Int) -> Int64? {
        guard index + 3 <= end else { return nil }
        return switch paddedWord(at: index) & 0xFF_FFFF | 0x20_2020 {
        case 0x6E_616A: 1
        case 0x62_6566: 2
        case 0x72_616D: 3
        case 0x72_7061: 4
        case 0x79_616D: 5
        case 0x6E_756A: 6
        case 0x6C_756A: 7
        case 0x67_7561: 8
        case 0x70_6573: 9
        case 0x74_636F: 10
        case 0x76_6F6E: 11
        case 0x63_6564: 12
        default: nil
        }
    }
}
