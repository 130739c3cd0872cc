// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import TestSupport
import Testing

@testable import CollectorClient
@testable import Gzip

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

    @Test("is a line of counts and the first refused events")
    func text() throws {
        let lines = try result().text(quiet: false).split(separator: "\n").map(String.init)
        #expect(lines.first == "4989 accepted, 19 duplicate, 15 rejected")
        #expect(lines.dropFirst().first == "  line 1: reason 0")
        #expect(lines.last == "  and 5 more")
        #expect(lines.count == 2 + SendAccount.namedRejections)
        #expect(try result().text(quiet: true) == "4989 accepted, 19 duplicate, 15 rejected\n")
    }

    @Test("is one object for programs")
    func json() throws {
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

    @Test("leaves as gzip that reads back, unless that would look like an attack")
    func gzip() throws {
        let text = Array(eventLines(0..<30_000).utf8)
        let compressed = try #require(GzipBody.compress(text))
        #expect(try GzipDecoder.decode(compressed.span, maximumBytes: 64 << 20, maximumRatio: 200) == text)
        #expect(GzipBody.compress(Array("short".utf8)) == nil)
        #expect(GzipBody.compress([UInt8](repeating: 0x20, count: 8 << 20)) == nil)
        var random = SplitMix64(3)
        #expect(GzipBody.compress((0..<5_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }) == nil)
    }
}
