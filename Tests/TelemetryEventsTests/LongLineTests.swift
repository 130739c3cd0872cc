// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

@Suite("Lines that hang together or are too long")
struct LongLineTests {
    func lines(_ text: String, as wrapper: LogWrapper? = nil) -> [String] {
        unwrap(text.split(separator: "\n", omittingEmptySubsequences: false).map { Array($0.utf8) }, as: wrapper)
            .map(\.description)
    }

    @Test(
        "the lines behind a header of logcat -v long are its message until an empty one",
        arguments: [nil, LogWrapper.logcatLong]
    )
    func logcatLong(wrapper: LogWrapper?) {
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

    @Test("a header whose message is missing does not swallow lines of another wrapper")
    func cutLogcatLong() {
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
    func mixed() {
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

    @Test("a line of 70 kB is cut, one whose marker comes late is foreign")
    func tooLong() {
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

    @Test("an event of 70 kB is handed on whole, so that it is refused and not cut")
    func tooLongEvent() {
        let line = #"{"event":"x","y":""# + String(repeating: "x", count: 70_000) + #""}"#
        #expect(unwrap(line).description == "event - - 0 \(line)")
    }

    @Test("a coloured line of 70 kB is read")
    func tooLongAndColoured() {
        let long = unwrap("\u{1B}[32m[DNP-FETCH]\u{1B}[0m " + String(repeating: "x", count: 70_000))
        #expect(long.description.hasPrefix("fetch - - 0 xxx"))
    }

    @Test("a colour that is cut short takes the rest of the line with it")
    func cutColour() {
        #expect(unwrap("[DNP-FETCH] text \u{1B}[32").description == "fetch - - 0 text")
        #expect(unwrap("[DNP-FETCH] text \u{1B}").description == "fetch - - 0 text")
        #expect(unwrap("\u{1B}").description == "foreign")
    }

    @Test("bytes that are no UTF-8 are kept")
    func invalidUTF8() {
        let line = Array("[DNP-FETCH] a".utf8) + [0xFF, 0xC3] + Array("b".utf8)
        var unwrapper = LineUnwrapper(wrapper: nil)
        var scratch: [UInt8] = []
        let unwrapped = unwrapper.unwrap(line.span, 0..<line.count, scratch: &scratch)
        #expect(unwrapped.component == .fetch)
        #expect(Array(line[unwrapped.text]) == [0x61, 0xFF, 0xC3, 0x62])
    }

    @Test("what is forced is not read as anything else")
    func forced() {
        #expect(unwrap("2025-11-15T05:48:00Z [DNP-FETCH] a", as: .bare).description == "fetch - - 0 a")
        #expect(unwrap("I/DNP-FETCH( 4242): a", as: .stamped).description == "foreign")
        #expect(unwrap(#"{"event":"a"}"#, as: .appleNDJSON).description == "foreign")
        #expect(unwrap(#"{"MESSAGE":"[DNP-FETCH] a"}"#, as: .appleNDJSON).description == "foreign")
        #expect(unwrap(#"{"a":1}"#, as: .events).description == #"event - - 0 {"a":1}"#)
        #expect(unwrap("no header [DNP-FETCH] a", as: .rfc5424).description == "fetch - - 0 a")
    }
}
