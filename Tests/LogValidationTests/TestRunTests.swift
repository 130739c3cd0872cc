// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import Testing

@testable import LogValidation
@testable import PrefetchLifecycle

@Suite("The record of a test run")
struct TestRunTests {
    static func run(
        _ cycle: JudgedCycle,
        omitted: UInt64 = 0,
        _ circumstances: TestRun.Circumstances = .init()
    ) throws -> TestRun {
        try #require(TestRun(JudgementSamples.judgement([cycle], omitted: omitted), circumstances))
    }

    static func artifact(_ run: TestRun) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(run.json())) as? [String: Any]
        return try #require(object?["testRun"] as? [String: Any])
    }

    @Test("a test-run record needs a cycle")
    func nothing() {
        #expect(TestRun(Judgement(), .init()) == nil)
    }

    @Test("a test-run record is the guide's artifact with what its template asks for")
    func artifact() throws {
        var circumstances = TestRun.Circumstances()
        circumstances.device = "iPhone 15 Pro"
        circumstances.systemVersion = "17.1"
        circumstances.build = "abc123"
        circumstances.scenarios = ["SIM-1", "SIM-2"]
        circumstances.conditions = "plugged in"
        circumstances.notes = "fine"
        let run = try Self.run(JudgementSamples.cycle(), circumstances)
        let artifact = try Self.artifact(run)
        #expect(artifact["date"] as? String == "2025-11-15T05:41:00Z")
        #expect(artifact["device"] as? String == "iPhone 15 Pro")
        #expect(artifact["iosVersion"] as? String == "17.1")
        #expect(artifact["appBuild"] as? String == "abc123")
        #expect(artifact["leadTime"] as? Int == 300)
        #expect(artifact["scenarios"] as? [String] == ["SIM-1", "SIM-2"])
        #expect(artifact["conditions"] as? String == "plugged in")
        #expect(artifact["notes"] as? String == "fine")
        let outcome = try #require(artifact["outcome"] as? [String: Any])
        #expect(outcome["prefetchScheduledAt"] as? String == "2025-11-15T05:41:00Z")
        #expect(outcome["bgTaskExecutedAt"] as? String == "2025-11-15T05:50:00Z")
        #expect(outcome["notificationFiredAt"] as? String == "2025-11-15T05:53:02Z")
        #expect(outcome["cachedContentUsed"] as? Bool == true)
        #expect((outcome["errors"] as? [Any])?.isEmpty == true)
        let timing = try #require(outcome["actualVsScheduled"] as? [String: Any])
        #expect(timing["startDelay"] as? Int == 120)
        #expect(timing["executedLead"] as? Int == 180)
        #expect(timing["notificationDrift"] as? Int == 2)
        #expect(timing["withinHeuristics"] as? Bool == true)
        let telemetry = try #require(artifact["telemetry"] as? [String: Int])
        #expect(telemetry == ["scheduled": 1, "executed": 1, "success": 1, "used": 1])
        let verification = try #require(artifact["stateVerification"] as? [String: Any])
        #expect(Set(verification.keys) == ["contentHashMatch", "scheduleHashMatch", "cachePersistence"])
        #expect((artifact["failures"] as? [Any])?.isEmpty == true)
    }

    @Test("a test-run record fills in every line of the template")
    func template() throws {
        let text = try Self.run(JudgementSamples.cycle()).markdown()
        for line in [
            "- Date: 2025-11-15T05:41:00Z", "- Device model: unknown", "- iOS version: unknown",
            "- App build / commit: unknown", "- Lead time (T-Lead): 5 min (300 s)",
            "- Scenario ID(s) tested: none given",
            "- Conditions: none given", "Outcome summary:", "- Prefetch scheduled at: 2025-11-15T05:41:00Z",
            "- BGTask executed at: 2025-11-15T05:50:00Z", "- Notification fired at: 2025-11-15T05:53:02Z",
            "- Cached content used: yes",
            "- Actual execution time vs scheduled: could run 5 min before the notification, ran 3 min before it, within "
                + "heuristics",
            "Telemetry counters:", "- `dnp_prefetch_scheduled_total`: 1", "- `dnp_prefetch_executed_total`: 1",
            "- `dnp_prefetch_success_total`: 1", "- `dnp_prefetch_used_for_notification_total`: 1",
            "State verification:", "- Content hash match: not checked; the log does not hold both hashes",
            "- Schedule hash match: not checked; the log does not hold both hashes",
            "- Cache persistence: content was in the cache when the notification was due",
            "Failures observed (if any) and key log lines:", "- none", "Notes / follow-ups:",
        ] {
            #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)")
        }
    }

    @Test("a test-run record tells failures, broken rules and what follows from them")
    func testRunFailure() throws {
        var cycle = JudgementSamples.cycle(outcome: .fallback, violations: [.duplicateTerminal, .expired])
        cycle.details.failures = [
            FailureNote(
                time: JudgementSamples.due,
                hasAssumedTime: false,
                kind: .prefetchFailure,
                reason: .auth,
                error: "AuthError",
                status: 401
            )
        ]
        cycle.details.failureCount = 3
        let run = try Self.run(cycle)
        let artifact = try Self.artifact(run)
        let outcome = try #require(artifact["outcome"] as? [String: Any])
        #expect(
            outcome["errors"] as? [String] == [
                "prefetch_failure: AUTH, AuthError, HTTP status 401", "duplicate_terminal: what happened",
            ]
        )
        #expect((artifact["violations"] as? [Any])?.count == 2)
        let failures = try #require(artifact["failures"] as? [[String: Any]])
        #expect(failures.first?["status"] as? Int == 401)
        let text = run.markdown()
        #expect(text.contains("- Cached content used: no"))
        #expect(
            text.contains("- 2025-11-15T05:53:00Z prefetch\\_failure: AUTH, AuthError, HTTP status 401\n- and 2 more\n")
        )
        #expect(text.contains("- C `expired`: what happened"))
    }

    @Test("a test-run record has one word for conditions that were not given")
    func noConditions() throws {
        #expect(try Self.artifact(try Self.run(JudgementSamples.cycle()))["conditions"] as? String == "none given")
    }

    @Test("a test-run record tells no times that the log does not tell")
    func assumedTimes() throws {
        let run = try Self.run(JudgementSamples.cycle(hasAssumedTimes: true))
        let artifact = try Self.artifact(run)
        #expect(artifact["timesKnown"] as? Bool == false)
        #expect(artifact["date"] as? String == "2025-11-15T05:53:00Z")
        let outcome = try #require(artifact["outcome"] as? [String: Any])
        #expect(outcome["bgTaskExecutedAt"] is NSNull)
        #expect(run.markdown().contains("- BGTask executed at: yes; the log does not tell when"))
        #expect(run.markdown().contains("- Actual execution time vs scheduled: unknown; the log has no times"))
    }

    @Test("a test-run record says when a task ran too late, too early or never")
    func timing() throws {
        func sentence(_ executed: String?, begin: String? = "2025-11-15T05:48:00Z") throws -> String {
            var cycle = JudgementSamples.cycle {
                $0.stages.executed = executed.map { JudgementSamples.time($0) }
            }
            cycle.details.earliestBeginDate = begin.map { JudgementSamples.time($0) }
            return ExecutionTiming(try Self.run(cycle)).sentence
        }
        #expect(try sentence(nil) == "never executed")
        #expect(try sentence("2025-11-15T05:53:01Z").hasSuffix("ran 1 s after it, outside of the window of 15 min"))
        #expect(try sentence("2025-11-15T05:47:00Z").hasSuffix("ran 6 min before it, outside of the window of 15 min"))
        #expect(try sentence("2025-11-15T05:50:00Z", begin: nil) == "ran 3 min before it")
    }

    @Test("a test-run record counts one cycle where the log holds others")
    func testRunOthers() throws {
        var judgement = JudgementSamples.judgement([JudgementSamples.cycle()], omitted: 4)
        judgement.totals.scheduled = 5
        let run = try #require(TestRun(judgement, .init()))
        #expect(run.counters.scheduled == 1)
        #expect(run.markdown().contains("- The log holds 4 more"))
    }

    @Test("a test-run record lets no text of a log become markup")
    func markup() throws {
        var circumstances = TestRun.Circumstances()
        circumstances.device = "[x](http://y) <b>*|`\n# z"
        let run = try Self.run(JudgementSamples.cycle("a`b\u{1B}"), circumstances)
        #expect(run.markdown().contains("# Test run: a\\`b\u{FFFD}\n"))
        #expect(run.markdown().contains("- Device model: \\[x\\](http://y) \\<b\\>\\*\\|\\`\u{FFFD}# z\n"))
        _ = try Self.artifact(run)
    }
}
