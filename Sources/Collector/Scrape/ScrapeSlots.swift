// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry
internal import Synchronization

/// Limits how many scrapes are answered concurrently.
final class ScrapeSlots: Sendable {
    /// The slot of one scrape, held until it is given back or deinitialised.
    final class Slot: Sendable {
        private let slots: ScrapeSlots
        private let isTaken = Atomic(true)

        fileprivate init(_ slots: ScrapeSlots) {
            self.slots = slots
        }

        deinit { giveBack() }

        func giveBack() {
            if isTaken.exchange(false, ordering: .relaxed) { slots.giveBack() }
        }
    }

    private let limit: @Sendable () -> Int
    private let taken = Atomic(0)
    private let gauge: Gauge

    /// - Parameters:
    ///   - limit: The number of slots, read at each scrape.
    ///   - gauge: Shows how many slots are taken.
    init(limit: @escaping @Sendable () -> Int, gauge: Gauge) {
        self.limit = limit
        self.gauge = gauge
    }

    /// Takes a slot; nil when all are taken.
    func take() -> Slot? {
        guard taken.wrappingAdd(1, ordering: .relaxed).newValue <= limit() else {
            taken.wrappingSubtract(1, ordering: .relaxed)
            return nil
        }
        gauge.add(1)
        return Slot(self)
    }

    private func giveBack() {
        taken.wrappingSubtract(1, ordering: .relaxed)
        gauge.add(-1)
    }
}
