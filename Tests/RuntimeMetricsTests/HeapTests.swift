// SPDX-License-Identifier: Apache-2.0

import Dispatch
import MetricsRegistry
import Synchronization
import Testing

@testable import RuntimeMetrics

@Suite("Heap readings")
struct HeapTests {
    @Test("heap readings take at most a thousandth of the time")
    func heapShare() {
        var limiter = HeapReadLimiter()
        let start = ContinuousClock.now
        #expect(limiter.allowsReading(at: start))
        limiter.recordReading(.milliseconds(5), processor: .milliseconds(2), endedAt: start)
        #expect(!limiter.allowsReading(at: start + .milliseconds(4_999)))
        #expect(limiter.allowsReading(at: start + .seconds(5)))
    }

    @Test("heap readings end with the first that takes more than 2 ms of CPU time")
    func heapLast() {
        var limiter = HeapReadLimiter()
        let start = ContinuousClock.now
        limiter.recordReading(.milliseconds(3), processor: .microseconds(2_001), endedAt: start)
        #expect(!limiter.allowsReading(at: start + .seconds(1_000_000)))
        limiter.recordReading(.zero, processor: .zero, endedAt: start)
        #expect(!limiter.allowsReading(at: start + .seconds(1_000_000)))
    }

    @Test("heap readings measure their CPU time")
    func heapMeasured() {
        var limiter = HeapReadLimiter()
        let totals = HeapTotals(allocated: 1, free: 2, mapped: 3)
        let read = limiter.reading {
            let start = ThreadTime.now
            while ThreadTime.now - start < .milliseconds(3) {}
            return totals
        }
        #expect(read == totals)
        #expect(!limiter.allowsReading(at: .now + .seconds(1_000_000)))
        #expect(limiter.reading { totals } == nil)
    }

    @Test("a heap reading blocks no other scrape")
    func heapConcurrent() throws {
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

    @Test("heap families are omitted if the C library has no figures")
    func heapUnknown() {
        let registry = MetricsRegistry(now: { 1_700_000_000_000_000 })
        #expect(HeapFamilies(registry) { nil } == nil)
        #expect(!registry.descriptors.contains { $0.name.hasPrefix("swift_heap_") })
    }
}
