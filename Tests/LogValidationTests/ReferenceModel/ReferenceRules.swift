// SPDX-License-Identifier: Apache-2.0

extension ReferenceModel {
    /// Judges a cycle by each rule on its own.
    func verdict(on judged: JudgedPass, among all: [JudgedPass], in stream: Stream) -> ExpectedCycle {
        let pass = judged.pass
        let account = judged.account
        var rulings: [(rule: String, ruling: Ruling)] = stageRulings(judged)
        rulings.append(("content_hash_mismatch", contentMismatch(pass)))
        rulings.append(("schedule_hash_mismatch", scheduleMismatch(pass)))
        rulings.append(("stale_content_used", staleContent(pass, account)))
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
            failures: account.failures,
            stages: [
                "scheduled": pass.events("prefetch_scheduled").first?.time, "executed": judged.attempts.first?.executed,
                "delivered": pass.events("notification_delivered").first?.time,
            ].compactMapValues { $0 }
        )
    }

    /// The first outcome that holds, in each reading.
    private func outcomes(_ judged: JudgedPass, _ stream: Stream) -> Set<String> {
        let (pass, account) = (judged.pass, judged.account)
        if account.isUsed { return ["used"] }
        let isDelivered = pass.contains("notification_delivered")
        if isDelivered, pass.contains("content_missing") { return ["fallback"] }
        var outcomes: Set<String> = []
        if !isDelivered, !account.failures.isEmpty {
            outcomes.insert("failed")
            // An attempt failed for good, and another one succeeded.
            let isCertain = account.failures.contains { $0.failure.lowerBound > 0 } && account.hasSuccess == .no
            if isCertain { return outcomes }
        }
        let early: Set = ["prefetch_scheduled", "notification_scheduled", "prefetch_missed"]
        let isEarly = pass.events.allSatisfy { early.contains($0.event.kind) }
        let wasRun = pass.events.contains { $0.event.kind.hasPrefix("prefetch_") && !early.contains($0.event.kind) }
        let window = pass.submissions.compactMap(\.begin).max().map { $0 + rules.startWindow }
        if isEarly, pass.contains("prefetch_scheduled") {
            let isReported = pass.contains("prefetch_missed")
            let gone = window.map { isOver($0, stream) } ?? pass.name.due.map { isOver($0, stream) } ?? .arguable
            if isReported || gone != .no { outcomes.insert("missed") }
            if !isReported && gone == .yes { return outcomes }
        } else if pass.contains("prefetch_scheduled"), !wasRun {
            // Delivered with neither content nor an execution.
            outcomes.insert("missed")
        }
        outcomes.insert("incomplete")
        return outcomes
    }

    /// Whether a time lies before the end of the stream; the whole input may be taken for the stream.
    private func isOver(_ time: Int, _ stream: Stream) -> Ruling { Ruling(stream.end > time, stream.inputEnd > time) }

    /// The rules about stages that need another one.
    private func stageRulings(_ judged: JudgedPass) -> [(rule: String, ruling: Ruling)] {
        let (pass, account) = (judged.pass, judged.account)
        let isExecuted = pass.contains("prefetch_executed")
        var withoutScheduled = Ruling.no
        var withoutExecuted = (success: Ruling.no, failure: Ruling.no)
        var notCompleted = Ruling.no
        if isExecuted {
            if !pass.contains("prefetch_scheduled") { withoutScheduled = .yes }
            notCompleted = judged.attempts.reduce(.no) { $0 || lacksEnd($1, isOnly: judged.attempts.count == 1, pass) }
        } else {
            if pass.contains("prefetch_success") { withoutExecuted.success = .yes }
            if account.results.contains(where: { $0.isResolvedByCompletion }) { withoutExecuted.success = .arguable }
            for result in account.failures {
                withoutExecuted.failure = withoutExecuted.failure || Ruling(result.failure.lowerBound > 0, true)
            }
        }
        var usedWithoutSuccess = Ruling.no
        let used = pass.events("prefetch_used_for_notification")
        if !used.isEmpty, account.hasSuccess != .yes {
            let first = pass.submissions.map(\.time).min()
            // What is older than the scheduling was fetched in an earlier cycle.
            let isOlder = used.contains { use in use.age.map { use.time - $0 < first ?? Int.max } ?? false }
            usedWithoutSuccess = account.hasSuccess == .no && !isOlder ? .yes : .arguable
        }
        let endedTwice = account.results.reduce(Ruling.no) { $0 || $1.endedTwice }
        return [
            ("executed_without_scheduled", withoutScheduled), ("success_without_executed", withoutExecuted.success),
            ("failure_without_executed", withoutExecuted.failure), ("used_without_success", usedWithoutSuccess),
            ("duplicate_terminal", endedTwice), ("task_not_completed", notCompleted),
        ]
    }

    /// Whether an execution was followed by neither a result nor a completion.
    private func lacksEnd(_ attempt: ModelAttempt, isOnly: Bool, _ pass: Pass) -> Ruling {
        let ends = ["prefetch_success", "prefetch_failure", "prefetch_expired", "prefetch_completed"].flatMap(
            attempt.told
        )
        if ends.isEmpty {
            // A summary says that the task of the cycle succeeded, not in which attempt.
            let isSummedUp = pass.events("prefetch_cycle_complete").contains { $0.fetched == true }
            return !isSummedUp ? .yes : isOnly ? .no : .arguable
        }
        // A failure that will be retried is no end yet.
        return ends.allSatisfy { $0.event.willRetry == true } ? .arguable : .no
    }

    /// Holds the hash of each use against the latest one before it.
    private func contentMismatch(_ pass: Pass) -> Ruling {
        let cached = (pass.events("content_cached") + pass.events("prefetch_success"))
        return mismatch(of: pass.events("prefetch_used_for_notification"), against: cached, \.contentHash)
    }

    private func scheduleMismatch(_ pass: Pass) -> Ruling {
        mismatch(of: pass.events("prefetch_executed"), against: pass.events("prefetch_scheduled"), \.scheduleHash)
    }

    private func mismatch(
        of later: [ToldEvent],
        against earlier: [ToldEvent],
        _ hash: (ToldEvent) -> String?
    ) -> Ruling {
        var ruling = Ruling.no
        for event in later {
            guard let own = hash(event) else { continue }
            let others = earlier.filter { hash($0) != nil }
            let latest = others.map(\.time).filter { $0 < event.time }.max()
            // What is told in the same second may be before or after it.
            let nearest = others.filter { $0.time == latest || $0.time == event.time }
            if latest != nil {
                ruling = ruling || Ruling(nearest.map { hash($0) != own })
            } else if others.contains(where: { hash($0) != own }) {
                ruling = ruling || .arguable
            }
        }
        return ruling
    }

    /// Holds the age of used content against the latest `ttl` before its use.
    private func staleContent(_ pass: Pass, _ account: CycleAccount) -> Ruling {
        let told = pass.events.map(\.event).filter { $0.ttl != nil }.sorted { $0.time < $1.time }
        guard !told.isEmpty, account.isUsed else { return .no }
        let used = pass.events("prefetch_used_for_notification")
        guard !used.isEmpty else { return .arguable }
        let delivered = pass.events("notification_delivered").map(\.time)
        let fetches = pass.events("prefetch_success").map(\.time)
        var ruling = Ruling.no
        var readings: [Bool] = []
        for use in used {
            let before = told.filter { $0.time < use.time }
            guard let latest = before.last, before.count == told.filter({ $0.time <= use.time }).count else {
                ruling = .arguable
                continue
            }
            let largest = before.compactMap(\.ttl).max()
            guard let ttl = rules.heldAgainstTheLatestTTL ? latest.ttl : largest else { continue }
            if before.contains(where: { $0.time == latest.time && $0.ttl != latest.ttl }) { ruling = .arguable }
            if let age = use.age {
                readings.append(age > ttl)
            } else if let fetch = fetches.last(where: { $0 < use.time }) {
                for end in [use.time] + delivered { readings.append(end - fetch > ttl) }
            } else {
                ruling = .arguable
            }
        }
        // Several uses of one cycle are told of one notification.
        if readings.contains(true) { return readings.contains(false) ? .arguable : ruling == .no ? .yes : .arguable }
        return ruling
    }

    /// Whether a task was scheduled while one for another notification waited to run.
    private func secondTask(_ pass: Pass, among passes: [Pass]) -> Ruling {
        var ruling = Ruling.no
        for submission in pass.submissions {
            for other in passes where other.name != pass.name {
                for waiting in other.submissions {
                    ruling = ruling || isWaiting(waiting, of: other, at: submission, of: pass)
                }
            }
        }
        return ruling
    }

    private func isWaiting(_ task: ToldEvent, of other: Pass, at submission: ToldEvent, of pass: Pass) -> Ruling {
        let time = submission.time
        guard task.time <= time else { return .no }
        let executed = other.events("prefetch_executed").first { $0.time >= task.time }?.time
        if let executed, executed <= time { return .no }
        guard other.name.due != nil, pass.name.due != nil, task.time < time else { return .arguable }
        // After its notification nothing may be left of a task.
        let ends = ["notification_delivered", "prefetch_used_for_notification", "prefetch_missed", "content_missing"]
        return other.events.contains { ends.contains($0.event.kind) && $0.event.time <= time } ? .arguable : .yes
    }

    /// Whether a task was scheduled after notifications were denied for its cycle, or for the installation.
    private func scheduledWhileDenied(_ pass: Pass, _ stream: Stream) -> Ruling {
        let permissions = stream.events("notification_denied", "permission_granted")
        var ruling = Ruling.no
        for submission in pass.events("prefetch_scheduled") {
            let own = permissions.filter { ($0.id == nil && $0.due == nil) || names($0, pass.name) }
            let before = own.last { $0.time < submission.time }
            var isDenied = Ruling(before?.kind == "notification_denied")
            // What is told in one second has no order.
            if own.contains(where: { $0.time == submission.time }) { isDenied = .arguable }
            if own.contains(where: { $0.time == before?.time && $0.kind != before?.kind }) { isDenied = .arguable }
            // The same submission told again after a denial was made before it.
            let isFirst = pass.submissions.contains(submission)
            if isDenied == .yes, !isFirst { isDenied = .arguable }
            ruling = ruling || isDenied
        }
        return ruling
    }

    private func names(_ event: ToldEvent, _ name: CycleName) -> Bool {
        (event.id == nil || event.id == name.id) && (event.due == nil || event.due == name.due)
    }

    private func shortLead(_ pass: Pass) -> Ruling {
        var ruling = Ruling.no
        for told in pass.events("prefetch_scheduled") {
            guard let begin = told.begin, begin < told.time + rules.minimumLead else { continue }
            ruling = ruling || (pass.submissions.contains(told) ? .yes : .arguable)
        }
        return ruling
    }

    /// Whether nothing was scheduled within a day of the last execution, although the stream goes on.
    private func nextMissing(_ judged: JudgedPass, _ stream: Stream) -> Ruling {
        guard let executed = judged.attempts.compactMap(\.executed).last else { return .no }
        let end = executed + rules.nextTask
        let hasNext = stream.events("prefetch_scheduled").contains { $0.time >= executed && $0.time <= end }
        return stream.end > end && !hasNext ? .yes : .no
    }

    /// Holds each submission against the first execution after it, and each execution against the submission before it.
    private func missedWindow(_ judged: JudgedPass, _ stream: Stream) -> Ruling {
        let pass = judged.pass
        if pass.contains("prefetch_missed") { return .yes }
        let submissions = pass.submissions.filter { $0.begin != nil }
        let executions = judged.attempts.compactMap(\.executed)
        var ruling = Ruling.no
        for executed in executions {
            guard let submission = submissions.last(where: { $0.time <= executed }), let begin = submission.begin else {
                continue
            }
            // A second execution of one submission was held against it already.
            let isFirst = !executions.contains { $0 >= submission.time && $0 < executed }
            if executed > begin + rules.startWindow { ruling = ruling || (isFirst ? .yes : .arguable) }
        }
        for (place, submission) in submissions.enumerated() {
            guard let begin = submission.begin else { continue }
            let end = begin + rules.startWindow
            let next = place + 1 < submissions.count ? submissions[place + 1].time : Int.max
            if executions.contains(where: { $0 >= submission.time && $0 < next }) { continue }
            let wasRunUnseen = pass.contains("prefetch_success") || !judged.account.failures.isEmpty
            if next < Int.max {
                // Submitted anew: what was replaced while it waited has missed nothing.
                ruling = ruling || (next > end ? .yes : .no)
            } else {
                let isOver = isOver(end, stream)
                ruling = ruling || (isOver == .yes && executions.isEmpty && wasRunUnseen ? .arguable : isOver)
            }
        }
        return ruling
    }

    private func drift(_ pass: Pass) -> Ruling {
        if pass.contains("notification_drift") { return .yes }
        guard let due = pass.name.due else { return .no }
        let drifts = pass.events("notification_delivered").map { abs($0.time - due) > rules.toleratedDrift }
        if !drifts.contains(true) { return .no }
        return drifts.contains(false) ? .arguable : .yes
    }
}
