// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension LifecycleTotals {
    /// Counts a judged cycle: its outcome, the rules that it broke, its checks and its times.
    mutating func add(_ judgement: Judgement) {
        outcomes[Int(judgement.outcome.rawValue)] += 1
        if judgement.broken != 0 {
            for kind in ViolationKind.allCases where judgement.breaks(kind) { violations[Int(kind.rawValue)] += 1 }
        }
        addCheck(judgement.contentHashMatches, of: .content, isDue: judgement.used != nil)
        addCheck(judgement.scheduleHashMatches, of: .schedule, isDue: judgement.account.firstExecuted != nil)
        addTimes(of: judgement)
    }

    private mutating func addCheck(_ matches: Bool?, of check: IntegrityCheck, isDue: Bool) {
        guard let matches else {
            if isDue { unchecked[Int(check.rawValue)] += 1 }
            return
        }
        let result = Int((matches ? IntegrityResult.match : .mismatch).rawValue)
        switch check {
        case .content: contentChecks[result] += 1
        case .schedule: scheduleChecks[result] += 1
        }
    }

    private mutating func addTimes(of judgement: Judgement) {
        judgement.eachTime { measure, length in
            switch measure {
            case .contentAge: contentAge.observe(length)
            case .fetchDuration: fetchDuration.observe(length)
            case .startDelay: startDelay.observe(length)
            case .drift: drift.observe(length)
            case .clockSkew, .arrivalLag: return
            }
        }
    }

    /// Counts what an event tells by itself, in whatever cycle it is.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that the event was read from.
    ///   - receivedAt: when it came; nil where that says nothing, as in a file.
    /// - Returns: what it told of a cycle's times.
    mutating func count(_ event: borrowing Event, in bytes: Span<UInt8>, receivedAt: Timestamp?) -> CountedTime? {
        var time: CountedTime?
        switch event.kind {
        case .leadCapped: leadCapped += 1
        case .contentCacheFailed: cacheFailures += 1
        case .prefetchSuccess, .prefetchFailure:
            if let duration = event.duration { time = fetchDuration.observe(duration) }
        case .prefetchUsedForNotification:
            if let age = event.age { time = contentAge.observe(age) }
        case .notificationDenied, .prefetchScheduleFailed:
            if let code = PluginErrorCode(event, in: bytes) { pluginErrors[Int(code.rawValue)] += 1 }
        default: break
        }
        guard !event.isTimeAssumed else { return time }
        if let stage = LifecycleStage(event.kind) {
            let place = Int(stage.rawValue)
            latest[place] = max(latest[place], event.timestamp.microseconds)
        }
        guard let receivedAt else { return time }
        let skew = event.clockSkew ?? 0
        if event.clockSkew != nil { clockSkew.observe(Int64(clamping: skew.magnitude)) }
        arrivalLag.observe(receivedAt.microseconds &- event.timestamp.microseconds &- skew)
        return time
    }
}
