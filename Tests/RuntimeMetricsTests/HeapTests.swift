// SPDX-License-Identifier: Apache-2.0

import Dispatch
import MetricsRegistry
import Synchronization
import Testing

@testable import RuntimeMetrics

@Suite("Readings of the heap")
struct HeapTests {
    @Test("take a thousandth of the time")
    func share() {
        var pace = HeapPace()
        let start = ContinuousClock.now
        #expect(pace.allows(start))
        pace.took(.milliseconds(5), processor: .milliseconds(2), endedAt: start)
        #expect(!pace.allows(start + .milliseconds(4_999)))
        #expect(pace.allows(start + .seconds(5)))
    }

    @Test("end with the first that took more than 2 ms of CPU time")
    func last() {
        var pace = HeapPace()
        let start = ContinuousClock.now
        pace.took(.milliseconds(3), processor: .microseconds(2_001), endedAt: start)
        #expect(!pace.allows(start + .seconds(1_000_000)))
        pace.took(.zero, processor: .zero, endedAt: start)
        #expect(!pace.allows(start + .seconds(1_000_000)))
    }

    @Test("measure the CPU time")
    func measured() {
        var pace = HeapPace()
        let totals = HeapTotals(allocated: 1, free: 2, mapped: 3)
        let read = pace.reading {
            let start = ThreadTime.now
            while ThreadTime.now - start < .milliseconds(3) {}
            return totals
        }
        #expect(read == totals)
        #expect(!pace.allows(.now + .seconds(1_000_000)))
        #expect(pace.reading { totals } == nil)
    }

    @Test("hold up no other scrape")
    func concurrent() throws {
        let isFirst = Atomic(true)
        let begun = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        let registry = MetricsRegistry(now: { 1_700_000_000_000_000 })
        let families = try #require(
            HeapFamilies(registry) {
                if !isFirst.exchange(false, ordering: .relaxed) {
                    begun.signal()
                    goOn.wait()
                }
                return HeapTotals(allocated: 1, free: 2, mapped: 3)
            }
        )
        let ended = DispatchSemaphore(value: 0)
        let hasBegun = Atomic(false)
        DispatchQueue.global().async {
            while !hasBegun.load(ordering: .relaxed) { families.collect() }
            ended.signal()
        }
        try #require(begun.wait(timeout: .now() + 20) == .success)
        hasBegun.store(true, ordering: .relaxed)
        let second = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            families.collect()
            second.signal()
        }
        #expect(second.wait(timeout: .now() + 20) == .success)
        goOn.signal()
        goOn.signal()
        #expect(ended.wait(timeout: .now() + 20) == .success)
        #expect(String(decoding: registry.exposition(), as: UTF8.self).contains("\nswift_heap_free_bytes 2\n"))
    }

    @Test("give no families where the C library tells nothing")
    func unknown() {
        let registry = MetricsRegistry(now: { 1_700_000_000_000_000 })
        #expect(HeapFamilies(registry) { nil } == nil)
        #expect(!registry.descriptors.contains { $0.name.hasPrefix("swift_heap_") })
    }
}
