// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension Judgement {
    /// The broken rules with their sentences, in the order of `ViolationKind`.
    var violations: [CycleViolation] {
        ViolationKind.allCases.filter(breaks).map { CycleViolation(kind: $0, detail: detail(of: $0)) }
    }

    private func detail(of kind: ViolationKind) -> String {
        switch kind {
        case .executedWithoutScheduled: "executed\(at(account.firstExecuted)); no scheduling was seen"
        case .successWithoutExecuted: "succeeded\(at(account.firstSuccess)); no execution was seen"
        case .failureWithoutExecuted: "failed\(at(account.failure)); no execution was seen"
        case .usedWithoutSuccess: "content was used\(at(used)); no successful fetch was seen"
        case .duplicateTerminal: duplicateTerminal
        case .taskNotCompleted: "executed\(at(account.left)); neither a result nor a completion was seen"
        case .contentHashMismatch: "the content that was used has another hash than the content that was cached"
        case .scheduleHashMismatch: "the schedule that was executed has another hash than the one that was scheduled"
        case .staleContentUsed: staleContent
        case .secondActiveTask: "scheduled\(at(account.firstScheduled)) while a task for another time was still waiting"
        case .scheduledWhileDenied:
            "scheduled\(at(account.lastScheduled)) after notifications were denied\(at(account.denied))"
        case .leadBelowMinimum:
            "the task may begin \(account.lead ?? 0) s after its scheduling; "
                + "the minimum is \(Self.minimumLead) s"
        case .nextNotScheduled:
            "executed\(at(account.lastExecuted)); no task was scheduled after it until "
                + "\(installation?.latest ?? known), more than 24 h later"
        case .missedWindow: missedWindow
        case .executedAfterNotification: executedLate
        case .driftExceeded: driftDetail
        case .expired: "the system ended the task\(at(account.expired))"
        }
    }

    /// ` at` and a time, unless the times say nothing.
    private func at(_ time: Timestamp?) -> String {
        guard hasTimes, let time else { return "" }
        return " at \(time)"
    }

    private var duplicateTerminal: String {
        guard let failureReason = account.failureReason, account.firstSuccess == nil else {
            return "an attempt ended twice: in success\(at(account.lastSuccess)) and in failure\(at(account.failure))"
        }
        return "an attempt failed twice for different reasons; \(failureReason.name) was counted"
    }

    private var staleContent: String {
        guard let ages else { return "" }
        return "the content was \(seconds(ages.age)) old when it was used; its ttl is \(seconds(ages.ttl))"
    }

    private var missedWindow: String {
        if hasTimes, let window, let executed = account.firstStarted, let windowEnd, executed > windowEnd {
            let late = seconds(executed.microseconds - window.microseconds)
            return "executed \(late) after its earliest begin at \(window); its window is \(seconds(Self.windowLength))"
        }
        if hasTimes, let windowEnd { return "not executed by \(windowEnd), 900 s after its earliest begin" }
        return "the task missed its window\(at(account.missed))"
    }

    private var executedLate: String {
        guard let executed = account.lastStarted, let due = cycle.due else { return "" }
        let late = seconds(executed.microseconds - due.microseconds)
        return "executed at \(executed), \(late) after the notification time"
    }

    private var driftDetail: String {
        guard let drift, abs(drift) > Self.toleratedDrift else {
            return "the app reported a drift of more than \(seconds(Self.toleratedDrift))"
        }
        let side = drift > 0 ? "after" : "before"
        return "delivered \(seconds(abs(drift))) \(side) its time; iOS tolerates \(seconds(Self.toleratedDrift))"
    }

    private func seconds(_ microseconds: Int64) -> String {
        let whole = microseconds / 1_000_000
        let fraction = microseconds % 1_000_000
        guard fraction != 0 else { return "\(whole) s" }
        let digits = String(1_000_000 + fraction).dropFirst()
        return "\(whole).\(digits.prefix(through: digits.lastIndex { $0 != "0" } ?? digits.startIndex)) s"
    }
}

extension ClosedCycle {
    init(_ judgement: Judgement) {
        let cycle = judgement.cycle
        let account = judgement.account
        schedule = cycle.schedule == 0 ? nil : cycle.schedule
        notificationTime = cycle.due
        outcome = judgement.outcome
        stages = CycleStages()
        stages.scheduled = account.firstScheduled
        stages.executed = account.firstExecuted
        stages.success = judgement.success
        stages.failure = account.failure
        stages.used = judgement.used
        stages.delivered = judgement.delivered
        failureReason = account.failureReason
        violations = judgement.violations
        attempts = account.attempts
        contentHashMatches = judgement.contentHashMatches
        scheduleHashMatches = judgement.scheduleHashMatches
        hasAssumedTimes = !judgement.hasTimes
    }
}
