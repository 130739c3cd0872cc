// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import Testing

@testable import LogInput

@Suite("A time zone by its name")
struct ZoneNameTests {
    /// Microseconds of a wall-clock time as if it were UTC.
    static func wall(_ text: String) throws -> Int64 {
        Int64(try Date(text + "Z", strategy: .iso8601).timeIntervalSince1970) * 1_000_000
    }

    @Test(
        "a named time zone has its offset on the day of the stamp",
        arguments: [
            ("Europe/Berlin", "2025-11-15T06:41:00", "2025-11-15T05:41:00"),
            ("Europe/Berlin", "2025-07-15T07:41:00", "2025-07-15T05:41:00"),
            ("America/Los_Angeles", "2025-11-14T21:41:00", "2025-11-15T05:41:00"),
            ("Asia/Kathmandu", "2025-11-15T11:26:00", "2025-11-15T05:41:00"),
            ("Asia/Kolkata", "2025-11-15T11:11:00", "2025-11-15T05:41:00"),
            ("US/Pacific", "2025-11-14T21:41:00", "2025-11-15T05:41:00"),
            ("UTC", "2025-11-15T05:41:00", "2025-11-15T05:41:00"),
            ("+05:30", "2025-11-15T11:11:00", "2025-11-15T05:41:00"),
            ("-0800", "2025-11-14T21:41:00", "2025-11-15T05:41:00"),
            ("+2", "2025-11-15T07:41:00", "2025-11-15T05:41:00"),
        ]
    )
    func offsets(name: String, local: String, utc: String) throws {
        let zone = try ZoneOffsets(named: name)
        #expect(zone.utcMicroseconds(wall: try Self.wall(local)) == (try Self.wall(utc)))
    }

    @Test(
        "a named time zone agrees with the time zone database on every day of fifty years",
        arguments: [
            "Europe/London", "America/New_York", "America/Sao_Paulo", "Africa/Casablanca", "Africa/Cairo",
            "Australia/Lord_Howe", "Asia/Tehran", "Pacific/Apia", "Antarctica/Troll", "America/Caracas",
        ]
    )
    func everyDay(name: String) throws {
        let zone = try ZoneOffsets(named: name)
        let reference = try #require(TimeZone(identifier: name))
        for second in stride(from: Int64(946_728_000), to: 2_556_100_000, by: 86_400) {
            let offset = Int64(reference.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second))))
            guard reference.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second - 90_000))) == offset else {
                continue
            }
            try #require(zone.utcMicroseconds(wall: (second + offset) * 1_000_000) == second * 1_000_000, "\(second)")
        }
    }

    @Test(
        "a named time zone that does not exist is refused with the nearest one",
        arguments: [
            ("Europe/Berln", "Europe/Berlin"), ("berlin", "Europe/Berlin"), ("america/new york", "America/New_York"),
        ]
    )
    func suggestion(name: String, nearest: String) {
        #expect { try ZoneOffsets(named: name) } throws: { "\($0)".hasSuffix("did you mean \(nearest)?") }
    }

    @Test(
        "a named time zone that is nothing at all is refused",
        arguments: ["", "+", "+25:00", "+1:00", "+100", "+01:60", "12", "+0a"]
    )
    func zoneNameRefused(name: String) {
        #expect(throws: UnknownZone.self) { try ZoneOffsets(named: name) }
    }
}
