// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import TestSupport
import Testing

@testable import CollectorClient
@testable import Gzip

@Suite("An answer to a batch")
struct BatchOutcomeTests {
    private func outcome(
        _ status: Int,
        _ body: String = "",
        type: String = "application/problem+json",
        retryAfter: String? = nil
    ) -> BatchOutcome {
        BatchOutcome(CollectorAnswer(status: status, type: type, retryAfter: retryAfter, body: Array(body.utf8)))
    }

    @Test("an answer to a batch of 200 says what was stored")
    func taken() {
        let body = #"""
            {"accepted":2,"duplicates":1,"rejected":[{"index":3,"reason":"no"}],"rejectedOmitted":5,
             "lines":{"read":9,"recognised":8,"foreign":1,"unrecognised":0}}
            """#
        guard case .taken(let receipt) = outcome(200, body, type: "Application/JSON; charset=utf-8") else {
            Issue.record("it was not taken")
            return
        }
        #expect(receipt.accepted == 2 && receipt.duplicates == 1 && receipt.rejectedTotal == 6)
        #expect(receipt.lines?.read == 9)
    }

    @Test("an answer to a batch of 400 that names events refuses these, and no others")
    func batchOutcomeUnreadable() {
        let named = outcome(400, #"{"type":"x","rejected":[{"index":0,"reason":"no"}]}"#)
        #expect(named == .taken(.init(accepted: 0, duplicates: 0, rejected: [.init(index: 0, reason: "no")])))
        #expect(outcome(400, #"{"type":"x","detail":"Broken."}"#) == .refused("HTTP 400, Broken"))
    }

    @Test("an answer that may change is retried", arguments: [408, 425, 429, 500, 502, 503, 504, 599])
    func again(status: Int) {
        #expect(outcome(status, type: "text/html") == .again("HTTP \(status)", after: nil))
        #expect(outcome(status, retryAfter: "3") == .again("HTTP \(status)", after: .seconds(3)))
    }

    @Test("an answer that will not change is final", arguments: [201, 204, 301, 307, 401, 403, 404, 405, 415, 422])
    func final(status: Int) {
        guard case .refused(let words) = outcome(status, type: "text/html") else {
            Issue.record("\(status) is not final")
            return
        }
        #expect(words.contains("\(status)"))
    }

    @Test("an answer to a batch of 413 asks for less")
    func batchOutcomeTooLarge() {
        #expect(outcome(413, #"{"title":"Too large"}"#) == .tooLarge("HTTP 413, Too large"))
    }

    @Test(
        "an answer to a batch that no collector gives is none",
        arguments: [
            ("text/html", "<html>"), ("", ""), ("application/json", "[]"), ("application/json", #"{"accepted":-1}"#),
            ("application/json", #"{"accepted":1e99,"duplicates":0,"rejected":[]}"#),
        ]
    )
    func batchOutcomeForeign(type: String, body: String) {
        guard case .refused = outcome(200, body, type: type) else {
            Issue.record("\(type) \(body) was taken")
            return
        }
    }

    @Test("an answer to a batch is shown without what moves a terminal")
    func plain() {
        guard case .refused(let words) = outcome(403, #"{"detail":"\u001b[31mred\nnew line"}"#) else { return }
        #expect(!words.contains("\u{1B}") && !words.contains("\n"))
    }
}

@Suite("A batch is tried again")
struct SendBackoffTests {
    /// Always the largest or the smallest of all numbers.
    private struct Fixed: RandomNumberGenerator {
        let value: UInt64
        mutating func next() -> UInt64 { value }
    }

    private func pauses(_ random: UInt64, limit: Duration = .seconds(10_000)) -> [Duration] {
        var backoff = SendBackoff(limit: limit)
        var generator = Fixed(value: random)
        var (now, pauses) = (Duration.zero, [Duration]())
        while pauses.count < 12, let pause = backoff.pause(now: now, retryAfter: nil, using: &generator) {
            pauses.append(pause)
            now += pause + .milliseconds(1)
        }
        return pauses
    }

    @Test("a batch is retried after pauses that double, up to thirty seconds, and that chance shortens down to none")
    func grows() {
        let longest = pauses(.max).map { $0 / .seconds(1) }
        let expected = [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30, 30]
        #expect(longest.count == expected.count)
        #expect(zip(longest, expected).allSatisfy { abs($0 - $1) < 0.001 })
        #expect(pauses(0).allSatisfy { $0 == .zero })
        var backoff = SendBackoff(limit: .seconds(10_000))
        var random = SplitMix64(1)
        let drawn = (0..<200).compactMap { _ in backoff.pause(now: .zero, retryAfter: nil, using: &random) }.dropFirst(
            8
        )
        #expect(Set(drawn).count > 150)
        #expect(drawn.allSatisfy { $0 <= SendBackoff.longest })
    }

    @Test("a batch is retried no sooner than the collector asks for")
    func asked() {
        var backoff = SendBackoff(limit: .seconds(60))
        var random = Fixed(value: 0)
        #expect(backoff.pause(now: .zero, retryAfter: .seconds(7), using: &random) == .seconds(7))
        #expect(backoff.pause(now: .seconds(7), retryAfter: .seconds(300), using: &random) == .seconds(53))
        #expect(backoff.pause(now: .seconds(60), retryAfter: .seconds(1), using: &random) == nil)
    }

    @Test("a batch is retried for as long as it may, the last time at the end")
    func sendBackoffLimit() {
        var backoff = SendBackoff(limit: .seconds(1))
        var random = Fixed(value: .max)
        var now = Duration.seconds(100)
        while let pause = backoff.pause(now: now, retryAfter: nil, using: &random) { now += pause }
        #expect(now == .seconds(101))
        var once = SendBackoff(limit: .zero)
        #expect(once.pause(now: .seconds(3), retryAfter: nil, using: &random) == nil)
    }

    @Test("a batch is retried only a little longer once it is interrupted")
    func interrupted() {
        var backoff = SendBackoff(limit: .seconds(300))
        var random = Fixed(value: .max)
        _ = backoff.pause(now: .zero, retryAfter: nil, using: &random)
        backoff.shorten(to: .seconds(5), now: .seconds(10))
        #expect(backoff.pause(now: .seconds(12), retryAfter: .seconds(60), using: &random) == .seconds(3))
        backoff.shorten(to: .seconds(5), now: .seconds(14))
        #expect(backoff.pause(now: .seconds(15), retryAfter: nil, using: &random) == nil)
    }
}

@Suite("What became of an input")
struct SendResultTests {
    private func result() throws -> SendResult {
        var result = SendResult()
        let batches = try CutInput(eventLines(0..<5_020)).batches
        let rejected = (0..<12).map { BatchOutcome.Receipt.Rejection(index: $0, reason: "reason \($0)") }
        result.add(.init(accepted: 4_988, duplicates: 0, rejected: rejected), of: batches[0])
        result.add(.init(accepted: 1, duplicates: 19, rejected: [], rejectedOmitted: 3), of: batches[1])
        return result
    }

    @Test("the result of a sent input is a line of counts and the first refused events")
    func text() throws {
        let lines = try result().text(quiet: false).split(separator: "\n").map(String.init)
        #expect(lines.first == "4989 accepted, 19 duplicate, 15 rejected")
        #expect(lines.dropFirst().first == "  line 1: reason 0")
        #expect(lines.last == "  and 5 more")
        #expect(lines.count == 2 + SendAccount.namedRejections)
        #expect(try result().text(quiet: true) == "4989 accepted, 19 duplicate, 15 rejected\n")
    }

    @Test("the result of a sent input is one object for programs")
    func sendResultJson() throws {
        var result = try result()
        result.ending = .unreachable("http://host: \"refused\"")
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(result.json())) as? [String: Any]
        )
        #expect(object["ending"] as? String == "unreachable")
        #expect(object["problem"] as? String == "http://host: \"refused\"")
        #expect(object["accepted"] as? Int == 4_989)
        #expect(object["rejected"] as? Int == 15)
        #expect((object["rejections"] as? [[String: String]])?[1] == ["place": "line 2", "reason": "reason 1"])
        #expect((object["lines"] as? [String: Int])?["read"] == 0)
    }

    @Test("a batch is sent as gzip that reads back, unless that would look like an attack")
    func sendResultGzip() throws {
        let text = Array(eventLines(0..<30_000).utf8)
        let compressed = try #require(GzipBody.compress(text))
        #expect(try GzipDecoder.decode(compressed.span, maximumBytes: 64 << 20, maximumRatio: 200) == text)
        #expect(GzipBody.compress(Array("short".utf8)) == nil)
        #expect(GzipBody.compress([UInt8](repeating: 0x20, count: 8 << 20)) == nil)
        var random = SplitMix64(3)
        #expect(GzipBody.compress((0..<5_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }) == nil)
    }
}
