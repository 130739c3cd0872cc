// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

@Suite("Zones of log stamps")
struct ZoneOffsetsTests {
    /// Central European Time in 2025: summer time from 30 March to 26 October, at 01:00 UTC.
    let berlin = ZoneOffsets(
        transitions: [(utcSeconds: 1_761_440_400, offset: 3_600), (utcSeconds: 1_743_296_400, offset: 7_200)],
        before: 3_600
    )

    func utc(_ wall: String, in zone: ZoneOffsets) -> String? {
        let bytes = Array("\(wall)Z".utf8)
        return Timestamp(rfc3339: bytes.span, 0..<bytes.count).map {
            "\(Timestamp(microseconds: zone.utcMicroseconds(wall: $0.microseconds)))"
        }
    }

    @Test(
        "a wall clock is read with the offset of its day",
        arguments: [
            ("2025-01-15T12:00:00", "2025-01-15T11:00:00Z"),
            ("2025-03-30T01:59:59.999999", "2025-03-30T00:59:59.999999Z"),
            ("2025-03-30T03:00:00", "2025-03-30T01:00:00Z"),
            ("2025-07-15T12:00:00", "2025-07-15T10:00:00Z"),
            ("2025-10-26T01:59:59", "2025-10-25T23:59:59Z"),
            ("2025-10-26T03:00:00", "2025-10-26T02:00:00Z"),
            ("2026-01-15T12:00:00", "2026-01-15T11:00:00Z"),
        ]
    )
    func reads(wall: String, expected: String) {
        #expect(utc(wall, in: berlin) == expected)
    }

    @Test("a time that the clocks skip in spring counts with the offset before")
    func gap() {
        #expect(utc("2025-03-30T02:00:00", in: berlin) == "2025-03-30T01:00:00Z")
        #expect(utc("2025-03-30T02:59:59", in: berlin) == "2025-03-30T01:59:59Z")
    }

    @Test("a time that the clocks show twice in autumn is the first of the two")
    func fold() {
        #expect(utc("2025-10-26T02:00:00", in: berlin) == "2025-10-26T00:00:00Z")
        #expect(utc("2025-10-26T02:59:59", in: berlin) == "2025-10-26T00:59:59Z")
    }

    @Test("fixed offsets, also west of UTC and with half hours")
    func fixed() {
        #expect(utc("2025-11-15T05:48:00", in: .utc) == "2025-11-15T05:48:00Z")
        #expect(utc("2025-11-14T21:48:00", in: ZoneOffsets(fixed: -28_800)) == "2025-11-15T05:48:00Z")
        #expect(utc("2025-11-15T11:18:00", in: ZoneOffsets(fixed: 19_800)) == "2025-11-15T05:48:00Z")
    }

    @Test("a zone west of UTC changes at its own hours")
    func west() {
        let losAngeles = ZoneOffsets(
            transitions: [(utcSeconds: 1_741_514_400, offset: -25_200), (utcSeconds: 1_762_074_000, offset: -28_800)],
            before: -28_800
        )
        #expect(utc("2025-03-09T01:59:59", in: losAngeles) == "2025-03-09T09:59:59Z")
        #expect(utc("2025-03-09T02:30:00", in: losAngeles) == "2025-03-09T10:30:00Z")
        #expect(utc("2025-03-09T03:00:00", in: losAngeles) == "2025-03-09T10:00:00Z")
        #expect(utc("2025-11-02T01:30:00", in: losAngeles) == "2025-11-02T08:30:00Z")
        #expect(utc("2025-11-02T02:00:00", in: losAngeles) == "2025-11-02T10:00:00Z")
    }

    @Test("changes that no calendar reaches do no harm")
    func extremes() {
        let zone = ZoneOffsets(
            transitions: [(utcSeconds: .min, offset: .max), (utcSeconds: .max, offset: .min)],
            before: .min
        )
        for wall in [Int64.min, -1, 0, 1, Int64.max] { _ = zone.utcMicroseconds(wall: wall) }
        #expect(ZoneOffsets(transitions: [], before: 60).utcMicroseconds(wall: 60_000_000) == 0)
    }
}
