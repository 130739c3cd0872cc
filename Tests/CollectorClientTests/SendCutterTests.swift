// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import CollectorClient
@testable import LogInput

@Suite("An input is cut into batches")
struct SendCutterTests {
    @Test("lines of events leave as they are, each once, in batches of at most 1 MiB and 5,000 lines")
    func sendCutterLines() throws {
        let input = eventLines(0..<12_345)
        let cut = try CutInput(input)
        #expect(cut.texts.joined() == input)
        #expect(cut.batches.map { $0.body.count { $0 == UInt8(ascii: "\n") } } == [5_000, 5_000, 2_345])
        #expect(cut.batches.allSatisfy { $0.format == .lines && $0.body.count <= LineBatches.mostBytes })
        let long = String(repeating: "{\"event\":\"" + String(repeating: "x", count: 60_000) + "\"}\n", count: 40)
        let sizes = try CutInput(long).batches.map(\.body.count)
        #expect(sizes.allSatisfy { $0 <= LineBatches.mostBytes } && sizes.reduce(0, +) == long.utf8.count)
    }

    @Test(
        "the same input has the same batches and keys, however it is read",
        arguments: [1, 7, 100, 4_096, 65_536]
    )
    func sendCutterDeterministic(piece: Int) throws {
        let input = piece == 1 ? eventLines(0..<60) : eventLines(0..<6_000)
        #expect(try CutInput(input, piece: piece).batches == CutInput(input).batches)
        let log = Self.log(lines: 50)
        #expect(try CutInput(log, piece: piece).batches == CutInput(log).batches)
    }

    @Test("a batch's key is of its body and all before it")
    func keys() throws {
        let (first, longer) = (try CutInput(eventLines(0..<6_000)), try CutInput(eventLines(0..<7_000)))
        #expect(first.batches[0].key == longer.batches[0].key)
        #expect(first.batches[1].key != longer.batches[1].key)
        let twice = try CutInput(eventLines(0..<5_000) + eventLines(0..<5_000))
        #expect(twice.batches[0].body == twice.batches[1].body)
        #expect(twice.batches[0].key != twice.batches[1].key)
        #expect(twice.batches.allSatisfy { (1...256).contains($0.key.utf8.count) })
    }

    @Test("blank lines are left out, and refused events are still found by their lines")
    func numbers() throws {
        let cut = try CutInput("\u{FEFF}{\"a\":1}\r\n\r\n  \n{\"b\":2}  \n\n{\"c\":3}")
        #expect(cut.texts == ["{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n"])
        #expect((0...3).map { cut.batches[0].place(of: $0) } == ["line 1", "line 4", "line 6", "event 4"])
        #expect(cut.account.lines == 6)
    }

    @Test(
        "a document leaves whole",
        arguments: [
            "{\n  \"event\": \"prefetch_executed\"\n}\n", "[{\"event\":\"a\"},\n{\"event\":\"b\"}]",
            "{\"events\":[{}],\"sentAt\":\"2025-11-15T05:50:00Z\"}\n", "{\"event\":\"a\"}",
        ]
    )
    func document(text: String) throws {
        for piece in [1, 5, 1_000] {
            let cut = try CutInput(text, piece: piece)
            #expect(cut.texts == [text])
            #expect(cut.batches[0].format == .document)
            #expect(cut.batches[0].place(of: 2) == "event 3")
        }
    }

    @Test("a log leaves as the events that it tells of")
    func log() throws {
        let old = "2019-01-01T00:00:00Z [DNP-FETCH] Fetch success: id=old\n"
        let log = "something else\n" + Self.log(lines: 6_000) + old
        let cut = try CutInput(log, piece: 1_000)
        #expect(cut.batches.map(\.format) == [.lines, .lines])
        #expect(cut.texts.joined().split(separator: "\n").count == 6_000)
        #expect(cut.account.rejected == 1)
        #expect(cut.account.rejections.map(\.place) == ["line 6002"])
    }

    @Test("a log whose lines have no times leaves whole, so that the collector knows that they have none")
    func wholeLog() throws {
        let log = "something else\n" + Self.log(lines: 100).replacing(#/2025-11-15T05:\d\d:00Z /#, with: "")
        let cut = try CutInput(log, piece: 1_000)
        #expect(cut.texts == [log])
        #expect(cut.batches[0].format == .log)
        #expect(cut.batches[0].place(of: 4) == "line 5")
        #expect(cut.account.rejected == 0)
        #expect(try CutInput(log, piece: 77).batches == cut.batches)
        #expect(try CutInput("  \n\n").batches == [])
        #expect(try CutInput("").batches == [])
    }

    @Test("what begins with events and goes on as a log is sent as both")
    func changing() throws {
        let cut = try CutInput(eventLines(0..<2) + Self.log(lines: 3) + eventLines(2..<3))
        #expect(cut.texts[0] == eventLines(0..<2))
        #expect(cut.batches.map { $0.place(of: 0) } == ["line 1", "up to line 6"])
        #expect(cut.texts[1].split(separator: "\n").count == 4)
        let untimed = try CutInput(eventLines(0..<2) + "[DNP-FETCH] Fetch success: id=a\n")
        #expect(untimed.batches.map(\.format) == [.lines, .log])
        #expect(untimed.batches[1].place(of: 0) == "line 3")
        let forced = try CutInput(eventLines(0..<2) + "garbage\n" + eventLines(2..<3), format: "events")
        #expect(forced.batches.map(\.format) == [.lines])
        #expect(forced.texts[0].contains("garbage\n"))
    }

    @Test(
        "lines of Apple's log and of the journal are no events",
        arguments: [
            #"{"eventMessage":"[DNP-FETCH] Starting fetch","category":"event"}"# + "\n{}\n",
            #"{"__REALTIME_TIMESTAMP":"1","MESSAGE":"{\"event\":\"a\"}"}"# + "\n{}\n",
        ]
    )
    func records(text: String) throws {
        #expect(InputForm(Array(text.utf8), isWhole: true) == .log)
    }

    @Test("a line that never ends is cut, and memory stays bounded")
    func endlessLine() throws {
        let line = "{\"event\":\"" + String(repeating: "x", count: 3 << 20)
        let cut = try CutInput(line + "\n" + eventLines(0..<1), piece: 50_000)
        #expect(cut.batches.count == 1)
        #expect(cut.batches[0].body.count < 200_000)
        #expect(cut.texts[0].hasSuffix(eventLines(0..<1)))
        #expect(cut.batches[0].place(of: 1) == "line 2")
    }

    @Test(
        "what an interruption cuts is not sent: the last line, or a document",
        arguments: [
            (#"{"event":"a"}"# + "\n" + #"{"event":"#, "{\"event\":\"a\"}\n"),
            ("[{\n}", ""), ("{", ""), (#"[{"event":"a"}]"# + "\n ", #"[{"event":"a"}]"# + "\n "),
            (
                "2025-11-15T05:40:00Z [DNP-FETCH] BGTask handler invoked\n2025-11-15T05:40:01Z [DNP-FETCH] Fetch succ",
                nil
            ),
        ]
    )
    func interrupted(input: String, sent: String?) throws {
        var cutter = SendCutter(try LineFormat(), isLive: false)
        let now = CutInput.moment(.zero)
        var batches = try cutter.take(Array(input.utf8), at: now)
        batches += try cutter.finish(at: now, isCut: true)
        let texts = batches.map { String(decoding: $0.body, as: UTF8.self) }
        if let sent {
            #expect(texts.joined() == sent)
        } else {
            #expect(texts.count == 1 && texts[0].contains("prefetch_executed") && !texts[0].contains("success"))
        }
    }

    @Test("a document over the limit is refused with what to do")
    func largeDocument() throws {
        var cutter = SendCutter(try LineFormat(), isLive: false)
        let now = CutInput.moment(.zero)
        _ = try cutter.take(Array("[{\n".utf8), at: now)
        let error = #expect(throws: InputError.self) {
            for _ in 0...64 { _ = try cutter.take([UInt8](repeating: 0x20, count: 1 << 20), at: now) }
        }
        #expect(error?.problem.contains("jq -c") == true)
    }

    @Test("a batch that is too large is halved by lines, down to one")
    func halves() throws {
        let batch = try #require(try CutInput(eventLines(0..<5)).batches.first)
        let (first, second) = try #require(batch.halves)
        #expect(first.body + second.body == batch.body)
        #expect(first.place(of: 0) == "line 1" && second.place(of: 0) == "line 3")
        #expect(Set([batch.key, first.key, second.key]).count == 3)
        #expect(first.halves?.0.halves == nil)
        #expect(try CutInput("[]").batches[0].halves == nil)
    }

    static func log(lines: Int) -> String {
        (0..<lines).map { number in
            "2025-11-15T05:\(10 + number % 50):00Z [DNP-FETCH] Fetch success: id=schedule-\(number) fetchDurationMs=10\n"
        }.joined()
    }
}
