// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// The stage at which a cycle stopped short of showing its prefetched content.
enum CycleStop: UInt8, CaseIterable, Sendable {
    /// The notification was set, and no task was submitted.
    case notSubmitted
    /// The system refused the task.
    case submissionFailed
    /// The task was submitted and never ran.
    case notExecuted
    /// The task ran and began no fetch.
    case notFetched
    /// The fetch began and has no result.
    case notFinished
    /// The fetch failed.
    case failed
    /// The fetch was successful and nothing could be cached.
    case notCached
    /// The content was cached and not found when the notification was due.
    case notFound
    /// The content was there, and no delivery is told.
    case notDelivered

    /// Nil for a cycle that came to its end.
    init?(_ cycle: ClosedCycle, _ kinds: EventKinds) {
        let stages = cycle.stages
        let isUsed = stages.used != nil || cycle.outcome == .used
        if isUsed, stages.delivered != nil || kinds.contains(.prefetchCycleComplete) { return nil }
        if isUsed {
            self = .notDelivered
        } else if stages.success != nil {
            if kinds.contains(.contentCacheFailed) {
                self = .notCached
            } else {
                self = stages.delivered != nil || kinds.contains(.contentMissing) ? .notFound : .notDelivered
            }
        } else if stages.failure != nil || kinds.containsAny(.prefetchFailure, .prefetchExpired) {
            self = .failed
        } else if stages.executed != nil {
            self = kinds.contains(.prefetchStarted) ? .notFinished : .notFetched
        } else if stages.scheduled != nil {
            self = .notExecuted
        } else {
            self = kinds.contains(.prefetchScheduleFailed) ? .submissionFailed : .notSubmitted
        }
    }
}

/// Where the log begins or ends inside a cycle, so that it cannot show all of it.
struct LogCut: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    /// The cycle was under way when the log begins.
    static let beginning = LogCut(rawValue: 1)
    /// The cycle was under way when the log ends.
    static let end = LogCut(rawValue: 2)

    /// The fetch of the cycle lies before the beginning of the log, too.
    private static let fetch = LogCut(rawValue: 4)

    /// The system ends a task after about this time.
    private static let longestTask: Int64 = 30_000_000
    /// A delivery may be so late.
    private static let drift: Int64 = 180_000_000
    /// A daily task is scheduled not longer before it runs, unless its device travels.
    private static let longestSchedule: Int64 = 26 * 3_600_000_000
    /// A fetch lies not longer before its delivery.
    private static let longestLead: Int64 = 1_800_000_000
    /// The kinds before which a task must have been submitted.
    private static let afterScheduling: [EventKind] = [
        .prefetchExecuted, .prefetchStarted, .prefetchSuccess, .prefetchFailure, .prefetchExpired, .prefetchCompleted,
        .contentCached, .contentMissing, .prefetchUsedForNotification, .notificationDelivered, .prefetchCycleComplete,
        .apiCall,
    ]
    /// The kinds of a delivery.
    private static let ofDelivery = EventKinds([
        .notificationScheduled, .contentMissing, .prefetchUsedForNotification, .notificationDelivered,
        .notificationDrift,
        .prefetchCycleComplete,
    ])

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Where the log of a device cuts a cycle; events as JSON have no beginning and no end.
    init(_ cycle: ClosedCycle, _ evidence: CycleEvidence, in log: DeviceLog) {
        self = []
        guard evidence.isOfLogLines, let first = evidence.firstLine, let last = evidence.lastLine else { return }
        if cycle.stages.scheduled == nil { insertBeginning(cycle, evidence, first, log) }
        insertEnd(cycle, evidence, last, log)
    }

    private mutating func insertBeginning(
        _ cycle: ClosedCycle,
        _ evidence: CycleEvidence,
        _ first: (kind: EventKind, place: LinePlace),
        _ log: DeviceLog
    ) {
        guard let begin = log.firstTime else { return }
        let distance = evidence.firstTime.microseconds - begin.microseconds
        if Self.afterScheduling.contains(first.kind) {
            let longest = log.kinds.contains(.timezoneChanged) ? 2 * Self.longestSchedule : Self.longestSchedule
            if Self.beginsInside(log), distance <= longest { insert(.beginning) }
            let longestFetch = Self.ofDelivery.contains(first.kind) ? Self.longestLead : Self.longestTask
            if Self.beginsBehindRun(log), distance <= longestFetch { insert(Self.fetch) }
            if log.beginsInTask(of: cycle), distance <= Self.longestTask { formUnion([.beginning, Self.fetch]) }
        }
        // The task ran before the log begins, and scheduled the next one.
        if evidence.kinds.isSubset(of: Self.ofDelivery), log.mayFollowTask(of: cycle), distance <= Self.longestLead {
            formUnion([.beginning, Self.fetch])
        }
    }

    /// Whether something was scheduled before the log begins.
    private static func beginsInside(_ log: DeviceLog) -> Bool { beginsBehindRun(log) || log.beginsPending }

    /// Whether a task may have run before the log begins.
    private static func beginsBehindRun(_ log: DeviceLog) -> Bool {
        log.firstKind.map { afterScheduling.contains($0) || $0 == .contentCacheFailed } ?? false
    }

    private mutating func insertEnd(
        _ cycle: ClosedCycle,
        _ evidence: CycleEvidence,
        _ last: (kind: EventKind, place: LinePlace),
        _ log: DeviceLog
    ) {
        guard !evidence.kinds.contains(.prefetchCycleComplete) else { return }
        guard !cycle.hasAssumedTimes, let end = log.lastTime else {
            let isLast = last.place == log.lastLine
            if isLast, [.prefetchExecuted, .prefetchStarted, .apiCall].contains(last.kind) { insert(.end) }
            return
        }
        if let executed = evidence.sighting(.prefetchExecuted)?.lastTime, !evidence.hasResult(since: executed),
            end.microseconds - executed.microseconds <= Self.longestTask
        {
            insert(.end)
        }
        guard cycle.stages.delivered == nil else { return }
        if let due = cycle.notificationTime, end.microseconds <= due.microseconds + Self.drift { insert(.end) }
    }

    /// Whether a violation of a cycle in an excerpt only says what lies before its beginning.
    func hides(_ violation: ViolationKind, _ evidence: CycleEvidence) -> Bool {
        switch violation {
        case .executedWithoutScheduled: contains(.beginning)
        case .successWithoutExecuted, .failureWithoutExecuted: contains(Self.fetch)
        case .usedWithoutSuccess: contains(Self.fetch) && evidence.beginsInRun
        case .duplicateTerminal: contains(Self.fetch) && evidence.beginsWithResult && !evidence.contradictsItself
        case .outOfOrder:
            contains(Self.fetch) && evidence.kinds.contains(.prefetchExecuted) && evidence.beginsInRun
        default: false
        }
    }

    /// What a person reads; nil for a whole cycle.
    var sentence: String? {
        switch (contains(.beginning), contains(.end)) {
        case (true, true): "the log begins and ends inside this cycle (--excerpt does not judge what came before)"
        case (true, false): "the log begins inside this cycle (--excerpt does not judge what came before)"
        case (false, true): "the log ends before this cycle did"
        case (false, false): nil
        }
    }

    var names: [String] { (contains(.beginning) ? ["beginning"] : []) + (contains(.end) ? ["end"] : []) }
}

extension CycleEvidence {
    fileprivate var firstTime: Timestamp { sightings.map(\.firstTime).min() ?? Timestamp(microseconds: 0) }

    private static let results: [EventKind] = [
        .prefetchSuccess, .prefetchFailure, .prefetchExpired, .prefetchCompleted,
    ]

    fileprivate func hasResult(since executed: Timestamp) -> Bool {
        Self.results.contains { kind in sighting(kind).map { $0.lastTime >= executed } ?? false }
    }

    private static let stepsOfRun: [EventKind] =
        results + [.prefetchStarted, .apiCall, .contentCached, .contentCacheFailed, .prefetchUsedForNotification]

    /// Whether a step of a run, or the use of its content, comes before all executions, so that its own is not in the log.
    fileprivate var beginsInRun: Bool {
        guard let executed = sighting(.prefetchExecuted)?.firstTime else { return true }
        return Self.stepsOfRun.contains { kind in sighting(kind).map { $0.firstTime < executed } ?? false }
    }

    /// Whether a result comes before all executions, so that its own is not in the log.
    fileprivate var beginsWithResult: Bool {
        guard let executed = sighting(.prefetchExecuted)?.firstTime else { return false }
        return Self.results.contains { kind in sighting(kind).map { $0.firstTime < executed } ?? false }
    }

    /// Whether a success and a failure follow its only execution.
    fileprivate var contradictsItself: Bool {
        guard let executed = sighting(.prefetchExecuted), executed.firstTime == executed.lastTime else { return false }
        func follows(_ kind: EventKind) -> Bool { sighting(kind).map { $0.lastTime >= executed.lastTime } ?? false }
        return follows(.prefetchSuccess) && (follows(.prefetchFailure) || follows(.prefetchExpired))
    }
}
