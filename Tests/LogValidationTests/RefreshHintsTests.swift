// SPDX-License-Identifier: Apache-2.0

import Foundation
import RefreshLifecycle
import Synchronization
import TelemetryEvents
import Testing

@testable import LogValidation

@Suite("Hints for the background refresh")
struct RefreshHintsTests {
    typealias Story = RefreshStory

    private func hints(_ story: RefreshStory) throws -> [String] {
        try JudgedLog.judge(story.log).refresh.listed.flatMap(RefreshAdvice.of)
    }

    /// Whether text, JSON and JUnit tell something, and only with hints.
    private func isTold(_ words: String, _ judgement: Judgement) -> Bool {
        func outputs(_ hints: Bool) -> [String] {
            [
                judgement.text(hints: hints), String(decoding: judgement.json(hints: hints), as: UTF8.self),
                judgement.junit(hints: hints),
            ]
        }
        return outputs(true).allSatisfy { $0.contains(words) } && !outputs(false).contains { $0.contains(words) }
    }

    @Test("every rule of the refresh has advice")
    func everyRuleHasAdvice() {
        for kind in RefreshViolationKind.allCases { #expect(!RefreshAdvice.of(kind).isEmpty, "\(kind.name)") }
    }

    @Test("a run that did what it should, without a notification, has no hints")
    func noHints() throws {
        #expect(try hints(.quiet()) == [])
        #expect(try hints(.notifying() + .run(at: 5 * Story.hour, 100) { Story.alreadyNotified($0, 0) }).count == 1)
        #expect(try !JudgedLog.judge(Story.quiet().log).text(hints: true).contains("hint"))
    }

    @Test("not triggering: schedules without a run say to check registration, Info.plist and background modes")
    func notTriggering() throws {
        let judgement = try JudgedLog.judge((Story.scheduled(0) + .scheduled(4 * Story.hour)).log)
        #expect(judgement.verdict() == .empty)
        for words in ["registerBackgroundTask()", "BGTaskSchedulerPermittedIdentifiers", "UIBackgroundModes"] {
            #expect(isTold(words, judgement), "\(words)")
        }
        #expect(!judgement.text(hints: true).contains("[DNP-FETCH]"))
        #expect(
            judgement.verdictLine()
                == "empty: the input holds 2 events of the background refresh, none of which begins a run"
        )
        #expect(try JudgedLog.object(judgement)["hints"] as? [String] == judgement.hints)
    }

    @Test("not triggering: schedules beside the plugin's cycles say the same, and so does a log without a line of it")
    func notTriggeringAmongOthers() throws {
        let prefetch = JudgedLog.lines(NamedScenarioTests.happy)
        let both = try JudgedLog.judge(prefetch + Story.scheduled(0).log)
        #expect(both.verdict() == .coherent && isTold("registerBackgroundTask()", both))
        let alone = try JudgedLog.judge(prefetch) { $0.apps = [.aiq] }
        #expect(alone.verdict() == .empty && isTold("registerBackgroundTask()", alone))
        #expect(alone.hints.first?.contains("[BackgroundRefresh]") == true)
        #expect(alone.emptySentence == "the input holds no event of the background refresh")
        let empty = try JudgedLog.judge([]) { $0.apps = [.aiq] }
        #expect(empty.hints.first?.hasPrefix("The input is empty") == true)
        #expect(try JudgedLog.judge(prefetch).hints == [])
    }

    @Test("notifications not appearing: one that was sent or failed says what hides it")
    func notAppearing() throws {
        let sent = try JudgedLog.judge(Story.notifying().log)
        for words in ["If the notification did not appear", "Do Not Disturb", "Localizable.strings"] {
            #expect(isTold(words, sent), "\(words)")
        }
        let failed = try JudgedLog.judge(Story.run(100, Story.notificationFailed).events)
        #expect(isTold("The notification could not be sent", failed))
        #expect(try hints(.run(100, Story.notAuthorized)).count == 1)
        #expect(try hints(.quiet(100)).contains { $0.contains("allows notifications") })
    }

    @Test("rate limiting: a skip as too recent without a refresh in the last 4 hours names the remedy")
    func rateLimiting() throws {
        let words = "com.aiq.lastBackgroundRefresh"
        let judgement = try JudgedLog.judge((Story.skipping(.tooRecent) + .skipping(at: Story.hour, .tooRecent)).log)
        #expect(isTold(words, judgement))
        #expect(judgement.refresh.listed.allSatisfy { RefreshAdvice.of($0).count == 1 })
        // The run completes in its second 2.
        let limit = 4 * Story.hour + 2
        #expect(try hints(.quiet() + .skipping(at: 10, .tooRecent)) == [])
        #expect(try hints(.quiet() + .skipping(at: limit - 1, .tooRecent)) == [])
        #expect(try hints(.quiet() + .skipping(at: limit, .tooRecent)).contains { $0.contains(words) })
        let bare = try JudgedLog.judge((Story.quiet() + .skipping(at: 10, .tooRecent)).bareLog)
        #expect(bare.refresh.listed.flatMap(RefreshAdvice.of) == [])
    }

    @Test("registration fails: a refused schedule says to compare identifiers and leave the simulator")
    func registrationFails() throws {
        let run = Story.started(0) + .checked(1, 30) + .completed(2) + .scheduleFailed(2)
        for lines in [run.log, (Story.scheduleFailed(0) + .quiet(at: 10)).log, Story.scheduleFailed(0).log] {
            let judgement = try JudgedLog.judge(lines)
            #expect(isTold("BGAppRefreshTaskRequest", judgement), "\(lines)")
            #expect(isTold("iOS 13", judgement))
            let told = judgement.text(hints: true).components(separatedBy: "BGAppRefreshTaskRequest").count - 1
            #expect(told == 1, "\(judgement.text(hints: true))")
        }
        #expect(try hints(Story.started(0) + .completed(2) + .scheduleFailed(2) + .scheduled(3)) == [])
    }

    static let advised: [(story: RefreshStory, words: String)] = [
        (.skipping(.notAuthenticated), "Sign in"), (.skipping(.noNetwork), "network of the device"),
        (.of(.started(0), .completed(2, false)), "backgroundRefreshFailed"), (.started(0), "setTaskCompleted"),
        (.of(.started(0), .expired(30)), "what the refresh waited for"), (.of(.quiet(), .quiet(at: 60)), "rate limit"),
        (.notifying(89), "testCadenceDays"),
        (.of(.notifying(), .notifying(at: 5 * Story.hour)), "stored when it is sent"),
        (.of(.skipping(.noNetwork), .checked(1, 30)), "before the API is called"),
        (.of(.started(0), .completed(2), .quiet(at: 5 * Story.hour)), "Schedule the next refresh"),
    ]

    @Test(
        "a run that is skipped or fails, and a broken rule, say what to look at",
        arguments: advised.indices
    )
    func advice(index: Int) throws {
        let (story, words) = Self.advised[index]
        let judgement = try JudgedLog.judge(story.log)
        #expect(isTold(words, judgement))
    }

    @Test("a failing run has its hints in the failure of its JUnit case, a good one in its output")
    func junit() throws {
        let report = try JudgedLog.judge((Story.notifying() + .notifying(at: 5 * Story.hour)).log).junit(hints: true)
        let parts = report.components(separatedBy: "<failure")
        #expect(parts.count == 2)
        #expect(parts.first?.contains("<system-out>outcome: completed\nhint: If the notification") == true)
        #expect(parts.last?.contains("hint: Check that the time of a notification is stored") == true)
    }

    @Test("a live refresh is shown stage by stage")
    func live() throws {
        for apps in [Set(App.allCases), [.aiq]] {
            let shown = Shown()
            _ = try JudgedLog.judge(Story.notifying().log) {
                $0.apps = apps
                $0.observer = { shown.add($0.line) }
            }
            #expect(
                shown.lines == [
                    "2025-11-15T05:41:00Z  refresh started", "2025-11-15T05:41:01Z  refresh checked",
                    "2025-11-15T05:41:01Z  refresh notified", "2025-11-15T05:41:02Z  refresh completed",
                    "2025-11-15T05:41:02Z  refresh scheduled",
                ]
            )
        }
    }
}

/// Lines that an observer was shown.
private final class Shown: Sendable {
    private let state = Mutex<[String]>([])
    var lines: [String] { state.withLock { $0 } }
    func add(_ line: String) { state.withLock { $0.append(line) } }
}
