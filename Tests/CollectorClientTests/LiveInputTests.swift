// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import CollectorClient
@testable import LogInput

@Suite("A live input is sent while it is read")
struct LiveInputTests {
    private static let options = try? LineFormat(timezone: "UTC")

    private func cutter() throws -> SendCutter {
        SendCutter(try #require(Self.options), isLive: true)
    }

    @Test("events a second after the first of them")
    func events() throws {
        var cutter = try cutter()
        #expect(try cutter.take(Array(eventLines(0..<2).utf8), at: CutInput.moment(.seconds(5))) == [])
        #expect(try cutter.tick(at: CutInput.moment(.milliseconds(5_900))) == [])
        _ = try cutter.take(Array(eventLines(2..<3).utf8), at: CutInput.moment(.milliseconds(5_950)))
        let sent = try cutter.tick(at: CutInput.moment(.seconds(6)))
        #expect(sent.map { String(decoding: $0.body, as: UTF8.self) } == [eventLines(0..<3)])
        #expect(try cutter.tick(at: CutInput.moment(.seconds(60))) == [])
    }

    @Test("a log whole when it ends within a second")
    func endsSoon() throws {
        let log = SendCutterTests.log(lines: 20)
        let cut = try CutInput(log, piece: 500, isLive: true, interval: .milliseconds(50))
        #expect(cut.batches.count == 1)
        #expect(cut.texts[0].split(separator: "\n").map(String.init) == LogDecoding.events(of: log))
        let untimed = "[DNP-FETCH] Fetch success: id=a\n"
        #expect(try CutInput(untimed, piece: 5, isLive: true, interval: .milliseconds(50)).batches[0].format == .log)
    }

    @Test("a log that goes on as events, which say the same as the whole log")
    func goesOn() throws {
        let log = SendCutterTests.log(lines: 200)
        let cut = try CutInput(log, piece: 1_000, isLive: true, interval: .milliseconds(600))
        #expect(cut.batches.count > 3)
        #expect(cut.batches.allSatisfy { $0.format == .lines })
        let expected = LogDecoding.events(of: log)
        #expect(expected.count == 200)
        #expect(cut.texts.joined().split(separator: "\n").map(String.init) == expected)
    }

    @Test("what waits for another line is sent after a second of silence")
    func silence() throws {
        var cutter = try cutter()
        let line = "2025-11-15T05:48:00Z [DNP-FETCH] BGTask handler invoked\n"
        _ = try cutter.take(Array(line.utf8), at: CutInput.moment(.zero))
        #expect(try cutter.tick(at: CutInput.moment(.seconds(1))) == [])
        var sent: [SendBatch] = []
        for second in 2...4 { sent += try cutter.tick(at: CutInput.moment(.seconds(second))) }
        #expect(sent.map(\.format) == [.lines])
        #expect(String(decoding: sent[0].body, as: UTF8.self).contains("prefetch_executed"))
    }
}

/// A log by the decoder itself.
private enum LogDecoding {
    static func events(of log: String) -> [String] {
        var decoder = LogDecoder(
            LogDecoderOptions(zone: .utc),
            pseudonyms: FixedPseudonym(),
            identityKey: IdentityKey(1, 2)
        )
        let now = CutInput.moment(.zero).wall
        var decoded = decoder.decode(Array(log.utf8).span, readAt: now)
        decoded.append(decoder.flush(readAt: now))
        var lines: [String] = []
        var cursor = EventCursor()
        let bytes = decoded.events.bytes
        while let event = try? cursor.next(in: bytes.span) {
            var line: [UInt8] = []
            CanonicalJSON.append(event, in: bytes.span, to: &line)
            lines.append(String(decoding: line, as: UTF8.self))
        }
        return lines
    }
}
