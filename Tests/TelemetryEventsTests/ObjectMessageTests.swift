// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TelemetryEvents

@Suite("JSON objects as messages of log lines")
struct ObjectMessageTests {
    private static let event = #"{"event":"prefetch_executed","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#

    /// Wrappers with a heading or with members of their own.
    static let wrapped = WrappedLine.all.filter {
        let isAlone = $0.wrapper == .bare || $0.wrapper == .logcatRaw
        return $0.name == $0.wrapper.rawValue && !isAlone && $0.wrapper != .structlog
    }

    /// Headings that no option names, or that have several forms.
    static let headings: [String] = [
        "Nov 15 05:00:00 host app: ", "<14>Nov 15 05:00:00 host ", "<14>Nov 15 05:00:00 ",
        "<14>1 2025-11-15T05:56:00Z host app - - - \u{FEFF}",
        #"<14>1 2025-11-15T05:56:00Z host app 42 - [a@1 b="x] {\"y\"} "] "#,
        "83 <14>Nov 15 05:00:00 host app[42]: ", "2025-11-15T05:56:00+0000 host app: ",
        "Sat 2025-11-15 05:56:00 UTC host app[42]: ", "2025-11-15T05:56:00.123456789Z ",
        "2025-11-15T05:56:00.123456789Z stdout F ", "2025-11-15T05:56:00.123456789+01:00 stderr F ",
        "2025-11-15 05:56:00 INFO [main] ", "11-15 05:56:00.000    42    43 I DNP-FETCH: ", "I/App: ",
        "2025-11-15 05:56:00.000000+0000 App[42:1f2e] (Foundation) [com.example:net] ",
        "default\t05:56:00.000000+0000\tApp\t", "INFO worker: ", "DNP-FETCH: ", "[DNP-FETCH] ",
    ]

    @Test("an event that is the message of a line is taken in every wrapper", arguments: wrapped)
    func eventIsTakenInEveryWrapper(wrapped: WrappedLine) throws {
        let marked = wrapped.line("FETCH", Self.event, 0)
        let wrappers: [LogWrapper?] = [nil, wrapped.wrapper]
        for log in [marked, marked.replacing("[DNP-FETCH] ", with: "")] {
            for wrapper in wrappers {
                let reading = try LogReading(log + "\n", LogDecoderOptions(wrapper: wrapper))
                #expect(Self.withoutInstallation(reading) == [Self.event], "\(log)")
                #expect(reading.lines.recognised == 1 && reading.lines.unrecognised == 0, "\(log)")
            }
        }
    }

    @Test("events and envelopes behind a heading are taken as they are alone", arguments: headings)
    func eventIsTakenBehindHeading(heading: String) throws {
        let reading = try LogReading("\(heading)\(Self.event)\n\(heading){\"events\":[\(Self.event)]}\n")
        #expect(Self.withoutInstallation(reading) == [Self.event, Self.event])
        #expect(reading.rejections == [])
        #expect(reading.lines.recognised == 2)
    }

    /// The events without the device that a heading names.
    private static func withoutInstallation(_ reading: LogReading) -> [String] {
        reading.events.map { $0.replacing(#/,"installation":"[^"]*"/#, with: "") }
    }

    @Test("the host of a heading is the device of an event that names none, as of a line")
    func hostOfHeading() throws {
        func devices(_ log: String) throws -> Set<Substring> {
            Set(try LogReading(log).events.compactMap { $0.firstMatch(of: #/"installation":"([^"]*)"/#)?.1 })
        }
        let line = "Nov 15 05:00:00 phone App[42]: [DNP-FETCH] BGTask handler invoked (id=a)\n"
        let event = "Nov 15 05:00:01 phone App[42]: \(Self.event)\n"
        #expect(try devices(line + event).count == 1)
        #expect(try devices(event + event.replacing("phone", with: "tablet")).count == 2)
        #expect(try devices(event.replacing("phone", with: "localhost")).isEmpty)
        #expect(try devices("dnp: \(Self.event)\n").isEmpty)
    }

    /// Messages with an event that cannot be taken.
    static let lost: [(message: String, reason: RejectionReason)] = [
        (#"{"event":"prefetch_executed","scheduleId":"a"}"#, .missingField),
        (#"{"scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#, .missingField),
        (#"{"event":"prefetch_lost","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#, .unknownKind),
        (#"{"event":"prefetch_executed","scheduleId":"a","timestamp":7}"#, .wrongType),
        (#"{"event":"prefetch_executed","sched"#, .truncated),
        (#"{"event":"prefetch_executed","x":""# + String(repeating: "x", count: 70_000) + "\"}", .tooLong),
    ]

    @Test("an event behind a heading that cannot be taken is rejected with its reason", arguments: lost.indices)
    func lostEventIsRejectedBehindHeading(index: Int) throws {
        let (message, reason) = Self.lost[index]
        for heading in Self.headings {
            let reading = try LogReading("foreign\n\(heading)\(message)\n")
            #expect(reading.rejections.map(\.index) == [1], "\(heading)")
            #expect(reading.rejections.map(\.reason) == [reason], "\(heading)")
        }
    }

    @Test(
        "the JSON of other programs is foreign behind a heading, whatever its event is called",
        arguments: [
            "{}", "{", #"{"level":"info","message":"x"}"#, #"{"status":200,"id":"x"}"#,
            #"{"event":"activity","timestamp":"2025-11-15T05:48:32Z"}"#, #"{"events":[{"name":"screen"}]}"#,
            #"{"event":"fetching","scheduleId":"a","level":"info"}"#,
            #"{"level":"info","payload":{"event":"prefetch_executed","scheduleId":"a"}}"#,
            #"{"error":"not_found","message":"x","timestamp":"2025-11-15T05:48:32Z"}"#,
            #"{"notificationTime":"08:00","enabled":true}"#, #"{"scheduleId":"daily","hour":6,"minute":0}"#,
            #"{"code":503,"willRetry":true}"#, #"{"scheduleId":"a","event":"prefetch_ex"#,
            #"POST body {"event":"prefetch_executed","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#,
        ]
    )
    func otherProgramsAreForeign(message: String) throws {
        for heading in Self.headings where !heading.contains("DNP") {
            let reading = try LogReading("\(heading)\(message)\n")
            #expect(reading.events.isEmpty && reading.rejections == [], "\(heading)")
            #expect(reading.lines.foreign == 1, "\(heading)")
        }
    }

    @Test(
        "the entries of a collector are foreign, or one that follows them would read its own without end",
        arguments: [
            "Nov 15 05:00:00 host dnp-telemetry[42]: ", "2025-11-15T05:56:00+0000 host dnp-telemetry: ",
            "<14>1 2025-11-15T05:56:00Z host dnp-telemetry 42 - - ",
        ]
    )
    func entriesOfCollectors(heading: String) throws {
        let reading = try LogReading("\(heading)\(Self.event)\n")
        #expect(reading.events.isEmpty && reading.rejections == [] && reading.lines.foreign == 1)
        let named = heading.replacing("dnp-telemetry", with: "App").replacing("host", with: "dnp-telemetry-demo")
        #expect(try LogReading("\(named)\(Self.event)\n").events.count == 1)
    }

    @Test("an object is looked for near the beginning of a line, so that brackets before it cost little")
    func manyBrackets() throws {
        let reading = try LogReading("x: \(String(repeating: "( ", count: 32_000))\(Self.event)\n")
        #expect(reading.events.isEmpty && reading.lines.foreign == 1)
    }

    @Test("an event in a string, in a member and behind other words than a preamble is foreign")
    func eventInOtherText() throws {
        for start in ["\"payload\": ", "'\"", "#\"", "2025-11-15T05:56:00Z \"body\": ", "sent: one ", "x="] {
            let reading = try LogReading("\(start)\(Self.event)\n")
            #expect(reading.events.isEmpty && reading.rejections == [], "\(start)")
            #expect(reading.lines.foreign == 1, "\(start)")
        }
    }

    @Test("an object of structlog behind a heading is the plugin's line, with the heading's process and platform")
    func structlogBehindHeadings() throws {
        for heading in Self.headings {
            for text in ["BGTask handler invoked (id=a)", #"BGTask handler invoked (id=\"a\")"#] {
                let object = #"{"event":"[DNP-FETCH] \#(text)","level":"info","timestamp":"2025-11-15T05:48:32Z"}"#
                let reading = try LogReading("\(heading)\(object)\n")
                #expect(reading.events.count == 1, "\(heading)")
                #expect(reading.events.first?.contains(#""timestamp":"2025-11-15T05:48:32Z""#) == true, "\(heading)")
            }
        }
        let line = #"11-15 05:56:00.000    42    43 I App: {"event":"[DNP-FETCH] BGTask handler invoked (id=a)"}"#
        #expect(try LogReading(line).events.first?.contains(#""platform":"android""#) == true)
    }

    /// Objects of container runtimes, log shippers and logging libraries, by the text and the time that they carry.
    private static let carriers: [(name: String, object: @Sendable (_ text: String, _ time: String) -> String)] = [
        ("docker", { #"{"log":"\#($0)\n","stream":"stdout","time":"\#($1)"}"# }),
        ("loki", { #"{"labels":{"app":"x"},"line":"\#($0)","timestamp":"\#($1)"}"# }),
        ("logstash", { #"{"@timestamp":"\#($1)","@version":"1","level":"INFO","message":"\#($0)"}"# }),
        ("library", { #"{"level":"info","ts":"\#($1)","msg":"\#($0)"}"# }),
        ("source", { #"{"time":"\#($1)","msg":"\#($0)","line":42,"log":{"level":"info"}}"# }),
        ("fluent-bit", { #"{"date":"\#($1)","log":"\#($0)"}"# }),
        ("gelf", { #"{"version":"1.1","host":"x","short_message":"\#($0)","time":"\#($1)"}"# }),
        ("cloud", { #"{"insertId":"x","textPayload":"\#($0)","timestamp":"\#($1)"}"# }),
        ("cloud-json", { #"{"insertId":"x","jsonPayload":{"message":"\#($0)"},"timestamp":"\#($1)"}"# }),
        ("elastic", { #"{"_id":"x","_source":{"@timestamp":"\#($1)","message":"\#($0)","log":{}}}"# }),
        ("splunk", { #"{"preview":false,"result":{"_raw":"\#($0)","_time":"\#($1)"}}"# }),
        ("otlp", { #"{"timeUnixNano":"\#($1)","severityText":"INFO","body":{"stringValue":"\#($0)"}}"# }),
    ]

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }

    @Test("a line within the object of another program is read as if it stood alone", arguments: carriers.indices)
    func carriedLines(index: Int) throws {
        let carrier = Self.carriers[index].object
        let lines = [
            "[DNP-FETCH] BGTask handler invoked (id=a)",
            "11-15 05:48:32.000    42    43 I DNP-FETCH: BGTask handler invoked (id=a)",
            "2025-11-15T05:48:32Z [DNP-FETCH] BGTask handler invoked (id=a)",
            "<14>1 2025-11-15T05:48:32Z phone App 42 - - [DNP-FETCH] BGTask handler invoked (id=a)",
            "\u{1B}[32m[DNP-FETCH]\u{1B}[0m BGTask handler invoked (id=a)",
            #"{"event":"[DNP-FETCH] BGTask handler invoked (id=\"a\")","level":"info"}"#,
            #"{"MESSAGE":"[DNP-FETCH] BGTask handler invoked (id=a)","__REALTIME_TIMESTAMP":"1763185712000000"}"#,
            Self.event,
        ]
        let time = "2025-11-15T05:48:32Z"
        for line in lines {
            let stamped = line.contains("05:48:32") || line.contains("{") ? line : "\(time) \(line)"
            let expected = try LogReading(stamped.hasPrefix("{\"event\":\"[") ? "\(time) \(stamped)" : stamped).events
            #expect(expected.count == 1, "\(stamped)")
            let object = carrier(Self.escaped(line), time)
            let nested = carrier(Self.escaped(object), "2025-11-15T09:00:00Z")
            for log in [object, nested, "app-1  | \(object)"] {
                let reading = try LogReading("\(log)\n")
                #expect(reading.events == expected, "\(log)")
                #expect(reading.lines.recognised == 1 && reading.lines.foreign == 0, "\(log)")
            }
        }
    }

    @Test("a line in quotes is read as if it stood alone: CSV, logfmt, a text of JSON", arguments: quotes.indices)
    func quotedLines(index: Int) throws {
        let quote = Self.quotes[index].line
        let time = "2025-11-15T05:48:32Z"
        let lines = [
            "[DNP-FETCH] BGTask handler invoked (id=a)",
            "11-15 05:48:32.000    42    43 I DNP-FETCH: BGTask handler invoked (id=a)",
            "\(time) [DNP-FETCH] BGTask handler invoked (id=a)",
            #"[DNP-PLUGIN] Error: said "no" (id=a)"#,
        ]
        for line in lines {
            let expected = try LogReading(line.contains("05:48:32") ? line : "\(time) \(line)")
            let reading = try LogReading("\(quote(line, time))\n")
            #expect(reading.events == expected.events, "\(quote(line, time))")
            #expect(reading.lines == expected.lines, "\(quote(line, time))")
        }
    }

    /// Lines of other formats with a line in quotes, by that and a time.
    private static let quotes: [(name: String, line: @Sendable (_ text: String, _ time: String) -> String)] = [
        ("csv", { #""\#($1)","info","\#($0.replacing("\"", with: "\"\""))""# }),
        ("csv-bare-time", { #"\#($1),info,"\#($0.replacing("\"", with: "\"\""))",app"# }),
        ("logfmt", { #"time=\#($1) level=info msg="\#(escaped($0))" app=x"# }),
        ("logrus", { #"time="\#($1)" level=info msg="\#(escaped($0))""# }),
        ("json", { #"\#($1) "log": "\#(escaped($0))","# }),
    ]

    @Test("a line in quotes that is an argument or a value of another line is none")
    func quotedForeignTexts() throws {
        let line = "[DNP-FETCH] BGTask handler invoked (id=a)"
        for text in [
            #"logger.info("\#(line)")"#, #"NSLog(@"\#(line)")"#, #"let text = "\#(line)""#, #"x "\#(line)" y"#,
            #"INFO app: one two three "\#(line)""#, #"msg="\#(line)"#, #"msg="saw some of the \#(line)""#,
            #"filter="\#(line)""#, #"{"a": {\n  "expected": "\#(line)","#, #"catalog="\#(line)""#,
        ] {
            let reading = try LogReading("\(text)\n")
            #expect(reading.events == [] && reading.rejections == [] && reading.lines.recognised == 0, "\(text)")
        }
        let value = try LogReading(#"[DNP-PLUGIN] Startup complete (log="\#(line)")"#)
        #expect(value.events.allSatisfy { !$0.contains("executed") })
    }

    @Test(
        "a whole number of seconds, milliseconds, microseconds or nanoseconds is the time of an object",
        arguments: ["1763185712", "1763185712000", "1763185712000000", "1763185712000000000"]
    )
    func epochTimes(time: String) throws {
        let text = "[DNP-FETCH] BGTask handler invoked (id=a)"
        let expected = try LogReading("2025-11-15T05:48:32Z \(text)").events
        for number in [time, "\"\(time)\""] {
            #expect(try LogReading(#"{"level":30,"time":\#(number),"msg":"\#(text)"}"#).events == expected)
        }
        for other in ["0", "9", "17631857120", "99999999999999999999", "0000000000", "1e9", "-1763185712"] {
            let reading = try LogReading(#"{"level":30,"time":\#(other),"msg":"\#(text)"}"#)
            #expect(reading.events.count == 1 && reading.events != expected, "\(other)")
        }
    }

    @Test("a wrapped line that another program calls an event is that line, and its other texts are foreign")
    func eventIsWrappedLine() throws {
        let line = "2025-11-15T05:48:32Z [DNP-FETCH] BGTask handler invoked (id=a)"
        let expected = try LogReading(line).events
        for text in [line, "INFO app: \(line)", "11-15 05:48:32.000    42    43 I DNP-FETCH: x"] {
            let reading = try LogReading(#"{"time":1763185712.5,"host":"x","event":"\#(text)"}"#)
            #expect(reading.rejections == [] && reading.lines.foreign == 0, "\(text)")
            #expect(reading.events == (text.contains("invoked") ? expected : reading.events), "\(text)")
        }
        for text in ["saw a line of the [DNP-FETCH] kind", "other"] {
            let reading = try LogReading(#"{"host":"x","sourcetype":"y","event":"\#(text)"}"#)
            #expect(reading.events == [] && reading.rejections == [] && reading.lines.foreign == 1, "\(text)")
        }
        let misspelled = #"{"event":"prefetch_lost","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#
        #expect(try LogReading(misspelled).rejections.count == 1)
    }

    @Test("a line is looked for some objects deep")
    func deepObjects() throws {
        let text = #"{"msg":"[DNP-FETCH] BGTask handler invoked (id=a)"}"#
        func within(_ depth: Int) -> String { (0..<depth).reduce(text) { line, _ in #"{"x":\#(line)}"# } }
        for depth in [4, 5, 8] { #expect(try LogReading(within(depth)).events.count == 1) }
        for depth in [9, 5_000] {
            let reading = try LogReading(within(depth))
            #expect(reading.events == [] && reading.lines.foreign == 1)
        }
    }

    @Test("a text within the object of another program that is no line of an app leaves it foreign")
    func carriedForeignTexts() throws {
        for text in ["", "x", "saw a line of the [DNP-FETCH] kind", #"{\"event\":\"activity\"}"#, #"{\"log\":\"x\"}"#] {
            for carrier in Self.carriers {
                let object = carrier.object(text, "2025-11-15T05:48:32Z")
                let reading = try LogReading("\(object)\napp-1 | \(object)\n")
                #expect(reading.events == [] && reading.rejections == [], "\(object)")
                #expect(reading.lines.foreign == 2, "\(object)")
            }
        }
    }

    @Test("an event behind a coloured heading, and an overlong one in part of a line, are taken")
    func eventInOtherLines() throws {
        #expect(try LogReading("\u{1B}[32mINFO\u{1B}[0m worker: \(Self.event)\n").events == [Self.event])
        let end = #","x":"\#(String(repeating: "x", count: 65_400))"}"#
        let long = "Nov 15 05:00:00 host app[42]: \(Self.event.dropLast())\(end)"
        #expect(try Self.withoutInstallation(LogReading("\(long)\n\(long)\n")) == [Self.event, Self.event])
    }

    @Test("an analytics event with a level is an event")
    func analyticsEventWithLevel() throws {
        let event = #"{"event":"backgroundRefreshExpired","level":"info","timestamp":"2025-11-15T05:48:32Z"}"#
        for line in [event, "Nov 15 05:00:00 host AIQ[42]: \(event)"] {
            #expect(try LogReading(line).events.count == 1, "\(line)")
        }
    }
}
