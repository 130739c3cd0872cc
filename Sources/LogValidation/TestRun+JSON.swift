// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

extension TestRun {
    /// The JSON artifact of the testing guide, with the fields of its template.
    ///
    /// Times are null and `timesKnown` is false where the log has no times.
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
    package static func json(_ runs: [TestRun]) -> [UInt8] {
        var text = JSONWriter()
        text.object { text in
            text.name("testRuns")
            text.array { text in for run in runs { run.append(to: &text) } }
        }
        return text.asLine()
    }

    private func append(to text: inout JSONWriter) {
        text.object { text in
            appendCircumstances(to: &text)
            text.line(indent: 4)
            text.name("outcome")
            text.object(appendOutcome)
            text.line(indent: 4)
            text.name("telemetry")
            text.object(appendTelemetry)
            text.line(indent: 4)
            text.name("stateVerification")
            text.object(appendVerification)
            text.line(indent: 4)
            text.name("violations")
            text.array(appendViolations)
            text.line(indent: 4)
            text.name("failures")
            text.array(appendFailures)
            text.line(indent: 4)
            text.name("notes")
            text.value(setting.circumstances.notes ?? "")
            text.line(indent: 4)
            text.name("otherCycles")
            text.array(appendOthers)
            text.lastLine(indent: 2)
        }
    }

    private func appendOthers(to text: inout JSONWriter) {
        for other in others {
            text.line(indent: 6)
            text.object { text in
                text.name("scheduleId")
                text.value(other.scheduleId)
                text.name("notificationTime")
                text.value(other.notificationTime)
                text.name("outcome")
                text.value("\(other.outcome.name)")
            }
        }
        if !others.isEmpty { text.lastLine(indent: 4) }
    }

    private func appendCircumstances(to text: inout JSONWriter) {
        text.line(indent: 4)
        text.name("date")
        text.value(date)
        setting.appendDevice(to: &text)
        text.line(indent: 4)
        text.name("leadTime")
        text.value(leadSeconds)
        setting.appendConditions(to: &text)
        text.line(indent: 4)
        text.name("scheduleId")
        text.value(cycle.scheduleId)
        text.line(indent: 4)
        text.name("notificationTime")
        text.value(cycle.closed.notificationTime)
        text.line(indent: 4)
        text.name("timesKnown")
        text.value(areTimesKnown)
        text.line(indent: 4)
        text.name("timeWarped")
        text.value(Optional(cycle.isTimeWarped))
        if isZoneChanged {
            text.line(indent: 4)
            text.name("timezoneChanged")
            text.value(Optional(true))
        }
    }

    private func appendOutcome(to text: inout JSONWriter) {
        let timing = ExecutionTiming(self)
        text.line(indent: 6)
        text.name("prefetchScheduledAt")
        text.value(known(stages.scheduled))
        text.line(indent: 6)
        text.name("bgTaskExecutedAt")
        text.value(known(stages.executed))
        text.line(indent: 6)
        text.name("notificationFiredAt")
        text.value(known(stages.delivered))
        text.line(indent: 6)
        text.name("cachedContentUsed")
        text.value(isContentUsed)
        text.line(indent: 6)
        text.name("outcome")
        text.value("\(cycle.closed.outcome.name)")
        text.line(indent: 6)
        text.name("actualVsScheduled")
        text.object { text in
            text.name("startDelay")
            text.value(timing.startDelay)
            text.name("executedLead")
            text.value(timing.executedLead)
            text.name("notificationDrift")
            text.value(timing.drift)
            text.name("withinHeuristics")
            text.value(timing.isWithinHeuristics)
            text.name("summary")
            text.value(timing.sentence)
        }
        text.line(indent: 6)
        text.name("fallbackCause")
        text.value(fallbackCause)
        text.line(indent: 6)
        text.name("missedWindow")
        text.value(missedWindowSentence)
        text.line(indent: 6)
        text.name("errors")
        text.array { text in errors.forEach { text.value($0) } }
        text.lastLine(indent: 4)
    }

    private func appendTelemetry(to text: inout JSONWriter) {
        text.name("scheduled")
        text.value(counters.scheduled)
        text.name("executed")
        text.value(counters.executed)
        text.name("success")
        text.value(counters.success)
        text.name("used")
        text.value(counters.used)
    }

    private func appendVerification(to text: inout JSONWriter) {
        text.name("contentHashMatch")
        text.value(cycle.closed.contentHashMatches)
        text.name("scheduleHashMatch")
        text.value(cycle.closed.scheduleHashMatches)
        text.name("cachePersistence")
        text.value(wasCacheKept)
    }

    private func appendViolations(to text: inout JSONWriter) {
        text.elements(cycle.closed.violations)
    }

    private func appendFailures(to text: inout JSONWriter) {
        for failure in cycle.details.failures {
            text.line(indent: 6)
            text.object { text in
                text.name("time")
                text.value(failure.hasAssumedTime ? nil : failure.time)
                text.name("line")
                text.value(failure.line.map { Int64($0) })
                text.name("event")
                text.value("\(failure.kind.name)")
                text.name("reason")
                text.value(failure.reason.map { "\($0.name)" })
                text.name("error")
                text.value(failure.error)
                text.name("status")
                text.value(failure.status)
            }
        }
        if !cycle.details.failures.isEmpty { text.lastLine(indent: 4) }
    }
}
