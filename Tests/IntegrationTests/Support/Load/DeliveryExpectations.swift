// SPDX-License-Identifier: Apache-2.0

import Testing

/// Every acknowledged event counts once, and beyond them at most what was sent and given up.
func expectCounted(
    _ delivery: Delivery,
    on page: MetricsPage,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(delivery.contradictions == [], sourceLocation: sourceLocation)
    let least = delivery.acknowledged.totals.series
    let most = (delivery.acknowledged.totals + delivery.abandoned.totals).series
    let found = page.lifecycle
    #expect(Set(found.keys) == Set(least.keys), sourceLocation: sourceLocation)
    for (series, low) in least {
        let high = most[series] ?? low
        let value = found[series] ?? -1
        #expect(
            value >= low && value <= high,
            "\(series.name)\(series.labels) is \(value), and \(low)...\(high) were sent",
            sourceLocation: sourceLocation
        )
    }
}
