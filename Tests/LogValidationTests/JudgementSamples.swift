// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

@testable import LogValidation
@testable import PrefetchLifecycle

/// Judgements as runs make them.
enum JudgementSamples {
    static let due = time("2025-11-15T05:53:00Z")

    static func time(_ text: String) -> Timestamp {
        let bytes = Array(text.utf8)
        return Timestamp(rfc3339: bytes.span, 0..<bytes.count) ?? Timestamp(microseconds: 0)
    }

    static func cycle(
        _ id: String? = "notif-1",
        outcome: CycleOutcome = .used,
        violations: [ViolationKind] = [],
        detail: String = "what happened",
        hasAssumedTimes: Bool = false,
        _ change: (inout ClosedCycle) -> Void = { _ in }
    ) -> JudgedCycle {
        var stages = CycleStages()
        stages.scheduled = time("2025-11-15T05:41:00Z")
        stages.executed = time("2025-11-15T05:50:00Z")
        if outcome == .used {
            stages.success = time("2025-11-15T05:50:03.5Z")
            stages.used = time("2025-11-15T05:53:02Z")
        } else {
            stages.failure = time("2025-11-15T05:50:03Z")
        }
        stages.delivered = time("2025-11-15T05:53:02Z")
        var closed = ClosedCycle(
            schedule: 1,
            installation: 0,
            notificationTime: due,
            outcome: outcome,
            stages: stages,
            failureReason: outcome == .used ? nil : .network,
            violations: violations.map { CycleViolation(kind: $0, detail: detail) },
            attempts: 1,
            contentHashMatches: nil,
            scheduleHashMatches: nil,
            hasAssumedTimes: hasAssumedTimes,
            isTimeWarped: false
        )
        change(&closed)
        var cycle = JudgedCycle(closed: closed, scheduleId: id)
        cycle.details.earliestBeginDate = time("2025-11-15T05:48:00Z")
        return cycle
    }

    static func judgement(_ cycles: [JudgedCycle], inputs: [String] = ["device.log"], omitted: UInt64 = 0) -> Judgement
    {
        var judgement = Judgement()
        judgement.cycles = cycles
        judgement.omittedCycles = omitted
        judgement.inputs = inputs.map { name in
            var input = JudgedInput(name: name)
            input.lines.read = 10
            input.lines.recognised = 7
            input.lines.foreign = 2
            input.lines.unrecognised = 1
            input.unrecognised = [UnexplainedLine(number: 4, text: "Fetch flew", why: "no known form begins like this")]
            return input
        }
        for cycle in cycles {
            let closed = cycle.closed
            judgement.totals.outcomes[Int(closed.outcome.rawValue)] += 1
            for violation in closed.violations { judgement.totals.violations[Int(violation.kind.rawValue)] += 1 }
            judgement.totals.scheduled += closed.stages.scheduled == nil ? 0 : 1
            judgement.totals.executed += closed.stages.executed == nil ? 0 : 1
            judgement.totals.success += closed.stages.success == nil ? 0 : 1
            judgement.totals.used += closed.stages.used == nil ? 0 : 1
            if let reason = closed.failureReason { judgement.totals.addFailure(reason) }
            for requirement in Requirement.allCases where requirement.isMet(by: closed) {
                judgement.reached.insert(requirement)
            }
        }
        return judgement
    }
}
