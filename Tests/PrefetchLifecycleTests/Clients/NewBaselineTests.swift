// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@Suite("A client that began anew")
struct NewBaselineTests {
    private let old = [Told(.prefetchScheduled, 0, id: "a").of(1), ClientCountersTests.snapshot(10, [.scheduled: 3])]

    @Test("is counted alike whether what it told comes before its first snapshot or after")
    func anyOrder() throws {
        let event = Told(.prefetchScheduled, 20, id: "b").of(1)
        let reset = ClientCountersTests.snapshot(30, [.scheduled: 1])
        for middle in [[event, reset], [reset, event]] {
            var fold = LifecycleFold.keeping()
            try fold.apply(old + middle + [ClientCountersTests.snapshot(50, [.scheduled: 2])])
            fold.finish()
            #expect(fold.totals.scheduled == 5)
            #expect(fold.totals.snapshots(.reset) == 1)
        }
    }

    @Test("does not count again what was given up before and comes after all")
    func formerLife() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply(
            old + [ClientCountersTests.snapshot(30, [.scheduled: 1]), Told(.prefetchScheduled, 5, id: "late").of(1)]
        )
        fold.finish()
        #expect(fold.totals.scheduled == 3)
    }
}
