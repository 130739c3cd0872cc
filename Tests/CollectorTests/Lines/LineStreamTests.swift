// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector

@Suite("The lines of a connection")
struct LineStreamTests {
    private static let now = Timestamp(microseconds: startOfTest)

    static func stream(_ pseudonyms: some Pseudonymising = FixedPseudonym()) -> LineStream {
        var options = LogDecoderOptions(isLive: true)
        options.takesAllJSON = true
        return LineStream(
            LogDecoder(
                options,
                pseudonyms: pseudonyms,
                identityKey: EventText.identityKey
            ),
            pseudonyms: pseudonyms
        )
    }

    @Test("lines of a connection are settled when they are whole, whatever they are")
    func lineStreamSettled() {
        var stream = Self.stream()
        #expect(stream.take(Array("half".utf8), readAt: Self.now) == nil)
        #expect(stream.isInsideLine)
        let first = stream.take(Array(" of it\n\n\(EventText.scheduled("a"))\nnext".utf8), readAt: Self.now)
        #expect(first?.settled == 3)
        #expect(first?.decoded.events.count == 1)
        #expect(first?.decoded.lines.foreign == 2)
        let last = stream.finishLine(readAt: Self.now)
        #expect(last?.settled == 4)
        #expect(stream.finishLine(readAt: Self.now) == nil)
        #expect(stream.flush(readAt: Self.now) == nil)
    }

    @Test(
        "the installation of a connection's first line is the same with a carriage return, spaces or a byte order mark",
        arguments: [
            "installation a\r\n", "\u{FEFF}installation a\n", " installation \t a \u{0} \r\r\n", "installation a",
        ]
    )
    func installationLine(line: String) throws {
        func named(by line: String) throws -> Pseudonym {
            var stream = Self.stream(SumPseudonym())
            _ = stream.take(Array(line.utf8), readAt: Self.now)
            if stream.isInsideLine { _ = stream.finishLine(readAt: Self.now) }
            let event = stream.take(Array("\(EventText.scheduled("a"))\r\n".utf8), readAt: Self.now)
            let events = try #require(event).decoded.events
            var cursor = EventCursor()
            return try #require(try cursor.next(in: events.bytes.span)?.installation)
        }
        #expect(try named(by: line) == named(by: "installation a\n"))
        #expect(try named(by: line) != named(by: "installation b\n"))
    }

    @Test("a first line that names no installation is refused", arguments: ["installation \n", "installation\r\n"])
    func noInstallation(line: String) {
        var stream = Self.stream()
        #expect(stream.take(Array(line.utf8), readAt: Self.now)?.decoded.rejections.map(\.reason) == [.missingField])
    }

    @Test("lines of a connection are numbered by their line feeds, also with NUL bytes and beyond 64 KiB")
    func numbered() {
        var stream = Self.stream()
        let long = [UInt8](repeating: 0x61, count: 200_000)
        var settled: UInt64 = 0
        for piece in [Array("a\0\0b\n".utf8), long, long + [0x0A], Array("c\n".utf8)] {
            settled = stream.take(piece, readAt: Self.now)?.settled ?? settled
        }
        #expect(settled == 3)
    }

    @Test("lines of a connection are counted as they were sent where they are an array of Apple's log")
    func arrayOverLines() {
        var stream = Self.stream()
        let record = #"{"eventMessage":"[DNP-FETCH] Starting fetch","traceID":1}"#
        let piece = stream.take(Array("[\n\(record),{\n\(record)}]\n".utf8), readAt: Self.now)
        #expect((piece?.settled ?? 0) <= 3)
        #expect(stream.finishLine(readAt: Self.now) == nil)
        let rest = stream.flush(readAt: Self.now)
        #expect(max(piece?.settled ?? 0, rest?.settled ?? 0) == 3)
    }

    @Test(
        "lines of a connection that wait for the one which names their cycle are not settled before it, or before silence"
    )
    func waiting() {
        var stream = Self.stream()
        let handler = "[DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)\n"
        let piece = stream.take(Array("foreign\n\(handler)foreign\n".utf8), readAt: Self.now)
        #expect(piece?.settled == 1)
        #expect(piece?.decoded.events.count == 0)
        let rest = stream.flush(readAt: Self.now)
        #expect(rest?.settled == 3)
        #expect(rest?.decoded.events.count == 1)
        #expect(stream.flush(readAt: Self.now) == nil)
    }

    @Test("lines of a connection that are refused are named by their number")
    func lineStreamRefused() {
        var stream = Self.stream()
        _ = stream.take(Array("foreign\n".utf8), readAt: Self.now)
        let event = #"{"event":"prefetch_scheduled","scheduleId":"a","timestamp":"2019-01-01T00:00:00Z"}"#
        let large = #"{"event":"prefetch_scheduled","reason":""# + String(repeating: "x", count: 80_000) + "\"}"
        let piece = stream.take(
            Array("foreign\n\(event)\n\(large)\n\(EventText.scheduled("a"))\n".utf8),
            readAt: Self.now
        )
        #expect(piece?.decoded.rejections.map(\.index) == [2, 3])
        #expect(piece?.decoded.rejections.map(\.reason) == [.timestampTooOld, .tooLong])
        #expect(piece?.decoded.events.count == 1)
        #expect(piece?.settled == 5)
    }

    @Test(
        "arrays, envelopes and objects without an event on a connection's lines are taken or refused by line, in pieces of any size",
        arguments: [1, 7, 1_000, 1 << 20]
    )
    func lostEvents(pieceBytes: Int) {
        let taken = EventText.scheduled("a")
        let many = Array(repeating: taken, count: 900).joined(separator: ",")
        let lines: [String] = [
            "foreign", "[\(taken),\(EventText.scheduled("b")),{}]", "{\"events\":[\(EventText.scheduled("c")),7]}",
            String(taken.dropLast(9)), #"{"scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#, #"{"a":1}"#,
            "[\(many)]", "[\(taken),\(String(repeating: " ", count: 70_000))\(taken)]", EventText.scheduled("d"),
        ]
        let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
        var stream = Self.stream()
        var events = 0
        var answers: [String] = []
        var settled: UInt64 = 0
        for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
            let piece = stream.take(Array(bytes[start..<min(start + pieceBytes, bytes.count)]), readAt: Self.now)
            guard let piece else { continue }
            events += piece.decoded.events.count
            answers += piece.decoded.rejections.map { "\($0.index + 1) \($0.reason.name)" }
            settled = piece.settled
        }
        #expect(events == 4)
        #expect(
            answers == [
                "2 missing_field", "3 not_an_object", "4 truncated", "5 missing_field", "6 missing_field", "7 too_long",
                "8 too_long",
            ]
        )
        #expect(settled == 9)
    }
}

@Suite("What a client of lines is told")
struct LineAnswersTests {
    private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("line answers are refusals, each once, and the last count alone")
    func lineAnswersOrder() {
        var answers = LineAnswers()
        #expect(answers.next().isEmpty)
        answers.add(durable: 3, [])
        answers.add(durable: 7, [Rejection(index: 4, reason: .malformedJSON)])
        let refusal = "rejected 5 malformed_json event: expected valid JSON (RFC 8259), found a syntax error\n"
        let first = text(answers.next())
        #expect(first == refusal + "ok 7\n")
        answers.sent(10)
        answers.add(durable: 8, [])
        answers.add(durable: 9, [])
        let rest = text(answers.next())
        #expect(rest == (refusal + "ok 7\n").dropFirst(10))
        answers.sent(rest.utf8.count)
        let last = text(answers.next())
        #expect(last == "ok 9\n")
        answers.sent(last.utf8.count)
        #expect(answers.next().isEmpty)
    }

    @Test("line answers name a line once for each of its reasons, however many events it holds")
    func lineAnswersOncePerReason() {
        var answers = LineAnswers()
        let reasons: [RejectionReason] = [.notAnObject, .malformedJSON, .notAnObject, .malformedJSON]
        let many = Array(repeating: reasons, count: 1_000).joined()
        let same = Rejection(index: 4, reason: .malformedJSON, field: .event)
        let rejections = many.map { Rejection(index: 4, reason: $0) } + [same, Rejection(index: 5, reason: .tooLong)]
        answers.add(durable: 9, rejections)
        let lines = text(answers.next()).split(separator: "\n").map {
            $0.split(separator: " ").prefix(3).joined(separator: " ")
        }
        #expect(
            lines == [
                "rejected 5 not_an_object", "rejected 5 malformed_json", "rejected 6 too_long", "ok 9",
            ]
        )
    }

    @Test("line answers grow only with refusals")
    func lineAnswersBounded() {
        var answers = LineAnswers()
        _ = answers.next()
        for line in 1...100_000 as ClosedRange<UInt64> { answers.add(durable: line, []) }
        let waiting = answers.waiting
        #expect(waiting == 0)
        let next = text(answers.next())
        #expect(next == "ok 100000\n")
    }

    @Test("the count in line answers never falls")
    func monotonic() {
        var answers = LineAnswers()
        answers.add(durable: 5, [])
        answers.sent(answers.next().count)
        answers.add(durable: 4, [])
        #expect(answers.next().isEmpty)
    }
}

extension OneAtATime {
    @Suite("The socket of lines at the limit of connections")
    struct LinesLimitTests {
        private func running(connections: Int) throws -> OneAtATime.LinesServiceTests.Running {
            let directory = try TemporaryDirectory()
            return try OneAtATime.LinesServiceTests.Running(
                directory,
                try Pipeline(in: directory),
                connections: connections
            )
        }

        private func evicted(_ running: OneAtATime.LinesServiceTests.Running) -> Int? {
            running.pipeline.page[#"dnp_telemetry_lines_connections_refused_total{reason="made_room"}"#]
        }

        private func open(_ running: OneAtATime.LinesServiceTests.Running) -> Int? {
            running.pipeline.page["dnp_telemetry_lines_open_connections"]
        }

        @Test("the line socket at its connection limit evicts the client that has been silent longest, and no other")
        func linesLimitSilent() async throws {
            let running = try running(connections: 3)
            let first = try running.client()
            await waitUntil("it is in") { open(running) == 1 }
            let second = try running.client()
            await waitUntil("it is in") { open(running) == 2 }
            let speaking = try running.client()
            try await speaking.sendAll(OneAtATime.LinesServiceTests.lines(0..<1))
            try await speaking.waitUntilDurable(1)
            #expect(running.pipeline.page["dnp_telemetry_lines_connections_waited_total"] == 0)

            let third = try running.client()
            try await third.sendAll(OneAtATime.LinesServiceTests.lines(1..<2))
            try await third.waitUntilDurable(1)
            try await first.waitUntilClosed()
            #expect(first.answers == [])
            #expect(speaking.receive() && second.receive(), "the others stay")
            try await speaking.sendAll(OneAtATime.LinesServiceTests.lines(2..<3))
            try await speaking.waitUntilDurable(2)
            #expect(evicted(running) == 1)
            #expect(running.pipeline.page["dnp_telemetry_lines_connections_waited_total"] == 1)
            try await running.end()
        }

        @Test(
            "the line socket at its connection limit takes nothing for a line that a client had not ended when it made room, and has answered all before it"
        )
        func linesLimitHalf() async throws {
            let running = try running(connections: 1)
            let client = try running.client()
            try await client.sendAll(OneAtATime.LinesServiceTests.lines(0..<5) + #"{"event":"prefetch_sche"#)
            try await client.waitUntilDurable(5)
            let other = try running.client()
            try await other.sendAll(OneAtATime.LinesServiceTests.lines(5..<6))
            try await other.waitUntilDurable(1)
            try await client.waitUntilClosed()
            #expect(client.answers.allSatisfy { $0.hasPrefix("ok ") } && client.durable == 5)
            #expect(running.pipeline.page.scheduled == 6)
            #expect(running.pipeline.page.rejected == 0)
            #expect(running.pipeline.page[#"dnp_telemetry_events_received_total{source="socket",format="log"}"#] == 6)
            try await running.end()
        }

        @Test(
            "the line socket at its connection limit lets new clients wait while the lines of all others are being stored"
        )
        func linesLimitAtWork() async throws {
            let running = try running(connections: 2)
            let gate = Gate()
            let holding = Task { try? await running.pipeline.writer.perform { (_, _) in gate.pass() } }
            await waitUntil("the writer is held") { gate.isReached }
            let busy = [try running.client(), try running.client()]
            for (index, client) in busy.enumerated() {
                try await client.sendAll(OneAtATime.LinesServiceTests.lines(index..<index + 1))
            }
            await waitUntil("their lines wait") { running.pipeline.writer.statistics.waitingSubmissions == 2 }
            let waiting = try running.client()
            try await waiting.sendAll(OneAtATime.LinesServiceTests.lines(2..<3))
            await waitUntil("it waits") { running.pipeline.page["dnp_telemetry_lines_connections_waited_total"] == 1 }
            #expect(running.pipeline.writer.statistics.waitingSubmissions == 2)
            gate.open()
            _ = await holding.value
            for client in busy { try await client.waitUntilDurable(1) }
            try await waiting.waitUntilDurable(1)
            #expect(evicted(running) == 1, "one of them, once it was silent")
            try await running.end()
        }

        @Test(
            "the line socket at its connection limit serves a new client behind hundreds that connect and say nothing"
        )
        func linesLimitFlood() async throws {
            let running = try running(connections: 20)
            let silent = try (0..<300).map { _ in try running.client() }
            let client = try running.client()
            try await client.sendAll(OneAtATime.LinesServiceTests.lines(0..<100))
            try await client.waitUntilDurable(100)
            #expect(try #require(open(running)) <= 20)
            await waitUntil("most have made room") { silent.count { !$0.receive() } >= 280 }
            try await running.end()
        }

        @Test(
            "the line socket at its connection limit serves a new client behind those that drip bytes, or lines that tell nothing",
            arguments: ["x", "x\n", #"{"event":"nothing"}"# + "\n"]
        )
        func linesLimitDrip(piece: String) async throws {
            let running = try running(connections: 4)
            let drippers = try (0..<4).map { _ in try running.client() }
            await waitUntil("all places are held") { open(running) == 4 }
            let client = try running.client()
            #expect(client.offer(Array(OneAtATime.LinesServiceTests.lines(0..<1).utf8)[...]) > 0)
            await waitUntil("it is served") {
                for dripper in drippers {
                    _ = dripper.offer(Array(piece.utf8)[...])
                    dripper.receive()
                }
                client.receive()
                return client.durable == 1
            }
            #expect(evicted(running) ?? 0 >= 1)
            try await running.end()
        }

        @Test(
            "the line socket at its connection limit does not wait for a client that takes no answers and is to make room"
        )
        func linesLimitUnread() async throws {
            let running = try running(connections: 1)
            let client = try running.client()
            let refused = Array(String(repeating: #"{"event":"nothing"}"# + "\n", count: 20).utf8)
            var rejected = 0
            var (most, roundsWithoutMore) = (0, 0)
            while roundsWithoutMore < 5 {
                #expect(client.offer(refused[...]) == refused.count)
                rejected += 20
                await waitUntil("they are refused") { running.pipeline.page.rejected == rejected }
                let waiting = client.waiting
                roundsWithoutMore = waiting > most ? 0 : roundsWithoutMore + 1
                most = waiting
            }
            let other = try running.client()
            try await other.sendAll(OneAtATime.LinesServiceTests.lines(0..<1))
            try await other.waitUntilDurable(1)
            #expect(evicted(running) == 1)
            try await running.end()
        }
    }
}
