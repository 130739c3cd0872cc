// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

@Suite("Unwrapping log lines")
struct LineUnwrapperTests {
    @Test("a log line is unwrapped with its wrapper given or detected", arguments: WrapperSample.all)
    func lineIsUnwrapped(sample: WrapperSample) {
        #expect(unwrap(sample.line).description == sample.expected)
        #expect(unwrap(sample.line, as: sample.wrapper).description == sample.expected)
    }

    @Test("an object of structlog is read behind the heading of syslog and of the journal")
    func structlogBehindAHeading() {
        let time = #""timestamp":"2025-11-15T05:40:00Z""#
        for heading in [
            "Nov 15 09:00:00 host app[42]:", "2025-11-15T09:00:00+0000 host app[42]:",
            "<14>1 2025-11-15T09:00:00Z host app 42 - -", "<14>1 2025-11-15T09:00:00Z host app 42 - - \u{FEFF}",
            #"<14>1 2025-11-15T09:00:00Z host app 42 ID47 [a@1 b="{"]"#,
        ] {
            #expect(
                unwrap(#"\#(heading) {"event": "[DNP-FETCH] text", \#(time)}"#).description
                    == "fetch 2025-11-15T05:40:00+0 host 42 text"
            )
            #expect(
                unwrap(#"\#(heading) {"event": "[DNP-FETCH] a \"b\"", \#(time)}"#).description
                    == #"fetch 2025-11-15T05:40:00+0 host 42 a "b""#
            )
            #expect(unwrap(#"\#(heading) {"event": "text", \#(time)}"#).description == "foreign")
        }
    }

    @Test("a line copied from Console.app is unwrapped, with tabs between level, time, process and message")
    func consoleLine() {
        let heading = "default\t05:53:00.000000+0000\t"
        #expect(unwrap("\(heading)AIQ\ttext").description == "backgroundRefresh - - 0 text")
        #expect(unwrap("\(heading)AIQ\t[BackgroundRefresh] text").description == "backgroundRefresh - - 0 text")
        #expect(unwrap("\(heading)App\t[DNP-FETCH] text").description == "fetch - - 0 text")
        #expect(unwrap("\(heading)App\tINFO worker: [DNP-FETCH] text").description == "fetch - - 0 text")
        #expect(unwrap("\(heading)App\ttext").description == "foreign")
        #expect(unwrap("Default 05:53:00.000000+0000 AIQ text").description == "foreign")
        for line in ["default\t", "default\t05", "\(heading)", "\(heading)AIQ", "default\tAIQ\ttext\ttext"] {
            #expect(unwrap(line).description == "foreign", "\(line)")
        }
    }

    /// What build servers, container runtimes, `grep -n` and people put before a line.
    static let prefixes = [
        "2026-03-02T03:04:05.1234567Z ", "2026-03-02T03:04:05.123456789Z stdout F ", "[2026-03-02T03:04:05.123Z] ",
        "app-1  | ", "[logcat] ", "[05:40:00]: ▸ ", "> ", ">", "(", "`", "* `", "\u{200B}", "12:", "logcat.txt:",
        "logcat.txt:12:",
        "build\tRun the tests on a device\t", "build\tUNKNOWN STEP\t2026-03-02T03:04:05.1234567Z ",
    ]

    @Test("a line that something has passed on behind a prefix has its own time", arguments: prefixes)
    func lineBehindAPrefix(prefix: String) {
        let names = ["DNP-", WrapperSample.subsystem, "BackgroundRefresh"]
        let samples = WrapperSample.all.filter { sample in
            let hasTime = sample.expected.split(separator: " ").dropFirst().first?.contains("T") ?? false
            let isText = sample.line.first != "{" && sample.wrapper != .logcatLong
            return hasTime && isText && names.contains { sample.line.contains($0) }
        }
        #expect(samples.count > 50)
        for sample in samples {
            #expect(unwrap(prefix + sample.line).description == sample.expected, "\(sample.line)")
        }
        for line in [
            "text", "11-15 05:40:00.000  4242  4260 I OtherTag: sees DNP-FETCH", "see 2025-11-15 of DNP-FETCH: text",
        ] {
            #expect(unwrap(prefix + line).description == "foreign", "\(line)")
        }
    }

    @Test(
        "a line of nothing but prefixes is read once",
        arguments: ["2026-03-02T03:04:05Z ", "[2026-03-02T03:04:05Z] ", "a | ", "1:"]
    )
    func prefixesAlone(prefix: String) {
        let line = String(repeating: prefix, count: 2_000)
        #expect(unwrap(line + "DNP-fetch").description == "foreign")
        #expect(
            unwrap(line + "11-15 05:40:00.000  4242  4260 I DNP-FETCH: text").description == "foreign",
            "too far behind"
        )
    }

    @Test("a line without a time has that of its prefix, and a mention in prose is none")
    func timeOfThePrefix() {
        let brief = "I/DNP-FETCH( 4242): text"
        #expect(
            unwrap("2026-03-02T03:04:05Z stdout F \(brief)").description == "fetch 2026-03-02T03:04:05+0 - 4242 text"
        )
        #expect(unwrap("app-1  | \(brief)").description == "fetch - - 4242 text")
        let refresh = "11-15 05:40:00.000  4242  4260 I BackgroundRefresh: text"
        #expect(unwrap("app-1  | \(refresh)").description == "backgroundRefresh -11-15T05:40:00 - 4242 text")
        #expect(unwrap("we saw all of 11-15 05:40:00.000  4242  4260 I DNP-FETCH: text").description == "foreign")
        #expect(unwrap("a b c [DNP-FETCH] text").description == "foreign")
    }

    @Test(
        "line ends, byte order marks, NUL and surrounding white space do not change a line",
        arguments: WrapperSample.all
    )
    func lineIsTrimmed(sample: WrapperSample) {
        for line in ["\(sample.line)\r\n", "\u{FEFF}\(sample.line)\n", "\0\0 \(sample.line) \t\r"] {
            #expect(unwrap(line).description == sample.expected)
        }
    }

    @Test("colours between the words do not change a line", arguments: WrapperSample.all)
    func lineIgnoresColours(sample: WrapperSample) {
        for sequence in ["\u{1B}[32m", "\u{1B}[0;1;38;5;12m", "\u{1B}]0;title\u{7}", "\u{1B}(B"] {
            let line = sample.line.split(separator: " ", omittingEmptySubsequences: false)
                .joined(separator: "\(sequence) \(sequence)")
            #expect(unwrap("\(sequence)\(line)\u{1B}[0m\r\n").description == sample.expected)
            #expect(unwrap("\(sequence)\(line)", as: sample.wrapper).description == sample.expected)
        }
    }

    @Test("a line truncated anywhere is unwrapped or foreign in every wrapper", arguments: WrapperSample.all)
    func unwrapperSurvivesTruncation(sample: WrapperSample) {
        let bytes = Array(sample.line.utf8)
        for length in 0...bytes.count {
            for wrapper in [nil] + LogWrapper.allCases {
                expectSound(Array(bytes.prefix(length)), as: wrapper)
                expectSound(Array(bytes.suffix(length)), as: wrapper)
            }
        }
    }

    @Test("a line with any byte replaced is unwrapped or foreign", arguments: WrapperSample.all)
    func unwrapperSurvivesDamage(sample: WrapperSample) {
        let bytes = Array(sample.line.utf8)
        for index in bytes.indices {
            for byte: UInt8 in [0, 0x0A, 0x1B, 0x20, 0x22, 0x2D, 0x30, 0x3A, 0x5B, 0x5C, 0x5D, 0x7B, 0x80, 0xFF] {
                var damaged = bytes
                damaged[index] = byte
                expectSound(damaged, as: nil)
                expectSound(damaged, as: sample.wrapper)
            }
        }
    }

    @Test("the ranges of a line within other bytes stay within the line", arguments: WrapperSample.all)
    func unwrapperStaysWithinTheLine(sample: WrapperSample) {
        let line = Array(sample.line.utf8)
        let bytes = Array("11-15 [DNP-FETCH] before\n".utf8) + line + Array("\n9999 [DNP-FETCH] after\n".utf8)
        let range = 25..<25 + line.count
        var unwrapper = LineUnwrapper(wrapper: nil)
        var scratch: [UInt8] = []
        let unwrapped = unwrapper.unwrap(bytes.span, range, scratch: &scratch)
        #expect(UnwrappedText(unwrapped, unwrapped.isInScratch ? scratch : bytes).description == sample.expected)
        if !unwrapped.isInScratch, !unwrapped.text.isEmpty { #expect(range.contains(unwrapped.text.lowerBound)) }
    }

    private func expectSound(_ line: [UInt8], as wrapper: LogWrapper?) {
        var unwrapper = LineUnwrapper(wrapper: wrapper)
        var scratch: [UInt8] = []
        let unwrapped = unwrapper.unwrap(line.span, 0..<line.count, scratch: &scratch)
        let count = unwrapped.isInScratch ? scratch.count : line.count
        let isSound =
            unwrapped.text.lowerBound >= 0 && unwrapped.text.upperBound <= count
            && unwrapped.device.lowerBound >= 0 && unwrapped.device.upperBound <= count
            && (unwrapped.component == nil || !unwrapped.hasUnknownMarker)
        #expect(isSound, "\(String(decoding: line, as: UTF8.self))")
    }
}

@Suite("Unwrapping multi-line and overlong log lines")
struct LongLineTests {
    func lines(_ text: String, as wrapper: LogWrapper? = nil) -> [String] {
        unwrap(text.split(separator: "\n", omittingEmptySubsequences: false).map { Array($0.utf8) }, as: wrapper)
            .map(\.description)
    }

    @Test(
        "the lines after a logcat -v long header are its message until an empty line",
        arguments: [nil, LogWrapper.logcatLong]
    )
    func logcatLongMessageEndsAtEmptyLine(wrapper: LogWrapper?) {
        let text = """
            --------- beginning of main
            [ 11-15 05:40:00.000  4242: 4260 I/DNP-FETCH ]
            first
            second

            no more of it
            [ 2025-11-15 05:40:01.000 +0000 10123: 4242: 4260 I/Other    ]
            [DNP-PLUGIN] third
            of another

            [       1763185200.500 u0_a12: 4242: 4260 W/DNP-SCHEDULER ]
            fourth

            """
        #expect(
            lines(text, as: wrapper) == [
                "foreign", "foreign", "fetch -11-15T05:40:00 - 4242 first", "fetch -11-15T05:40:00 - 4242 second",
                "foreign", "foreign", "foreign", "plugin 2025-11-15T05:40:01+0 - 4242 third", "foreign", "foreign",
                "foreign", "scheduler 2025-11-15T05:40:00.500000+0 - 4242 fourth", "foreign",
            ]
        )
    }

    @Test("a logcat -v long header without a message does not swallow lines of another wrapper")
    func logcatLongHeaderSwallowsNoLines() {
        let text = """
            [ 11-15 05:40:00.000  4242: 4260 I/DNP-FETCH ]
            [ 11-15 05:41:00.000  4242: 4260 I/DNP-PLUGIN ]
            text
            2025-11-15T05:48:00Z [DNP-STORAGE] text
            text
            """
        #expect(
            lines(text) == [
                "foreign", "foreign", "plugin -11-15T05:41:00 - 4242 text", "storage 2025-11-15T05:48:00+0 - 0 text",
                "foreign",
            ]
        )
    }

    @Test("wrappers may change from line to line")
    func wrappersMayBeMixed() {
        let text = """
            11-15 05:40:00.000  4242  4260 I DNP-FETCH: a
            2025-11-15T05:48:00Z [DNP-FETCH] b
            12-31 05:40:00.000  4242  4260 I DNP-FETCH: c
            [DNP-FETCH] d
            2025-11-15T05:48:00Z [DNP-FETCH] e
            """
        #expect(
            lines(text) == [
                "fetch -11-15T05:40:00 - 4242 a", "fetch 2025-11-15T05:48:00+0 - 0 b",
                "fetch -12-31T05:40:00 - 4242 c", "fetch - - 0 d", "fetch 2025-11-15T05:48:00+0 - 0 e",
            ]
        )
    }

    @Test("a line of 70 kB is truncated, and one with a late marker is foreign")
    func overlongLineIsTruncated() {
        let start = "2025-11-15T05:48:00Z [DNP-FETCH] "
        let long = unwrap(start + String(repeating: "x", count: 70_000))
        #expect(long.description.hasPrefix("fetch 2025-11-15T05:48:00+0 - 0 xxx"))
        #expect(
            long.description.utf8.count == 65_536 - start.utf8.count + "fetch 2025-11-15T05:48:00+0 - 0 ".utf8.count
        )
        #expect(unwrap(String(repeating: "x", count: 70_000) + start).description == "foreign")
        #expect(unwrap(String(repeating: "x ", count: 513) + start).description == "foreign")
        #expect(unwrap("{" + String(repeating: " ", count: 70_000) + "}").description == "foreign")
        #expect(unwrap(String(repeating: "[", count: 70_000)).description == "foreign")
    }

    @Test("an event of 70 kB is passed on whole, so that it is rejected and not truncated")
    func overlongEventStaysWhole() {
        let line = #"{"event":"x","y":""# + String(repeating: "x", count: 70_000) + #""}"#
        #expect(unwrap(line).description == "event - - 0 \(line)")
    }

    @Test("a coloured line of 70 kB is unwrapped")
    func overlongColouredLineIsUnwrapped() {
        let long = unwrap("\u{1B}[32m[DNP-FETCH]\u{1B}[0m " + String(repeating: "x", count: 70_000))
        #expect(long.description.hasPrefix("fetch - - 0 xxx"))
    }

    @Test("a truncated colour sequence drops the rest of the line")
    func truncatedColourDropsTheRest() {
        #expect(unwrap("[DNP-FETCH] text \u{1B}[32").description == "fetch - - 0 text")
        #expect(unwrap("[DNP-FETCH] text \u{1B}").description == "fetch - - 0 text")
        #expect(unwrap("\u{1B}").description == "foreign")
    }

    @Test("invalid UTF-8 in a log line is preserved")
    func unwrapperKeepsInvalidUTF8() {
        let line = Array("[DNP-FETCH] a".utf8) + [0xFF, 0xC3] + Array("b".utf8)
        var unwrapper = LineUnwrapper(wrapper: nil)
        var scratch: [UInt8] = []
        let unwrapped = unwrapper.unwrap(line.span, 0..<line.count, scratch: &scratch)
        #expect(unwrapped.component == .fetch)
        #expect(Array(line[unwrapped.text]) == [0x61, 0xFF, 0xC3, 0x62])
    }

    @Test("a line in a forced wrapper is not read as any other")
    func forcedWrapperIsExclusive() {
        #expect(unwrap("2025-11-15T05:48:00Z [DNP-FETCH] a", as: .bare).description == "fetch - - 0 a")
        #expect(unwrap("I/DNP-FETCH( 4242): a", as: .stamped).description == "foreign")
        #expect(unwrap(#"{"event":"a"}"#, as: .appleNDJSON).description == "foreign")
        #expect(unwrap(#"{"MESSAGE":"[DNP-FETCH] a"}"#, as: .appleNDJSON).description == "foreign")
        #expect(unwrap(#"{"a":1}"#, as: .events).description == #"event - - 0 {"a":1}"#)
        #expect(unwrap("no header [DNP-FETCH] a", as: .rfc5424).description == "fetch - - 0 a")
    }
}

/// An unwrapped line as text: component, time, device, process, message.
struct UnwrappedText: Equatable, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }

    init(_ line: UnwrappedLine, _ bytes: [UInt8]) {
        guard !line.isForeign else {
            description = "foreign"
            return
        }
        let component = line.isEvent ? "event" : line.component.map { "\($0)" } ?? "unknown"
        let device = line.device.isEmpty ? "-" : String(decoding: bytes[line.device], as: UTF8.self)
        let text = String(decoding: bytes[line.text], as: UTF8.self)
        description = "\(component) \(Self.describe(line.stamp)) \(device) \(line.process) \(text)"
    }

    private static func describe(_ stamp: LogStamp?) -> String {
        guard let stamp else { return "-" }
        var text = "\(Timestamp(microseconds: stamp.wallMicroseconds))".dropLast().description
        if !stamp.hasYear { text = text.dropFirst(4).description }
        return text + (stamp.offsetSeconds.map { $0 < 0 ? "\($0)" : "+\($0)" } ?? "")
    }
}

/// Unwraps one line.
func unwrap(_ line: [UInt8], as wrapper: LogWrapper? = nil) -> UnwrappedText {
    unwrap([line], as: wrapper).last ?? UnwrappedText("none")
}

func unwrap(_ line: String, as wrapper: LogWrapper? = nil) -> UnwrappedText {
    unwrap(Array(line.utf8), as: wrapper)
}

/// Unwraps consecutive lines, each at the end of its bytes, so that a read past the end traps.
func unwrap(_ lines: [[UInt8]], as wrapper: LogWrapper? = nil) -> [UnwrappedText] {
    var unwrapper = LineUnwrapper(wrapper: wrapper)
    var scratch: [UInt8] = []
    return lines.map { line in
        let unwrapped = unwrapper.unwrap(line.span, 0..<line.count, scratch: &scratch)
        return UnwrappedText(unwrapped, unwrapped.isInScratch ? scratch : line)
    }
}
