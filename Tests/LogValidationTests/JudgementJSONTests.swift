// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import Testing

@testable import PrefetchLifecycle

@Suite("A judgement as JSON")
struct JudgementJSONTests {
    static func text(_ judgement: Judgement, explains: Bool = false) -> String {
        String(decoding: judgement.json(explains: explains), as: UTF8.self)
    }

    static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test("is the documented object, in the documented order")
    func whole() {
        let judgement = JudgementSamples.judgement([
            JudgementSamples.cycle(), JudgementSamples.cycle("b", outcome: .fallback, violations: [.driftExceeded]),
        ])
        let expected = #"""
            {"verdict":"coherent",
             "cycles":[
              {"scheduleId":"notif-1","notificationTime":"2025-11-15T05:53:00Z","outcome":"used",\#
            "stages":{"scheduled":"2025-11-15T05:41:00Z","executed":"2025-11-15T05:50:00Z",\#
            "success":"2025-11-15T05:50:03.500000Z","failure":null,"used":"2025-11-15T05:53:02Z",\#
            "delivered":"2025-11-15T05:53:02Z"},"failureReason":null,"violations":[]},
              {"scheduleId":"b","notificationTime":"2025-11-15T05:53:00Z","outcome":"fallback",\#
            "stages":{"scheduled":"2025-11-15T05:41:00Z","executed":"2025-11-15T05:50:00Z","success":null,\#
            "failure":"2025-11-15T05:50:03Z","used":null,"delivered":"2025-11-15T05:53:02Z"},"failureReason":"NETWORK",\#
            "violations":[{"violation":"drift_exceeded","bucket":"C","detail":"what happened"}]}],
             "counters":{"dnp_prefetch_scheduled_total":2,"dnp_prefetch_executed_total":2,\#
            "dnp_prefetch_success_total":1,"dnp_prefetch_failure_total":{"NETWORK":1,"AUTH":0,"SYSTEM":0},\#
            "dnp_prefetch_used_for_notification_total":1},
             "lines":{"read":10,"recognised":7,"foreign":2,"unrecognised":1}}

            """#
        #expect(Self.text(judgement) == expected)
    }

    @Test("of nothing holds every member")
    func empty() throws {
        let object = try Self.object(Self.text(Judgement()))
        #expect(Set(object.keys) == ["verdict", "cycles", "counters", "lines"])
        #expect(object["verdict"] as? String == "empty")
        #expect((object["cycles"] as? [Any])?.isEmpty == true)
    }

    @Test("survives ids and sentences of any characters")
    func escapes() throws {
        let hostile = "\"\\\u{0}\u{1F}\u{7F}\n\r\t</script>é\u{202E}😀"
        let cycle = JudgementSamples.cycle(hostile, violations: [.usedWithoutSuccess], detail: hostile)
        let object = try Self.object(Self.text(JudgementSamples.judgement([cycle])))
        let cycles = try #require(object["cycles"] as? [[String: Any]])
        #expect(cycles[0]["scheduleId"] as? String == hostile)
        let violations = try #require(cycles[0]["violations"] as? [[String: Any]])
        #expect(violations[0]["detail"] as? String == hostile)
    }

    @Test("tells how many cycles are not listed, and the unrecognised lines when asked")
    func additions() throws {
        let judgement = JudgementSamples.judgement([JudgementSamples.cycle(nil)], omitted: 5)
        let object = try Self.object(Self.text(judgement, explains: true))
        #expect(object["cyclesOmitted"] as? Int == 5)
        let lines = try #require(object["unrecognised"] as? [[String: Any]])
        #expect(lines.count == 1)
        #expect(lines[0]["input"] as? String == "device.log")
        #expect(lines[0]["line"] as? Int == 4)
        #expect(lines[0]["text"] as? String == "Fetch flew")
        let cycles = try #require(object["cycles"] as? [[String: Any]])
        #expect(cycles[0]["scheduleId"] is NSNull)
    }

    @Test("names failures for other reasons once there are some")
    func otherFailures() {
        let cycle = JudgementSamples.cycle(outcome: .failed) { $0.failureReason = .other }
        #expect(Self.text(JudgementSamples.judgement([cycle])).contains(#""SYSTEM":0,"OTHER":1}"#))
    }
}
