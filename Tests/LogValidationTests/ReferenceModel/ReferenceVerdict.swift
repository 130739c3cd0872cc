// SPDX-License-Identifier: Apache-2.0

extension ReferenceModel {
    /// Judges a cycle by each rule on its own.
    func verdict(on judged: JudgedPass, among all: [JudgedPass], in stream: Stream) -> ExpectedCycle {
        let pass = judged.pass
        var rulings: [(rule: String, ruling: Ruling)] = stageRulings(judged)
        rulings.append(("content_hash_mismatch", contentMismatch(pass)))
        rulings.append(("schedule_hash_mismatch", scheduleMismatch(pass)))
        rulings.append(("stale_content_used", staleContent(judged)))
        rulings.append(("second_active_task", secondTask(pass, among: all.map(\.pass))))
        rulings.append(("scheduled_while_denied", scheduledWhileDenied(pass, stream)))
        rulings.append(("lead_below_minimum", shortLead(pass)))
        rulings.append(("next_not_scheduled", nextMissing(judged, stream)))
        rulings.append(("missed_window", missedWindow(judged, stream)))
        let isLate = pass.name.due.map { due in judged.attempts.contains { ($0.executed ?? due) > due } } ?? false
        rulings.append(("executed_after_notification", isLate ? .yes : .no))
        rulings.append(("drift_exceeded", drift(pass)))
        rulings.append(("expired", pass.contains("prefetch_expired") ? .yes : .no))

        return ExpectedCycle(
            name: pass.name,
            outcomes: outcomes(judged, stream),
            broken: Set(rulings.filter { $0.ruling == .yes }.map(\.rule)),
            arguable: Set(rulings.filter { $0.ruling == .arguable }.map(\.rule)),
            failures: judged.failures,
            stages: [
                "scheduled": pass.events("prefetch_scheduled").first?.time, "executed": judged.attempts.first?.executed,
                "delivered": pass.events("notification_delivered").first?.time,
            ].compactMapValues { $0 }
        )
    }

    /// The first outcome that holds, in each reading.
    private func outcomes(_ judged: JudgedPass, _ stream: Stream) -> Set<String> {
        let pass = judged.pass
        if judged.isUsed { return ["used"] }
        let isDelivered = pass.contains("notification_delivered")
        if isDelivered, pass.contains("content_missing") { return ["fallback"] }
        var outcomes: Set<String> = []
        if !isDelivered, !judged.failures.isEmpty {
            outcomes.insert("failed")
            // An attempt failed for good, and another one succeeded.
            if !judged.hasSuccess, judged.failures.contains(where: { $0.failure.lowerBound > 0 }) { return outcomes }
        }
        let early: Set = ["prefetch_scheduled", "notification_scheduled", "prefetch_missed"]
        // A summary that asserts nothing may be taken for nothing, and so may a fetch of which only the start was told.
        let silent = pass.events.filter {
            $0.event.kind == "prefetch_cycle_complete" && $0.event.fetched != true && $0.event.usedCached != true
                || $0.event.kind == "prefetch_started"
        }
        let isEarly = pass.events.count { early.contains($0.event.kind) } + silent.count == pass.events.count
        let wasRun = pass.events.contains { $0.event.kind.hasPrefix("prefetch_") && !early.contains($0.event.kind) }
        let window = pass.submissions.compactMap(\.begin).max().map { $0 + rules.startWindow }
        if isEarly, pass.contains("prefetch_scheduled") {
            let isReported = pass.contains("prefetch_missed")
            let gone = window.map { isOver($0, stream) } ?? pass.name.due.map { isOver($0, stream) } ?? .arguable
            if isReported || gone != .no { outcomes.insert("missed") }
            if !isReported && gone == .yes && silent.isEmpty { return outcomes }
        } else if pass.contains("prefetch_scheduled"), !wasRun {
            // Delivered with neither content nor an execution.
            outcomes.insert("missed")
        }
        outcomes.insert("incomplete")
        return outcomes
    }

    /// Whether a time lies before the end of the stream; the whole input may be taken for the stream.
    func isOver(_ time: Int, _ stream: Stream) -> Ruling { Ruling(stream.end > time, stream.inputEnd > time) }

    /// The rules about stages that need another one.
    private func stageRulings(_ judged: JudgedPass) -> [(rule: String, ruling: Ruling)] {
        let pass = judged.pass
        let isExecuted = pass.contains("prefetch_executed")
        let failures = judged.failures.map { Ruling($0.failure.lowerBound > 0, true) }.reduce(Ruling.no) { $0 || $1 }
        let used = pass.events("prefetch_used_for_notification")
        let first = pass.submissions.map(\.time).min() ?? Int.max
        // What is older than the scheduling, or than the execution, was fetched in an earlier cycle.
        let begin = max(first, pass.events("prefetch_executed").map(\.time).min() ?? first)
        let isOlder = used.contains { use in use.age.map { use.time - $0 < begin } ?? false }
        let usedWithoutSuccess: Ruling = used.isEmpty || judged.hasSuccess ? .no : isOlder ? .arguable : .yes
        let lacksEnd =
            isExecuted ? judged.attempts.map { self.lacksEnd($0, judged) }.reduce(Ruling.no) { $0 || $1 } : .no
        return [
            ("executed_without_scheduled", Ruling(isExecuted && !pass.contains("prefetch_scheduled"))),
            ("success_without_executed", Ruling(!isExecuted && pass.contains("prefetch_success"))),
            ("failure_without_executed", isExecuted ? .no : failures), ("used_without_success", usedWithoutSuccess),
            ("duplicate_terminal", Ruling(judged.results.contains { $0.endedTwice })), ("task_not_completed", lacksEnd),
        ]
    }

    /// Whether an execution was followed by neither a result nor a completion.
    private func lacksEnd(_ attempt: ModelAttempt, _ judged: JudgedPass) -> Ruling {
        let ends = ["prefetch_success", "prefetch_failure", "prefetch_expired", "prefetch_completed"]
        if ends.contains(where: attempt.has) { return .no }
        // A summary says that the task of the cycle succeeded, not in which attempt.
        return judged.fetched.isEmpty ? .yes : judged.attempts.count == 1 ? .no : .arguable
    }
}
