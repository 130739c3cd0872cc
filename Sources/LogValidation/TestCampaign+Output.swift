// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents
internal import TextOutput

extension TestCampaign {
    /// The checklist, the trend over the days and what could not be read, as Markdown.
    package func markdown() -> String {
        let dates = days.filter { $0.day.first?.isNumber ?? false }
        var text = "# Test campaign: Phase 1 sign-off\n\n"
        text += runs.count.counted("run")
        if let first = dates.first?.day, let last = dates.last?.day {
            text += first == last ? " on \(first)" : " from \(first) to \(last)"
        }
        if !problems.isEmpty {
            text += "; \(problems.count.counted("artifact")) unreadable"
        }
        if refreshRuns > 0 {
            text += "; \(refreshRuns) of the background refresh, which the checklist does not ask for"
        }
        text += "\n\n"
        for finding in findings {
            text += "- [\(finding.status == .met ? "x" : " ")] \(finding.point.title)\n"
            text += "  \(finding.status.words)"
            let parts = [finding.run, finding.why.isEmpty ? nil : finding.why].compactMap(\.self)
            if !parts.isEmpty { text += ": " + parts.map { PlainText.line($0) }.joined(separator: ", ") }
            text += "\n"
        }
        text +=
            "\n| day | runs | ran before the notification | used | with failures |\n| --- | --- | --- | --- | --- |\n"
        for day in days { text += "| \(day.day) | \(day.runs) | \(day.ranBefore) | \(day.used) | \(day.failed) |\n" }
        if !problems.isEmpty {
            text += "\nUnreadable:\n\n"
            for problem in problems {
                text += "- \(PlainText.line(problem.file)): \(PlainText.line(problem.problem))\n"
            }
        }
        text += "\n\(isSignedOff ? "Signed off." : "Not signed off.")\n"
        return text
    }

    /// The same as one JSON object.
    package func json() -> [UInt8] {
        var text = JSONWriter()
        text.object { text in
            text.name("campaign")
            text.object { text in
                text.name("signedOff")
                text.value(Optional(isSignedOff))
                text.name("runs")
                text.value(UInt64(runs.count))
                if refreshRuns > 0 {
                    text.name("refreshRuns")
                    text.value(UInt64(refreshRuns))
                }
                text.line(indent: 1)
                text.name("points")
                text.array { text in
                    for finding in findings {
                        text.line(indent: 2)
                        append(finding, to: &text)
                    }
                }
                text.line(indent: 1)
                text.name("days")
                text.array { text in
                    for day in days {
                        text.line(indent: 2)
                        append(day, to: &text)
                    }
                }
                text.line(indent: 1)
                text.name("unreadable")
                text.array { text in
                    for problem in problems {
                        text.line(indent: 2)
                        text.object { text in
                            text.name("file")
                            text.value(problem.file)
                            text.name("problem")
                            text.value(problem.problem)
                        }
                    }
                }
            }
        }
        return text.asLine()
    }

    private func append(_ finding: Finding, to text: inout JSONWriter) {
        text.object { text in
            text.name("point")
            text.value(finding.point.rawValue)
            text.name("title")
            text.value(finding.point.title)
            text.name("status")
            text.value(finding.status.rawValue)
            text.name("run")
            text.value(finding.run)
            text.name("why")
            text.value(finding.why)
        }
    }

    private func append(_ day: Day, to text: inout JSONWriter) {
        text.object { text in
            text.name("day")
            text.value(day.day)
            text.name("runs")
            text.value(UInt64(day.runs))
            text.name("ranBeforeNotification")
            text.value(UInt64(day.ranBefore))
            text.name("used")
            text.value(UInt64(day.used))
            text.name("withFailures")
            text.value(UInt64(day.failed))
        }
    }
}

extension TestCampaign.Status {
    fileprivate var words: String {
        switch self {
        case .met: "met"
        case .notMet: "not met"
        case .deferred: "deferred"
        }
    }
}
