// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("broken events")
struct BrokenEventTests {
    /// Events of which every tenth is broken, each time in the next way.
    private struct Mixture {
        var lines: [[UInt8]] = []
        var broken: [Int: BrokenEvent] = [:]
        var totals = LifecycleTotals()

        init(count: Int, ways: [BrokenEvent]) {
            let good = EventFactory(prefix: "good").cycles(0..<count / 3)
            let small = ways.filter { !$0.isLarge }
            var used = EventBatch()
            for index in 0..<count {
                if index % 10 == 9 {
                    let turn = index / 10
                    let all = turn < 5 * ways.count ? ways : small
                    let way = all[turn % all.count]
                    broken[index] = way
                    lines.append(way.bytes(index))
                } else {
                    let next = used.count
                    let identity = good.identities[next]
                    used.append(identity.kind, schedule: identity.scheduleId, line: good.lines[next])
                    if let reason = ["NETWORK", "AUTH", "SYSTEM"].first(where: good.lines[next].contains) {
                        used.totals.failure[reason, default: 0] += 1
                    }
                    lines.append(Array(good.lines[next].utf8))
                }
            }
            totals = used.totals
        }

        func body(separator: UInt8) -> [UInt8] { Array(lines.joined(separator: [separator])) }
    }

    @Test("every tenth of 40,000 lines is broken: the others count, and each broken one is named")
    func brokenLines() async throws {
        let mixture = Mixture(count: 40_000, ways: BrokenEvent.ways)
        #expect(BrokenEvent.ways.count >= 25)
        try await check(mixture, body: mixture.body(separator: UInt8(ascii: "\n")), type: "application/x-ndjson")
    }

    @Test("every tenth of 40,000 array elements is broken: the others count, and each broken one is named")
    func brokenElements() async throws {
        let mixture = Mixture(count: 40_000, ways: BrokenEvent.ways.filter(\.standsInArray))
        let body = [UInt8(ascii: "[")] + mixture.body(separator: UInt8(ascii: ",")) + [UInt8(ascii: "]")]
        try await check(mixture, body: body, type: "application/json")
    }

    private func check(_ mixture: Mixture, body: [UInt8], type: String) async throws {
        try await withService { service in
            let client = await service.client
            let receipt = try await client.post(body, type: type).receipt()
            #expect(receipt.accepted == mixture.lines.count - mixture.broken.count)
            #expect(receipt.duplicates == 0)
            let reasons = Dictionary(receipt.rejected.map { ($0.index, $0.reason) }) { first, _ in first }
            #expect(reasons.count == receipt.rejected.count, "an index is named twice")
            let unnamed = mixture.broken.filter { reasons[$0.key] == nil }
            #expect(
                unnamed.count == 0,
                "accepted, or not named: \(Set(unnamed.values.map(\.name)).sorted()) (\(unnamed.count))"
            )
            let wronged = reasons.filter { mixture.broken[$0.key] == nil }
            #expect(wronged.count == 0, "good events refused: \(wronged.prefix(3))")
            var unclear: [String: String] = [:]
            for (index, reason) in reasons {
                if let way = mixture.broken[index], !way.isNamed(by: reason) { unclear[way.name] = reason }
            }
            #expect(unclear.isEmpty, "reasons that do not name the problem: \(unclear)")

            let page = try await client.metrics()
            #expect(page.lifecycle == mixture.totals.series)
            #expect(page.sum("dnp_telemetry_events_rejected_total") == Double(mixture.broken.count))
            #expect(page.sum("dnp_telemetry_events_received_total") == Double(mixture.lines.count))
            #expect(page.ingestBalance == 0)
            let repeated = try await client.post(body, type: type).receipt()
            #expect(repeated.accepted == 0)
            #expect(repeated.duplicates == receipt.accepted)
        }
    }

    @Test("a second object on a line is read or rejected, never swallowed")
    func twoObjectsOnALine() async throws {
        let batch = EventFactory(prefix: "line").cycles(0..<1)
        try await withService { service in
            let client = await service.client
            let receipt = try await client.post(Array(batch.lines.joined(separator: " ").utf8)).receipt()
            let isTold = receipt.accepted == batch.count || !receipt.rejected.isEmpty
            #expect(isTold, "\(batch.count) events on one line: \(receipt)")
        }
    }

    @Test("a batch of broken events alone is rejected as a whole, with a reason for each")
    func onlyBrokenEvents() async throws {
        try await withService { service in
            let client = await service.client
            let small = BrokenEvent.ways.filter { !$0.isLarge }
            let body = small.enumerated().map { $1.bytes($0) }.joined(separator: [UInt8(ascii: "\n")])
            let answer = try await client.post(Array(body))
            #expect(answer.status == 400)
            let problem = try answer.problem()
            #expect(problem.rejected?.map(\.index) == Array(small.indices))
            let page = try await client.metrics()
            #expect(page.sum("dnp_telemetry_events_rejected_total") == Double(small.count))
            #expect(page.ingestBalance == 0)
            #expect(page.lifecycle == LifecycleTotals().series)
        }
    }
}

/// One way in which an event can be wrong.
struct BrokenEvent: Sendable {
    let name: String
    /// The reason must contain one of these words, in any case.
    let mentions: [String]
    /// Whether the JSON around it can still be read when it stands in an array.
    var standsInArray = true
    /// Whether one is many times larger than a usual event.
    var isLarge = false
    let bytes: @Sendable (Int) -> [UInt8]

    /// An event with this text.
    static func text(
        _ name: String,
        mentions: [String],
        inArray: Bool = true,
        large: Bool = false,
        _ text: @escaping @Sendable (Int) -> String
    ) -> BrokenEvent {
        BrokenEvent(name: name, mentions: mentions, standsInArray: inArray, isLarge: large) { Array(text($0).utf8) }
    }

    /// A valid event with one more, invalid member.
    static func member(_ name: String, mentions: [String], _ member: String) -> BrokenEvent {
        .text(name, mentions: mentions) { "\(start($0)),\(member)}" }
    }

    /// A valid event with this timestamp.
    static func timestamp(_ name: String, also: [String] = [], _ timestamp: @escaping @Sendable () -> String)
        -> BrokenEvent
    {
        .text(name, mentions: ["timestamp"] + also) {
            #"{"event":"prefetch_success","scheduleId":"broken-\#($0)","timestamp":\#(timestamp())}"#
        }
    }

    static func start(_ index: Int) -> String {
        #"{"event":"prefetch_success","scheduleId":"broken-\#(index)","timestamp":"2025-11-15T05:48:32Z""#
    }

    func isNamed(by reason: String) -> Bool {
        let reason = reason.lowercased()
        return mentions.contains { reason.contains($0.lowercased()) }
    }
}

extension BrokenEvent {
    private static let syntaxWords = ["json", "expected", "unexpected", "syntax", "malformed"]

    static let ways: [BrokenEvent] = syntax + required + timestamps + values + limits

    private static let syntax: [BrokenEvent] = [
        .text("a name without quotes", mentions: syntaxWords, inArray: false) {
            "{event:\"prefetch_success\",\"scheduleId\":\"broken-\($0)\"}"
        },
        .text("a value without quotes", mentions: syntaxWords, inArray: false) { "\(start($0)),\"reason\":NETWORK}" },
        .text("a missing colon", mentions: syntaxWords, inArray: false) { "\(start($0)),\"ttl\" 5}" },
        .text("a trailing comma", mentions: syntaxWords, inArray: false) { "\(start($0)),}" },
        .text("a number with a leading zero", mentions: syntaxWords + ["number"], inArray: false) {
            "\(start($0)),\"duration_ms\":012}"
        },
        .text("a string cut short", mentions: syntaxWords + ["string", "end", "quote"], inArray: false) {
            "{\"event\":\"prefetch_success\",\"scheduleId\":\"broken-\($0)"
        },
        .text("an object cut short", mentions: syntaxWords + ["end", "object"], inArray: false) { start($0) },
        .text("words after the object", mentions: syntaxWords + ["after", "trailing"], inArray: false) {
            "\(start($0))} and more"
        },
        .text("a bad escape", mentions: syntaxWords + ["escape"], inArray: false) {
            "\(start($0)),\"error\":\"\\x41\"}"
        },
        .text("a raw control character", mentions: syntaxWords + ["control"], inArray: false) {
            "\(start($0)),\"error\":\"a\u{1}b\"}"
        },
        .text("not JSON at all", mentions: syntaxWords, inArray: false) { "prefetch succeeded, number \($0)" },
        .text("an array in place of an object", mentions: ["object"]) { _ in "[\"prefetch_success\"]" },
        .text("a number in place of an object", mentions: ["object"]) { "\($0)" },
        .text("null in place of an object", mentions: ["object"]) { _ in "null" },
    ]

    private static let required: [BrokenEvent] = [
        .text("no event", mentions: ["event"]) {
            "{\"scheduleId\":\"broken-\($0)\",\"timestamp\":\"2025-11-15T05:48:32Z\"}"
        },
        .text("null for the event", mentions: ["event"]) {
            "{\"event\":null,\"scheduleId\":\"broken-\($0)\",\"timestamp\":\"2025-11-15T05:48:32Z\"}"
        },
        .text("a number for the event", mentions: ["event"]) {
            "{\"event\":7,\"scheduleId\":\"broken-\($0)\",\"timestamp\":\"2025-11-15T05:48:32Z\"}"
        },
        .text("an unknown kind", mentions: ["prefetch_exploded", "kind", "event"]) {
            "{\"event\":\"prefetch_exploded\",\"scheduleId\":\"broken-\($0)\",\"timestamp\":\"2025-11-15T05:48:32Z\"}"
        },
        .text("no timestamp", mentions: ["timestamp"]) {
            "{\"event\":\"prefetch_success\",\"scheduleId\":\"broken-\($0)\"}"
        },
        .text("no schedule", mentions: ["scheduleId"]) { _ in
            "{\"event\":\"prefetch_success\",\"timestamp\":\"2025-11-15T05:48:32Z\"}"
        },
        .text("an empty schedule id", mentions: ["scheduleId"]) { _ in
            "{\"event\":\"prefetch_success\",\"scheduleId\":\"\",\"timestamp\":\"2025-11-15T05:48:32Z\"}"
        },
        .text("a number for the schedule id", mentions: ["scheduleId"]) {
            "{\"event\":\"prefetch_success\",\"scheduleId\":\($0),\"timestamp\":\"2025-11-15T05:48:32Z\"}"
        },
    ]

    private static let timestamps: [BrokenEvent] = [
        .timestamp("a null timestamp") { "null" },
        .timestamp("a number for a timestamp") { "1763185712" },
        .timestamp("words for a timestamp") { "\"yesterday\"" },
        .timestamp("a timestamp without an offset") { "\"2025-11-15T05:48:32\"" },
        .timestamp("a day that February lacks") { "\"2025-02-30T05:48:32Z\"" },
        .timestamp("hour 25") { "\"2025-11-15T25:48:32Z\"" },
        .timestamp("a date alone") { "\"2025-11-15\"" },
        .timestamp("before 2020", also: ["2020"]) { "\"2019-12-31T23:59:59Z\"" },
        .timestamp("three days ahead", also: ["ahead", "future", "48"]) {
            "\"\(ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 72 * 3_600)))\""
        },
    ]

    private static let values: [BrokenEvent] = [
        .member("a bad notification time", mentions: ["scheduledFor"], "\"scheduledFor\":\"tomorrow\""),
        .member("a bad begin date", mentions: ["earliestBeginDate"], "\"earliestBeginDate\":\"05:48\""),
        .member("a negative duration", mentions: ["duration_ms"], "\"duration_ms\":-1"),
        .member("words for a duration", mentions: ["duration_ms"], "\"duration_ms\":\"fast\""),
        .member("a duration past all numbers", mentions: ["duration_ms"], "\"duration_ms\":1e999"),
        .member("a negative ttl", mentions: ["ttl"], "\"ttl\":-5"),
        .member("words for a ttl", mentions: ["ttl"], "\"ttl\":\"long\""),
        .member("a status past all integers", mentions: ["status"], "\"status\":99999999999999999999999"),
        .member("words for a boolean", mentions: ["willRetry"], "\"willRetry\":\"yes\""),
        .member("a number for a reason", mentions: ["reason"], "\"reason\":5"),
        .member("an object for an event id", mentions: ["eventId"], "\"eventId\":{}"),
        .member("a hash that is not hex", mentions: ["contentHash"], "\"contentHash\":\"zz\""),
        .member("an array for the client's counters", mentions: ["telemetry"], "\"telemetry\":[1]"),
    ]

    private static let limits: [BrokenEvent] = [
        BrokenEvent(name: "bytes that are not UTF-8", mentions: ["utf-8", "utf8"]) {
            Array("\(start($0)),\"error\":\"".utf8) + [0xFF, 0xC0, 0x80] + Array("\"}".utf8)
        },
        .text("a nesting of 40", mentions: ["nest", "deep", "depth"]) {
            "\(start($0)),\"more\":\(String(repeating: "[", count: 40))\(String(repeating: "]", count: 40))}"
        },
        .text("a schedule id of 200 bytes", mentions: ["scheduleId"]) {
            let long = String(repeating: "x", count: 190) + "\($0)"
            return "{\"event\":\"prefetch_success\",\"scheduleId\":\"\(long)\",\"timestamp\":\"2025-11-15T05:48:32Z\"}"
        },
        .text("a line over 64 KiB", mentions: ["64", "65", "long", "large"], inArray: false, large: true) {
            "\(start($0)),\"error\":\"\(String(repeating: "e", count: 70_000))\"}"
        },
    ]
}
