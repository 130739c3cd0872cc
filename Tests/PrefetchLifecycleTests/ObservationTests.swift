// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@Suite("Observations for exemplars")
struct ObservationTests {
    private func scheduled(_ id: String, _ seconds: Int64 = 0) -> String {
        let due = Timestamp(microseconds: start.microseconds + 900 * 1_000_000)
        let begin = Timestamp(microseconds: start.microseconds + 300 * 1_000_000)
        let members = #""scheduledFor":"\#(due)","earliestBeginDate":"\#(begin)""#
        return event("prefetch_scheduled", seconds, members, id: id)
    }

    @Test("observations name the schedule, value and counting time of the latest event in each bucket")
    func observationsNameTheLatestEventOfEachBucket() throws {
        var fold = LifecycleFold()
        try fold.apply(
            [
                event("prefetch_success", 10, #""duration_ms":1200"#, id: "first"),
                event("prefetch_success", 11, #""duration_ms":1700"#, id: "second"),
                event("prefetch_success", 12, #""duration_ms":40"#, id: "quick"),
                event("prefetch_used_for_notification", 900, #""age":890"#, id: "second"),
            ],
            at: 1_000
        )
        let counted = Timestamp(microseconds: start.microseconds + 1_000 * 1_000_000)
        let expected: [(TimeHistogram.Measure, Double, String)] = [
            (.fetchDuration, 0.04, "quick"), (.fetchDuration, 1.7, "second"), (.contentAge, 890, "second"),
        ]
        let observations = fold.takeObservations()
        #expect(observations.count == expected.count)
        for (observation, (measure, value, id)) in zip(observations, expected) {
            #expect(observation.place == .time(measure))
            #expect(observation.value == value)
            #expect(observation.scheduleId == id)
            #expect(observation.countedAt == counted)
            #expect(observation.group == 0)
        }
        #expect(fold.takeObservations() == [], "what was taken is taken")
    }

    @Test(
        "observations name the schedule of a failure when it counts",
        arguments: [
            ("NETWORK", FailureReason.network), ("AUTH", .auth), ("SYSTEM", .system), ("OTHER", .other),
        ]
    )
    func observationsNameTheScheduleOfFailures(name: String, reason: FailureReason) throws {
        var fold = LifecycleFold()
        try fold.apply([scheduled("f"), event("prefetch_executed", 310, id: "f")])
        #expect(fold.takeObservations() == [])
        try fold.apply([
            event("prefetch_failure", 320, #""reason":"\#(name)""#, id: "f"),
            event("prefetch_completed", 321, id: "f"),
        ])
        #expect(fold.totals.failure(reason) == 1)
        #expect(fold.takeObservations().map(\.place) == [.failure(reason)])
    }

    @Test("observations name the schedule of what a closing cycle counts")
    func observationsNameTheScheduleOfAClosingCycle() throws {
        var fold = LifecycleFold()
        try fold.apply([
            scheduled("late"), event("prefetch_executed", 400, id: "late"), event("prefetch_success", 403, id: "late"),
            event("notification_delivered", 905, id: "late"),
        ])
        #expect(fold.takeObservations() == [])
        fold.closeAll()
        let observations = fold.takeObservations()
        #expect(Set(observations.map(\.place)) == [.time(.startDelay), .time(.drift), .time(.fetchDuration)])
        #expect(observations.allSatisfy { $0.scheduleId == "late" && $0.countedAt == fold.clock })
        #expect(observations.first { $0.place == .time(.startDelay) }?.value == 100)
        #expect(observations.first { $0.place == .time(.drift) }?.value == 5)
        #expect(observations.first { $0.place == .time(.fetchDuration) }?.value == 3)
    }

    @Test("observations sample some of very many cycles, those that opened first")
    func observationsSampleManyCycles() throws {
        var fold = LifecycleFold()
        for chunk in 0..<20 {
            let ids = (0..<500).map { "cycle-\(chunk)-\($0)" }
            try fold.apply(ids.map { scheduled($0) } + ids.map { event("prefetch_executed", 330, id: $0) })
        }
        #expect(fold.openCycles == 10_000)
        fold.closeAll()
        let named = fold.takeObservations()
        #expect(named.map(\.place) == [.time(.startDelay)])
        #expect(named.first?.value == 30)
    }

    @Test("observations name the group that counted them")
    func observationsNameTheirGroup() throws {
        var fold = LifecycleFold()
        try fold.apply([
            event("prefetch_success", 10, #""duration_ms":1200,"platform":"android""#, id: "robot"),
            event("prefetch_success", 12, #""duration_ms":40"#, id: "plain"),
        ])
        let groups = fold.totalsByGroup.map(\.name.platform)
        let named = fold.takeObservations().map { [$0.scheduleId, groups[$0.group]] }
        #expect(Set(named) == [["robot", "android"], ["plain", "unknown"]])
    }

    @Test("there are no observations of events without a schedule, nor in a file")
    func noObservationsWithoutAScheduleOrReceiver() throws {
        var fold = LifecycleFold()
        let due = Timestamp(microseconds: start.microseconds + 900 * 1_000_000)
        try fold.apply([
            #"{"event":"prefetch_success","scheduledFor":"\#(due)","timestamp":"\#(start)","duration_ms":40}"#
        ])
        #expect(fold.totals.fetchDuration.count == 1)
        #expect(fold.takeObservations() == [])
        var judged = LifecycleFold(key: IdentityKey(3, 4), isReceiver: false)
        try judged.apply([event("prefetch_success", 12, #""duration_ms":40"#)])
        judged.finish()
        #expect(judged.takeObservations() == [])
    }
}
