// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents
internal import TextOutput

extension TestRun {
    /// The testing guide's template, filled in.
    package func markdown() -> String {
        let closed = cycle.closed
        var text = "# Test run: \(MarkdownText.escaped(cycle.title))\n\n"
        text += item("Date", date.map(\.description) ?? TestSetting.unknown)
        text += setting.deviceItems
        text += item("Lead time (T-Lead)", leadSeconds.map(Self.lead) ?? TestSetting.unknown)
        text += setting.conditionItems

        text += "\nOutcome summary:\n\n"
        text += item("Prefetch scheduled at", time(stages.scheduled, otherwise: "not scheduled"))
        text += item("BGTask executed at", time(stages.executed, otherwise: "not executed"))
        text += item("Notification fired at", time(stages.delivered, otherwise: "not delivered"))
        text += item("Cached content used", isContentUsed ? "yes" : "no")
        text += item("Actual execution time vs scheduled", ExecutionTiming(self).sentence)

        text += "\nTelemetry counters:\n\n"
        text += counter("dnp_prefetch_scheduled_total", counters.scheduled)
        text += counter("dnp_prefetch_executed_total", counters.executed)
        text += counter("dnp_prefetch_success_total", counters.success)
        text += counter("dnp_prefetch_used_for_notification_total", counters.used)

        text += "\nState verification:\n\n"
        text += item("Content hash match", Self.match(closed.contentHashMatches))
        text += item("Schedule hash match", Self.match(closed.scheduleHashMatches))
        text += item("Cache persistence", persistence)

        text += "\nFailures observed (if any) and key log lines:\n\n" + failureItems
        text += "\nNotes / follow-ups:\n\n" + noteItems
        return text
    }

    private func item(_ name: String, _ value: String) -> String { MarkdownText.item(name, value) }

    private func counter(_ name: String, _ value: UInt64) -> String { "- `\(name)`: \(value)\n" }

    private func time(_ time: Timestamp?, otherwise missing: String) -> String {
        guard let time else { return missing }
        return areTimesKnown ? time.description : "yes; the log does not tell when"
    }

    private static func lead(_ seconds: Int64) -> String {
        let words = DurationText.words(seconds: seconds.magnitude)
        return seconds < 0 ? "\(words) after the notification (\(seconds) s)" : "\(words) (\(seconds) s)"
    }

    private static func match(_ isMatch: Bool?) -> String {
        switch isMatch {
        case true?: "yes (this finds corruption, not tampering)"
        case false?: "no"
        case nil: "not checked; the log does not hold both hashes"
        }
    }

    private var persistence: String {
        switch wasCacheKept {
        case true?: "content was in the cache when the notification was due"
        case false?: "content was fetched and was not used when the notification was due"
        case nil: "unknown"
        }
    }

    private var failureItems: String {
        var items = ""
        for failure in cycle.details.failures {
            let place = failure.hasAssumedTime ? failure.line.map { "line \($0): " } ?? "" : "\(failure.time) "
            items += "- \(MarkdownText.escaped(place + failure.sentence))\n"
        }
        if cycle.details.failureCount > cycle.details.failures.count {
            items += "- and \(cycle.details.failureCount - cycle.details.failures.count) more\n"
        }
        for violation in cycle.closed.violations {
            let kind = violation.kind
            items += "- \(kind.bucket.rawValue) `\(kind.name)`: \(MarkdownText.escaped(violation.detail))\n"
        }
        return items.isEmpty ? "- none\n" : items
    }

    private var noteItems: String {
        var items = "- The cycle ended as `\(cycle.closed.outcome.name)`.\n"
        if !areTimesKnown { items += "- The log has no times; rules about time were not judged.\n" }
        if cycle.isTimeWarped { items += "- \(JudgedCycle.warpSentence).\n" }
        if let cut = cycle.cut.sentence { items += "- \(MarkdownText.escaped(cut)).\n" }
        if let cause = fallbackCause { items += "- The notification fell back: `\(cause)`.\n" }
        if let sentence = missedWindowSentence { items += "- \(MarkdownText.escaped(sentence))\n" }
        items += otherItems
        items += setting.noteItems
        return items
    }
}

extension TestRun {
    /// The other cycles of the log; those that are not listed as a number.
    private var otherItems: String {
        guard otherCycles > 0 else { return "" }
        var items = "- The log holds \(otherCycles) more; `--cycle` chooses another, `--all` writes all:\n"
        for other in others {
            let time = other.notificationTime.map(\.description) ?? "no notification time"
            items += "  - \(MarkdownText.escaped(other.scheduleId ?? "unnamed")), \(time): `\(other.outcome.name)`\n"
        }
        let unlisted = otherCycles - min(otherCycles, UInt64(others.count))
        if unlisted > 0 { items += "  - and \(unlisted) more\n" }
        return items
    }
}
