// SPDX-License-Identifier: Apache-2.0

internal import RefreshLifecycle
internal import TelemetryEvents
internal import TextOutput

/// A closed run of the background refresh with the input that it is in.
struct JudgedRun: Sendable {
    /// The fold's judgement.
    let closed: ClosedRun
    /// The index of the input with its first event.
    let input: Int
    /// Whether a refresh of the 4 hours before it is told to have succeeded, so that a skip as too recent is right.
    var followsSuccess = false
    /// The device and its conditions during the run, where a test run is recorded.
    var device = DeviceNames()
    var conditions = RunConditions()

    /// Whether it did anything but being skipped: what a test run is about.
    var hasWorked: Bool {
        closed.outcome != .skipped && (closed.end != nil || closed.checkedAt != nil || closed.notification != nil)
    }

    /// Whether another run is the one to report: one that worked before one that did not, then the later one.
    func isToldBefore(_ other: JudgedRun) -> Bool {
        hasWorked == other.hasWorked ? closed.begin < other.closed.begin : other.hasWorked
    }

    /// The violations that make a judgement incoherent.
    func faults(strict: Bool) -> [RefreshViolation] {
        closed.violations.filter { $0.kind.bucket.isFault(strict: strict) }
    }

    /// A title for users.
    var title: String { closed.hasAssumedTimes ? "refresh" : "refresh at \(closed.begin)" }

    /// Its duration as told, in seconds to the hundredth, as the app writes it.
    var duration: String? {
        closed.duration.map { duration in
            let hundredths = (duration + 5_000) / 10_000
            return "\(hundredths / 100).\(String(100 + hundredths % 100).dropFirst()) s"
        }
    }
}

/// The background refresh in a judgement: its runs, in the order of their begin, and what was counted.
struct JudgedRuns: Sendable {
    /// The runs, the first ones of many.
    var listed: [JudgedRun] = []
    /// The number of runs not listed.
    var omitted: UInt64 = 0
    /// The fold's totals, and those of each group for the labels.
    var totals = RefreshTotals()
    var groups: [RefreshGroup] = []
    /// The number of events, and their kinds.
    var events: UInt64 = 0
    var kinds: EventKinds = []

    /// Why the verdict is `empty` where the input tells of no other app.
    var emptySentence: String {
        switch events {
        case 0: "the input holds no event of the background refresh"
        case 1: "the input holds one event of the background refresh, which begins no run"
        default: "the input holds \(events) events of the background refresh, none of which begins a run"
        }
    }

    /// Whether a run meets a requirement.
    func meets(_ requirement: Requirement) -> Bool {
        switch requirement {
        case .started: kinds.contains(.refreshStarted)
        case .checked: kinds.contains(.refreshChecked)
        case .notified: totals.notifications(.sent) > 0
        case .scheduled: totals.schedules(.scheduled) > 0
        default: RunOutcome.allCases.contains { "\($0.name)" == requirement.rawValue && totals.runs($0) > 0 }
        }
    }

    var closed: UInt64 { UInt64(listed.count) + omitted }

    /// The number of violations that make the judgement incoherent.
    func faultCount(strict: Bool) -> UInt64 {
        RefreshViolationKind.allCases.reduce(0) {
            $1.bucket.isFault(strict: strict) ? $0 + totals.violations($1) : $0
        }
    }

    /// As in "2 runs (1 completed, 1 skipped)"; nil without a run.
    var outcomes: String? {
        guard closed > 0 else { return nil }
        let parts = RunOutcome.allCases.filter { totals.runs($0) > 0 }.map { "\(totals.runs($0)) \($0.name)" }
        return "\(closed.counted("run")) of the background refresh (\(parts.joined(separator: ", ")))"
    }

    /// The counters that are not 0, as series.
    var counters: [(series: String, value: UInt64)] {
        var counters: [(String, UInt64)] = []
        func add(_ name: String, _ label: String, _ value: StaticString, _ count: UInt64) {
            if count > 0 { counters.append(("aiq_background_refresh_\(name)_total{\(label)=\"\(value)\"}", count)) }
        }
        for outcome in RunOutcome.allCases { add("runs", "outcome", outcome.name, totals.runs(outcome)) }
        for reason in RefreshSkipReason.allCases { add("skipped", "reason", reason.name, totals.skipped(reason)) }
        for result in RefreshSchedule.allCases { add("schedules", "result", result.name, totals.schedules(result)) }
        for result in RefreshNotification.allCases {
            add("notifications", "result", result.name, totals.notifications(result))
        }
        add("checks", "available", "false", totals.checks(isAvailable: false))
        add("checks", "available", "true", totals.checks(isAvailable: true))
        return counters
    }
}

extension Judgement {
    /// The runs as a table with their violations.
    func appendRuns(to text: inout String, _ style: TextStyle, strict: Bool, hints: Bool) {
        let headings = ["REFRESH", "OUTCOME", "DAYS SINCE TEST", "AVAILABLE", "NOTIFICATION", "DURATION", "REASON"]
        let rows = refresh.listed.map { run -> [String] in
            let closed = run.closed
            return [
                closed.hasAssumedTimes ? "-" : "\(closed.begin)",
                "\(closed.outcome.name)",
                closed.daysSinceTest.map(String.init) ?? "-",
                closed.isTestAvailable.map { $0 ? "yes" : "no" } ?? "-",
                closed.notification.map { "\($0.name)" } ?? "-",
                run.duration ?? "-",
                closed.skipReason.map { "\($0.name)" } ?? "-",
            ]
        }
        let widths = headings.indices.map { column in
            ([headings] + rows).lazy.map { $0[column].count }.max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            let padded = zip(cells, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            return (padded.dropLast() + cells.suffix(1)).joined(separator: "  ")
        }
        text += style.text(line(headings), .strong) + "\n"
        for (run, row) in zip(refresh.listed, rows) {
            text += line(row) + "\n"
            if namesFiles, inputs.indices.contains(run.input) {
                text += "    of \(PlainText.line(inputs[run.input].name))\n"
            }
            for violation in run.closed.violations {
                let isFault = violation.kind.bucket.isFault(strict: strict)
                text += "    \(isFault ? "violation" : "note") "
                text += style.text("\(violation.kind.bucket.rawValue) \(violation.kind.name)", isFault ? .bad : .note)
                text += ": \(PlainText.line(violation.detail))\n"
            }
            if run.closed.hasAssumedTimes {
                text += "    not all lines have times; rules about time were not judged\n"
            }
            if hints { for hint in RefreshAdvice.of(run) { text += "    \(style.text("hint", .note)): \(hint)\n" } }
        }
        if refresh.omitted > 0 { text += "    and \(refresh.omitted) more that are counted and not listed\n" }
        text += "\n"
    }

    /// The runs in the object of `json(strict:explains:)`, in the shape of its cycles.
    func appendRuns(to text: inout JSONWriter, hints: Bool) {
        text.array { text in
            for run in refresh.listed {
                text.line(indent: 2)
                append(run, hints ? RefreshAdvice.of(run) : [], to: &text)
            }
        }
        guard refresh.omitted > 0 else { return }
        text.line(indent: 1)
        text.name("runsOmitted")
        text.value(refresh.omitted)
    }

    private func append(_ run: JudgedRun, _ advice: [String], to text: inout JSONWriter) {
        let closed = run.closed
        text.object { text in
            text.name("app")
            text.value("\(App.aiq.name)")
            if namesFiles, inputs.indices.contains(run.input) {
                text.name("file")
                text.value(inputs[run.input].name)
            }
            text.name("begin")
            text.value(closed.hasAssumedTimes ? nil : closed.begin)
            text.name("end")
            text.value(closed.hasAssumedTimes ? nil : closed.end)
            text.name("outcome")
            text.value("\(closed.outcome.name)")
            text.name("skipReason")
            text.value(closed.skipReason.map { "\($0.name)" })
            text.name("daysSinceTest")
            text.value(closed.daysSinceTest)
            text.name("available")
            text.value(closed.isTestAvailable)
            text.name("notification")
            text.value(closed.notification.map { "\($0.name)" })
            text.name("durationMs")
            text.value(closed.duration.map { $0 / 1_000 })
            text.name("violations")
            text.array { $0.elements(closed.violations) }
            if !advice.isEmpty {
                text.name("hints")
                text.array { text in for hint in advice { text.value(hint) } }
            }
        }
    }
}
