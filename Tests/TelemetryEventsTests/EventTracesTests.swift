// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

@Suite("Lines of a log that are meant as JSON events")
struct EventTracesTests {
    private static let event = #"{"event":"prefetch_executed","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#
    private static let untold = #"{"scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#

    private static let many = Array(repeating: event, count: 1_000).joined(separator: ",")

    /// An object of 70 KB whose text is begun.
    private static func long(_ head: String) -> String { "\(head)\(String(repeating: "x", count: 70_000))\"}" }

    private static var strict: LogDecoderOptions {
        var options = LogDecoderOptions()
        options.takesAllJSON = true
        return options
    }

    @Test("an array and an envelope on a line of a log are taken as over HTTP")
    func listsAreTaken() throws {
        for line in [
            "[\(Self.event)]", "[ \(Self.event) ]", " [\t\(Self.event)]\r", "{\"events\":[\(Self.event)]}",
            "{\"sentAt\":\"2025-11-15T05:48:33Z\",\"events\":[\(Self.event)]}", "\u{1B}[32m[\(Self.event)]\u{1B}[0m",
        ] {
            let reading = try LogReading("before\n\(line)\nafter\n")
            #expect(reading.events.count == 1, "\(line)")
            #expect(reading.rejections == [], "\(line)")
            #expect(reading.lines.recognised == 1 && reading.lines.foreign == 2, "\(line)")
        }
    }

    @Test("each refused event of a line in a log is named by the line, however many events come before it")
    func rejectionsNameTheirLines() throws {
        let reading = try LogReading(
            """
            [\(Self.event),\(Self.event),7]
            {"events":[\(Self.event),\(Self.untold)]}
            \(Self.event) \(Self.event)
            \(Self.untold)
            foreign
            \(Self.untold)\n
            """
        )
        #expect(reading.events.count == 5)
        #expect(reading.rejections.map(\.index) == [0, 1, 3, 5])
        #expect(reading.rejections.map(\.reason) == [.notAnObject, .missingField, .missingField, .missingField])
        #expect(reading.lines.unrecognised == 4 && reading.lines.recognised == 1)
        #expect(reading.unrecognised.map(\.number) == [1, 2, 4, 6])
    }

    /// Lines that hold an event which cannot be taken.
    static let lost: [(line: String, reason: RejectionReason)] = [
        (untold, .missingField),
        (#"{"id":"a","timestamp":"2025-11-15T05:48:32Z"}"#, .missingField),
        (#"{"id":"a","scheduled_for":"2025-11-15T05:53:00Z","timestamp":"2025-11-15T05:48:32Z"}"#, .missingField),
        (#"{"timestamp":"2025-11-15T05:48:32Z"}"#, .missingField),
        (#"{"scheduleId":"a","level":"info","msg":"x"}"#, .missingField),
        (#"{"\u0065vent":"prefetch_lost"}"#, .unknownKind),
        (#"{"events":5}"#, .wrongType),
        (#"{"events":{"event":"prefetch_success"}}"#, .wrongType),
        (#"{"event":"prefetch_su"#, .truncated),
        (#"{"even"#, .truncated),
        (#"{"timestamp":"2025-"#, .truncated),
        (#"[{"event":"prefetch_su"#, .truncated),
        (#"{"events":[{"event":"prefetch_su"#, .truncated),
        (#"t":"prefetch_executed","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#, .malformedJSON),
        (#"5-11-15T05:48:32Z","id":"a"}"#, .notAnObject),
        (#"","scheduleId":"a"}]}"#, .notAnObject),
        (#"  "event": "prefetch_success","#, .notAnObject),
        (long(#"{"event":"prefetch_executed","x":""#), .tooLong),
        (long(#"{"reason":""#), .tooLong),
        ("[\(many)]", .tooLong),
        ("{\"events\":[\(many)]}", .tooLong),
    ]

    @Test(
        "a line of a log with an event that cannot be taken is rejected once, with its reason",
        arguments: lost.indices
    )
    func lostEventsAreRejected(index: Int) throws {
        let (line, reason) = Self.lost[index]
        for options in [LogDecoderOptions(), Self.strict] {
            let reading = try LogReading("\(Self.event)\n\(line)\n\(Self.event)\n", options)
            #expect(reading.events.count == 2)
            #expect(reading.rejections.map(\.index) == [1])
            #expect(reading.rejections.map(\.reason) == [reason])
            #expect(reading.lines.unrecognised == 1 && reading.lines.foreign == 0)
        }
    }

    /// Lines that other programs write.
    static let foreign: [String] = [
        "{}", "{", "}", "[]", "[", "]", "[1,2]", "[{}]", "[{\"a\":1}]", "{\"a\":", "{\"level\":\"in", "\"x\"", "},",
        "]}",
        #"{"level":"info","timestamp":"2025-11-15T05:48:32Z","message":"x"}"#,
        #"{"timestamp":"2025-11-15T05:48:32Z","level":"in"#,
        #"{"level":"info","payload":{"event":"prefetch_success","scheduleId":"a"}}"#,
        #"[{"level":"info","payload":[{"event":"prefetch_success"}]}]"#,
        #"{"name":"screen","appVersion":"1","installationId":"x","eventId":"y","platform":"ios"}"#,
        #"{"level":"info","events":7}"#,
        #"INFO sending {"event":"prefetch_success","scheduleId":"a"}"#,
        #"2025-11-15 05:48:00 INFO sending [{"event":"prefetch_success"}]"#,
        #"  "status": 200,"#, #"  "status": 200, "level": "info" }"#,
        #"{"id":"a","title":"x","ttl":86400,"scheduled_for":"2025-11-15T05:53:00Z"}"#,
        #"  "scheduled_for": "2025-11-15T05:53:00Z""#,
        "{\(String(repeating: " ", count: 70_000))}",
        long(#"{"message":""#),
    ]

    @Test("the JSON of other programs is foreign in a log", arguments: foreign)
    func otherJSONIsForeign(line: String) throws {
        let reading = try LogReading("\(Self.event)\n\(line)\n\(Self.event)\n")
        #expect(reading.events.count == 2)
        #expect(reading.rejections == [])
        #expect(reading.lines.foreign == 1)
    }

    @Test("where all JSON is meant as events, each line that begins like one is rejected, and log lines are not")
    func strictLines() throws {
        for line in Self.foreign {
            let isJSON = line.hasPrefix("{") || (line.hasPrefix("[") && line != "[]")
            let reading = try LogReading("\(Self.event)\n\(line)\n\(Self.event)\n", Self.strict)
            #expect(reading.events.count == 2, "\(line.prefix(60))")
            #expect(Set(reading.rejections.map(\.index)) == (isJSON ? [1] : []), "\(line.prefix(60))")
        }
        let log = """
            [DNP-FETCH] Starting fetch (scheduleId=one)
            {"eventMessage":"hello","category":"x","timestamp":"2025-11-15 05:48:00.000000+0000"}
            {"MESSAGE":"hello","__REALTIME_TIMESTAMP":"1763185712000000"}
            [11-14 05:48:00.123  4211: 4230 I/Other ]
            {"event":"x"}

            """
        #expect(try LogReading(log, Self.strict).rejections == [])
    }

    /// Text that begins like JSON and is none.
    static let bracketed: [String] = [
        "[main] started", "[main]", "[[main]] started", "[12345.678901] usb 1-1: new device", "[12] \"x\" started",
        "[12] null pointer", "[1763185712] [main] started", "[error] {\"a\":1}", "[1, main] started", "[] started",
        "[11:22:33] started", "[2025-11-15T05:48:00Z] started", "[-] started", "\"x\"", "\"\"", "\"", "7", "null",
        "true",
        "[true story]", "[\"a\"] started",
    ]

    @Test("text in brackets is foreign where all JSON is meant as events", arguments: bracketed)
    func textInBracketsIsForeign(line: String) throws {
        for options in [LogDecoderOptions(), Self.strict] {
            let reading = try LogReading("\(Self.event)\n\(line)\n\(Self.event)\n", options)
            #expect(reading.events.count == 2)
            #expect(reading.rejections == [])
            #expect(reading.lines.foreign == 1)
        }
    }

    @Test("a marker behind a number in brackets is read, also where all JSON is meant as events")
    func markerBehindBrackets() throws {
        let reading = try LogReading("[12345.678901] [DNP-FETCH] Starting fetch (scheduleId=one)\n", Self.strict)
        #expect(reading.events.count == 1 && reading.rejections == [])
    }

    @Test("an event inside two arrays is rejected in any log, and one of another program's is foreign")
    func nestedArrays() throws {
        for line in ["[[\(Self.event)]]", "[ [ [\(Self.event)], 1]]", "[[{\"event\":\"prefetch_su"] {
            for options in [LogDecoderOptions(), Self.strict] {
                let reading = try LogReading("\(line)\n\(Self.event)\n", options)
                #expect(reading.events.count == 1, "\(line)")
                #expect(reading.rejections.map(\.reason).first == .notAnObject, "\(line)")
                #expect(Set(reading.rejections.map(\.index)) == [0], "\(line)")
            }
        }
        #expect(try LogReading("[[{\"level\":\"info\",\"x\":1}]]\n").lines.foreign == 1)
    }

    @Test("a line of structlog that is cut within its message is read as far as it goes")
    func cutStructlog() throws {
        let whole =
            #"{"event": "[DNP-FETCH] BGTask handler invoked (id=x)", "level": "info", "timestamp": "2025-11-15T05:50:00Z"}"#
        let cut = try LogReading(#"\#(whole)\#n{"level": "info", "event" : "[DNP-FETCH] Fetch succ"#)
        #expect(cut.events.count == 1 && cut.rejections == [])
        #expect(cut.lines.recognised == 1 && cut.lines.unrecognised == 1)
        let behind = try LogReading(#"\#(whole)\#n{"event": "[DNP-FETCH] Fetch success (status=200, bytes=12"#)
        #expect(behind.events.count == 2 && behind.rejections == [])
        let named =
            #"{"event": "[DNP-FETCH] Cached content for scheduleId=abc", "level": "info", "timestamp": "2025-11-15T05:5"#
        let id = try LogReading(named).events.first.map { LogReading.value(of: "scheduleId", in: $0) }
        #expect(id == "abc")
        let other = try LogReading(#"{"event": "prefetch_executed", "note": "[DNP-FETCH] x"#)
        #expect(other.rejections.map(\.reason) == [.truncated])
    }

    @Test("an event that has a line of the plugin inside is an event")
    func lineInsideAnEvent() throws {
        let inner = #""extra":{"event":"[DNP-FETCH] Task expired"}"#
        for line in [
            "{\(inner),\(Self.event.dropFirst())", "\(Self.event.dropLast()),\(inner)}",
            "{\"events\":[\(Self.event.dropLast()),\(inner)}]}",
        ] {
            let reading = try LogReading("\(line)\n")
            #expect(reading.events.count == 1 && reading.rejections == [], "\(line)")
            #expect(reading.events.first?.contains("prefetch_executed") == true)
        }
        let unknown = try LogReading("{\"event\":\"prefetch_lost\",\(inner)}\n")
        #expect(unknown.rejections.map(\.reason) == [.unknownKind])
    }

    @Test("an event that is cut behind any byte is rejected, and one cut before any name is too")
    func everyCutIsRejected() throws {
        for length in 1..<Self.event.utf8.count {
            let head = String(Self.event.prefix(length))
            #expect(try LogReading(head + "\n", Self.strict).rejections.count == 1, "\(head)")
            #expect(try LogReading("[" + head + "\n", Self.strict).rejections.count == 1, "\(head)")
            if length > 2 { #expect(try LogReading(head + "\n").rejections.count == 1, "\(head)") }
            let tail = String(Self.event.suffix(length))
            guard tail.contains("\"timestamp\":") else { continue }
            for options in [LogDecoderOptions(), Self.strict] {
                #expect(try LogReading(tail + "\n", options).rejections.count == 1, "\(tail)")
            }
        }
    }

    @Test("no bytes stop the search for traces of events, which is linear", .timeLimit(.minutes(1)))
    func hostileTraces() throws {
        var generator = Noise(state: 7)
        let signs = Array(#"{}[]":,\eventscheduleId0 -"#.utf8)
        for options in [LogDecoderOptions(), Self.strict] {
            for _ in 0..<10_000 {
                let line = (0..<generator.next(below: 40)).map { _ in signs[generator.next(below: signs.count)] }
                var decoder = logDecoder(options)
                let decoded = decoder.decode((line + [0x0A]).span, readAt: readingTime)
                #expect(decoded.lines.read == 1 && decoded.rejections.allSatisfy { $0.index == 0 })
            }
        }
        for piece in [#"{"a"#, "\"", "\\", "[{", #"{"event"#, "}", #""e":"#, "[", "[]", "[1] ", "1,"] {
            let line = String(repeating: piece, count: 60_000 / piece.utf8.count)
            let text = String(repeating: line + "}\n" + "{" + line + "\n" + "[" + line + "\n", count: 5)
            for options in [LogDecoderOptions(), Self.strict] {
                #expect(try LogReading(text, options).lines.read == 15)
            }
        }
    }
}

/// A small generator (SplitMix64), so that failures repeat.
private struct Noise {
    var state: UInt64

    mutating func next(below limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((value ^ value >> 31) % UInt64(limit))
    }
}
