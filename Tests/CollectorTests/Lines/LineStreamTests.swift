// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector

@Suite("The lines of a connection")
struct LineStreamTests {
    private static let now = Timestamp(microseconds: startOfTest)

    static func stream() -> LineStream {
        LineStream(
            LogDecoder(
                LogDecoderOptions(isLive: true),
                pseudonyms: FixedPseudonym(),
                identityKey: EventText.identityKey
            )
        )
    }

    @Test("are settled when they are whole, whatever they are")
    func settled() {
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

    @Test("are numbered by their line feeds, also with NUL bytes and beyond 64 KiB")
    func numbered() {
        var stream = Self.stream()
        let long = [UInt8](repeating: 0x61, count: 200_000)
        var settled: UInt64 = 0
        for piece in [Array("a\0\0b\n".utf8), long, long + [0x0A], Array("c\n".utf8)] {
            settled = stream.take(piece, readAt: Self.now)?.settled ?? settled
        }
        #expect(settled == 3)
    }

    @Test("that wait for the one which names their cycle are not settled before it, or before silence")
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

    @Test("that are refused are named by their number")
    func refused() {
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
}

@Suite("What a client of lines is told")
struct LineAnswersTests {
    private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("are refusals, each once, and the last count alone")
    func order() {
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

    @Test("grow only with refusals")
    func bounded() {
        var answers = LineAnswers()
        _ = answers.next()
        for line in 1...100_000 as ClosedRange<UInt64> { answers.add(durable: line, []) }
        let waiting = answers.waiting
        #expect(waiting == 0)
        let next = text(answers.next())
        #expect(next == "ok 100000\n")
    }

    @Test("a count never falls")
    func monotonic() {
        var answers = LineAnswers()
        answers.add(durable: 5, [])
        answers.sent(answers.next().count)
        answers.add(durable: 4, [])
        #expect(answers.next().isEmpty)
    }
}
