// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

@Suite("Log lines from journal entries")
struct LineCarrierTests {
    private static let time = Timestamp(seconds: 1_763_300_000)

    /// Decodes lines with a carrier each, one second apart, in the given streams.
    private func decode(_ lines: [(text: String, stream: UInt64)]) throws -> [String] {
        var bytes: [UInt8] = []
        var carriers: [LineCarrier] = []
        for (index, line) in lines.enumerated() {
            bytes += Array("\(line.text)\n".utf8)
            let writtenAt = Timestamp(seconds: 1_763_300_000 + Int64(index))
            carriers.append(LineCarrier(end: bytes.count, writtenAt: writtenAt, stream: line.stream))
        }
        var decoder = logDecoder(LogDecoderOptions(isLive: true))
        let decoded = decoder.decode(bytes.span, readAt: readingTime, carriers: carriers)
        return try canonical(decoded) + canonical(decoder.flush(readAt: readingTime))
    }

    @Test("a carried line has its carrier's time unless it has its own")
    func carriedLineTakesCarrierTime() throws {
        let events = try decode([
            ("foreign", 1),
            ("[DNP-FETCH] BGTask handler invoked (id=one)", 1),
            ("2025-11-16T01:00:00Z [DNP-FETCH] Cached content for scheduleId=two", 1),
        ])
        #expect(
            events.compactMap { LogReading.value(of: "timestamp", in: $0) }.sorted()
                == [
                    "2025-11-16T01:00:00Z", "\(Timestamp(seconds: 1_763_300_001))",
                ].sorted()
        )
    }

    @Test("equal lines of several journal entries are not repetitions")
    func equalLinesOfEntriesAreSeparate() throws {
        let line = "[DNP-FETCH] Fetch success (scheduleId=one, status=200)"
        #expect(try decode([(line, 1), (line, 1), (line, 1)]).count == 3)
    }

    @Test("several lines of one journal entry share its metadata")
    func linesOfAnEntryShareMetadata() throws {
        let text = "[DNP-FETCH] Cached content for scheduleId=a\n[DNP-FETCH] Cached content for scheduleId=b"
        let events = try decode([("x", 1), (text, 1)])
        #expect(
            events.map { LogReading.value(of: "timestamp", in: $0) } == [
                "\(Timestamp(seconds: 1_763_300_001))", "\(Timestamp(seconds: 1_763_300_001))",
            ]
        )
    }

    @Test("carried lines of two streams bind to their own cycles")
    func carriedStreamsBindSeparately() throws {
        let events = try decode([
            ("[DNP-FETCH] Starting fetch (scheduleId=one)", 1),
            ("[DNP-FETCH] Starting fetch (scheduleId=two)", 2),
            ("[DNP-FETCH] Fetch success (status=200, bytes=1, ttl=1)", 1),
            ("[DNP-FETCH] Fetch success (status=200, bytes=1, ttl=1)", 2),
        ])
        #expect(
            events.map { LogReading.short($0) }.filter { $0.hasPrefix("prefetch_success") }.map {
                String($0.split(separator: " ")[1])
            } == ["one", "two"]
        )
    }
}

@Suite("JSON events among log lines")
struct LogEventLinesTests {
    private let event = #"{"event":"prefetch_executed","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#

    @Test("a line is unrecognised if an event on it is rejected, whatever else it holds")
    func lineWithRejectedEventIsUnrecognised() throws {
        let reading = try LogReading(
            """
            {"events":[{"event":"x"},{"event":"y"},{"event":"z"}]}
            \(event)
            \(event) \(event)
            {"event":"prefetch_su

            """,
            LogDecoderOptions(wrapper: .events)
        )
        #expect(reading.events.count == 3)
        #expect(reading.rejections.count == 4)
        #expect(reading.lines.recognised == 2)
        #expect(reading.lines.unrecognised == 2)
    }

    @Test("byte order marks and control characters before an event are ignored")
    func eventLineIsTrimmed() throws {
        let reading = try LogReading("\(event)\n\u{1}\(event)\n\u{FEFF}\(event)\r\n \0\(event)\n")
        #expect(reading.events.count == 4)
        #expect(reading.lines.recognised == 4)
    }
}

@Suite("The console of Xcode")
struct XcodeConsoleTests {
    @Test(
        "a category without its subsystem makes a line the plugin's only by a known message",
        arguments: [
            ("[fetch] BGTask handler invoked (id=a)", "recognised"),
            ("[fetch] [DNP-FETCH] BGTask handler invoked (id=a)", "recognised"),
            ("[com.timesafari.dailynotification:fetch] hello", "unrecognised"),
            ("[fetch] [DNP-FETCH] hello", "unrecognised"),
            ("[fetch] hello", "foreign"), ("[debug] hello", "foreign"),
            ("[network] BGTask handler invoked (id=a)", "foreign"),
            ("[com.example.app:fetch] BGTask handler invoked (id=a)", "foreign"),
        ]
    )
    func categoryAlone(message: String, result: String) throws {
        let lines = try LogReading("2025-11-14 05:48:00.123456+0000 App[123:456] \(message)\n").lines
        let counts = ["recognised": lines.recognised, "unrecognised": lines.unrecognised, "foreign": lines.foreign]
        #expect(counts.filter { $0.value > 0 } == [result: 1])
    }
}

@Suite("Logs of a single device")
struct SingleDeviceTests {
    private let log = """
        11-14 05:48:00.123  4211  4230 I DNP-FETCH: BGTask handler invoked (id=notif-1)
        Nov 14 05:48:02 phone App[77]: [DNP-FETCH] Fetch success (id=notif-1, status=200, bytes=1234, ttl=86400)
        {"event":"content_cached","scheduleId":"notif-1","timestamp":"2025-11-14T05:48:03Z"}
        {"event":"content_cached","scheduleId":"notif-1","timestamp":"2025-11-14T05:48:04Z","deviceId":"d"}

        """

    @Test("a log of a given installation is one installation, whatever hosts and processes it names")
    func givenInstallationOverridesDevices() throws {
        var options = LogDecoderOptions()
        options.installation = Pseudonym(high: 7, low: 8)
        let events = try LogReading(log, options).events
        let installations = events.map { LogReading.value(of: "installation", in: $0) }
        #expect(events.count == 4)
        #expect(installations.filter { $0 == "00000000000000070000000000000008" }.count == 3)
        #expect(installations.allSatisfy { $0 != nil })
    }

    @Test("a log without a given installation is split by its devices")
    func devicesSplitALog() throws {
        let events = try LogReading(log).events
        #expect(Set(events.map { LogReading.value(of: "installation", in: $0) }).count > 2)
    }
}
