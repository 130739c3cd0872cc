// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What of a cycle counts once and needs no facts, before an event is taken in.
struct KeptStages {
    let isFallback: Bool
    let hasDrifted: Bool
    /// Whether it is known to have been delivered with prefetched content.
    let isShown: Bool

    init(_ cycle: Cycle, used: UInt8) {
        isFallback = cycle.flags.contains(.contentMissing)
        hasDrifted = cycle.flags.contains(.drifted)
        isShown = cycle.delivered.isKnown && used > 0
    }
}

extension Cycle {
    /// Counts what it keeps once and nothing can take back any more.
    ///
    /// - Parameters:
    ///   - before: what it kept before.
    ///   - counted: how much of it has been counted.
    func countKept(_ counted: inout CountedStages, since before: KeptStages, into totals: inout LifecycleTotals) {
        if used.isKnown, counted.used == 0 {
            counted.used = 1
            totals.used += 1
        }
        let now = KeptStages(self, used: counted.used)
        if now.isFallback, !before.isFallback { totals.fallbacks += 1 }
        if now.hasDrifted, !before.hasDrifted { totals.driftExceeded += 1 }
        if now.isShown, !before.isShown { totals.count(.prefetched) }
    }

    /// Counts what had to wait for its end: a delivery without prefetched content, and a drift that the app did not tell of.
    func countRest(_ counted: CountedStages, into totals: inout LifecycleTotals) {
        if !flags.contains(.drifted), let drift, abs(drift) > Judgement.toleratedDrift { totals.driftExceeded += 1 }
        guard delivered.isKnown, counted.used == 0 else { return }
        totals.count(flags.contains(.contentMissing) ? .onDemand : .none)
    }

    /// How far from its time the notification was delivered, in microseconds.
    var drift: Int64? {
        guard !flags.contains(.hasAssumedTimes), let time = delivered.time(base: base), let due else { return nil }
        return time.microseconds - due.microseconds
    }
}

extension LifecycleTotals {
    fileprivate mutating func count(_ content: DeliveredContent) {
        delivered[Int(content.rawValue)] += 1
    }
}

extension KeptStages {
    /// What was kept of any of several cycles.
    init(_ all: [KeptStages]) {
        isFallback = all.contains { $0.isFallback }
        hasDrifted = all.contains { $0.hasDrifted }
        isShown = all.contains { $0.isShown }
    }
}
