// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

@Suite("Lines that something carried")
struct LineCarrierTests {
    private static let time = Timestamp(seconds: 1_763_300_000)

    /// Decodes lines, each carried by itself, one second after the other, in the streams given.
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

    @Test("have its time where they tell none, and their own where they do")
    func times() throws {
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

    @Test("equal lines of several entries are several lines")
    func repeated() throws {
        let line = "[DNP-FETCH] Fetch success (scheduleId=one, status=200)"
        #expect(try decode([(line, 1), (line, 1), (line, 1)]).count == 3)
    }

    @Test("several lines of one entry share what it tells")
    func severalLines() throws {
        let text = "[DNP-FETCH] Cached content for scheduleId=a\n[DNP-FETCH] Cached content for scheduleId=b"
        let events = try decode([("x", 1), (text, 1)])
        #expect(
            events.map { LogReading.value(of: "timestamp", in: $0) } == [
                "\(Timestamp(seconds: 1_763_300_001))", "\(Timestamp(seconds: 1_763_300_001))",
            ]
        )
    }

    @Test("lines of two streams bind to the cycles of their own")
    func streams() throws {
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
