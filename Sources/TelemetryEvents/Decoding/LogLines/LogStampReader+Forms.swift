// SPDX-License-Identifier: Apache-2.0

extension LogStampReader {
    /// The least count of seconds that is a time since 1970 and not one since the device started.
    private static let leastEpoch: UInt64 = 1_000_000_000
    private static let greatestEpoch: UInt64 = 99_999_999_999

    /// Reads one of the times that logcat writes: with or without a year, since 1970, or since the device started, which
    /// is no time of day.
    ///
    /// - Returns: whether a time was there.
    @inline(__always)
    mutating func logcatTime(_ bytes: Span<UInt8>, _ cursor: inout LineCursor, _ stamp: inout LogStamp?) -> Bool {
        if cursor.peek(bytes, 2) == UInt8(ascii: "-") {
            stamp = monthAndDay(bytes, &cursor)
            return stamp != nil
        }
        if cursor.peek(bytes, 4) == UInt8(ascii: "-") {
            stamp = dateAndTime(bytes, &cursor)
            return stamp != nil
        }
        return seconds(bytes, &cursor, &stamp)
    }

    /// Reads `MM-dd HH:mm:ss`, decimals and a zone.
    @inline(__always)
    mutating func monthAndDay(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> LogStamp? {
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

    /// Reads `Nov 15 05:48:00` or `Nov 15 2025 05:48:00`, the day padded with a space or not, and decimals.
    mutating func namedMonth(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> LogStamp? {
        guard let month = bytes.monthName(at: cursor.position, end: cursor.end) else { return nil }
        var ahead = LineCursor(cursor.position + 3, cursor.end)
        guard ahead.consume(UInt8(ascii: " "), bytes) else { return nil }
        ahead.skipSpaces(bytes)
        guard let day = ahead.digits(bytes), day <= 31, ahead.consume(UInt8(ascii: " "), bytes) else { return nil }
        ahead.skipSpaces(bytes)
        var year: Int64?
        if ahead.peek(bytes, 4) == UInt8(ascii: " "), ahead.position + 4 <= ahead.end {
            year = bytes.decimal(at: ahead.position, digits: 4)
            guard year != nil else { return nil }
            ahead.position += 4
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

    /// Reads seconds with decimals.
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
    /// The month whose first three letters stand here.
    func monthName(at index: Int, end: Int) -> Int64? {
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
