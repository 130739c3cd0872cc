// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import MetricsRegistry
import TestSupport
import Testing

@testable import Collector

@Suite("The places of scrapes")
struct ScrapeSlotsTests {
    @Test("are so many, and free again once given back, twice or by being forgotten")
    func limit() {
        let gauge = MetricsRegistry(now: { startOfTest }).gauge("in_flight", help: "Scrapes.")
        let slots = ScrapeSlots(limit: { 2 }, gauge: gauge)
        let first = slots.take()
        var second = slots.take()
        #expect(first != nil && second != nil)
        #expect(gauge.value == 2)
        #expect(slots.take() == nil)
        first?.giveBack()
        first?.giveBack()
        #expect(gauge.value == 1)
        let third = slots.take()
        #expect(third != nil)
        #expect(slots.take() == nil)
        second = nil
        #expect(gauge.value == 1)
        #expect(second == nil && slots.take() != nil)
        withExtendedLifetime(third) {}
    }
}
