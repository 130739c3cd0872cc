// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

@Suite("Misspelt names in events")
struct SpellingTests {
    private let misspelt =
        #"{"event":"prefetch_executed","scheduleid":"b","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z","qwx":1,"time_stamp":1}"#

    @Test("unknown fields that resemble a known one count under its name, in every shape")
    func fields() {
        let expected = ["scheduleId": 2, "timestamp": 2]
        #expect(decode("\(misspelt)\n\(misspelt)\n", as: .lines).resembledFields == expected)
        #expect(decode("[\(misspelt),\(misspelt)]").resembledFields == expected)
        #expect(decode(#"{"events":[\#(misspelt),\#(misspelt)]}"#).resembledFields == expected)
        #expect(decode("\(misspelt) \(misspelt)", as: .lines).resembledFields == expected)
        let counters =
            #"{"event":"telemetry_snapshot","timestamp":"2025-11-15T05:48:32Z","telemetry":{"dnp_prefetch_scheduled_totl":1}}"#
        #expect(decode(counters).resembledFields == ["dnp_prefetch_scheduled_total": 1])
        #expect(decode(#"{"event":"prefetch_executed","scheduleid":1}"#).resembledFields == ["scheduleId": 1])
    }

    @Test("at most 16 unknown names of an input are compared")
    func bounded() {
        let names = (10..<40).map { #""nothing-like-it-\#($0)":1"# }.joined(separator: ",")
        let decoded = decode(#"{"event":"prefetch_executed",\#(names),"scheduleid":1,"scheduleId":"a"}"#)
        #expect(decoded.resembledFields == [:] && decoded.unknownFields == 31)
    }

    @Test(
        "a misspelt kind is rejected with the kind that was meant",
        arguments: [
            ("prefetch_sucess", "prefetch_success"), ("prefetch_used", "prefetch_used_for_notification"),
            ("prefetch_schedule", "prefetch_scheduled"), ("PREFETCH_EXECUTED", "prefetch_executed"), ("login", nil),
        ]
    )
    func kinds(given: String, meant: String?) throws {
        let event = #"{"event":"\#(given)","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#
        for text in [event, "[\(event),\(event)]"] {
            let rejection = try #require(decode(text).rejections.last)
            #expect(rejection.nearestKind.map { "\($0.name)" } == meant)
            if let meant { #expect(rejection.description.hasSuffix("did you mean \"\(meant)\"?")) }
        }
    }
}
