// SPDX-License-Identifier: Apache-2.0

@testable import PrefetchLifecycle

extension LifecycleTotals {
    /// Every number of the totals, buckets, sums and latest times included, none of which may ever fall.
    var words: [UInt64] {
        var writer = StateWriter()
        append(to: &writer)
        return stride(from: 0, to: writer.bytes.count, by: 8).map { start in
            writer.bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// The totals without what counts only where a summary came before the events that it sums up (SPEC 5.2).
    var withoutImplied: LifecycleTotals {
        var totals = self
        totals.impliedSuccess = 0
        totals.impliedUsed = 0
        return totals
    }
}

extension LifecycleFold {
    /// The totals of each group by its names, since the order of the groups is that of their arrival.
    var namedTotals: [String: LifecycleTotals] {
        Dictionary(
            uniqueKeysWithValues: totalsByGroup.map { ("\($0.platform) \($0.appVersion)", $0.totals.withoutImplied) }
        )
    }
}
