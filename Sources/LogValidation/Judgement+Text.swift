// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents
package import TextOutput

extension Judgement {
    /// The judgement as text: a table of the cycles with their violations, the counters, the lines, and the verdict
    /// last.
    ///
    /// - Parameters:
    ///   - style: whether text is coloured.
    ///   - strict: whether rules of bucket B count like those of bucket A.
    ///   - explains: whether to list unrecognised lines.
    ///   - hints: whether to tell what to look at next.
    ///   - checks: the results of scenarios, of the sequence and of a schedule.
    package func text(
        style: TextStyle = .plain,
        strict: Bool = false,
        explains: Bool = false,
        hints: Bool = false,
        checks: [CheckResult] = []
    ) -> String {
        var text = ""
        if !cycles.isEmpty { appendCycles(to: &text, style, strict: strict, hints: hints) }
        if refresh.closed > 0 { appendRuns(to: &text, style, strict: strict, hints: hints) }
        appendCounters(to: &text, style)
        appendLines(to: &text, style)
        if rejectedEvents > 0 { appendRejected(to: &text, style) }
        if explains { appendUnrecognised(to: &text, style) }
        for note in notes { text += style.text("Note", .note) + "  \(note)\n\n" }
        if !checks.isEmpty { text += Self.text(of: checks, style) + "\n" }
        if hints, !self.hints.isEmpty {
            for hint in self.hints { text += style.text("Hint", .note) + "  \(hint)\n" }
            text += "\n"
        }
        text += verdictLine(style: style, strict: strict) + "\n"
        return text
    }

    /// Each check in a line, and what is unmet below it.
    package static func text(of checks: [CheckResult], _ style: TextStyle) -> String {
        var text = style.text("Checks", .strong) + "\n"
        for check in checks {
            let mark: StageMark = check.isPassed ? .reached : .missing
            text += "  \(style.text(mark.rawValue, mark.colour)) \(PlainText.line(check.name))\n"
            for failure in check.failures { text += "      \(PlainText.line(failure))\n" }
            if let untested = check.untested { text += "      \(PlainText.line(untested))\n" }
        }
        return text
    }

    /// The verdict in one line without its end.
    package func verdictLine(style: TextStyle = .plain, strict: Bool = false) -> String {
        let verdict = verdict(strict: strict)
        let word = style.text(verdict.rawValue, verdict == .coherent ? .good : .bad)
        switch verdict {
        case .empty: return "\(word): \(emptySentence)"
        case .coherent: return "\(word): \(outcomeSummary)"
        case .incoherent:
            let isEmpty = closedCycles == 0 && refresh.closed == 0
            return "\(word): \(faultSummary(strict: strict)) in \(isEmpty ? "no cycle" : outcomeSummary)"
        }
    }

    private func faultSummary(strict: Bool) -> String {
        let faults = faultCount(strict: strict)
        var parts: [String] = []
        if faults > 0 || rejectedEvents == 0 { parts.append(faults.counted("violation")) }
        if rejectedEvents > 0 { parts.append(rejectedEvents.counted("rejected event")) }
        return parts.joined(separator: " and ")
    }

    private var outcomeSummary: String {
        let parts = CycleOutcome.allCases.filter { totals.cycles($0) > 0 }.map { "\(totals.cycles($0)) \($0.name)" }
        let outcomes = parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
        let cycles = "\(closedCycles.counted("cycle"))\(outcomes)"
        guard let runs = refresh.outcomes else { return cycles }
        return closedCycles > 0 ? "\(cycles) and \(runs)" : runs
    }

    private func appendCycles(to text: inout String, _ style: TextStyle, strict: Bool, hints: Bool) {
        let columns = CycleColumns(cycles)
        text += columns.heading(style, namesFiles: namesFiles) + "\n"
        var lines: [UInt8] = []
        for cycle in cycles {
            lines.removeAll(keepingCapacity: true)
            columns.append(cycle, style, file: namesFiles ? file(of: cycle) : nil, to: &lines)
            append(findings: cycle, style, strict: strict, hints: hints, to: &lines)
            text += String(decoding: lines, as: UTF8.self)
        }
        if omittedCycles > 0 { text += "    and \(omittedCycles) more that are counted and not listed\n" }
        text += "\n"
    }

    /// Appends what the lines below a cycle's row say.
    private func append(
        findings cycle: JudgedCycle,
        _ style: TextStyle,
        strict: Bool,
        hints: Bool,
        to lines: inout [UInt8]
    ) {
        if let installation = installation(of: cycle) { lines.append("    of installation ", installation, "\n") }
        for (index, violation) in cycle.closed.violations.enumerated() {
            let kind = violation.kind
            let isFault = kind.bucket.isFault(strict: strict)
            let rule = style.text("\(kind.bucket.rawValue) \(kind.name)", isFault ? .bad : .note)
            lines.append(isFault ? "    violation " : "    note ", rule, ": ")
            lines.append(plain: violation.detail)
            if let place = cycle.place(ofViolation: index) { lines.append(" (", self.text(of: place), ")") }
            lines.append("\n")
        }
        if cycle.closed.hasAssumedTimes {
            lines.append("    not all lines have times; rules about time were not judged\n")
        }
        if cycle.isTimeWarped { lines.append("    ", JudgedCycle.warpSentence, "\n") }
        if let cut = cycle.cut.sentence { lines.append("    ", cut, "\n") }
        if hints { for hint in Advice.of(cycle) { lines.append("    ", style.text("hint", .note), ": ", hint, "\n") } }
    }

    private func appendCounters(to text: inout String, _ style: TextStyle) {
        var counters = refresh.counters.map { ($0.series, $0.value) }
        if apps.contains(.dnp) { counters = prefetchCounters + counters }
        let width = counters.map(\.0.count).max() ?? 0
        text += style.text("Counters", .strong) + "\n"
        for (name, value) in counters { text += "  \(name.padded(to: width))  \(value)\n" }
        text += "\n"
    }

    private var prefetchCounters: [(String, UInt64)] {
        var counters: [(String, UInt64)] = [
            ("dnp_prefetch_scheduled_total", totals.scheduled),
            ("dnp_prefetch_executed_total", totals.executed),
            ("dnp_prefetch_success_total", totals.success),
        ]
        for reason in [FailureReason.network, .auth, .system, .other]
        where reason != .other || totals.failureOther > 0 {
            counters.append(("dnp_prefetch_failure_total{reason=\"\(reason.name)\"}", totals.failure(reason)))
        }
        counters.append(("dnp_prefetch_used_for_notification_total", totals.used))
        return counters
    }

    private func appendLines(to text: inout String, _ style: TextStyle) {
        let lines = lines
        text += style.text("Lines", .strong)
        text += "  \(lines.read) read, \(lines.recognised) recognised, \(lines.foreign) foreign, "
        text += "\(lines.unrecognised) unrecognised\n\n"
    }

    private func appendRejected(to text: inout String, _ style: TextStyle) {
        text += style.text("Rejected events", .strong) + "\n"
        for event in rejected {
            text +=
                "  \(PlainText.line(inputs[event.input].name)):\(event.index + 1): \(PlainText.line(event.reason))\n"
        }
        let omitted = rejectedEvents - UInt64(rejected.count)
        if omitted > 0 { text += "  and \(omitted) more\n" }
        text += "\n"
    }

    private func appendUnrecognised(to text: inout String, _ style: TextStyle) {
        let listed = inputs.reduce(0) { $0 + $1.unrecognised.count }
        text += style.text("Unrecognised lines", .strong) + (listed == 0 ? "  none\n" : "\n")
        for input in inputs {
            for line in input.unrecognised {
                text += "  \(PlainText.line(input.name)):\(line.number): \(PlainText.line(line.why))\n"
                if !line.text.isEmpty { text += "      \(PlainText.line(line.text))\n" }
            }
        }
        if UInt64(listed) < lines.unrecognised {
            text += "  and \(lines.unrecognised - UInt64(listed)) more\n"
        }
        text += "\n"
    }
}

/// The columns of the table of cycles.
private struct CycleColumns {
    private static let longestTitle = 40
    private static let time = "2025-11-15T05:53:00Z".count
    private let title: Int

    init(_ cycles: [JudgedCycle]) {
        let longest = cycles.lazy.map { $0.scheduleId?.characterCount ?? 1 }.max() ?? 0
        title = min(max(longest, "SCHEDULE".count), Self.longestTitle)
    }

    func heading(_ style: TextStyle, namesFiles: Bool) -> String {
        let columns =
            ["SCHEDULE".padded(to: title), "NOTIFICATION".padded(to: Self.time), "OUTCOME   "]
            + ClosedCycle.stageColumns + (namesFiles ? ["REASON ", "FILE"] : ["REASON"])
        return style.text(columns.joined(separator: "  "), .strong)
    }

    /// Appends the row of a cycle, as bytes, since a long log has many.
    func append(_ cycle: JudgedCycle, _ style: TextStyle, file: String?, to row: inout [UInt8]) {
        let closed = cycle.closed
        row.append(plain: cycle.scheduleId ?? "-", paddedTo: title)
        row.append("  ")
        row.append(plain: closed.notificationTime.map(\.description) ?? "-", paddedTo: Self.time)
        row.append("  ", style.text("\(closed.outcome.name)".padded(to: 10), colour(of: closed.outcome)))
        for (column, mark) in zip(ClosedCycle.stageColumns, closed.stageMarks) {
            let left = (column.utf8.count - 1) / 2
            row.append(spaces: 2 + left)
            row.append(style.text(mark.rawValue, mark.colour))
            row.append(spaces: column.utf8.count - 1 - left)
        }
        row.append("  ")
        let reason = closed.failureReason.map { "\($0.name)" } ?? "-"
        if let file {
            row.append(plain: reason, paddedTo: "REASON ".utf8.count)
            row.append("  ")
            row.append(plain: file)
        } else {
            row.append(reason)
        }
        row.append("\n")
    }

    private func colour(of outcome: CycleOutcome) -> TextStyle.Colour {
        switch outcome {
        case .used: .good
        case .fallback, .incomplete: .note
        case .failed, .missed: .bad
        }
    }
}

extension String {
    /// Pads with spaces on the right to at least `width` characters.
    fileprivate func padded(to width: Int) -> String {
        let missing = width - characterCount
        return missing > 0 ? self + String(repeating: " ", count: missing) : self
    }

    /// The number of characters, which is that of bytes in printable ASCII.
    fileprivate var characterCount: Int { utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } ? utf8.count : count }
}

extension [UInt8] {
    fileprivate mutating func append(_ texts: String...) {
        for text in texts { append(contentsOf: text.utf8) }
    }

    fileprivate mutating func append(spaces count: Int) {
        for _ in 0..<count { append(UInt8(ascii: " ")) }
    }

    /// Appends a text of an input as `PlainText` has it, padded with spaces on the right to at least `width` characters.
    fileprivate mutating func append(plain text: String, paddedTo width: Int = 0) {
        let start = count
        append(contentsOf: text.utf8)
        var characters = count - start
        for index in start..<count where self[index] < 0x20 || self[index] >= 0x7F {
            let plain = PlainText.line(text)
            removeSubrange(start...)
            append(contentsOf: plain.utf8)
            characters = plain.count
            break
        }
        append(spaces: Swift.max(0, width - characters))
    }
}

/// Whether a cycle reached a stage, as the table shows it.
enum StageMark: String {
    /// The stage was reached.
    case reached = "✓"
    /// It was not reached, although a later stage presupposes it.
    case missing = "✗"
    /// It was not reached, or that is unknown.
    case open = "·"

    var colour: TextStyle.Colour {
        switch self {
        case .reached: .good
        case .missing: .bad
        case .open: .quiet
        }
    }
}

extension ClosedCycle {
    /// The columns of the marks.
    fileprivate static let stageColumns = ["scheduled", "executed", "success", "used", "delivered"]

    /// A mark for each column.
    ///
    /// A stage without an event counts as missing when a later one presupposes it; so do the success of a failed fetch,
    /// the execution of a missed one, and the use where other content was delivered.
    var stageMarks: [StageMark] {
        let hasResult = stages.success != nil || stages.failure != nil
        let isUsed = stages.used != nil || outcome == .used
        return [
            mark(stages.scheduled != nil, isExpected: stages.executed != nil),
            mark(stages.executed != nil, isExpected: hasResult || outcome == .missed),
            mark(stages.success != nil, isExpected: stages.failure != nil || isUsed),
            mark(isUsed, isExpected: stages.delivered != nil),
            mark(stages.delivered != nil, isExpected: false),
        ]
    }

    private func mark(_ isReached: Bool, isExpected: Bool) -> StageMark {
        isReached ? .reached : isExpected ? .missing : .open
    }
}
