// SPDX-License-Identifier: Apache-2.0

internal import RefreshLifecycle
internal import TelemetryEvents

/// The record of a test run of the background refresh: one run in the shape of a cycle's record (`TestRun`).
package struct RefreshTestRun: Sendable {
    let run: JudgedRun
    let setting: TestSetting
    /// The number of other runs in the log.
    let otherRuns: UInt64
    /// The newest of the other runs.
    let others: [ClosedRun]

    /// The maximum number of other runs that a record lists.
    private static let listedOthers = 20

    /// The record of the latest run that did something, in a judgement with the detail `testRun`; nil without a run.
    package init?(_ judgement: Judgement, _ circumstances: TestRun.Circumstances) {
        let runs = judgement.refresh.listed
        guard let latest = runs.indices.max(by: { runs[$0].isToldBefore(runs[$1]) }) else { return nil }
        self.init(latest, of: judgement, circumstances)
    }

    /// The records of all runs of a judgement, in the order of their begin.
    package static func all(_ judgement: Judgement, _ circumstances: TestRun.Circumstances) -> [RefreshTestRun] {
        judgement.refresh.listed.indices.map { RefreshTestRun($0, of: judgement, circumstances) }
    }

    private init(_ index: Int, of judgement: Judgement, _ circumstances: TestRun.Circumstances) {
        let runs = judgement.refresh.listed
        run = runs[index]
        setting = TestSetting(
            circumstances,
            device: run.device.completed(by: judgement.device),
            conditions: run.conditions.completed(by: judgement.conditions)
        )
        otherRuns = judgement.refresh.closed - 1
        others = runs.indices.reversed().lazy.filter { $0 != index }.prefix(Self.listedOthers).map { runs[$0].closed }
    }

    private var closed: ClosedRun { run.closed }

    /// The time, where the log has times.
    private func known(_ time: Timestamp?) -> Timestamp? { closed.hasAssumedTimes ? nil : time }

    /// How long it took, as told or else from its start to its end, in microseconds.
    private var length: Int64? {
        if let duration = closed.duration { return duration }
        guard closed.hasStart, let begin = known(closed.begin), let end = known(closed.end) else { return nil }
        return end.microseconds - begin.microseconds
    }

    private var isWithinTarget: Bool? { length.map { $0 <= RefreshRules.targetDuration } }

    /// What went wrong, in sentences, but for the violations.
    private var failures: [String] {
        [
            closed.outcome == .failed ? "the refresh completed without success" : nil,
            closed.outcome == .expired ? "the task expired before completion" : nil,
            closed.outcome == .incomplete ? "no end of the run is told" : nil,
            closed.skipReason.map { "the refresh was skipped: \($0.name)" },
            closed.notification == .failed ? "the notification could not be sent" : nil,
            closed.schedule == .failed ? "the next refresh could not be scheduled" : nil,
        ].compactMap(\.self)
    }

    /// What it adds to the counters.
    private var counters: [String] {
        var counters = ["runs_total{outcome=\"\(closed.outcome.name)\"}"]
        if let reason = closed.skipReason { counters.append("skipped_total{reason=\"\(reason.name)\"}") }
        if let result = closed.schedule { counters.append("schedules_total{result=\"\(result.name)\"}") }
        if let result = closed.notification { counters.append("notifications_total{result=\"\(result.name)\"}") }
        if let isAvailable = closed.isTestAvailable { counters.append("checks_total{available=\"\(isAvailable)\"}") }
        return counters.map { "aiq_background_refresh_\($0)" }
    }
}

// MARK: JSON

extension RefreshTestRun {
    /// The artifact, `{"testRun":{"app":"aiq",...}}`.
    package func json() -> [UInt8] {
        var text = JSONWriter()
        text.object { text in
            text.line(indent: 2)
            text.name("testRun")
            append(to: &text)
            text.lastLine(indent: 0)
        }
        return text.asLine()
    }

    /// The artifacts of several runs as one object, `{"testRuns":[...]}`.
    package static func json(_ runs: [RefreshTestRun]) -> [UInt8] {
        var text = JSONWriter()
        text.object { text in
            text.name("testRuns")
            text.array { text in for run in runs { run.append(to: &text) } }
        }
        return text.asLine()
    }

    private func append(to text: inout JSONWriter) {
        text.object { text in
            text.line(indent: 4)
            text.name("app")
            text.value("\(App.aiq.name)")
            text.line(indent: 4)
            text.name("date")
            text.value(known(closed.begin))
            setting.appendDevice(to: &text)
            setting.appendConditions(to: &text)
            text.line(indent: 4)
            text.name("timesKnown")
            text.value(Optional(!closed.hasAssumedTimes))
            text.line(indent: 4)
            text.name("outcome")
            text.object(appendOutcome)
            text.line(indent: 4)
            text.name("telemetry")
            text.object { text in
                for counter in counters {
                    text.name(counter)
                    text.value(UInt64(1))
                }
            }
            text.line(indent: 4)
            text.name("violations")
            text.array { $0.elements(closed.violations) }
            text.line(indent: 4)
            text.name("notes")
            text.value(setting.circumstances.notes ?? "")
            text.line(indent: 4)
            text.name("otherRuns")
            text.array { text in
                for other in others {
                    text.object { text in
                        text.name("begin")
                        text.value(other.hasAssumedTimes ? nil : other.begin)
                        text.name("outcome")
                        text.value("\(other.outcome.name)")
                    }
                }
            }
            text.lastLine(indent: 2)
        }
    }

    private func appendOutcome(to text: inout JSONWriter) {
        let times: [(StaticString, Timestamp?)] = [
            ("startedAt", closed.hasStart ? closed.begin : nil), ("checkedAt", closed.checkedAt),
            ("notifiedAt", closed.notifiedAt), ("endedAt", closed.end), ("nextScheduledAt", closed.scheduledAt),
        ]
        for (name, time) in times {
            text.line(indent: 6)
            text.name(name)
            text.value(known(time))
        }
        let words: [(StaticString, String?)] = [
            ("outcome", "\(closed.outcome.name)"), ("skipReason", closed.skipReason.map { "\($0.name)" }),
            ("notification", closed.notification.map { "\($0.name)" }),
            ("nextSchedule", closed.schedule.map { "\($0.name)" }),
        ]
        for (name, word) in words {
            text.line(indent: 6)
            text.name(name)
            text.value(word)
        }
        text.line(indent: 6)
        text.name("daysSinceTest")
        text.value(closed.daysSinceTest)
        text.name("available")
        text.value(closed.isTestAvailable)
        text.name("durationMs")
        text.value(length.map { $0 / 1_000 })
        text.name("withinTarget")
        text.value(isWithinTarget)
        text.line(indent: 6)
        text.name("errors")
        let broken = run.faults(strict: true).map { "\($0.kind.name): \($0.detail)" }
        text.array { text in for error in failures + broken { text.value(error) } }
        text.lastLine(indent: 4)
    }
}

// MARK: Markdown

extension RefreshTestRun {
    /// The plugin's template for a test run, filled in for a run of the background refresh.
    package func markdown() -> String {
        var text = "# Test run: \(run.title)\n\n"
        text += MarkdownText.item("Date", known(closed.begin).map(\.description) ?? TestSetting.unknown)
        text += setting.deviceItems + setting.conditionItems

        text += "\nOutcome summary:\n\n"
        text += item("Task started at", closed.hasStart ? closed.begin : nil, otherwise: "not told")
        text += item("Checked at", closed.checkedAt, otherwise: "not checked")
        let days = closed.daysSinceTest.map { "\($0) days ago" } ?? TestSetting.unknown
        let isAvailable = closed.isTestAvailable.map { $0 ? ", a test is available" : ", no test is available" }
        text += MarkdownText.item("Last test", days + (isAvailable ?? ""))
        text += item("Notified at", closed.notifiedAt, otherwise: notNotified)
        text += item("Ended at", closed.end, otherwise: "not ended")
        text += MarkdownText.item("Duration", duration)
        text += item(
            "Next refresh scheduled at",
            closed.scheduledAt,
            otherwise: closed.schedule == .failed ? "refused by the system" : "not scheduled"
        )

        text += "\nTelemetry counters:\n\n" + counters.map { "- `\($0)`: 1\n" }.joined()
        text += "\nFailures observed (if any) and key log lines:\n\n" + failureItems
        text += "\nNotes / follow-ups:\n\n- The run ended as `\(closed.outcome.name)`.\n"
        if closed.hasAssumedTimes { text += "- The log has no times; rules about time were not judged.\n" }
        return text + otherItems + setting.noteItems
    }

    private func item(_ name: String, _ time: Timestamp?, otherwise missing: String) -> String {
        guard let time else { return MarkdownText.item(name, missing) }
        return MarkdownText.item(name, known(time)?.description ?? "yes; the log does not tell when")
    }

    private var notNotified: String {
        switch closed.notification {
        case .notAuthorized?: "not notified: not authorized"
        case .alreadyNotified?: "not notified: already notified"
        case .failed?: "not notified: the notification could not be sent"
        case .sent?, nil: "not notified"
        }
    }

    private var duration: String {
        guard let length, let isWithinTarget else { return TestSetting.unknown }
        let hundredths = (length + 5_000) / 10_000
        let seconds = "\(hundredths / 100).\(String(100 + hundredths % 100).dropFirst()) s"
        return "\(seconds), \(isWithinTarget ? "within" : "longer than") the target of 20 s"
    }

    private var failureItems: String {
        let items =
            failures.map { "- \(MarkdownText.escaped($0))\n" }
            + closed.violations.map {
                "- \($0.kind.bucket.rawValue) `\($0.kind.name)`: \(MarkdownText.escaped($0.detail))\n"
            }
        return items.isEmpty ? "- none\n" : items.joined()
    }

    /// The other runs of the log; those that are not listed as a number.
    private var otherItems: String {
        guard otherRuns > 0 else { return "" }
        var items = "- The log holds \(otherRuns) more; `--all` writes all:\n"
        for other in others {
            items += "  - \(other.hasAssumedTimes ? "no time" : "\(other.begin)"): `\(other.outcome.name)`\n"
        }
        let unlisted = otherRuns - UInt64(others.count)
        if unlisted > 0 { items += "  - and \(unlisted) more\n" }
        return items
    }
}

extension Judgement {
    /// Whether `report` is about runs: those of a log without a cycle, and where no other app is read.
    package var reportsRuns: Bool { apps == [.aiq] || closedCycles == 0 && refresh.closed > 0 }

    /// In words that there is more than `report` is about; nil where there is not.
    package var unreportedRuns: String? {
        guard !reportsRuns, let outcomes = refresh.outcomes else { return nil }
        return "the input has \(outcomes), too; --app aiq reports them"
    }
}
