// SPDX-License-Identifier: Apache-2.0

public import LifecycleState
public import TelemetryEvents

/// How a run ended: the label set of `aiq_background_refresh_runs_total`. Raw values are stored in checkpoints.
public enum RunOutcome: UInt8, CaseIterable, Sendable {
    /// It completed.
    case completed = 0
    /// It completed without success.
    case failed = 1
    /// The operating system ended it.
    case expired = 2
    /// It was not needed or not possible.
    case skipped = 3
    /// Its end was not seen.
    case incomplete = 4

    /// The label value.
    public var name: StaticString {
        switch self {
        case .completed: "completed"
        case .failed: "failed"
        case .expired: "expired"
        case .skipped: "skipped"
        case .incomplete: "incomplete"
        }
    }
}

/// The result of scheduling the next run: the label set of `aiq_background_refresh_schedules_total`. Raw values are stored
/// in checkpoints.
public enum RefreshSchedule: UInt8, CaseIterable, Sendable {
    /// The operating system took it.
    case scheduled = 0
    /// The operating system refused it.
    case failed = 1

    /// The label value.
    public var name: StaticString {
        switch self {
        case .scheduled: "scheduled"
        case .failed: "failed"
        }
    }
}

/// What became of a notification: the label set of `aiq_background_refresh_notifications_total`. Raw values are stored in
/// checkpoints.
public enum RefreshNotification: UInt8, CaseIterable, Sendable {
    /// It was sent.
    case sent = 0
    /// It could not be sent.
    case failed = 1
    /// The user does not permit it.
    case notAuthorized = 2
    /// The user was notified before.
    case alreadyNotified = 3

    /// The label value.
    public var name: StaticString {
        switch self {
        case .sent: "sent"
        case .failed: "failed"
        case .notAuthorized: "not_authorized"
        case .alreadyNotified: "already_notified"
        }
    }
}

/// A rule that a run can violate (docs/lifecycle.md). Raw values are stored in checkpoints.
public enum RefreshViolationKind: UInt8, CaseIterable, Sendable {
    /// A check or a completion less than 4 hours after the last successful completion, without a skip.
    case refreshedTooSoon = 0
    /// Notified fewer than 90 days after the test.
    case notifiedTooSoon = 1
    /// Notified twice within 90 days.
    case notifiedAgain = 2
    /// A check says available before 90 days, or not available from then on.
    case availabilityWrong = 3
    /// A check, a completion or a notification after the skip of the same run.
    case workedAfterSkip = 4
    /// A test is available and the user was not told.
    case notNotified = 5
    /// No end within 35 seconds, or before the next start.
    case runNotEnded = 6
    /// The next run was not scheduled before its launch or within 4 hours and 15 minutes.
    case nextNotScheduled = 7
    /// It took longer than 20 seconds.
    case ranTooLong = 8
    /// The 30 seconds of the operating system were over.
    case expired = 9

    /// The label value of `aiq_background_refresh_violations_total`.
    public var name: StaticString {
        switch self {
        case .refreshedTooSoon: "refreshed_too_soon"
        case .notifiedTooSoon: "notified_too_soon"
        case .notifiedAgain: "notified_again"
        case .availabilityWrong: "availability_wrong"
        case .workedAfterSkip: "worked_after_skip"
        case .notNotified: "not_notified"
        case .runNotEnded: "run_not_ended"
        case .nextNotScheduled: "next_not_scheduled"
        case .ranTooLong: "ran_too_long"
        case .expired: "expired"
        }
    }

    /// Who is responsible.
    public var bucket: ViolationBucket {
        switch self {
        case .refreshedTooSoon, .notifiedTooSoon, .notifiedAgain, .availabilityWrong, .workedAfterSkip, .notNotified,
            .runNotEnded:
            .a
        case .nextNotScheduled, .ranTooLong: .b
        case .expired: .c
        }
    }
}

/// A violation of a rule by a run.
public struct RefreshViolation: Hashable, Sendable {
    /// The rule.
    public var kind: RefreshViolationKind
    /// What happened, as a sentence with its figures.
    public var detail: String

    /// Creates a violation.
    public init(kind: RefreshViolationKind, detail: String) {
        self.kind = kind
        self.detail = detail
    }
}

/// A closed run with its verdict.
public struct ClosedRun: Hashable, Sendable {
    /// The fingerprint of its installation; 0 without one.
    public var installation: UInt64
    /// The time of its start, or of its first event.
    public var begin: Timestamp
    /// Whether its start was told.
    public var hasStart: Bool
    /// The time of its end; nil for an incomplete one.
    public var end: Timestamp?
    /// Its outcome.
    public var outcome: RunOutcome
    /// Why it was skipped.
    public var skipReason: RefreshSkipReason?
    /// How long it took, in microseconds, where told.
    public var duration: Int64?
    /// The days since the last test, where told.
    public var daysSinceTest: Int64?
    /// Whether a test is available, where told.
    public var isTestAvailable: Bool?
    /// What became of its notification.
    public var notification: RefreshNotification?
    /// What became of the schedule for the next run; `failed` where none was taken.
    public var schedule: RefreshSchedule?
    /// The time of its first check.
    public var checkedAt: Timestamp?
    /// The time of its first notification.
    public var notifiedAt: Timestamp?
    /// The time of its first successful completion.
    public var succeededAt: Timestamp?
    /// The last time at which the next run was scheduled.
    public var scheduledAt: Timestamp?
    /// Its violations, each rule once, in the order of `RefreshViolationKind`.
    public var violations: [RefreshViolation]
    /// Whether its times are assumed from the order of lines, so that no rule about time was applied.
    public var hasAssumedTimes: Bool
}

extension JSONWriter {
    /// The violations as elements of an array.
    package mutating func elements(_ violations: [RefreshViolation]) {
        for each in violations { violation(each.kind.name, each.kind.bucket, each.detail) }
    }
}
