// SPDX-License-Identifier: Apache-2.0

package import TelemetryEvents

extension CycleViolation {
    /// What an event broke that belongs to no cycle, `pendingLimitExceeded` or `countersOutOfPattern`.
    ///
    /// - Parameter time: when it did; nil where that is not known.
    package init(_ kind: ViolationKind, besideCyclesAt time: Timestamp?) {
        let at = time.map { " at \($0)" } ?? ""
        let detail =
            kind == .pendingLimitExceeded
            ? "more notifications were pending\(at) than the limit allows"
            : "the client's counters contradict each other\(at): more successes than executions, or more executions than "
                + "submissions"
        self.init(kind: kind, detail: detail)
    }
}

extension CycleEvaluation {
    /// The violations with their details, in the order of `ViolationKind`.
    var violations: [CycleViolation] {
        var violations: [CycleViolation] = []
        eachBrokenKind { violations.append(CycleViolation(kind: $0, detail: detail(of: $0))) }
        return violations
    }

    private func detail(of kind: ViolationKind) -> String {
        switch kind {
        case .executedWithoutScheduled: "executed\(at(account.firstExecuted)); no scheduling was seen"
        case .successWithoutExecuted: "succeeded\(at(account.firstSuccess)); no execution was seen"
        case .failureWithoutExecuted: "failed\(at(account.failure)); no execution was seen"
        case .usedWithoutSuccess: "content was used\(at(used)); no successful fetch was seen"
        case .duplicateTerminal: duplicateTerminal
        case .taskNotCompleted: "executed\(at(account.unfinishedExecution)); neither a result nor a completion was seen"
        case .contentHashMismatch: "the content that was used has another hash than the content that was cached"
        case .scheduleHashMismatch: "the schedule that was executed has another hash than the one that was scheduled"
        case .staleContentUsed: staleContent
        case .secondActiveTask: "scheduled\(at(account.firstScheduled)) while a task for another time was still waiting"
        case .scheduledWhileDenied:
            "scheduled\(at(denial?.scheduled ?? account.lastScheduled)) after notifications were denied\(at(denial?.denied))"
        case .leadBelowMinimum:
            "the task may begin \(Timestamp(microseconds: planned.lead ?? 0).wholeSeconds) s after its scheduling; "
                + "the minimum is \(LifecycleRules.minimumLeadSeconds) s"
        case .nextNotScheduled:
            "executed\(at(account.lastExecuted)); no task was scheduled after it within 24 h, and the installation was "
                + "heard of until \(heardOf)"
        case .missedWindow: missedWindow
        case .executedAfterNotification: executedLate
        case .driftExceeded: driftDetail
        case .expired: "the system ended the task\(at(account.expired))"
        case .outOfOrder:
            disorder.map { "\($0.early) at \($0.at), before \($0.late) at \($0.needed)" } ?? ""
        case .scheduledNotPersisted:
            "scheduled\(at(account.firstScheduled)); its schedule was never persisted, as others of the device were"
        case .leadDiffers: differentLead
        case .scheduleTimeDiffers:
            "a result names another notification time than \(cycle.due.map { "\($0)" } ?? "its schedule"), "
                + "and nothing was scheduled for it"
        case .ttlDiffers:
            content.ttls.map { "the ttl of one content was told as \($0.0) s and as \($0.1) s" } ?? ""
        case .ranTooLong:
            account.longRun.map { run in
                "executed at \(run.executed) and completed "
                    + "\(seconds(run.completed.microseconds - run.executed.microseconds)) later; "
                    + "the system gives a task \(seconds(LifecycleRules.longestRun))"
            } ?? ""
        case .cachedContentLost:
            content.lost.map { "content was cached at \($0.cached) and missing at \($0.missing), within its ttl" } ?? ""
        case .clearedContentUsed:
            "content was used\(at(used)); the cache was cleared\(at(content.cleared)), and nothing was fetched since"
        case .notModifiedWithoutETag: "answered with status 304 to a call without an ETag\(at(content.call))"
        case .missedNotRescheduled:
            "the app was launched\(at(launches?.launchAfterMiss)) after the task had missed its window; neither the miss was "
                + "told nor another task scheduled within 5 min"
        case .pendingScheduleLost:
            "the app was launched\(at(launches?.launchWithoutSchedule)) and knew of no pending schedule, while this one lay "
                + "ahead"
        case .notRescheduledAfterLaunch:
            "the app was launched\(at(launches?.launchWithoutTask)) with pending schedules; no task was waiting or running, "
                + "and none was scheduled within 5 min"
        case .pendingLimitExceeded: CycleViolation(kind, besideCyclesAt: launches?.pendingLimitExceeded).detail
        case .countersOutOfPattern: CycleViolation(kind, besideCyclesAt: launches?.countersOutOfPattern).detail
        // Of a judgement that holds cycles against a schedule, which knows both times.
        case .scheduleMissing, .scheduleMoved: ""
        }
    }

    /// ` at` and a time; empty for assumed times.
    private func at(_ time: Timestamp?) -> String {
        guard hasTimes, let time else { return "" }
        return " at \(time)"
    }

    private var duplicateTerminal: String {
        guard let contradiction = account.contradiction else { return "" }
        guard let reason = contradiction.reason, contradiction.success == nil else {
            return
                "an attempt ended twice: in success\(at(contradiction.success)) and in failure\(at(contradiction.failure))"
        }
        return "an attempt failed twice for different reasons; \(reason.name) was counted"
    }

    private var staleContent: String {
        guard let ages else { return "" }
        return "the content was \(seconds(ages.age)) old when it was used; its ttl is \(seconds(ages.ttl))"
    }

    private var missedWindow: String {
        if hasTimes, let (started, begin) = planned.lateStart {
            let late = seconds(started.microseconds - begin.microseconds)
            return
                "executed \(late) after its earliest begin at \(begin); its window is \(seconds(LifecycleRules.startWindowMicroseconds))"
        }
        if hasTimes, let missedEnd { return "not executed by \(missedEnd), 900 s after its earliest begin" }
        return "the app reported\(at(account.missed)) that the task missed its window"
    }

    private var executedLate: String {
        guard let executed = planned.lastStarted, let due = cycle.due else { return "" }
        let late = seconds(executed.microseconds - due.microseconds)
        return "executed at \(executed), \(late) after the notification time"
    }

    private var driftDetail: String {
        guard let drift, LifecycleRules.isDrift(drift, beyond: toleratedDrift) else {
            return "the app reported a drift of more than \(seconds(LifecycleRules.toleratedDriftMicroseconds))"
        }
        let side = drift > 0 ? "after" : "before"
        let isExact = toleratedDrift == LifecycleRules.exactDriftMicroseconds
        let limit = "\(isExact ? "Android tolerates less than" : "iOS tolerates") \(seconds(toleratedDrift))"
        return "delivered \(seconds(abs(drift))) \(side) its time; \(limit)"
    }

    private var differentLead: String {
        guard let differingLead, let due = cycle.due else {
            return "the task does not begin as long before its notification as its submission tells"
        }
        return "the task may begin at \(differingLead.begin), not \(differingLead.minutes) minutes before \(due)"
    }

    private func seconds(_ microseconds: Int64) -> String {
        let whole = microseconds / 1_000_000
        if whole >= 3_600 { return hours(whole) }
        let fraction = microseconds % 1_000_000
        guard fraction != 0 else { return "\(whole) s" }
        let digits = String(1_000_000 + fraction).dropFirst()
        return "\(whole).\(digits.prefix(through: digits.lastIndex { $0 != "0" } ?? digits.startIndex)) s"
    }

    /// As in "8 h", "25 h 1 min 2 s".
    private func hours(_ seconds: Int64) -> String {
        let parts = [(seconds / 3_600, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")]
        return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }
}
