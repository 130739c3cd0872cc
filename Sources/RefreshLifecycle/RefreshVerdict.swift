// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What is known of an installation before a run.
struct RefreshPast: Hashable, Sendable {
    /// The time of the last successful completion, and of the last notification; `.min` for none.
    var succeededAt = Int64.min
    var notifiedAt = Int64.min
    /// The last notification as a later skip, or a run whose times are assumed, tells of it.
    var toldNotifiedAt = Int64.min
    /// Whether that is less than a day later than the notification, since a skip with a real time tells its days.
    var isToldToADay = false
    /// Whether notifications were not permitted when that was told last.
    var isDenied = false

    /// Takes a run into the past.
    mutating func add(_ run: RefreshRun) {
        defer { addPermission(run) }
        addToldNotification(run)
        if run.hasAssumedTimes { return }
        if let time = run.succeededAt { succeededAt = max(succeededAt, time) }
        if let time = run.lastNotifiedAt { notifiedAt = max(notifiedAt, time) }
    }

    private mutating func addToldNotification(_ run: RefreshRun) {
        if run.hasAssumedTimes, let time = run.lastNotifiedAt { tell(notifiedAt: time, isToADay: false) }
        if run.isNotificationSkipped, run.notificationSkip == .alreadyNotified {
            // The skip rounds the days down, so that the notification may be almost a day older.
            let days = min(run.notifiedDaysAgo ?? 0, RefreshRules.mostDays)
            let isToADay = run.notifiedDaysAgo != nil && !run.hasAssumedTimes
            tell(notifiedAt: run.begin - days * RefreshRules.day, isToADay: isToADay)
        }
    }

    private mutating func tell(notifiedAt time: Int64, isToADay: Bool) {
        guard time > toldNotifiedAt else { return }
        (toldNotifiedAt, isToldToADay) = (time, isToADay)
    }

    /// Whether a notification at a time is one too many.
    fileprivate func forbidsNotification(at time: Int64) -> Bool {
        isNotified(before: time) || isToldAsNotified(before: time)
    }

    /// Whether a run notified in the 90 days before a time.
    fileprivate func isNotified(before time: Int64) -> Bool {
        notifiedAt != .min && time - notifiedAt < RefreshRules.notificationWindow
    }

    /// Whether a skip tells of a notification in the 90 days before a time, even if that was a day older than told.
    private func isToldAsNotified(before time: Int64) -> Bool {
        isToldToADay && time - toldNotifiedAt < RefreshRules.notificationWindow - RefreshRules.day
    }

    private mutating func addPermission(_ run: RefreshRun) {
        if run.notificationSkip == .notAuthorized { isDenied = true }
        if run.notifiedAt != nil { isDenied = false }
    }
}

/// The verdict on a run.
struct RefreshVerdict {
    /// The violated rules, one bit each.
    private(set) var broken: UInt16 = 0

    /// - Parameters:
    ///   - past: what is known before the run.
    ///   - known: the time up to which the installation is known.
    init(_ run: RefreshRun, after past: RefreshPast, known: Int64) {
        let isTimed = !run.hasAssumedTimes
        if run.isAvailabilityWrong { insert(.availabilityWrong) }
        if run.workedAfterSkip { insert(.workedAfterSkip) }
        if run.notifiedAt != nil, let days = run.daysWhenNotified, days < RefreshRules.cadenceDays {
            insert(.notifiedTooSoon)
        }
        if isTimed, run.skippedAt == nil, Self.isTooSoon(run, past) { insert(.refreshedTooSoon) }
        if Self.isNotifiedAgain(run, past) { insert(.notifiedAgain) }
        if Self.isNotNotified(run, past) { insert(.notNotified) }
        if run.hasStart {
            if run.end == nil { insert(.runNotEnded) }
            if isTimed, let end = run.end, end.time - run.begin > RefreshRules.runLimit { insert(.runNotEnded) }
        }
        if Self.isNextMissing(run, known: known) { insert(.nextNotScheduled) }
        if let length = run.length, run.end != nil {
            if length > RefreshRules.targetDuration { insert(.ranTooLong) }
            if length > RefreshRules.systemLimit { insert(.expired) }
        }
        if run.end?.kind == .expired { insert(.expired) }
    }

    private mutating func insert(_ kind: RefreshViolationKind) { broken |= 1 << UInt16(kind.rawValue) }

    func contains(_ kind: RefreshViolationKind) -> Bool { broken >> UInt16(kind.rawValue) & 1 == 1 }

    private static func isTooSoon(_ run: RefreshRun, _ past: RefreshPast) -> Bool {
        guard past.succeededAt != .min else { return false }
        let limit = past.succeededAt + RefreshRules.minimumInterval
        return (run.checkedAt ?? .max) < limit || (run.completedAt ?? .max) < limit
    }

    private static func isNotifiedAgain(_ run: RefreshRun, _ past: RefreshPast) -> Bool {
        guard let time = run.notifiedAt else { return false }
        if run.notifiedAgainAt != nil { return true }
        return !run.hasAssumedTimes && past.forbidsNotification(at: time)
    }

    /// A notification is missing where a test is available and nothing speaks against it.
    private static func isNotNotified(_ run: RefreshRun, _ past: RefreshPast) -> Bool {
        guard run.isAvailable == true, run.outcome == .completed, run.success == true, !past.isDenied,
            run.notifiedAt == nil, !run.isNotificationFailed, !run.isNotificationSkipped
        else { return false }
        let last = max(past.notifiedAt, past.toldNotifiedAt)
        return last == .min || run.begin - last >= RefreshRules.notificationWindow
    }

    /// Only lines tell of schedules, so that a run known by analytics events alone is not judged.
    private static func isNextMissing(_ run: RefreshRun, known: Int64) -> Bool {
        guard let end = run.end, run.isToldByLines else { return false }
        let limit = end.time + RefreshRules.schedulingLimit
        if let scheduled = run.scheduledAt { return !run.hasAssumedTimes && scheduled > limit }
        if run.isNextLaunched { return true }
        return !run.hasAssumedTimes && known > limit
    }
}

extension RefreshRun {
    var notification: RefreshNotification? {
        if notifiedAt != nil { return .sent }
        if isNotificationFailed { return .failed }
        switch notificationSkip {
        case .notAuthorized?: return .notAuthorized
        case .alreadyNotified?: return .alreadyNotified
        default: return nil
        }
    }

    /// The run with the details of its violations.
    func closed(_ verdict: RefreshVerdict, after past: RefreshPast, of installation: UInt64) -> ClosedRun {
        ClosedRun(
            installation: installation,
            begin: Timestamp(microseconds: begin),
            hasStart: hasStart,
            end: end.map { Timestamp(microseconds: $0.time) },
            outcome: outcome,
            skipReason: skipReason,
            duration: duration,
            daysSinceTest: days,
            isTestAvailable: isAvailable,
            notification: notification,
            schedule: acceptedAt != nil ? .scheduled : isScheduleRefused ? .failed : nil,
            checkedAt: checkedAt.map { Timestamp(microseconds: $0) },
            notifiedAt: notifiedAt.map { Timestamp(microseconds: $0) },
            succeededAt: succeededAt.map { Timestamp(microseconds: $0) },
            scheduledAt: acceptedAt.map { Timestamp(microseconds: $0) },
            violations: RefreshViolationKind.allCases.filter(verdict.contains).map {
                RefreshViolation(kind: $0, detail: detail(of: $0, after: past))
            },
            hasAssumedTimes: hasAssumedTimes
        )
    }

    private func detail(of kind: RefreshViolationKind, after past: RefreshPast) -> String {
        switch kind {
        case .refreshedTooSoon:
            let time = [checkedAt, completedAt].compactMap(\.self).min() ?? begin
            return "refreshed \(Self.span(time - past.succeededAt)) after the last successful completion; "
                + "at least 4 h must lie between them"
        case .notifiedTooSoon:
            return "notified \(daysWhenNotified ?? 0) days after the last test; a test is due after 90 days"
        case .notifiedAgain:
            if let notifiedAt, let notifiedAgainAt {
                return "notified twice, \(Self.span(notifiedAgainAt - notifiedAt)) apart; once in 90 days is allowed"
            }
            let time = notifiedAt ?? begin
            guard past.isNotified(before: time) else {
                return
                    "notified about \(Self.span(time - past.toldNotifiedAt)) after the last notification, of which an "
                    + "earlier run tells; once in 90 days is allowed"
            }
            return "notified \(Self.span(time - past.notifiedAt)) after the last notification; "
                + "once in 90 days is allowed"
        case .availabilityWrong:
            return "the check says that a test is \(isAvailable == true ? "" : "not ")available "
                + "\(days ?? 0) days after the last one; one is due from 90 days on"
        case .workedAfterSkip: return "a check, a completion or a notification follows the skip of the run"
        case .notNotified:
            return "a test is available \(days.map { "\($0) days after the last one " } ?? "")"
                + "and the refresh succeeded, but the user was not notified, and no line says why"
        case .runNotEnded:
            guard let end else { return "started, and no end was seen" }
            return "ended \(Self.span(end.time - begin)) after its start; a run must end within 35 s"
        case .nextNotScheduled:
            return "the next refresh was not scheduled before the next launch or within 4 h 15 min"
        case .ranTooLong: return "took \(Self.span(length ?? 0)); the target is 20 s"
        case .expired: return "the operating system gives a task about 30 s, and they were over"
        }
    }

    /// A span of time in its largest fitting unit.
    private static func span(_ microseconds: Int64) -> String {
        let seconds = microseconds / 1_000_000
        switch seconds {
        case ..<120:
            let hundredths = microseconds / 10_000
            let rest = abs(hundredths % 100)
            return rest == 0 ? "\(hundredths / 100) s" : "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s"
        case ..<7_200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3_600) h \(seconds / 60 % 60) min"
        default: return "\(seconds / 86_400) days"
        }
    }
}
