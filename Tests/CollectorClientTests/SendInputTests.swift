// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import TestSupport
import Testing

@testable import CollectorClient
@testable import LogInput

@Suite("A log that is decoded before it is sent")
struct DecodedLogTests {
    private static let now = CutInput.moment(.zero).wall

    private func events(_ log: String, isLive: Bool = false) throws -> [[String: Any]] {
        var decoded = DecodedLog(try LineFormat(timezone: "UTC"), isLive: isLive, lineOffset: 0)
        let first = try decoded.decode(Array(log.utf8), readAt: Self.now)
        let last = try decoded.flush(readAt: Self.now)
        return try (first.events + last.events).map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        }
    }

    @Test(
        "a log decoded before it is sent tells devices by their own names, which the collector replaces as in any other log"
    )
    func devices() throws {
        let log = """
            <14>1 2025-11-15T05:48:00Z phone-\"7\" App 12 - - [DNP-FETCH] Fetch success: id=a fetchDurationMs=10
            <14>1 2025-11-15T05:49:00Z pixel-8 App 12 - - [DNP-FETCH] Fetch success: id=b fetchDurationMs=10

            """
        let names = try events(log).map { $0["installationId"] as? String }
        #expect(names == ["phone-\"7\"", "pixel-8"])
    }

    @Test(
        "a log decoded before it is sent tells schedules by their own ids also where the collector has to replace them"
    )
    func schedules() throws {
        let log = """
            2025-11-15T05:48:00Z [DNP-FETCH] Fetch success: id=someone@example.org fetchDurationMs=10
            2025-11-15T05:48:00Z [DNP-FETCH] Fetch success: id=redacted-h0123456789abcdef fetchDurationMs=10

            """
        let ids = try events(log).map { $0["scheduleId"] as? String }
        #expect(ids == ["someone@example.org", "redacted-h0123456789abcdef"])
    }

    @Test("a log decoded before it is sent says the same each time it is decoded")
    func decodedLogDeterministic() throws {
        let path = Sample.logs + "/happy-logcat-threadtime.log"
        let log = try String(contentsOfFile: path, encoding: .utf8)
        var bodies: Set<[[UInt8]]> = []
        for _ in 0..<3 {
            var decoded = DecodedLog(try LineFormat(timezone: "UTC"), isLive: false, lineOffset: 0)
            bodies.insert(
                try decoded.decode(Array(log.utf8), readAt: Self.now).events + decoded.flush(readAt: Self.now).events
            )
        }
        #expect(bodies.count == 1 && bodies.first?.isEmpty == false)
    }

    @Test("a log decoded before it is sent is refused where its lines have no time, with the line")
    func untimed() throws {
        let log = "[DNP-FETCH] Fetch success: id=a fetchDurationMs=10\n"
        let error = #expect(throws: InputError.self) { try events("unrelated\n" + log) }
        #expect(error?.input == "line 2")
        #expect(try events(log, isLive: true).count == 1)
    }

    @Test("a log decoded before it is sent names what it cannot tell by the line")
    func decodedLogRefused() throws {
        var decoded = DecodedLog(try LineFormat(timezone: "UTC"), isLive: false, lineOffset: 10)
        let lines = try decoded.decode(
            Array("x\n2019-11-15T05:48:00Z [DNP-FETCH] Fetch success: id=a\n".utf8),
            readAt: Self.now
        )
        #expect(lines.rejected.map(\.place) == ["line 12"])
        #expect(lines.rejectedTotal == 1)
    }

    @Test("a log decoded before it is sent forgets the names that were not used for longest, and only these")
    func decodedLogNames() {
        let names = RawNames()
        let first = names.pseudonym(of: Array("kept".utf8).span)
        for number in 0..<RawNames.most {
            _ = names.pseudonym(of: Array("other-\(number)".utf8).span)
            #expect(number % 1_000 != 0 || names.name(first.high) == Array("kept".utf8))
        }
        #expect(names.name(first.high) == Array("kept".utf8))
        #expect(names.name(first.high &+ 1) == nil)
    }

    private enum Sample {
        static let logs = URL.repository.appendingPathComponent("Tests/IntegrationTests/Fixtures/logs").path
    }
}

@Suite("A live input is sent while it is read")
struct LiveInputTests {
    private static let options = try? LineFormat(timezone: "UTC")

    private func cutter() throws -> SendCutter {
        SendCutter(try #require(Self.options), isLive: true)
    }

    @Test("events of a live input are sent a second after the first of them")
    func events() throws {
        var cutter = try cutter()
        #expect(try cutter.take(Array(eventLines(0..<2).utf8), at: CutInput.moment(.seconds(5))) == [])
        #expect(try cutter.tick(at: CutInput.moment(.milliseconds(5_900))) == [])
        _ = try cutter.take(Array(eventLines(2..<3).utf8), at: CutInput.moment(.milliseconds(5_950)))
        let sent = try cutter.tick(at: CutInput.moment(.seconds(6)))
        #expect(sent.map { String(decoding: $0.body, as: UTF8.self) } == [eventLines(0..<3)])
        #expect(try cutter.tick(at: CutInput.moment(.seconds(60))) == [])
    }

    @Test("a live log is sent whole when it ends within a second")
    func endsSoon() throws {
        let log = SendCutterTests.log(lines: 20)
        let cut = try CutInput(log, piece: 500, isLive: true, interval: .milliseconds(50))
        #expect(cut.batches.count == 1)
        #expect(cut.texts[0].split(separator: "\n").map(String.init) == LogDecoding.events(of: log))
        let untimed = "[DNP-FETCH] Fetch success: id=a\n"
        #expect(try CutInput(untimed, piece: 5, isLive: true, interval: .milliseconds(50)).batches[0].format == .log)
    }

    @Test("a live log that goes on is sent as events, which say the same as the whole log")
    func goesOn() throws {
        let log = SendCutterTests.log(lines: 200)
        let cut = try CutInput(log, piece: 1_000, isLive: true, interval: .milliseconds(600))
        #expect(cut.batches.count > 3)
        #expect(cut.batches.allSatisfy { $0.format == .lines })
        let expected = LogDecoding.events(of: log)
        #expect(expected.count == 200)
        #expect(cut.texts.joined().split(separator: "\n").map(String.init) == expected)
    }

    @Test("what waits for another line of a live input is sent after a second of silence")
    func liveInputSilence() throws {
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
