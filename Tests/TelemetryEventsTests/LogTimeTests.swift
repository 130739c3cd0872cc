// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

@Suite("Times of log lines")
struct LogTimeTests {
    /// The reading time is 2025-11-17T17:20:00Z.
    private func times(_ log: String, _ options: LogDecoderOptions = LogDecoderOptions()) throws -> [String] {
        try LogReading(log, options).events.compactMap { LogReading.value(of: "timestamp", in: $0) }
    }

    @Test("a stamp without a year takes the year nearest to the absolute times in the messages")
    func yearComesFromMessages() throws {
        let log = """
            12-31 23:50:00.000  1  1 I DNP-PLUGIN: Startup complete (hasPendingSchedules=false)
            12-31 23:51:00.000  1  1 I DNP-FETCH: Prefetch scheduled 5 minutes before notification (notificationTime=2024-01-01T00:10:00Z)
            01-01 00:06:00.000  1  1 I DNP-FETCH: BGTask handler invoked (id=x)
            """
        #expect(
            try times(log).sorted() == ["2023-12-31T23:50:00Z", "2023-12-31T23:51:00Z", "2024-01-01T00:06:00Z"]
        )
    }

    @Test(
        "of two times in a line that nearer to the message is its own, unless only that of a heading has a zone",
        arguments: [
            "2025-11-16 09:00:00,123 - app - INFO - 2025-11-15T05:48:00Z ", "I/flutter ( 42): 2025-11-15T05:48:00Z ",
            "2025-11-16T09:00:00Z INFO app: 2025-11-15T05:48:00Z ",
            "2025-11-15 05:48:00.000000+0000 App[42:1f2e] 2025-11-16 09:00:00 ",
            "2025-11-16 09:00:00.000 INFO app: [2025-11-15T05:48:00Z] ", "INFO 2025-11-15T05:48:00Z app: ",
            "2025-11-16 09:00:00.123456 App{Foundation}[42] <NOTICE>: 2025-11-15T05:48:00Z ",
        ]
    )
    func timeNearTheMessage(heading: String) throws {
        #expect(try times("\(heading)[DNP-FETCH] BGTask handler invoked (id=a)") == ["2025-11-15T05:48:00Z"])
    }

    @Test("without absolute times a stamp takes the latest past year, and 29 February a leap year")
    func yearIsTheLatestPastOne() throws {
        func time(_ stamp: String) throws -> [String] {
            try times("\(stamp)  1  1 I DNP-PLUGIN: Startup complete (hasPendingSchedules=false)")
        }
        #expect(try time("11-17 17:00:00.000") == ["2025-11-17T17:00:00Z"])
        #expect(try time("11-19 17:00:00.000") == ["2024-11-19T17:00:00Z"])
        #expect(try time("02-29 17:00:00.000") == ["2024-02-29T17:00:00Z"])
    }

    @Test("29 February is in the nearest leap year, however far away")
    func leapDayIsInTheNearestLeapYear() throws {
        let line = "02-29 05:50:00.000  4242  4260 I DNP-FETCH: BGTask handler invoked (id=x)"
        #expect(try times(line) == ["2024-02-29T05:50:00Z"])
        let far = Timestamp(seconds: 1_800_000_000)
        let reading = try LogReading(line, at: far)
        #expect(LogReading.value(of: "timestamp", in: reading.events.first ?? "") == "2024-02-29T05:50:00Z")
        let anchored =
            "02-29 05:50:00.000  1  1 I DNP-FETCH: Prefetch scheduled 5 minutes before notification (notificationTime=2026-03-01T05:53:00Z)"
        let near = try LogReading(anchored, at: far)
        #expect(near.events.count + near.rejections.count == 1)
    }

    @Test("a stamp without a zone is in the given zone")
    func stampIsInTheGivenZone() throws {
        let log = "2025-11-14 05:50:00.123 [DNP-PLUGIN] Startup complete (hasPendingSchedules=false)"
        #expect(try times(log) == ["2025-11-14T05:50:00.123000Z"])
        let west = LogDecoderOptions(zone: ZoneOffsets(fixed: -5 * 3_600))
        #expect(try times(log, west) == ["2025-11-14T10:50:00.123000Z"])
        #expect(
            try times("2025-11-14 05:50:00+0100 [DNP-PLUGIN] configure() called", west) == ["2025-11-14T04:50:00Z"]
        )
    }

    @Test("a line without a stamp takes the last one of its stream")
    func lineTakesLastStampOfItsStream() throws {
        let log = """
            2025-11-14T05:50:00Z [DNP-PLUGIN] Startup complete (hasPendingSchedules=false)
            [DNP-PLUGIN] configure() called
            """
        #expect(try times(log) == ["2025-11-14T05:50:00Z", "2025-11-14T05:50:00Z"])
        var decoder = logDecoder(LogDecoderOptions())
        let decoded = decoder.decode(Array((log + "\n").utf8).span, readAt: readingTime)
        var cursor = EventCursor()
        var assumed: [Bool] = []
        while let event = try cursor.next(in: decoded.events.bytes.span) { assumed.append(event.isTimeAssumed) }
        #expect(assumed == [false, true])
    }

    @Test(
        "lines of a log without stamps have the reading time, in order; only a live log counts it as known"
    )
    func unstampedLogHasReadingTime() throws {
        let log = Array("[DNP-PLUGIN] configure() called\n[DNP-PLUGIN] status = ready\n".utf8)
        for isLive in [true, false] {
            var decoder = logDecoder(LogDecoderOptions(isLive: isLive))
            let decoded = decoder.decode(log.span, readAt: readingTime)
            var cursor = EventCursor()
            var last = readingTime
            while let event = try cursor.next(in: decoded.events.bytes.span) {
                #expect(event.timestamp > last && event.timestamp.microseconds - readingTime.microseconds < 10)
                #expect(event.isTimeAssumed == !isLive)
                last = event.timestamp
            }
        }
    }

    @Test("a stamp outside the limits rejects the event and names the line")
    func stampOutsideLimitsIsRejected() throws {
        let reading = try LogReading(
            """
            2019-11-14T05:50:00Z [DNP-PLUGIN] configure() called
            2025-11-17T17:00:00Z [DNP-PLUGIN] configure() called
            2031-11-14T05:50:00Z [DNP-PLUGIN] configure() called
            """
        )
        #expect(reading.events.count == 1)
        #expect(reading.rejections.map(\.index) == [0, 2])
        #expect(reading.rejections.map(\.reason) == [.timestampTooOld, .timestampInFuture])
    }

    @Test("JSON events among log lines are decoded, and an invalid one is reported with its line")
    func eventsAmongLogLinesAreDecoded() throws {
        let event = #"{"event":"prefetch_executed","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#
        let reading = try LogReading(
            "foreign\n\(event)\n\(event.dropLast())\n[DNP-PLUGIN] configure() called\n\(event)\n"
        )
        #expect(reading.lines.recognised == 3)
        #expect(reading.lines.foreign == 1)
        #expect(reading.lines.unrecognised == 1)
        #expect(reading.rejections.map(\.index) == [2])
        #expect(reading.unrecognised.map(\.number) == [3])
    }
}

@Suite("Time zones of log stamps")
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
        "a wall-clock time is converted with the offset of its day",
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
    func wallClockUsesTheOffsetOfItsDay(wall: String, expected: String) {
        #expect(utc(wall, in: berlin) == expected)
    }

    @Test("a wall-clock time skipped in spring uses the offset before the change")
    func skippedTimeUsesTheOffsetBefore() {
        #expect(utc("2025-03-30T02:00:00", in: berlin) == "2025-03-30T01:00:00Z")
        #expect(utc("2025-03-30T02:59:59", in: berlin) == "2025-03-30T01:59:59Z")
    }

    @Test("a wall-clock time repeated in autumn is the first of the two")
    func repeatedTimeIsTheFirst() {
        #expect(utc("2025-10-26T02:00:00", in: berlin) == "2025-10-26T00:00:00Z")
        #expect(utc("2025-10-26T02:59:59", in: berlin) == "2025-10-26T00:59:59Z")
    }

    @Test("a wall-clock time repeated in autumn has a second reading, and no other time has one")
    func repeatedTimeHasASecondReading() {
        func second(_ wall: String) -> String? {
            let bytes = Array("\(wall)Z".utf8)
            let time = Timestamp(rfc3339: bytes.span, 0..<bytes.count)
            return time.flatMap { berlin.repetition(ofWall: $0.microseconds) }
                .map { "\(Timestamp(microseconds: $0))" }
        }
        #expect(second("2025-10-26T02:00:00") == "2025-10-26T01:00:00Z")
        #expect(second("2025-10-26T02:59:59.5") == "2025-10-26T01:59:59.500000Z")
        for other in ["2025-10-26T01:59:59", "2025-10-26T03:00:00", "2025-03-30T02:30:00", "2025-07-01T00:00:00"] {
            #expect(second(other) == nil)
        }
        #expect(ZoneOffsets(fixed: 3_600).repetition(ofWall: 0) == nil)
    }

    @Test(
        "a stamp that a clock shows twice is the later one behind later lines, or where a run is nearer to its notification"
    )
    func repeatedTimeIsTheSecond() throws {
        func lines(_ log: String) throws -> [String] {
            var options = LogDecoderOptions(zone: berlin)
            options.isOneDevice = true
            return try LogReading(log, options).events.compactMap { LogReading.value(of: "timestamp", in: $0) }.sorted()
        }
        let plan = "DNP-FETCH: Prefetch scheduled 5 minutes before notification (notificationTime=2025-10-26T02:10:00Z)"
        let launch = "DNP-PLUGIN: Startup complete (hasPendingSchedules=false)"
        let run = "DNP-FETCH: BGTask handler invoked (id=x)"
        // The launch waits for the year that the plan tells.
        let behind = "10-26 02:55:00.000  1  1 I \(launch)\n10-26 02:48:00.000  1  1 I \(plan)\n"
        #expect(try lines(behind) == ["2025-10-26T00:55:00Z", "2025-10-26T01:48:00Z"])
        #expect(
            try lines(behind.replacing("02:48:00", with: "02:54:00")) == [
                "2025-10-26T00:54:00Z", "2025-10-26T00:55:00Z",
            ]
        )
        let near =
            "2025-10-26 02:40:00 [\(plan.replacing(": P", with: "] P"))\n2025-10-26 02:57:00 [\(run.replacing(": B", with: "] B"))\n"
        #expect(try lines(near) == ["2025-10-26T00:40:00Z", "2025-10-26T01:57:00Z"])
        #expect(
            try lines(near.replacing("02:10:00Z", with: "01:10:00Z")) == [
                "2025-10-26T00:40:00Z", "2025-10-26T00:57:00Z",
            ]
        )
    }

    @Test("fixed zone offsets work west of UTC and with half hours")
    func fixedOffsets() {
        #expect(utc("2025-11-15T05:48:00", in: .utc) == "2025-11-15T05:48:00Z")
        #expect(utc("2025-11-14T21:48:00", in: ZoneOffsets(fixed: -28_800)) == "2025-11-15T05:48:00Z")
        #expect(utc("2025-11-15T11:18:00", in: ZoneOffsets(fixed: 19_800)) == "2025-11-15T05:48:00Z")
    }

    @Test("a zone west of UTC changes at its own wall-clock hours")
    func westernZoneChangesAtItsHours() {
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

    @Test("extreme zone transitions do not overflow")
    func extremeTransitionsDoNotOverflow() {
        let zone = ZoneOffsets(
            transitions: [(utcSeconds: .min, offset: .max), (utcSeconds: .max, offset: .min)],
            before: .min
        )
        for wall in [Int64.min, -1, 0, 1, Int64.max] { _ = zone.utcMicroseconds(wall: wall) }
        #expect(ZoneOffsets(transitions: [], before: 60).utcMicroseconds(wall: 60_000_000) == 0)
    }
}
