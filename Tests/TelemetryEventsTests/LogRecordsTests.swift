// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

/// Lines in records, fields and stamps as log services, loggers and consoles write them; each must be read as the same line
/// with a stamp of its own.
@Suite("Records and fields of other programs")
struct LogRecordsTests {
    private static let execution = "[DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)"
    private static let completion = "[DNP-FETCH] Task completed (success=true)"
    private static let epoch = 1_763_185_800

    private func expectSame(
        _ log: String,
        as lines: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let expected = try LogReading(lines.joined(separator: "\n") + "\n").events
        let reading = try LogReading(log + "\n")
        #expect(reading.events == expected, "\(log)", sourceLocation: sourceLocation)
        #expect(reading.rejections == [], "\(log)", sourceLocation: sourceLocation)
    }

    private static let stamps = [
        "2025/11/15 05:50:00", "2025/11/15 05:50:00:000 ", "15.11.2025 05:50:00", "15 Nov 2025 05:50:00",
        "15-Nov-2025 05:50:00", "[15/Nov/2025:05:50:00 +0000]", "[15/Nov/2025:06:50:00 +0100]",
        "Nov 15, 2025 05:50:00", "Nov 15, 2025, 05:50:00", "Sat, 15 Nov 2025 05:50:00 GMT", "20251115T055000Z",
        "20251115T065000+0100", "\(epoch)", "\(epoch)000", "\(epoch)000000", "\(epoch)000000000", "\(epoch)000:",
        "2025-11-15 06:50:00 GMT+01:00", "2025-11-15 04:50:00 UTC-1", "2025-11-15 05:50:00 GMT",
        "Sat Nov 15 2025 06:50:00 GMT+0100 (Central European Standard Time)",
    ]

    @Test("the stamps of other loggers", arguments: stamps)
    func readsStamps(stamp: String) throws {
        try expectSame("\(stamp) \(Self.execution)", as: "2025-11-15T05:50:00Z \(Self.execution)")
    }

    @Test(
        "what only looks like a stamp is none",
        arguments: [
            "11/15/2025 05:50:00", "2025/13/15 05:50:00", "31.02.2025 05:50:00", "15 Nov 2025 25:50:00",
            "20251115T256000Z", "176318580", "17631858000", "0000000010",
        ]
    )
    func refusesStamps(stamp: String) throws {
        let reading = try LogReading("\(stamp) \(Self.execution)\n")
        #expect(reading.events == (try LogReading(Self.execution + "\n").events), "\(reading.events)")
    }

    @Test(
        "fields of CSV without quotes",
        arguments: [
            "2025-11-15T05:50:00Z,phone,\(execution)", "2025-11-15T05:50:00Z;phone;\(execution)",
            "2025-11-15T05:50:00Z,\(execution),phone,App", "\"2025-11-15T05:50:00Z\",\"phone\",\(execution)",
            "phone,2025-11-15T05:50:00Z,\(execution)", "2025-11-15T05:50:00Z,the phone of the team,\(execution)",
        ]
    )
    func readsFields(line: String) throws {
        try expectSame(line, as: "2025-11-15T05:50:00Z \(Self.execution)")
    }

    @Test("a field of CSV ends at its comma, and a message with commas does not")
    func fieldsEnd() throws {
        let failure = "[DNP-FETCH] Fetch failed (error=AuthError, httpStatus=401, willRetry=false)"
        try expectSame("2025-11-15T05:50:00Z,\(failure)", as: "2025-11-15T05:50:00Z \(failure)")
        let cached = "[DNP-FETCH] Cached content for scheduleId=daily"
        try expectSame("2025-11-15T05:50:00Z,\(cached),phone", as: "2025-11-15T05:50:00Z \(cached)")
        let prose = try LogReading("2025-11-15T05:50:00Z somebody of the team wrote, \(Self.execution)\n")
        #expect(prose.events == [] && prose.lines.foreign == 1)
    }

    @Test("a time in the message of a line in quotes is not that of the line")
    func keepsTimesOfMessages() throws {
        let submission = "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-15T05:48:00Z)"
        try expectSame("\"\(submission)\"", as: submission)
        try expectSame("\"2025-11-14T05:41:00Z\",\"\(submission)\"", as: "2025-11-14T05:41:00Z \(submission)")
        try expectSame("time=2025-11-14T05:41:00Z msg=\"\(submission)\"", as: "2025-11-14T05:41:00Z \(submission)")
    }

    @Test("several lines in a text, and several records in a line")
    func readsSeveral() throws {
        let lines = ["2025-11-15T05:50:00Z \(Self.execution)", "2025-11-15T05:50:00Z \(Self.completion)"]
        let both = "\(Self.execution)\\n\(Self.completion)"
        let time = #""time":"2025-11-15T05:50:00Z""#
        for log in [
            #"{"__REALTIME_TIMESTAMP":"\#(Self.epoch)000000","MESSAGE":"\#(both)"}"#,
            #"{"__REALTIME_TIMESTAMP":"\#(Self.epoch)000000","MESSAGE":"hello\n\#(both)"}"#,
            #"{"log":"hello\n\#(Self.execution)\nworld\n\#(Self.completion)\n",\#(time)}"#,
            #"[{"log":"\#(Self.execution)\n",\#(time)},{"log":"\#(Self.completion)\n",\#(time)}]"#,
            #"{"logs":[{"log":"\#(Self.execution)",\#(time)},{"x":1},{"log":"\#(Self.completion)",\#(time)}]}"#,
            #"{"events":[{"timestamp":\#(Self.epoch)000,"message":"\#(both)"}],"nextToken":"f/1"}"#,
        ] {
            try expectSame(log, as: lines[0], lines[1])
        }
    }

    @Test("what follows in a text and is no line of its own belongs to the line before")
    func continuesLines() throws {
        let text = #"[DNP-FETCH] Fetch failed: error=AuthError,\n httpStatus=401, willRetry=false"#
        try expectSame(
            #"{"log":"\#(text)","time":"2025-11-15T05:50:00Z"}"#,
            as: "2025-11-15T05:50:00Z [DNP-FETCH] Fetch failed: error=AuthError, httpStatus=401, willRetry=false"
        )
    }

    @Test(
        "objects that name line, time or tag in other ways",
        arguments: [
            #"{"@timestamp":"2025-11-15T05:50:00Z","message":"\#(execution)","event":{"original":"x"}}"#,
            #"{"@timestamp":"2025-11-15T05:50:00Z","message":"\#(execution)","event":"log"}"#,
            #"{"time":\#(epoch).0,"event":"\#(execution)"}"#,
            #"{"Timestamp":"2025-11-15T05:50:00Z","Message":"\#(execution)"}"#,
            #"{"asctime":"2025-11-15 05:50:00,000","message":"\#(execution)"}"#,
            #"{"instant":{"epochSecond":\#(epoch),"nanoOfSecond":1},"message":"\#(execution)"}"#,
            #"{"short_message":"[DNP-FETCH] BGTask","full_message":"\#(execution)","timestamp":\#(epoch)}"#,
            #"{"full_message":"\#(execution)","short_message":"[DNP-FETCH] BGTask","timestamp":\#(epoch)}"#,
            #"{"time":"2025-11-15T05:50:00Z","tag":"DNP-FETCH","message":"\#(execution.dropFirst(12))"}"#,
            #"{"ts":"2025-11-15T05:50:00Z","logger":"DNP-FETCH","msg":"\#(execution.dropFirst(12))"}"#,
        ]
    )
    func readsMembers(line: String) throws {
        try expectSame(line, as: "2025-11-15T05:50:00Z \(Self.execution)")
    }

    @Test("records of other programs stay foreign, whatever is in their event")
    func leavesOtherRecords() throws {
        for record in [
            #"{"@timestamp":"2025-11-15T05:50:00Z","message":"GET / 200","event":{"dataset":"nginx.access"}}"#,
            #"{"@timestamp":"2025-11-15T05:50:00Z","message":"GET / 200","event":"log"}"#,
            #"{"events":[{"timestamp":1,"message":"GET / 200"}]}"#,
            #"[{"log":"x"},{"log":"y"}]"#,
        ] {
            let reading = try LogReading(record + "\n")
            #expect(reading.events == [] && reading.rejections == [] && reading.lines.foreign == 1, "\(record)")
        }
        let envelope = #"{"events":[{"event":"prefetch_lost","timestamp":"2025-11-15T05:50:00Z"}]}"#
        #expect(try LogReading(envelope).rejections.count == 1)
    }

    @Test("consoles of web views within logcat, and Android Studio without the app's name")
    func readsConsoles() throws {
        let plain = "11-15 05:50:00.000  4242  4260 I App: \(Self.execution)"
        for line in [
            "I chromium: [INFO:CONSOLE(12)] \"\(Self.execution)\", source: https://x/m.js (12)",
            "I ReactNativeJS: '\(Self.execution)'",
            "D SystemWebChromeClient: file:///www/index.js: Line 12 : \(Self.execution)",
        ] {
            try expectSame("11-15 05:50:00.000  4242  4260 \(line)", as: plain)
        }
        let message = Self.execution.dropFirst(12)
        try expectSame(
            "2025-11-15 05:50:00.000  4242-4260  DNP-FETCH               I  \(message)",
            as: "2025-11-15 05:50:00.000  4242-4260  DNP-FETCH               com.example.app  I  \(message)"
        )
        let cached = "[DNP-FETCH] Cached content for scheduleId=daily"
        try expectSame(
            "11-15 05:50:00.000  4242  4260 I ReactNativeJS: '\(cached)'",
            as: "11-15 05:50:00.000  4242  4260 I App: \(cached)"
        )
    }

    @Test("colours whose escapes are spelled")
    func readsSpelledColours() throws {
        for colour in ["#033[32m", "^[[32m"] {
            let line = "phone App[4242]: \(colour)\(Self.execution)\(colour)"
            try expectSame("Nov 15 05:50:00 \(line)", as: "Nov 15 05:50:00 phone App[4242]: \(Self.execution)")
            try expectSame(
                "\(colour)2025-11-15T05:50:00Z \(Self.execution)",
                as: "2025-11-15T05:50:00Z \(Self.execution)"
            )
        }
    }

    @Test("a line with no-break spaces is read as one with spaces")
    func readsNoBreakSpaces() throws {
        let line = "2025-11-15T05:50:00Z \(Self.execution)"
        try expectSame(line.replacing(" ", with: "\u{A0}"), as: line)
        try expectSame("2025-11-15T05:50:00Z\u{A0}\(Self.execution)", as: line)
    }

    @Test("a document of records gives a line for each, in the place of its own")
    func flattensDocuments() throws {
        func lines(_ document: String) -> String? {
            LogRecords.lines(of: Array(document.utf8).span).map { String(decoding: $0, as: UTF8.self) }
        }
        let pretty = "[\n{\n\"log\":\"a\"},\n{\"x\":1},\n{\"log\":\"b\"}]"
        #expect(lines(pretty) == "\n{ \"log\":\"a\"}\n\n\n{\"log\":\"b\"}")
        #expect(lines(#"{"logs":[{"log":"a"},{"log":"b"}]}"#) == "{\"log\":\"a\"}\n{\"log\":\"b\"}")
        #expect(lines("{\"log\":\"a\"}{\"log\":\"b\"}") == "{\"log\":\"a\"}\n{\"log\":\"b\"}")
        #expect(lines(#"{"x":[1,{"y":"z"}]}"#) == nil)
        #expect(lines(#"[{"log":"a"#) == nil)
        #expect(lines("") == nil)
        let header = #"{"pid":4242,"tag":"DNP-FETCH","timestamp":{"seconds":\#(Self.epoch),"nanos":0}}"#
        let record = #"{"header":\#(header),"message":"\#(Self.execution.dropFirst(12))"}"#
        #expect(lines("{\n\"metadata\":{},\n\"logcatMessages\":[\n\(record)\n]\n}") == "\n\n\n\(record)")
        try expectSame(record, as: "2025-11-15T05:50:00Z \(Self.execution)")
    }
}
