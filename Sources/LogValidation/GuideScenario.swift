// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import RefreshLifecycle
package import TelemetryEvents
internal import TextOutput

/// A scenario of a testing guide: what a log of it must show (docs/scenarios.md).
package struct GuideScenario: Sendable {
    /// The name for `--scenario`.
    package let name: String
    /// The guide's title.
    package let title: String
    /// The app whose guide has it.
    package let app: App
    /// Whether the log may hold no cycle at all.
    package let allowsNoCycle: Bool
    let expectations: [Expectation]
    /// Other names by which it is found.
    private let aliases: [String]
    /// What the log need not show and does not.
    private let untested: @Sendable (ScenarioFacts) -> String?

    /// What must hold, with what the log has instead.
    struct Expectation: Sendable {
        let sentence: String
        let isMet: @Sendable (ScenarioFacts) -> Bool
        let found: @Sendable (ScenarioFacts) -> String

        init(
            _ sentence: String,
            _ isMet: @escaping @Sendable (ScenarioFacts) -> Bool,
            found: @escaping @Sendable (ScenarioFacts) -> String
        ) {
            self.sentence = sentence
            self.isMet = isMet
            self.found = found
        }
    }

    /// - Parameters:
    ///   - bugs: what the log must not have, whatever the scenario.
    ///   - untested: tells what the log need not show and does not.
    init(
        _ name: String,
        _ title: String,
        of app: App = .dnp,
        allowsNoCycle: Bool = false,
        aliases: [String] = [],
        without bugs: Expectation = .noBug,
        untested: @escaping @Sendable (ScenarioFacts) -> String? = { _ in nil },
        _ expectations: [Expectation]
    ) {
        self.name = name
        self.title = title
        self.app = app
        self.allowsNoCycle = allowsNoCycle
        self.aliases = aliases
        self.untested = untested
        self.expectations = expectations + [bugs]
    }

    /// All of them: those of the plugin's guide, then those of the background refresh.
    package static let all = ofPrefetch + ofRefresh

    /// The scenario of a name; nil for an unknown one.
    package static func named(_ name: String) -> GuideScenario? {
        let wanted = name.lowercased()
        return all.first { $0.name == wanted || $0.aliases.contains(wanted) }
    }

    /// What a name that is unknown may have meant.
    package static func nearest(to name: String) -> String? {
        NearestName.of(name.lowercased(), in: all.map(\.name))
    }

    func check(_ facts: ScenarioFacts) -> CheckResult {
        var result = CheckResult(suite: "scenarios", name: name)
        result.failures = expectations.filter { !$0.isMet(facts) }.map {
            "expected \($0.sentence), found \($0.found(facts))"
        }
        result.notes = [title]
        if result.isPassed { result.untested = untested(facts) }
        return result
    }
}

/// What scenarios look at: the counters, the outcomes and the kinds of lines of a judgement.
struct ScenarioFacts: Sendable {
    let totals: LifecycleTotals
    let cycles: [JudgedCycle]
    let kinds: EventKinds
    let bugs: [String]
    let pendingLaunches: Int
    let runs: [ClosedRun]
    let refresh: RefreshTotals

    init(_ judgement: Judgement) {
        totals = judgement.totals
        cycles = judgement.cycles
        kinds = judgement.logs.reduce(into: EventKinds()) { $0.formUnion($1.kinds) }
        bugs = cycles.flatMap { $0.faults(strict: false) }.map { "\($0.kind.name)" }
        pendingLaunches = judgement.logs.reduce(0) { $0 + $1.pendingLaunches }
        runs = judgement.refresh.listed.map(\.closed)
        refresh = judgement.refresh.totals
    }

    func count(_ outcome: CycleOutcome) -> UInt64 { totals.cycles(outcome) }
    func has(_ violation: ViolationKind) -> Bool { totals.violations(violation) > 0 }
    var delivered: UInt64 { DeliveredContent.allCases.reduce(0) { $0 + totals.delivered($1) } }

    /// The outcomes in words.
    var outcomes: String {
        let parts = CycleOutcome.allCases.filter { count($0) > 0 }.map { "\(count($0)) \($0.name)" }
        return parts.isEmpty ? "no cycle" : parts.joined(separator: ", ")
    }
}

extension GuideScenario {
    /// The guide's edge cases, then its negative paths, each in its order.
    static let ofPrefetch: [GuideScenario] = [
        GuideScenario(
            "background-refresh-off",
            "Background Refresh Off: no task runs, the plugin tells that, the notification fetches when it is due",
            aliases: ["background-app-refresh-off"],
            [
                .line(.prefetchScheduleFailed, .pluginError, words: "that the task could not be scheduled"),
                .notExecuted,
                .some(.fallback),
            ]
        ),
        GuideScenario(
            "low-power",
            "Low Power Mode On: a task that is skipped or late never costs the notification",
            aliases: ["low-power-mode", "low-power-mode-on"],
            [.scheduled(atLeast: 1), .allShown]
        ),
        GuideScenario(
            "force-quit",
            "App Force-Quit: no task runs, the notification falls back, the next launch finds out",
            aliases: ["app-force-quit"],
            [.scheduled(atLeast: 1), .fallbackWithoutExecution, .line(.prefetchMissed, "that the window was missed")]
        ),
        GuideScenario(
            "timezone-change",
            "Device Timezone Change: task and notification keep their UTC times",
            [.line(.timezoneChanged, "that the time zone changed"), .some(.used), .punctual]
        ),
        GuideScenario(
            "dst",
            "DST Transition: nothing fires twice and nothing is missed",
            aliases: ["dst-transition", "dst-change"],
            [.some(.used), .punctual, .deliveredOnce]
        ),
        GuideScenario(
            "multi-day",
            "Multi-Day Scheduling: each day's content is prefetched on its day",
            aliases: ["multi-day-scheduling"],
            [.scheduled(atLeast: 2), .usedOnDays(2)]
        ),
        GuideScenario(
            "reboot",
            "Device Reboot: the schedule persists, and the notification is still delivered",
            aliases: ["device-reboot"],
            [.pendingLaunch, .scheduled(atLeast: 1), .allShown]
        ),
        GuideScenario(
            "network-failure",
            "Network failure: the failure names its reason, and the notification is still shown",
            [.failure(.network), .allShown]
        ),
        GuideScenario(
            "permission-denied",
            "Permission denied: the error is told, and nothing is scheduled",
            allowsNoCycle: true,
            [.line(.notificationDenied, "notifications_denied"), .scheduled(0)]
        ),
        GuideScenario(
            "storage-unavailable",
            "Storage unavailable: what was fetched is not kept, and the notification fetches again",
            [.line(.contentCacheFailed, "that the cache could not be written"), .some(.fallback)]
        ),
        GuideScenario(
            "jwt-expiration",
            "JWT expiration: the failure is of authentication, once",
            aliases: ["jwt-expired", "expired-jwt"],
            [.failure(.auth), .noFailure(.network), .notUsedAfterFailure]
        ),
        GuideScenario(
            "timezone-drift",
            "Timezone drift: prefetch and notification keep their UTC times",
            [.line(.timezoneChanged, "that the time zone changed"), .some(.used), .punctual]
        ),
        GuideScenario(
            "corrupted-cache",
            "Corrupted cache: the notification falls back, though the prefetch was successful",
            aliases: ["cache-corruption"],
            [.success, .line(.contentMissing, "that no cached content was found"), .some(.fallback)]
        ),
        GuideScenario(
            "bgtask-execution-failure",
            "BGTask execution failure: the task is completed all the same, and the failure is the system's",
            aliases: ["bgtask-failure", "task-failure", "execution-failure"],
            [.failure(.system), .completed, .notUsedAfterFailure]
        ),
        GuideScenario(
            "repeated-scheduling",
            "Repeated scheduling calls: one task, however often it is asked for",
            aliases: ["repeated-scheduling-calls"],
            [.scheduled(atLeast: 1), .scheduledOnce]
        ),
        GuideScenario(
            "permission-revoked",
            "Permission revoked mid-run: the fetch was successful, and nothing is delivered",
            aliases: ["permission-revoked-mid-run"],
            [.success, .notDelivered]
        ),
    ]
}

extension GuideScenario.Expectation {
    static let noBug = Self("no violation of bucket A", { $0.bugs.isEmpty }, found: { $0.bugs.joined(separator: ", ") })

    static func line(_ kinds: EventKind..., words: String) -> Self {
        .init(
            "a line that tells \(words)",
            { judged in kinds.contains(where: judged.kinds.contains) },
            found: { _ in "none" }
        )
    }

    static func line(_ kind: EventKind, _ words: String) -> Self { line(kind, words: words) }

    static let notExecuted = Self("no execution", { $0.totals.executed == 0 }, found: { "\($0.totals.executed)" })

    static func some(_ outcome: CycleOutcome) -> Self {
        .init("a cycle that ended as \(outcome.name)", { $0.count(outcome) > 0 }, found: { $0.outcomes })
    }

    static func scheduled(atLeast number: UInt64) -> Self {
        .init("at least \(number) scheduled", { $0.totals.scheduled >= number }, found: { "\($0.totals.scheduled)" })
    }

    static func scheduled(_ number: UInt64) -> Self {
        .init("\(number) scheduled", { $0.totals.scheduled == number }, found: { "\($0.totals.scheduled)" })
    }

    static func failure(_ reason: FailureReason) -> Self {
        .init("a failure with reason \(reason.name)", { $0.totals.failure(reason) > 0 }, found: { _ in "none" })
    }

    static func noFailure(_ reason: FailureReason) -> Self {
        .init(
            "no failure with reason \(reason.name)",
            { $0.totals.failure(reason) == 0 },
            found: { "\($0.totals.failure(reason))" }
        )
    }

    static let success = Self("a successful fetch", { $0.totals.success > 0 }, found: { _ in "none" })

    /// A cycle that waits for its time (tomorrow's) is none that was to be shown.
    static let allShown = Self(
        "every due notification shown, with prefetched content or by the fallback",
        { $0.count(.used) + $0.count(.fallback) > 0 && $0.count(.failed) == 0 && $0.count(.missed) == 0 },
        found: { $0.outcomes }
    )

    static let fallbackWithoutExecution = Self(
        "a notification that fell back because its task never ran",
        { $0.cycles.contains { $0.closed.outcome == .fallback && $0.closed.stages.executed == nil } },
        found: { $0.outcomes }
    )

    static let punctual = Self(
        "every delivery at its UTC time (180 s of tolerance)",
        { !$0.has(.driftExceeded) && $0.delivered > 0 },
        found: { $0.delivered == 0 ? "no delivery" : "drift_exceeded" }
    )

    static let deliveredOnce = Self(
        "each notification delivered once",
        { facts in
            facts.delivered == UInt64(facts.cycles.count { $0.closed.stages.delivered != nil })
                && !facts.cycles.contains(where: \.isDeliveredAgain)
        },
        found: { facts in
            let again = facts.cycles.count(where: \.isDeliveredAgain)
            guard again == 0 else { return "\(notifications(again)) delivered more than once" }
            let delivered = facts.cycles.count { $0.closed.stages.delivered != nil }
            return "\(facts.delivered) deliveries of \(notifications(delivered))"
        }
    )

    static func usedOnDays(_ number: Int) -> Self {
        .init(
            "prefetched content used on \(number) days",
            { $0.daysWithUse >= number },
            found: { "\($0.daysWithUse)" }
        )
    }

    static let pendingLaunch = Self(
        "a launch with hasPendingSchedules=true",
        { $0.pendingLaunches > 0 },
        found: { _ in "none" }
    )

    static let notUsedAfterFailure = Self(
        "a cycle that ended as fallback or failed",
        { $0.count(.fallback) + $0.count(.failed) > 0 },
        found: { $0.outcomes }
    )

    static let completed = Self(
        "the task completed or expired",
        { $0.kinds.containsAny(.prefetchCompleted, .prefetchExpired) },
        found: { _ in "neither" }
    )

    static let scheduledOnce = Self(
        "one submission for each notification",
        { facts in
            facts.totals.scheduled == UInt64(facts.cycles.count { $0.closed.stages.scheduled != nil })
                && !facts.cycles.contains(where: \.isSubmittedAgain)
        },
        found: { facts in
            let again = facts.cycles.count(where: \.isSubmittedAgain)
            guard again == 0 else { return "\(notifications(again)) submitted more than once" }
            let scheduled = facts.cycles.count { $0.closed.stages.scheduled != nil }
            return "\(facts.totals.scheduled) submissions for \(notifications(scheduled))"
        }
    )

    private static func notifications(_ count: Int) -> String { count.counted("notification") }

    static let notDelivered = Self("no delivery", { $0.delivered == 0 }, found: { "\($0.delivered)" })
}

extension ScenarioFacts {
    /// The days (UTC) of the notifications that used prefetched content.
    fileprivate var daysWithUse: Int {
        Set(
            cycles.filter(\.isContentUsed).compactMap { cycle in
                (cycle.closed.notificationTime ?? cycle.firstStage).map { $0.microseconds / 86_400_000_000 }
            }
        ).count
    }
}

extension Judgement {
    /// Holds the judgement against scenarios.
    package func check(_ scenarios: [GuideScenario]) -> [CheckResult] {
        let facts = ScenarioFacts(self)
        return scenarios.map { $0.check(facts) }
    }
}
