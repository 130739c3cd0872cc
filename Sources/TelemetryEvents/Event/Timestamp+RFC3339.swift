// SPDX-License-Identifier: Apache-2.0

extension Timestamp {
    /// Reads an RFC 3339 time: a date, `T`, `t` or a space, a time with any number of decimals (microseconds are kept),
    /// and `Z` or an offset. A leap second counts as the second after it. Nil for anything else.
    public init?(rfc3339 bytes: Span<UInt8>, _ range: Range<Int>) {
        guard range.count >= 20, let clock = CivilClock(bytes, at: range.lowerBound) else { return nil }
        var position = range.lowerBound + CivilClock.length
        var fraction: Int64 = 0
        if bytes[position] == UInt8(ascii: ".") {
            position += 1
            let firstDigit = position
            if position + 8 <= range.upperBound, let six = DecimalWord(bytes.word(at: position)).firstSixDigits {
                fraction = six
                position += 6
                while position < range.upperBound, bytes[position].isDigit { position += 1 }
            }
            var scale: Int64 = position > firstDigit ? 0 : 100_000
            while position < range.upperBound, bytes[position].isDigit {
                fraction += Int64(bytes[position] - 0x30) * scale
                scale /= 10
                position += 1
            }
            if position == firstDigit { return nil }
        }
        guard position < range.upperBound else { return nil }

        var offset: Int64 = 0
        switch bytes[position] {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"):
            position += 1
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            guard
                position + 6 <= range.upperBound, bytes[position + 3] == UInt8(ascii: ":"),
                let hours = bytes.decimal(at: position + 1, digits: 2), hours <= 23,
                let minutes = bytes.decimal(at: position + 4, digits: 2), minutes <= 59
            else { return nil }
            offset = (hours * 60 + minutes) * (bytes[position] == UInt8(ascii: "-") ? -60 : 60)
            position += 6
        default:
            return nil
        }
        guard position == range.upperBound else { return nil }

        microseconds = (clock.secondsSince1970 - offset) * 1_000_000 + fraction
    }

    /// Appends the time as RFC 3339 in UTC, with six decimals where it has a fraction of a second.
    ///
    /// Years outside 0 to 9999 have no such form; they cannot come out of the decoder.
    public func appendRFC3339(to output: inout [UInt8]) {
        let seconds = microseconds.flooredDivision(by: 1_000_000)
        let fraction = microseconds - seconds * 1_000_000
        let days = seconds.flooredDivision(by: 86_400)
        let time = seconds - days * 86_400
        let (year, month, day) = CivilDate.date(daysSince1970: days)
        output.appendDecimal(year, digits: 4)
        output.append(UInt8(ascii: "-"))
        output.appendDecimal(month, digits: 2)
        output.append(UInt8(ascii: "-"))
        output.appendDecimal(day, digits: 2)
        output.append(UInt8(ascii: "T"))
        output.appendDecimal(time / 3_600, digits: 2)
        output.append(UInt8(ascii: ":"))
        output.appendDecimal(time / 60 % 60, digits: 2)
        output.append(UInt8(ascii: ":"))
        output.appendDecimal(time % 60, digits: 2)
        if fraction != 0 {
            output.append(UInt8(ascii: "."))
            output.appendDecimal(fraction, digits: 6)
        }
        output.append(UInt8(ascii: "Z"))
    }
}

extension Timestamp: CustomStringConvertible {
    /// The time as RFC 3339 in UTC.
    public var description: String {
        var bytes: [UInt8] = []
        appendRFC3339(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Int64 {
    /// The quotient rounded towards negative infinity; the divisor is positive.
    func flooredDivision(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}

extension Span<UInt8> {
    /// The number that so many decimal digits make; nil when one of them is no digit.
    func decimal(at start: Int, digits: Int) -> Int64? {
        var value: Int64 = 0
        for index in start..<start + digits {
            guard self[index].isDigit else { return nil }
            value = value * 10 + Int64(self[index] - 0x30)
        }
        return value
    }
}
