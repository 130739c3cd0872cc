// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrefetchLifecycle
import Testing

@testable import LogValidation

@Suite("Hints")
struct HintsTests {
    typealias Story = GuideStory

    @Test("every violation and every stage at which a cycle can stop has advice")
    func everyViolationHasAdvice() {
        for kind in ViolationKind.allCases { #expect(!Advice.of(kind).isEmpty, "\(kind.name)") }
        for stop in CycleStop.allCases { #expect(!Advice.of(stop, JudgementSamples.cycle()).isEmpty, "\(stop)") }
    }

    @Test("a task that never ran has the guide's advice on it, in text, JSON and JUnit")
    func neverExecuted() throws {
        let judgement = try JudgedLog.judge(
            Story.launch(0) + Story.scheduling() + Story.onDemand() + Story.launch(5_000)
        )
        for text in [
            judgement.text(hints: true), String(decoding: judgement.json(hints: true), as: UTF8.self),
            judgement.junit(hints: true),
        ] {
            for word in ["Background App Refresh", "force-quit", "BGTaskSchedulerPermittedIdentifiers"] {
                #expect(text.contains(word), "\(word) in \(text)")
            }
        }
        #expect(!judgement.text().contains("Background App Refresh"))
        #expect(!String(decoding: judgement.json(), as: UTF8.self).contains("\"hints\""))
        let cycles = try #require(JudgedLog.object(judgement)["cycles"] as? [[String: Any]])
        #expect((cycles.first?["hints"] as? [String])?.isEmpty == false)
    }

    @Test("a cycle that came to its end has no hints")
    func happy() throws {
        let judgement = try JudgedLog.judge(Story.launch(0) + Story.scheduling() + Story.prefetch(540) + Story.shown())
        #expect(!judgement.text(hints: true).contains("hint"))
    }

    static let stops: [(GuideStory, CycleStop)] = [
        (
            Story.launch(0) + Story.notification(0, due: 720, id: "a") + Story.onDemand() + Story.launch(900),
            .notSubmitted
        ),
        (Story.launch(0) + Story.scheduling() + Story.onDemand() + Story.launch(900), .notExecuted),
        (NegativePathTests.start + Story.completion(543) + Story.onDemand() + Story.launch(900), .notFinished),
        (NegativePathTests.start + NegativePathTests.networkFailure + Story.onDemand() + Story.launch(900), .failed),
        (Story.launch(0) + Story.scheduling() + Story.prefetch(540) + Story.onDemand() + Story.launch(900), .notFound),
        (Story.launch(0) + Story.scheduling() + Story.prefetch(540) + Story.launch(4_000), .notDelivered),
    ]

    @Test("the stage at which a cycle stopped is found", arguments: stops.indices)
    func stop(index: Int) throws {
        let (story, stop) = Self.stops[index]
        #expect(try JudgedLog.judge(story).cycles.map(\.stop) == [stop])
    }

    @Test("an empty log, one without the plugin's lines and one without a scheduling say what to check")
    func emptyLogs() throws {
        for (lines, word) in [
            ([], "The input is empty"), (["nothing of ours"], "[DNP-FETCH]"),
            (JudgedLog.lines(Story.launch(0)), "Schedule a notification"),
            (["[DNP-PLUGIN] notifications_denied for scheduleDailyNotification"], "Notifications are denied"),
        ] {
            let judgement = try JudgedLog.judge(lines)
            #expect(judgement.text(hints: true).contains(word), "\(lines)")
            #expect(judgement.junit(hints: true).contains(word == "[DNP-FETCH]" ? "DNP-FETCH" : word))
            let hints = try #require(JudgedLog.object(judgement)["hints"] as? [String])
            #expect(hints.contains { $0.contains(word) })
            #expect(judgement.verdict() == .empty)
        }
    }

    @Test("a log whose one cycle could not be scheduled on a simulator says so in words")
    func simulator() throws {
        let lines = [
            "2025-11-15T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z",
            "2025-11-15T05:41:00Z [DNP-FETCH] Failed to schedule BGAppRefreshTask: Error "
                + #"Domain=BGTaskSchedulerErrorDomain Code=1 "(null)""#,
            "2025-11-15T05:41:00Z [DNP-FETCH] Background fetch scheduling failed (expected on simulator)",
        ]
        let text = try JudgedLog.judge(lines).text()
        #expect(
            text.contains("the system refused to schedule the task (BGTaskSchedulerErrorDomain Code=1): expected on")
        )
    }

    @Test(
        "a delivery that is whole hours off says which --timezone to try",
        arguments: [(8, "+08:00"), (-5, "-05:00")]
    )
    func timeZone(hours: Int, zone: String) throws {
        let due = "2025-11-15T05:53:00Z"
        let seconds = 5 * 3_600 + 53 * 60 + 24 * 3_600 + hours * 3_600
        let (day, clock) = (14 + seconds / 86_400, seconds % 86_400)
        let stamp = String(format: "2025-11-%02d %02d:%02d:02.000000", day, clock / 3_600, clock / 60 % 60)
        let lines = [
            "\(stamp) [DNP-SCHEDULER] Preparing content for notification at \(due)",
            "\(stamp) [DNP-SCHEDULER] Notification delivered (id=a, title=Your daily update)",
        ]
        #expect(try JudgedLog.judge(lines).text(hints: true).contains("try --timezone \(zone)"))
        #expect(try !JudgedLog.judge(lines, timezone: zone).text(hints: true).contains("try --timezone"))
    }
}

@Suite("Where a violation stands")
struct ViolationPlaceTests {
    typealias Story = GuideStory

    @Test("a violation names its file and line in text, JSON and JUnit")
    func place() throws {
        let lines = JudgedLog.lines(
            NegativePathTests.start + NegativePathTests.networkFailure + Story.success(545) + Story.onDemand()
        )
        let line = try #require(lines.firstIndex { $0.contains("Fetch success") }) + 1
        let judgement = try JudgedLog.judge(["foreign"] + lines)
        let place = "device.log:\(line + 1)"
        #expect(judgement.text().contains("(\(judgement.inputs[0].name):\(line + 1))"))
        #expect(judgement.junit().contains(place))
        let cycles = try #require(JudgedLog.object(judgement)["cycles"] as? [[String: Any]])
        let violations = try #require(cycles.first?["violations"] as? [[String: Any]])
        #expect(violations.first?["violation"] as? String == "duplicate_terminal")
        #expect(violations.first?["line"] as? Int == line + 1)
        #expect((violations.first?["at"] as? String)?.hasSuffix(place) == true)
    }

    @Test("each pass of a schedule that keeps its id names the line of its own violation", arguments: [true, false])
    func passesOfOneSchedule(areInterleaved: Bool) throws {
        func event(_ kind: String, _ day: Int, _ clock: String, _ members: String = "") -> String {
            #"{"event":"\#(kind)","scheduleId":"daily","timestamp":"2025-11-\#(day)T\#(clock)Z"\#(members)}"#
        }
        func pass(_ day: Int) -> [String] {
            let due = #","scheduledFor":"2025-11-\#(day)T06:00:00Z""#
            return [
                event("prefetch_scheduled", day - 1, "05:58:00", due), event("prefetch_executed", day, "05:55:10"),
                event("prefetch_expired", day, "05:55:40", due), event("notification_delivered", day, "06:00:01"),
            ]
        }
        var lines = (15...17).flatMap(pass)
        func stamp(_ line: String) -> Substring { line.split(separator: "\"timestamp\":")[1].prefix(21) }
        if areInterleaved { lines.sort { stamp($0) < stamp($1) } }
        let judgement = try JudgedLog.judge(lines)
        #expect(judgement.cycles.count == 3)
        for (day, cycle) in zip(15..., judgement.cycles) {
            let index = try #require(cycle.closed.violations.firstIndex { $0.kind == .expired })
            let line = try #require(lines.firstIndex { $0.contains("expired") && $0.contains("-\(day)T05:55:40Z") }) + 1
            #expect(cycle.place(ofViolation: index)?.line == line, "day \(day)")
        }
    }

    @Test("events as JSON have the line of an NDJSON file and the number in a document")
    func json() throws {
        let events = [
            #"{"event":"prefetch_scheduled","scheduleId":"a","timestamp":"2025-11-15T05:40:00Z"}"#,
            #"{"event":"prefetch_success","scheduleId":"a","timestamp":"2025-11-15T05:56:02Z"}"#,
        ]
        for lines in [events, ["[\(events[0]),", "\(events[1])]"]] {
            let judgement = try JudgedLog.judge(lines)
            #expect(judgement.cycles.first?.closed.violations.map(\.kind) == [.successWithoutExecuted])
            #expect(judgement.cycles.first?.place(ofViolation: 0)?.line == 2)
        }
    }
}
