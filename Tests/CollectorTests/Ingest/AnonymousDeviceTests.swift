// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import LogInput
import Logging
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector

@Suite("The device of lines that name none")
struct AnonymousDeviceTests {
    private static func event(_ kind: String, _ second: Int, _ members: String = "") -> String {
        let time = second < 10 ? "0\(second)" : "\(second)"
        return #"{"event":"\#(kind)","scheduleId":"a","timestamp":"2025-11-15T05:50:\#(time)Z"\#(members)}"#
    }

    private static let executed = event("prefetch_executed", 0)
    private static let success = event("prefetch_success", 3)
    private static func failure(_ reason: String, _ second: Int = 3, willRetry: Bool = false) -> String {
        event("prefetch_failure", second, #","reason":"\#(reason)","willRetry":\#(willRetry)"#)
    }

    private func contradicts(_ attempts: inout RecentAttempts, _ events: [String]) -> Bool {
        attempts.contradict(EventText.decode(events).events, EventText.identityKey)
    }

    @Test("bodies with two results of one attempt contradict each other, in any order")
    func twoResults() {
        let bodies = [
            [Self.executed, Self.success], [Self.executed, Self.failure("NETWORK")],
            [Self.executed, Self.failure("AUTH")],
        ]
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            var attempts = RecentAttempts()
            #expect(order.map { contradicts(&attempts, bodies[$0]) } == [false, true, true])
        }
    }

    @Test("the same body again, a retry and a later attempt contradict nothing")
    func oneDevice() {
        let retry = [Self.executed, Self.failure("NETWORK", 1, willRetry: true), Self.success]
        let attempts = [
            Self.executed, Self.failure("NETWORK", 1), Self.event("prefetch_executed", 10),
            Self.event("prefetch_success", 12),
            Self.event("prefetch_executed", 20), Self.failure("AUTH", 21),
        ]
        for body in [retry, attempts, attempts.reversed()] {
            var recent = RecentAttempts()
            for _ in 0..<3 { #expect(!contradicts(&recent, body)) }
        }
    }

    @Test("attempts of named installations are not compared, and cycles are forgotten beyond a limit")
    func bounded() {
        var attempts = RecentAttempts()
        let named = [Self.success, Self.failure("AUTH")].map {
            $0.replacing(#""scheduleId""#, with: #""installationId":"phone","scheduleId""#)
        }
        #expect(!contradicts(&attempts, named))
        #expect(!contradicts(&attempts, [Self.success]))
        let others = (0..<RecentAttempts.maximum).map { Self.success.replacing(#""a""#, with: "\"b\($0)\"") }
        #expect(!contradicts(&attempts, others))
        #expect(!contradicts(&attempts, [Self.failure("AUTH")]))
    }

    @Test("a kind of sender is warned of once, with what to set")
    func warnings() {
        let log = LoggedLines()
        let device = AnonymousDevice(EventText.identityKey, log.logger)
        for _ in 0..<3 {
            device.warn(.results, of: .http)
            device.warn(.stamps, of: .lineSocket)
        }
        #expect(log.levels == ["warning", "warning"])
        for (sender, setting) in [
            (LineSender.http, "X-Installation-Id"), (.lineSocket, "`installation ID`"), (.file("/a.log"), "/a.log"),
            (.journal, "follow-journal-device"), (.standardInput, "line socket"),
        ] {
            #expect(sender.sentence(.results).contains(setting))
            #expect(sender.sentence(.results).contains("two different results of one attempt"))
        }
    }
}
