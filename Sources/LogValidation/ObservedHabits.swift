// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// What a judged log shows of the operating system's habits, of the network and of the server: how often a pass of a
/// schedule goes one way or another, and how long its steps take.
///
/// Made of the cycles that are listed, so that its size is bounded as theirs is.
package struct ObservedHabits: Sendable {
    /// How a pass went; each pass goes one way. The names are those of the simulator's rates.
    package enum Course: String, CaseIterable, Sendable {
        case late, skipped, refused, again, expired
        case networkFailure = "network-failure"
        case authFailure = "auth-failure"
        case handlerFailure = "handler-failure"
        case killed, retried
        case storageFailure = "storage-failure"
        case contentChanged = "content-changed"
        case contentLost = "content-lost"
        case drift, revoked, usual
    }

    /// The runs that tell of their power, or of their network, and those of them that say yes.
    package struct Share: Sendable {
        package internal(set) var told = 0
        package internal(set) var count = 0

        mutating func add(_ isSo: Bool) {
            told += 1
            if isSo { count += 1 }
        }

        mutating func add(_ other: Share) {
            told += other.told
            count += other.count
        }
    }

    /// The delay that the system may take, in microseconds: 15 minutes.
    private static let window: Int64 = 15 * 60 * 1_000_000

    /// The passes that are not cut by the beginning or the end of the log.
    package private(set) var passes = 0
    /// The cycles that were left out because there were too many to list.
    package private(set) var omitted: UInt64 = 0
    private var counts = [Int](repeating: 0, count: Course.allCases.count)
    /// From the earliest begin to the execution, in and behind the window, in microseconds.
    package private(set) var delays: [Int64] = []
    package private(set) var lateDelays: [Int64] = []
    /// From the execution to the result of the fetch, in microseconds.
    package private(set) var durations: [Int64] = []
    /// The passes whose content could be compared with the cached one, and those of them where it differs.
    package private(set) var changedContent = Share()
    /// The runs under Low Power Mode, and those on a cellular network.
    package private(set) var lowPower = Share()
    package private(set) var cellular = Share()

    /// How many passes went a way.
    package func count(_ course: Course) -> Int { Course.allCases.firstIndex(of: course).map { counts[$0] } ?? 0 }

    init(_ judgement: Judgement) {
        omitted = judgement.omittedCycles
        for log in judgement.logs {
            lowPower.add(log.lowPower)
            cellular.add(log.cellular)
        }
        for cycle in judgement.cycles where cycle.cut.isEmpty && !cycle.isTimeWarped { add(cycle) }
    }

    private mutating func add(_ cycle: JudgedCycle) {
        let closed = cycle.closed
        guard let course = Self.course(of: cycle), let place = Course.allCases.firstIndex(of: course) else { return }
        passes += 1
        counts[place] += 1
        if let isIntact = closed.contentHashMatches { changedContent.add(!isIntact) }
        guard !closed.hasAssumedTimes, let executed = closed.stages.executed else { return }
        if let begin = closed.earliestBegin {
            let delay = max(executed.microseconds - begin.microseconds, 0)
            if delay > Self.window { lateDelays.append(delay) } else { delays.append(delay) }
        }
        // Where the task ran again, the result may be that of another run.
        let results = [closed.stages.success, closed.stages.failure].compactMap(\.self)
        if closed.attempts == 1, course != .expired, let end = results.min(), end >= executed {
            durations.append(end.microseconds - executed.microseconds)
        }
    }

    /// How a cycle went; nil where the log does not show it.
    private static func course(of cycle: JudgedCycle) -> Course? {
        let closed = cycle.closed
        let stages = closed.stages
        func breaks(_ kind: ViolationKind) -> Bool { closed.violations.contains { $0.kind == kind } }
        guard let executed = stages.executed else {
            if cycle.kinds.contains(.prefetchScheduleFailed) { return .refused }
            guard stages.scheduled != nil else { return nil }
            return closed.outcome == .missed || breaks(.missedWindow) ? .skipped : nil
        }
        if !closed.hasAssumedTimes, let begin = closed.earliestBegin,
            executed.microseconds - begin.microseconds > Self.window
        {
            return .late
        }
        if closed.attempts > 1 { return .again }
        if breaks(.expired) { return .expired }
        guard stages.success != nil else { return failure(closed.failureReason) }
        if cycle.kinds.contains(.prefetchFailure) { return .retried }
        if cycle.kinds.contains(.contentCacheFailed) { return .storageFailure }
        if breaks(.contentHashMismatch) { return .contentChanged }
        if cycle.kinds.contains(.contentMissing) { return .contentLost }
        if breaks(.driftExceeded) { return .drift }
        return stages.delivered == nil && stages.used == nil ? .revoked : .usual
    }

    private static func failure(_ reason: FailureReason?) -> Course {
        switch reason {
        case .network?: .networkFailure
        case .auth?: .authFailure
        case .system?, .other?: .handlerFailure
        case nil: .killed
        }
    }
}

extension Judgement {
    /// What it shows of habits.
    package var habits: ObservedHabits { ObservedHabits(self) }
}
