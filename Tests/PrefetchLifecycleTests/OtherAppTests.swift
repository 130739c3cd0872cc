// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import PrefetchLifecycle

@Suite("Events of another app in the fold of the prefetch")
struct OtherAppTests {
    /// An event of every kind of the other app, with a schedule as no decoder would leave it.
    static let others = EventKind.allCases.filter { $0.app != .dnp }.enumerated().map { index, kind in
        TestEvent(kind, Double(index), id: index % 2 == 0 ? "a" : nil, due: 240).of(7)
    }

    static let cycle: [TestEvent] = [
        TestEvent(.prefetchScheduled, 0, due: 240).begins(90), TestEvent(.prefetchExecuted, 100),
        TestEvent(.prefetchSuccess, 102).lasting(1.5), TestEvent(.prefetchUsedForNotification, 240),
        TestEvent(.notificationDelivered, 240),
    ]

    @Test("events of another app open no cycle, count in no total and have no effect")
    func othersChangeNothing() throws {
        for deduplicates in [true, false] {
            var alone = LifecycleFold.keeping(deduplicates: deduplicates)
            var mixed = LifecycleFold.keeping(deduplicates: deduplicates)
            try alone.apply(Self.cycle)
            try mixed.apply(Self.others)
            #expect(mixed.openCycles == 0)
            #expect(mixed.totals == LifecycleTotals())
            try mixed.apply(zip(Self.cycle, Self.others).flatMap { [$1, $0] })
            #expect(mixed.otherEvents == UInt64(Self.others.count + Self.cycle.count))
            #expect(mixed.takeEffects() == alone.takeEffects())
            mixed.finish()
            alone.finish()
            #expect(mixed.totals == alone.totals)
            let (judged, expected) = (mixed.takeClosedCycles(), alone.takeClosedCycles())
            #expect(judged.map(\.broken) == expected.map(\.broken))
            #expect(judged.map(\.stages) == expected.map(\.stages))
        }
    }

    @Test("identities of another app's events are remembered, so that it is told what came before")
    func identitiesAreRemembered() throws {
        var fold = LifecycleFold.keeping()
        #expect(try fold.accept(Self.others) == Self.others.count)
        #expect(try fold.accept(Self.others) == 0)
        #expect(fold.rememberedIdentities == Self.others.count)
    }
}
