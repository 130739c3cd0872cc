// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import Testing

@Suite("RFC 3339 timestamps")
struct TimestampTests {
    func parse(_ text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        return Timestamp(rfc3339: bytes.span, 0..<bytes.count)
    }

    @Test(
        "every offset and precision of RFC 3339 is parsed to UTC with microseconds",
        arguments: [
            ("2025-11-15T05:48:32Z", "2025-11-15T05:48:32Z"),
            ("2025-11-15t05:48:32z", "2025-11-15T05:48:32Z"),
            ("2025-11-15 05:48:32.5Z", "2025-11-15T05:48:32.500000Z"),
            ("2025-11-15T05:48:32.1234569Z", "2025-11-15T05:48:32.123456Z"),
            ("2025-11-14T21:48:32-08:00", "2025-11-15T05:48:32Z"),
            ("2025-11-15T11:18:32+05:30", "2025-11-15T05:48:32Z"),
            ("2024-02-29T23:59:60Z", "2024-03-01T00:00:00Z"),
            ("2017-01-01T05:29:60.25+05:30", "2017-01-01T00:00:00.250000Z"),
            ("2020-12-31T23:30:00-01:00", "2021-01-01T00:30:00Z"),
        ]
    )
    func rfc3339IsParsed(text: String, expected: String) {
        #expect(parse(text)?.description == expected)
    }

    @Test(
        "invalid RFC 3339 times are refused",
        arguments: [
            "", "2025-11-15", "2025-11-15T05:48:32", "2025-13-01T00:00:00Z", "2025-04-31T00:00:00Z",
            "2023-02-29T00:00:00Z", "2025-11-15T24:00:00Z", "2025-11-15T05:60:00Z", "2025-11-15T05:48:61Z",
            "2025-06-30T12:30:60Z", "2025-06-30T23:59:60+05:30", "2025-06-29T23:59:60Z",
            "2025-11-15T05:48:32.Z", "2025-11-15T05:48:32+0530", "2025-11-15T05:48:32+24:00", "2025-11-15T05:48:32Zx",
            "2025-11-15T05:48:32.123", "x025-11-15T05:48:32Z", "2025-11-15T05:48:32+05:3",
        ]
    )
    func invalidRFC3339IsRefused(text: String) {
        #expect(parse(text) == nil)
    }

    @Test("dates match Foundation's calendar over 400 years")
    func datesMatchFoundation() throws {
        var utc = Calendar(identifier: .gregorian)
        utc.timeZone = try #require(TimeZone(identifier: "UTC"))
        for day in stride(from: 0, to: 146_097, by: 13) {
            let time = Timestamp(seconds: Int64(day) * 86_400 + 3_661)
            let parts = utc.dateComponents(
                [.year, .month, .day],
                from: Date(timeIntervalSince1970: Double(day) * 86_400)
            )
            let year = try #require(parts.year)
            let month = try #require(parts.month)
            let dayOfMonth = try #require(parts.day)
            let expected = String(format: "%04d-%02d-%02dT01:01:01Z", year, month, dayOfMonth)
            #expect(time.description == expected)
            #expect(parse(expected) == time)
        }
    }
}
