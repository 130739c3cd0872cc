// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry
internal import Synchronization

/// The scrapes that may be answered at once.
final class ScrapeSlots: Sendable {
    /// One scrape's place, until it is given back or forgotten.
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
    ///   - limit: how many there are, asked each time.
    ///   - gauge: shows how many are taken.
    init(limit: @escaping @Sendable () -> Int, gauge: Gauge) {
        self.limit = limit
        self.gauge = gauge
    }

    /// Nil when all are taken.
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
