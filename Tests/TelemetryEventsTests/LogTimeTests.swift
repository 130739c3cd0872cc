// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("When a log line was written")
struct LogTimeTests {
    /// 2025-11-17T17:20:00Z is the time of reading.
    private func times(_ log: String, _ options: LogDecoderOptions = LogDecoderOptions()) throws -> [String] {
        try LogReading(log, options).events.compactMap { LogReading.value(of: "timestamp", in: $0) }
    }

    @Test("a stamp without a year takes the one that brings it nearest to the times in the messages")
    func yearOfMessages() throws {
        let log = """
            12-31 23:50:00.000  1  1 I DNP-PLUGIN: Startup complete (hasPendingSchedules=false)
            12-31 23:51:00.000  1  1 I DNP-FETCH: Prefetch scheduled 5 minutes before notification (notificationTime=2024-01-01T00:10:00Z)
            01-01 00:06:00.000  1  1 I DNP-FETCH: BGTask handler invoked (id=x)
            """
        #expect(
            try times(log).sorted() == ["2023-12-31T23:50:00Z", "2023-12-31T23:51:00Z", "2024-01-01T00:06:00Z"]
        )
    }

    @Test("without such times it takes the latest past year, and 29 February a leap year")
    func latestPast() throws {
        func time(_ stamp: String) throws -> [String] {
            try times("\(stamp)  1  1 I DNP-PLUGIN: Startup complete (hasPendingSchedules=false)")
        }
        #expect(try time("11-17 17:00:00.000") == ["2025-11-17T17:00:00Z"])
        #expect(try time("11-19 17:00:00.000") == ["2024-11-19T17:00:00Z"])
        #expect(try time("02-29 17:00:00.000") == ["2024-02-29T17:00:00Z"])
    }

    @Test("29 February is in the nearest leap year, however far that is")
    func leapDay() throws {
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

    @Test("a stamp without a zone is in the zone that was given")
    func zone() throws {
        let log = "2025-11-14 05:50:00.123 [DNP-PLUGIN] Startup complete (hasPendingSchedules=false)"
        #expect(try times(log) == ["2025-11-14T05:50:00.123000Z"])
        let west = LogDecoderOptions(zone: ZoneOffsets(fixed: -5 * 3_600))
        #expect(try times(log, west) == ["2025-11-14T10:50:00.123000Z"])
        #expect(
            try times("2025-11-14 05:50:00+0100 [DNP-PLUGIN] configure() called", west) == ["2025-11-14T04:50:00Z"]
        )
    }

    @Test("a line without a stamp has the last one of its stream")
    func lastStamp() throws {
        let log = """
            2025-11-14T05:50:00Z [DNP-PLUGIN] Startup complete (hasPendingSchedules=false)
            [DNP-PLUGIN] configure() called
            """
        #expect(try times(log) == ["2025-11-14T05:50:00Z", "2025-11-14T05:50:00Z"])
    }

    @Test(
        "where no line has a stamp each has the time of reading, in order; only in a live log is that when it happened"
    )
    func unstamped() throws {
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

    @Test("a stamp outside the limits refuses the event and names the line")
    func limits() throws {
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

    @Test("JSON events among the lines are decoded as such, and a broken one is named by its line")
    func eventsAmongLines() throws {
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
