// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import PrefetchLifecycle

/// The skew that `sentAt` reveals is corrected where event times meet agreed times (docs/lifecycle.md, Time).
@Suite("Clock skew")
struct ClockTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        /// The receiver's clock minus the sender's, in seconds.
        let skew: Double
        let executed: Double
        let delivered: Double
        let broken: [ViolationKind]

        var testDescription: String { "\(name), \(skew) s" }
    }

    static let rows = [
        Row(name: "ahead, within the window", skew: -100, executed: 1_300, delivered: 2_100, broken: []),
        Row(
            name: "ahead, past the window",
            skew: -100,
            executed: 1_300.000_001,
            delivered: 2_100,
            broken: [.missedWindow]
        ),
        Row(name: "behind, within the window", skew: 100, executed: 1_100, delivered: 1_900, broken: []),
        Row(name: "behind, past the window", skew: 100, executed: 1_101, delivered: 1_900, broken: [.missedWindow]),
        Row(name: "ahead, 180 s late", skew: -3_600, executed: 4_000, delivered: 5_780, broken: []),
        Row(
            name: "ahead, more than 180 s late",
            skew: -3_600,
            executed: 4_000,
            delivered: 5_780.001,
            broken: [.driftExceeded]
        ),
        Row(name: "behind, 180 s early", skew: 3_600, executed: -2_800, delivered: -1_780, broken: []),
        Row(
            name: "behind, more than 180 s early",
            skew: 3_600,
            executed: -2_800,
            delivered: -1_780.001,
            broken: [.driftExceeded]
        ),
    ]

    static func events(_ row: Row) -> [TestEvent] {
        [
            TestEvent(.prefetchScheduled, -5_000, due: 2_000).begins(300), TestEvent(.prefetchExecuted, row.executed),
            TestEvent(.prefetchSuccess, row.executed + 1), TestEvent(.notificationDelivered, row.delivered),
        ].map { $0.skewed(Int64(row.skew * 1_000_000)) }
    }

    @Test(
        "clock skew is corrected where event times meet the earliest begin and the notification time",
        arguments: rows
    )
    func skewIsCorrectedAgainstAgreedTimes(row: Row) throws {
        var random = SplitMix64(seed: 11)
        for _ in 0..<6 {
            var fold = LifecycleFold.keeping()
            try fold.apply(Self.events(row).shuffled(using: &random))
            fold.finish()
            #expect(fold.takeClosedCycles().flatMap(\.broken).filter { $0 != .leadDiffers } == row.broken)
            #expect(
                fold.totals.startDelay.microseconds == UInt64(((row.executed + row.skew) * 1e6).rounded()) - 300_000_000
            )
            #expect(fold.totals.clockSkew.count == 4)
        }
    }

    @Test("clock skew is not corrected in a file that is validated", arguments: rows)
    func skewIsIgnoredInAFile(row: Row) throws {
        func judged(_ events: [TestEvent]) throws -> ([ViolationKind], LifecycleTotals) {
            var fold = LifecycleFold(
                key: IdentityKey(3, 4),
                keepsClosedCycles: true,
                deduplicates: false,
                isReceiver: false
            )
            try fold.apply(events)
            fold.finish()
            return (fold.takeClosedCycles().flatMap(\.broken).filter { $0 != .leadDiffers }, fold.totals)
        }
        let told = try judged(Self.events(row))
        let without = try judged(Self.events(row).map { told in told.with { $0.clockSkew = nil } })
        #expect(told == without)
        #expect(told.1.clockSkew.count == 0)
        #expect(told.1.arrivalLag.count == 0)
    }

    @Test("clock skew does not affect ages and durations of one device")
    func skewDoesNotAffectAgesAndDurations() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply(ViolationTests.cycle().map { $0.skewed($0.event.kind == .prefetchSuccess ? 0 : 7_200_000_000) })
        fold.finish()
        #expect(fold.totals.fetchDuration.microseconds == 2_000_000)
        #expect(fold.totals.contentAge.microseconds == 498_000_000)
    }

    @Test("start delay and drift fall into buckets with exact bounds")
    func durationsFallIntoExactBuckets() throws {
        for (delay, bucket) in [(60.0, 3), (60.000_001, 4), (900, 7), (900.000_001, 8)] {
            var fold = LifecycleFold.keeping()
            try fold.apply([TestEvent(.prefetchScheduled, -100).begins(0), TestEvent(.prefetchExecuted, delay)])
            fold.finish()
            #expect(fold.totals.startDelay.counts[bucket] == 1)
            #expect(fold.totals.startDelay.microseconds == UInt64((delay * 1e6).rounded()))
        }
        for (drift, bucket) in [(180.0, 6), (180.001, 7), (-180, 6), (-180.001, 7)] {
            var fold = LifecycleFold.keeping()
            try fold.apply([TestEvent(.notificationDelivered, 900 + drift, due: 900)])
            fold.finish()
            #expect(fold.totals.drift.counts[bucket] == 1)
            #expect(fold.totals.driftExceeded == (bucket == 7 ? 1 : 0))
        }
    }

    @Test("a result before its execution has no fetch duration")
    func resultBeforeExecutionHasNoDuration() throws {
        var fold = LifecycleFold.keeping()
        try fold.apply([
            TestEvent(.prefetchSuccess, 59), TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchSuccess, 61),
        ])
        fold.finish()
        #expect(fold.totals.fetchDuration.count == 0)
    }
}
