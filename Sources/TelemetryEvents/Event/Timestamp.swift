// SPDX-License-Identifier: Apache-2.0

/// A point in time in UTC with microsecond precision.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Microseconds since 1970-01-01T00:00:00Z, not counting leap seconds.
    public var microseconds: Int64

    /// Creates a time from microseconds since 1970.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Creates a time from whole seconds since 1970.
    public init(seconds: Int64) {
        microseconds = seconds * 1_000_000
    }

    /// Orders times chronologically.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }

    /// 2020-01-01T00:00:00Z, the earliest accepted event time; earlier ones come from an unset clock.
    public static let earliestAccepted = Timestamp(seconds: 1_577_836_800)

    /// 2100-01-01T00:00:00Z, before which every planned time is.
    static let latestPlanned = Timestamp(seconds: 4_102_444_800)

    /// 48 hours in microseconds: how far an event may be ahead of the receiver's clock.
    public static let acceptedLead: Int64 = 48 * 3_600 * 1_000_000

    /// The absolute difference of two times, in microseconds.
    func distance(to other: Timestamp) -> UInt64 {
        self < other
            ? UInt64(bitPattern: other.microseconds &- microseconds)
            : UInt64(bitPattern: microseconds &- other.microseconds)
    }
}

extension Timestamp {
    /// Parses an RFC 3339 time: a date, `T`, `t` or a space, a time with any number of decimals (truncated to
    /// microseconds), and `Z` or an offset. A leap second, at the end of a month (section 5.7), counts as the following
    /// second. Nil for anything else.
    public init?(rfc3339 bytes: Span<UInt8>, _ range: Range<Int>) {
        var position = range.lowerBound
        var date = DateCache()
        self.init(rfc3339: bytes.extracting(0..<range.upperBound), at: &position, known: &date)
        guard position == range.upperBound else { return nil }
    }

    /// Parses a time at a position and advances past it.
    @inline(__always)
    init?(rfc3339 bytes: Span<UInt8>, at position: inout Int, known: inout DateCache) {
        guard let clock = CivilClock(bytes, at: position, known: &known) else { return nil }
        position &+= CivilClock.length
        var fraction: Int64 = 0
        if bytes.byte(at: position) == UInt8(ascii: ".") {
            position &+= 1
            guard let read = Self.fraction(bytes, at: &position) else { return nil }
            fraction = read
        }
        var offset: Int64 = 0
        if let zone = bytes.byte(at: position), zone | 0x20 == UInt8(ascii: "z") {
            position &+= 1
        } else {
            guard let read = Self.offset(bytes, at: &position) else { return nil }
            offset = read
        }
        let seconds = clock.secondsSince1970 &- offset
        if clock.isLeapSecond, !Self.beginsMonth(seconds) { return nil }
        microseconds = seconds &* 1_000_000 &+ fraction
    }

    /// Whether a month begins in UTC; a leap second may be the one before it.
    @inline(never)
    private static func beginsMonth(_ seconds: Int64) -> Bool {
        let days = seconds.flooredDivision(by: 86_400)
        return seconds == days * 86_400 && CivilDate.date(daysSince1970: days).day == 1
    }

    /// Parses the fraction in microseconds; further digits are ignored.
    @inline(__always)
    private static func fraction(_ bytes: Span<UInt8>, at position: inout Int) -> Int64? {
        if let word = bytes.wordIfInBounds(at: position), let six = DecimalWord(word).firstSixDigits {
            position &+= 6
            while let digit = bytes.byte(at: position), digit.isDigit { position &+= 1 }
            return six
        }
        let firstDigit = position
        var fraction: Int64 = 0
        var scale: Int64 = 100_000
        while let digit = bytes.byte(at: position), digit.isDigit {
            fraction += Int64(digit - 0x30) * scale
            scale /= 10
            position &+= 1
        }
        return position > firstDigit ? fraction : nil
    }

    /// Parses the offset in seconds east of UTC.
    @inline(never)
    private static func offset(_ bytes: Span<UInt8>, at position: inout Int) -> Int64? {
        guard
            let sign = bytes.byte(at: position), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
            position + 6 <= bytes.count, bytes[position + 3] == UInt8(ascii: ":"),
            let hours = bytes.decimal(at: position + 1, digits: 2), hours <= 23,
            let minutes = bytes.decimal(at: position + 4, digits: 2), minutes <= 59
        else { return nil }
        position += 6
        return (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
    }

    /// Appends the time as RFC 3339 in UTC, with six decimals if it has a fraction.
    ///
    /// Defined for years 0 to 9999; the decoder produces no others.
    public func appendRFC3339(to output: inout [UInt8]) {
        let seconds = microseconds.flooredDivision(by: 1_000_000)
        let fraction = microseconds - seconds * 1_000_000
        let days = seconds.flooredDivision(by: 86_400)
        let time = seconds - days * 86_400
        let (year, month, day) = CivilDate.date(daysSince1970: days)
        var text = Self.form
        text.setPair(year / 100 % 100, at: 0)
        text.setPair(year % 100, at: 2)
        text.setPair(month, at: 5)
        text.setPair(day, at: 8)
        text.setPair(time / 3_600, at: 11)
        text.setPair(time / 60 % 60, at: 14)
        text.setPair(time % 60, at: 17)
        guard fraction != 0 else { return output.append(text.span, 0..<20) }
        text.setPair(fraction / 10_000, at: 20)
        text.setPair(fraction / 100 % 100, at: 22)
        text.setPair(fraction % 100, at: 24)
        text[19] = UInt8(ascii: ".")
        output.append(text.span, 0..<27)
    }

    /// `0000-00-00T00:00:00Z`, and as much space as a fraction takes.
    private static let form: InlineArray<27, UInt8> = {
        var form = InlineArray<27, UInt8>(repeating: UInt8(ascii: "-"))
        form[10] = UInt8(ascii: "T")
        form[13] = UInt8(ascii: ":")
        form[16] = UInt8(ascii: ":")
        form[19] = UInt8(ascii: "Z")
        form[26] = UInt8(ascii: "Z")
        return form
    }()
}

extension InlineArray<27, UInt8> {
    /// Writes a number of two digits.
    fileprivate mutating func setPair(_ value: Int64, at index: Int) {
        let value = UInt8(truncatingIfNeeded: value)
        self[index] = 0x30 &+ value / 10
        self[index + 1] = 0x30 &+ value % 10
    }
}

extension Timestamp: CustomStringConvertible {
    /// The time as RFC 3339 in UTC.
    public var description: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(27)
        appendRFC3339(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Int64 {
    /// The quotient rounded towards negative infinity; the divisor must be positive.
    func flooredDivision(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
