// SPDX-License-Identifier: Apache-2.0

/// Bytes that are appended to and written in one go, so that no text is made for an event.
package struct OutputBuffer: Sendable {
    package private(set) var bytes: [UInt8] = []
    /// The last day whose date was written, and that date: most times share it.
    private var cachedDay = Int64.min
    private var date = [UInt8](repeating: 0, count: 10)

    package init() {}

    package var count: Int { bytes.count }

    /// Empties the buffer and keeps its memory.
    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    package mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    package mutating func append(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    package mutating func append(_ byte: UInt8) { bytes.append(byte) }

    /// Appends a decimal number.
    package mutating func append(decimal number: Int64) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        if rest < 10 { return bytes.append(UInt8(ascii: "0") + UInt8(rest)) }
        var digits: InlineArray<20, UInt8> = .init(repeating: 0)
        var count = 0
        while rest > 0 {
            digits[count] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
            count += 1
        }
        while count > 0 {
            count -= 1
            bytes.append(digits[count])
        }
    }

    /// Appends a number with so many digits.
    mutating func append(_ number: Int64, digits: Int) {
        var place = bytes.count + digits
        for _ in 0..<digits { bytes.append(UInt8(ascii: "0")) }
        var rest = number
        for _ in 0..<digits {
            place -= 1
            bytes[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// How a time is written.
    struct TimeForm {
        /// What stands between the date and the time of day.
        var separator = UInt8(ascii: "T")
        /// How many digits a second has behind its point.
        var digits = 0
    }

    /// Appends `2025-11-15T05:48:32.123456` of a time in microseconds since 1970, in UTC.
    mutating func append(time: Int64, _ form: TimeForm) {
        append(dateOf: time)
        bytes.append(form.separator)
        append(clockOf: time, digits: form.digits)
    }

    /// Appends a time as RFC 3339 in UTC: to the second where it is whole, else to the microsecond.
    mutating func append(rfc3339 time: Int64) {
        append(time: time, TimeForm(digits: time % 1_000_000 == 0 ? 0 : 6))
        bytes.append(UInt8(ascii: "Z"))
    }

    mutating func append(dateOf time: Int64) {
        let day = time.floored(by: 86_400_000_000)
        if day != cachedDay {
            let civil = CalendarDate(daysSince1970: day)
            var fresh = OutputBuffer()
            fresh.append(civil.year, digits: 4)
            fresh.append("-")
            fresh.append(civil.month, digits: 2)
            fresh.append("-")
            fresh.append(civil.day, digits: 2)
            date = fresh.bytes
            cachedDay = day
        }
        bytes.append(contentsOf: date)
    }

    /// Appends `05:48:32.123456`.
    mutating func append(clockOf time: Int64, digits: Int) {
        let inDay = time - time.floored(by: 86_400_000_000) * 86_400_000_000
        let second = Int32(truncatingIfNeeded: inDay / 1_000_000)
        var text: InlineArray<15, UInt8> = .init(repeating: UInt8(ascii: ":"))
        Self.put(second / 3_600, &text, 0)
        Self.put(second / 60 % 60, &text, 3)
        Self.put(second % 60, &text, 6)
        guard digits > 0 else {
            for index in 0..<8 { bytes.append(text[index]) }
            return
        }
        text[8] = UInt8(ascii: ".")
        let fraction = Int32(truncatingIfNeeded: inDay % 1_000_000)
        Self.put(fraction / 10_000, &text, 9)
        Self.put(fraction / 100 % 100, &text, 11)
        Self.put(fraction % 100, &text, 13)
        unsafe text.span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0[..<(9 + digits)]) }
    }

    private static func put(_ number: Int32, _ text: inout InlineArray<15, UInt8>, _ place: Int) {
        text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10)
        text[place + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
    }
}

extension Int64 {
    /// The quotient, rounded down.
    func floored(by divisor: Int64) -> Int64 { self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor) }
}
