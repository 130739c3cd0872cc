// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension Cycle {
    /// Counts what it keeps once and nothing can take back any more.
    mutating func countKept(into totals: inout LifecycleTotals) {
        if used.isKnown, counted.used == 0 {
            counted.used = 1
            totals.used += 1
        }
        if flags.contains(.contentMissing), counted.isFirst(.fallback) { totals.fallbacks += 1 }
        if flags.contains(.drifted), counted.isFirst(.drift) { totals.driftExceeded += 1 }
        if delivered.isKnown, counted.used > 0, counted.isFirst(.delivered) { totals.add(.prefetched) }
    }

    /// Counts what had to wait for its end: a delivery without prefetched content, and a drift that the app did not tell of.
    mutating func countRest(into totals: inout LifecycleTotals) {
        countKept(into: &totals)
        if let drift, abs(drift) > Judgement.toleratedDrift, counted.isFirst(.drift) { totals.driftExceeded += 1 }
        guard delivered.isKnown, counted.isFirst(.delivered) else { return }
        totals.add(flags.contains(.contentMissing) ? .onDemand : .none)
    }

    /// How far from its time the notification was delivered, in microseconds.
    var drift: Int64? {
        guard !flags.contains(.hasAssumedTimes), let time = delivered.time(base: base), let due else { return nil }
        return time.microseconds - due.microseconds
    }
}

extension LifecycleTotals {
    fileprivate mutating func add(_ content: DeliveredContent) {
        delivered[Int(content.rawValue)] += 1
    }
}
