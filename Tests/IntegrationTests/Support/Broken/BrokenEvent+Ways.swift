// SPDX-License-Identifier: Apache-2.0

import Foundation

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
