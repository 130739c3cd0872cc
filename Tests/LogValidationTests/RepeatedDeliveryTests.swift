// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LogValidation

@Suite("A notification that is delivered twice")
struct RepeatedDeliveryTests {
    /// A day of a schedule that keeps its id: it is due at 6:00, and uses what was prefetched.
    private func day(_ day: Int, namesTime: Bool) -> [String] {
        let due = #","scheduledFor":"2025-11-\#(day)T06:00:00Z""#
        func event(_ kind: String, _ clock: String, _ members: String) -> String {
            #"{"event":"\#(kind)","scheduleId":"daily","timestamp":"2025-11-\#(day)T\#(clock)Z"\#(members)}"#
        }
        return [
            event("prefetch_scheduled", "05:40:00", due), event("prefetch_executed", "05:55:10", due),
            event("prefetch_success", "05:55:12", due), event("prefetch_used_for_notification", "06:00:01", due),
            event("notification_delivered", "06:00:01", namesTime ? due : ""),
        ]
    }

    private func failures(_ lines: [String]) throws -> [String] {
        let scenario = try #require(GuideScenario.named("dst"))
        return try JudgedLog.judge(lines).check([scenario]).flatMap(\.failures)
    }

    @Test("a daily schedule that keeps its id is delivered once on each day", arguments: [true, false])
    func dailySchedule(namesTime: Bool) throws {
        #expect(try failures((15...18).flatMap { day($0, namesTime: namesTime) }) == [])
    }

    @Test("one of its notifications that is delivered an hour later once more is found", arguments: [true, false])
    func deliveredAgain(namesTime: Bool) throws {
        var lines = (15...18).flatMap { day($0, namesTime: namesTime) }
        let again = try #require(lines.last { $0.contains("notification_delivered") && $0.contains("-17T06") })
        lines.append(again.replacing("T06:00:01Z", with: "T07:00:01Z"))
        #expect(try failures(lines) == [Self.twice])
    }

    private static let twice =
        "expected each notification delivered once, found 1 notification delivered more than once"

    @Test(
        "one that is delivered once more within a minute is found, and one told twice in a second is not",
        arguments: [("00:02", false), ("00:03", true), ("00:41", true), ("01:01", true), ("01:02", true)]
    )
    func deliveredAgainAtOnce(clock: String, isAnother: Bool) throws {
        var lines = day(15, namesTime: true)
        let delivered = try #require(lines.last)
        lines.append(delivered.replacing("T06:00:01Z", with: "T06:\(clock)Z"))
        #expect(try failures(lines) == (isAnother ? [Self.twice] : []))
    }

    @Test(
        "one that a line and an event tell some seconds apart is one, and a second line finds another",
        arguments: [(["00:02.400"], false), (["00:06"], false), (["00:06.001"], true), (["00:02", "00:05"], true)]
    )
    func deliveredInTwoForms(clocks: [String], isAnother: Bool) throws {
        let lines = clocks.map { "2025-11-15T06:\($0)Z [DNP-SCHEDULER] Notification delivered (id=daily, title=News)" }
        #expect(try failures(day(15, namesTime: true) + lines) == (isAnother ? [Self.twice] : []))
    }
}
