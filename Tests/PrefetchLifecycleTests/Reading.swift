// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import PrefetchLifecycle

/// A history read in every order of arrival, event by event and as a file.
enum Reading {
    /// What a history comes to.
    struct Told: Equatable {
        var stages: [UInt64]
        var retries: UInt64
        var broken: [ViolationKind]
        var reasons: [FailureReason?]
    }

    /// A fold that judges a file, whose counters are seen at its end only.
    static func file() -> LifecycleFold {
        LifecycleFold(key: IdentityKey(3, 4), keepsClosedCycles: true, deduplicates: false, isReceiver: false)
    }

    static func told(_ fold: inout LifecycleFold) -> Told {
        fold.finish()
        let cycles = fold.takeClosedCycles()
        return Told(
            stages: fold.totals.stages,
            retries: fold.totals.retries,
            broken: cycles.flatMap(\.broken).sorted { $0.rawValue < $1.rawValue },
            reasons: cycles.map(\.failureReason).sorted { ($0?.rawValue ?? 9) < ($1?.rawValue ?? 9) }
        )
    }

    /// All orders of up to five events; some of more.
    static func orders(_ events: [TestEvent]) -> [[TestEvent]] {
        var random = SplitMix64(seed: 11)
        guard events.count <= 5 else {
            return [events, events.reversed()] + (0..<50).map { _ in events.shuffled(using: &random) }
        }
        return events.indices.reduce([[]]) { orders, index in
            orders.flatMap { order in
                (0...order.count).map { place in
                    var order = order
                    order.insert(events[index], at: place)
                    return order
                }
            }
        }
    }

    /// Every different result of the orders, in the service and as a file.
    static func results(_ events: [TestEvent]) throws -> (service: [Told], file: [Told]) {
        var service: [Told] = []
        var files: [Told] = []
        for order in orders(events) {
            var fold = LifecycleFold.keeping()
            var before = fold.totals.words
            for event in order {
                try fold.accept([event])
                guard order.count < 6 else { continue }
                let now = fold.totals.words
                #expect(!zip(before, now).contains { $0 > $1 }, "a counter has fallen")
                before = now
            }
            let result = told(&fold)
            if !service.contains(result) { service.append(result) }
            var other = file()
            try other.apply(order)
            let fileResult = told(&other)
            if !files.contains(fileResult) { files.append(fileResult) }
        }
        return (service, files)
    }

    /// The one result of all orders.
    static func result(_ events: [TestEvent]) throws -> Told {
        let results = try results(events)
        #expect(results.service.count == 1 && results.file == results.service, "\(results)")
        return try #require(results.service.first)
    }

    static func scheduled(_ second: Double, _ id: String?, due: Double? = nil) -> TestEvent {
        TestEvent(.prefetchScheduled, second, id: id, due: due)
    }
}
