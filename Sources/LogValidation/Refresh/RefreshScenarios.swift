// SPDX-License-Identifier: Apache-2.0

internal import RefreshLifecycle
internal import TelemetryEvents

extension GuideScenario {
    /// The scenarios of the background refresh, in the order of its guide.
    ///
    /// The guide triggers the refreshes of the first three one right after the other, which is no fault of theirs.
    static let ofRefresh: [GuideScenario] = [
        GuideScenario(
            "refresh-cadence",
            "90-Day Refresh Interval: a test is available, and notified of, from 90 days after the last one on",
            of: .aiq,
            without: .noBugOfRuns(but: .refreshedTooSoon),
            untested: { $0.untestedDays },
            [.checked, .availableWhenDue, .notNotifiedEarly, .notifiedWhenDue]
        ),
        GuideScenario(
            "refresh-authorization",
            "Notification Authorization: without permission nothing is sent, and with it the notification is",
            of: .aiq,
            without: .noBugOfRuns(but: .refreshedTooSoon),
            [.notification(.notAuthorized, "Skipping notification: Not authorized"), .sent]
        ),
        GuideScenario(
            "refresh-deduplication",
            "Notification Deduplication: within 90 days the user is notified once",
            of: .aiq,
            without: .noBugOfRuns(but: .refreshedTooSoon),
            [.sent, .skippedAfterSent]
        ),
        GuideScenario(
            "refresh-fast-fail",
            "Fast-Fail Conditions: a refresh that cannot be done ends at once",
            of: .aiq,
            without: .noBugOfRuns(),
            untested: { $0.untestedConditions },
            [.skipped, .skippedAtOnce]
        ),
        GuideScenario(
            "refresh-expiration",
            "Task Expiration: a run that the system ends tells that it expired",
            of: .aiq,
            without: .noBugOfRuns(),
            [.expired, .nothingBehindExpiration]
        ),
    ]
}

extension GuideScenario.Expectation {
    fileprivate static func noBugOfRuns(but allowed: RefreshViolationKind? = nil) -> Self {
        let bugs: @Sendable (ScenarioFacts) -> [String] = { facts in
            facts.runs.flatMap(\.violations).filter { $0.kind.bucket == .a && $0.kind != allowed }.map {
                "\($0.kind.name)"
            }
        }
        return .init(
            "no violation of bucket A" + (allowed.map { " but \($0.name)" } ?? ""),
            { bugs($0).isEmpty },
            found: { bugs($0).joined(separator: ", ") }
        )
    }

    fileprivate static let checked = Self(
        "a check that tells the days since the last test",
        { facts in facts.runs.contains { $0.daysSinceTest != nil } },
        found: { $0.outcomesOfRuns }
    )

    fileprivate static let availableWhenDue = Self(
        "a test available from 90 days on, and not before",
        { facts in facts.runs.allSatisfy { $0.isAvailableAsDue } },
        found: { facts in facts.daysAndMore(of: facts.runs.filter { !$0.isAvailableAsDue }) { $0.availability } }
    )

    fileprivate static let notNotifiedEarly = Self(
        "no notification before 90 days",
        { facts in !facts.runs.contains { $0.isNotifiedEarly } },
        found: { facts in facts.daysAndMore(of: facts.runs.filter(\.isNotifiedEarly)) { _ in "sent" } }
    )

    fileprivate static let notifiedWhenDue = Self(
        "a notification, sent or skipped as already notified, in each run from 90 days on",
        { facts in !facts.runs.contains { $0.isNotNotifiedWhenDue } },
        found: { facts in
            facts.daysAndMore(of: facts.runs.filter(\.isNotNotifiedWhenDue)) {
                $0.notification.map { "\($0.name)" } ?? "no notification"
            }
        }
    )

    fileprivate static func notification(_ result: RefreshNotification, _ line: String) -> Self {
        .init(
            "a run that tells \"\(line)\"",
            { facts in facts.runs.contains { $0.notification == result } },
            found: { $0.notifications }
        )
    }

    fileprivate static let sent = notification(.sent, "Sent test available notification")

    fileprivate static let skippedAfterSent = Self(
        "a later run that tells \"Skipping notification: Already notified\"",
        { $0.hasSkipAfterSent },
        found: { $0.notifications }
    )

    fileprivate static let skipped = Self(
        "a run that tells \"Skipping refresh\" with its reason",
        { facts in facts.runs.contains { $0.skipReason != nil } },
        found: { $0.outcomesOfRuns }
    )

    fileprivate static let skippedAtOnce = Self(
        "every skip within 20 s of its start",
        { facts in facts.runs.allSatisfy { $0.lengthOfSkip <= RefreshRules.targetDuration } },
        found: { facts in "\((facts.runs.map(\.lengthOfSkip).max() ?? 0) / 1_000_000) s" }
    )

    fileprivate static let expired = Self(
        "a run that tells \"Background refresh task expired before completion\"",
        { facts in facts.runs.contains { $0.outcome == .expired } },
        found: { $0.outcomesOfRuns }
    )

    fileprivate static let nothingBehindExpiration = Self(
        "no success of a run that expired",
        { facts in !facts.runs.contains { $0.outcome == .expired && $0.succeededAt != nil } },
        found: { _ in "a completion with success: true" }
    )
}

extension ClosedRun {
    fileprivate var isAvailableAsDue: Bool {
        guard let daysSinceTest, let isTestAvailable else { return true }
        return isTestAvailable == (daysSinceTest >= RefreshRules.cadenceDays)
    }

    fileprivate var availability: String { isTestAvailable == true ? "available" : "not available" }

    fileprivate var isNotifiedEarly: Bool { notification == .sent && daysSinceTest ?? .max < RefreshRules.cadenceDays }

    fileprivate var isNotNotifiedWhenDue: Bool {
        daysSinceTest ?? 0 >= RefreshRules.cadenceDays && notification != .sent && notification != .alreadyNotified
    }

    /// The time from the start to the skip, in microseconds; 0 where it is not known.
    fileprivate var lengthOfSkip: Int64 {
        guard outcome == .skipped, hasStart, !hasAssumedTimes, let end else { return 0 }
        return end.microseconds - begin.microseconds
    }
}

extension ScenarioFacts {
    fileprivate var outcomesOfRuns: String {
        let parts = RunOutcome.allCases.filter { refresh.runs($0) > 0 }.map { "\(refresh.runs($0)) \($0.name)" }
        return parts.isEmpty ? "no run of the background refresh" : parts.joined(separator: ", ")
    }

    fileprivate var notifications: String {
        let parts = RefreshNotification.allCases.compactMap { result in
            let count = runs.count { $0.notification == result }
            return count > 0 ? "\(count) \(result.name)" : nil
        }
        return parts.isEmpty ? "no notification" : parts.joined(separator: ", ")
    }

    /// Runs by their days, as in "89 days: sent".
    fileprivate func daysAndMore(of runs: [ClosedRun], _ words: (ClosedRun) -> String) -> String {
        runs.map { "\($0.daysSinceTest ?? 0) days: \(words($0))" }.joined(separator: ", ")
    }

    fileprivate var hasSkipAfterSent: Bool {
        var notified: Set<UInt64> = []
        for run in runs {
            if run.notification == .alreadyNotified, notified.contains(run.installation) { return true }
            if run.notification == .sent { notified.insert(run.installation) }
        }
        return false
    }

    /// Of the days that the guide tests, those that no check tells.
    fileprivate var untestedDays: String? {
        let told = Set(runs.compactMap(\.daysSinceTest))
        let days = [0, 30, 89, 90, 100].filter { !told.contains($0) }.map(String.init)
        return days.isEmpty ? nil : "not in the log: a check after \(days.joined(separator: ", ")) days"
    }

    /// The conditions of the guide that no run is skipped for.
    fileprivate var untestedConditions: String? {
        let told = Set(runs.compactMap(\.skipReason))
        let reasons = RefreshSkipReason.allCases.filter { $0.kind == .refreshSkipped && !told.contains($0) }
        return reasons.isEmpty
            ? nil : "not in the log: a skip for \(reasons.map { "\($0.name)" }.joined(separator: ", "))"
    }
}
