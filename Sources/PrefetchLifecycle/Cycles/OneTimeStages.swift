// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The stages that count once in a cycle and need no facts, as they were before an event.
struct OneTimeStages {
    let isFallback: Bool
    let hasDrifted: Bool

    /// None of them.
    init() {
        (isFallback, hasDrifted) = (false, false)
    }

    init(_ cycle: Cycle) {
        isFallback = cycle.flags.contains(.contentMissing)
        hasDrifted = cycle.flags.contains(.drifted)
    }
}

extension Cycle {
    /// Counts the use of its content, once.
    func countUse(_ counted: inout CountedStages, into totals: inout LifecycleTotals) {
        guard used.isKnown, counted.used == 0 else { return }
        counted.used = 1
        totals.used += 1
        totals.increments += 1
    }

    /// Counts the stages that count once and that no later event can revoke.
    ///
    /// - Parameters:
    ///   - before: the stages before the event.
    func countOneTimeStages(since before: OneTimeStages, into totals: inout LifecycleTotals) {
        let now = OneTimeStages(self)
        if now.isFallback, !before.isFallback {
            totals.fallbacks += 1
            totals.increments += 1
        }
        if now.hasDrifted, !before.hasDrifted { totals.countDrift() }
    }

    /// Whether events that are of no other pass tell that its notification was delivered with prefetched content.
    func isShown(_ facts: Span<UInt64>) -> Bool {
        guard let delivered = delivered.time(base: base) else { return false }
        // Known by its schedule alone, it may be several passes.
        if due == nil {
            guard let used = used.time(base: base), !CycleTable.isDistant(used, from: delivered) else { return false }
        }
        return isCertain(.delivered, facts) && isCertain(used.isKnown ? .used : .summary, facts)
    }

    private func isCertain(_ stage: Fact.Stage, _ facts: Span<UInt64>) -> Bool {
        var isListed = false
        for index in facts.indices {
            let fact = Fact(rawValue: facts[index])
            guard fact.stage == stage else { continue }
            if !isDistant(fact) { return true }
            isListed = true
        }
        return !isListed
    }

    /// Counts what waits for the close: a delivery, unless it has been counted, and a drift that the app did not report.
    ///
    /// - Parameters:
    ///   - warp: how far the clock was warped for its delivery, in microseconds.
    ///   - toleratedDrift: how far a delivery may be from its time, in microseconds.
    func countAtClosing(
        _ counted: CountedStages,
        warp: Int64,
        toleratedDrift: Int64,
        into totals: inout LifecycleTotals
    ) {
        if !flags.contains(.drifted), let drift, LifecycleRules.isDrift(drift + warp, beyond: toleratedDrift) {
            totals.countDrift()
        }
        guard delivered.isKnown, !details.contains(.isShownCounted) else { return }
        totals.count(counted.used > 0 ? .prefetched : flags.contains(.contentMissing) ? .onDemand : .none)
    }

    /// The delivery minus the notification time, in microseconds.
    var drift: Int64? {
        guard !flags.contains(.hasAssumedTimes), let time = delivered.time(base: base), let due else { return nil }
        return time.microseconds - due.microseconds
    }
}

extension LifecycleTotals {
    mutating func count(_ content: DeliveredContent) {
        delivered[Int(content.rawValue)] += 1
        increments += 1
    }

    fileprivate mutating func countDrift() {
        driftExceeded += 1
        increments += 1
    }
}

extension OneTimeStages {
    /// What several cycles had before, and some of them have no more.
    init(_ before: [OneTimeStages], without after: [OneTimeStages]) {
        isFallback = before.count { $0.isFallback } > after.count { $0.isFallback }
        hasDrifted = before.count { $0.hasDrifted } > after.count { $0.hasDrifted }
    }

    /// The union over several cycles.
    init(_ all: [OneTimeStages]) {
        isFallback = all.contains { $0.isFallback }
        hasDrifted = all.contains { $0.hasDrifted }
    }
}
