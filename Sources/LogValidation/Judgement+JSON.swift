// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import PrefetchLifecycle
internal import Synchronization
internal import TelemetryEvents

extension Judgement {
    /// The judgement as one JSON object with a line for each cycle (docs/log-validation.md).
    ///
    /// Some members are optional: `file` of a cycle or a rejected event, where there are several devices; `installation` of a
    /// cycle, where there are several, or `file` of one that names none; `cyclesOmitted`; `rejectedOmitted`; `notes`, where
    /// an input cannot be of one device; and `unrecognised` with `explains`.
    ///
    /// - Parameters:
    ///   - strict: whether rules of bucket B count like those of bucket A.
    ///   - explains: whether to list unrecognised lines.
    ///   - hints: whether to tell what to look at next.
    ///   - requirements: the stages and outcomes that at least one cycle must have reached.
    ///   - checks: the results of scenarios, of the sequence and of a schedule.
    package func json(
        strict: Bool = false,
        explains: Bool = false,
        hints: Bool = false,
        requirements: [Requirement] = [],
        checks: [CheckResult] = []
    ) -> [UInt8] {
        var text = JSONWriter()
        text.object { text in
            text.name("verdict")
            text.value(verdict(strict: strict).rawValue)
            text.line(indent: 1)
            text.name("cycles")
            text.array { text in text.elements(writtenBy: cycleParts(hints: hints)) }
            if omittedCycles > 0 {
                text.line(indent: 1)
                text.name("cyclesOmitted")
                text.value(omittedCycles)
            }
            if refresh.events > 0 {
                text.line(indent: 1)
                text.name("runs")
                appendRuns(to: &text, hints: hints)
            }
            text.line(indent: 1)
            text.name("rejected")
            appendRejected(to: &text)
            text.line(indent: 1)
            text.name("counters")
            appendCounters(to: &text)
            text.line(indent: 1)
            text.name("lines")
            append(lines, to: &text)
            if !notes.isEmpty {
                text.line(indent: 1)
                text.name("notes")
                text.array { text in for note in notes { text.value(note) } }
            }
            if hints, !self.hints.isEmpty {
                text.line(indent: 1)
                text.name("hints")
                text.array { text in for hint in self.hints { text.value(hint) } }
            }
            if !requirements.isEmpty {
                text.line(indent: 1)
                text.name("requirements")
                append(requirements, to: &text)
            }
            for suite in ["scenarios", "sequence", "schedule"] {
                append(checks.filter { $0.suite == suite }, named: suite, to: &text)
            }
            if explains {
                text.line(indent: 1)
                text.name("unrecognised")
                appendUnrecognised(to: &text)
            }
        }
        return text.asLine()
    }

    /// The cycles that are written at a time.
    private static let cyclesOfAPart = 4_096

    /// The elements of the cycles, in parts that all cores write.
    private func cycleParts(hints: Bool) -> [JSONWriter] {
        let count = (cycles.count + Self.cyclesOfAPart - 1) / Self.cyclesOfAPart
        let parts = Mutex([JSONWriter](repeating: JSONWriter(), count: count))
        DispatchQueue.concurrentPerform(iterations: count) { part in
            var text = JSONWriter()
            for cycle in cycles[(part * Self.cyclesOfAPart)...].prefix(Self.cyclesOfAPart) {
                text.line(indent: 2)
                append(cycle, hints: hints, to: &text)
            }
            let written = text
            parts.withLock { $0[part] = written }
        }
        return parts.withLock { $0 }
    }

    /// The counters alone, as in the object of `json(strict:explains:)`.
    package func countersJSON() -> [UInt8] {
        var text = JSONWriter()
        appendCounters(to: &text)
        return text.asLine()
    }

    private func append(_ cycle: JudgedCycle, hints: Bool, to text: inout JSONWriter) {
        let closed = cycle.closed
        text.object { text in
            if let file = file(of: cycle) {
                text.name("file")
                text.value(file)
            }
            if let installation = installation(of: cycle) {
                text.name("installation")
                text.value(installation)
            }
            text.name("scheduleId")
            text.value(cycle.scheduleId)
            text.name("notificationTime")
            text.value(closed.notificationTime)
            text.name("outcome")
            text.value("\(closed.outcome.name)")
            text.name("stages")
            append(closed.stages, to: &text)
            text.name("failureReason")
            text.value(closed.failureReason.map { "\($0.name)" })
            text.name("violations")
            text.array { text in
                for (index, violation) in closed.violations.enumerated() {
                    append(violation, cycle.place(ofViolation: index), to: &text)
                }
            }
            if cycle.isTimeWarped {
                text.name("timeWarped")
                text.value(Optional(true))
            }
            if !cycle.cut.isEmpty {
                text.name("cut")
                text.array { text in for name in cycle.cut.names { text.value(name) } }
            }
            let advice = hints ? Advice.of(cycle) : []
            if !advice.isEmpty {
                text.name("hints")
                text.array { text in for hint in advice { text.value(hint) } }
            }
        }
    }

    private func append(_ violation: CycleViolation, _ place: ShownPlace?, to text: inout JSONWriter) {
        text.violation(violation.kind.name, violation.kind.bucket, violation.detail) { text in
            if let place {
                text.name("at")
                text.value(self.text(of: place))
                text.name("line")
                text.value(Int64(place.line))
            }
        }
    }

    private func append(_ checks: [CheckResult], named suite: String, to text: inout JSONWriter) {
        guard !checks.isEmpty else { return }
        text.line(indent: 1)
        text.name(suite)
        text.array { text in
            for check in checks {
                text.line(indent: 2)
                text.object { text in
                    text.name("name")
                    text.value(check.name)
                    text.name("passed")
                    text.value(Optional(check.isPassed))
                    text.name("unmet")
                    text.array { text in for failure in check.failures { text.value(failure) } }
                    if let untested = check.untested {
                        text.name("untested")
                        text.value(untested)
                    }
                }
            }
        }
    }

    private func append(_ requirements: [Requirement], to text: inout JSONWriter) {
        text.array { text in
            for requirement in requirements {
                text.object { text in
                    text.name("require")
                    text.value(requirement.rawValue)
                    text.name("met")
                    text.value(Optional(isMet(requirement)))
                }
            }
        }
    }

    private func append(_ stages: CycleStages, to text: inout JSONWriter) {
        text.object { text in
            text.name("scheduled")
            text.value(stages.scheduled)
            text.name("executed")
            text.value(stages.executed)
            text.name("success")
            text.value(stages.success)
            text.name("failure")
            text.value(stages.failure)
            text.name("used")
            text.value(stages.used)
            text.name("delivered")
            text.value(stages.delivered)
        }
    }

    private func appendCounters(to text: inout JSONWriter) {
        text.object { text in
            text.name("dnp_prefetch_scheduled_total")
            text.value(totals.scheduled)
            text.name("dnp_prefetch_executed_total")
            text.value(totals.executed)
            text.name("dnp_prefetch_success_total")
            text.value(totals.success)
            text.name("dnp_prefetch_failure_total")
            text.object { text in
                for reason in [FailureReason.network, .auth, .system, .other]
                where reason != .other || totals.failureOther > 0 {
                    text.name(reason.name)
                    text.value(totals.failure(reason))
                }
            }
            text.name("dnp_prefetch_used_for_notification_total")
            text.value(totals.used)
            for counter in refresh.counters {
                text.name(counter.series)
                text.value(counter.value)
            }
        }
    }

    private func append(_ lines: LogLineCounts, to text: inout JSONWriter) {
        text.object { text in
            text.name("read")
            text.value(lines.read)
            text.name("recognised")
            text.value(lines.recognised)
            text.name("foreign")
            text.value(lines.foreign)
            text.name("unrecognised")
            text.value(lines.unrecognised)
        }
    }

    /// The rejected events, as in the answer to a post.
    private func appendRejected(to text: inout JSONWriter) {
        text.array { text in
            for event in rejected {
                text.line(indent: 2)
                text.object { text in
                    if namesFiles {
                        text.name("file")
                        text.value(inputs[event.input].name)
                    }
                    text.name("index")
                    text.value(Int64(event.index))
                    text.name("reason")
                    text.value(event.reason)
                }
            }
        }
        let omitted = rejectedEvents - UInt64(rejected.count)
        guard omitted > 0 else { return }
        text.line(indent: 1)
        text.name("rejectedOmitted")
        text.value(omitted)
    }

    private func appendUnrecognised(to text: inout JSONWriter) {
        text.array { text in
            for input in inputs {
                for line in input.unrecognised {
                    text.line(indent: 2)
                    text.object { text in
                        text.name("input")
                        text.value(input.name)
                        text.name("line")
                        text.value(line.number)
                        text.name("text")
                        text.value(line.text)
                        text.name("why")
                        text.value(line.why)
                    }
                }
            }
        }
    }
}
