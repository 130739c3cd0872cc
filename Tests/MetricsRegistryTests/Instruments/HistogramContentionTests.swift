// SPDX-License-Identifier: Apache-2.0

import Dispatch
import MetricsRegistry
import Testing

extension OneAtATime {
    @Suite("Histogram contention")
    struct HistogramContentionTests {
        private let fixture = RegistryFixture()

        @Test("no observation of concurrent threads is lost from buckets or sum")
        func histogramContentionThreads() {
            let histogram = fixture.registry.histogram("size", help: "S.", buckets: [1, 2, 4])
            for _ in 1...4 {
                DispatchQueue.concurrentPerform(iterations: 8) { _ in
                    for number in 0..<20_000 { histogram.observe(Double(number % 4) + 1) }
                }
            }
            #expect(histogram.bucketCounts == [160_000, 160_000, 320_000, 0])
            #expect(histogram.count == 640_000)
            #expect(histogram.sum == 1_600_000)
            #expect(fixture.samples()[#"size_bucket{le="2"}"#] == "320000")
            #expect(fixture.samples()["size_sum"] == "1600000")
        }

        @Test("tallies and restored totals add to concurrent observations")
        func histogramContentionTallies() throws {
            let histogram = fixture.registry.histogram("size", help: "S.", buckets: [1, 2, 4])
            try histogram.restore(counts: [1, 0, 0, 5], sum: 100)
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                for _ in 0..<20_000 { histogram.observe(2) }
            }
            try histogram.merge(counts: [2, 0, 0, 0], sum: 1)
            #expect(histogram.bucketCounts == [3, 160_000, 0, 5])
            #expect(histogram.sum == 320_101)
            try histogram.restore(counts: [10, 200_000, 0, 5], sum: 400_000)
            try histogram.restore(counts: [10, 5, 1, 5], sum: 3)
            #expect(histogram.bucketCounts == [10, 200_000, 1, 5])
            #expect(histogram.sum == 400_000)
            histogram.observe(1)
            #expect(histogram.bucketCounts == [11, 200_000, 1, 5])
            #expect(histogram.sum == 400_001)
        }

        @Test("a page written during observations shows only what was observed")
        func histogramContentionPages() {
            let histogram = fixture.registry.histogram("size", help: "S.", buckets: [1, 2, 4])
            DispatchQueue.concurrentPerform(iterations: 5) { thread in
                if thread == 0 {
                    var last = 0.0
                    for _ in 0..<200 {
                        let count = Double(fixture.samples()["size_count"] ?? "") ?? -1
                        #expect(count >= last)
                        last = count
                    }
                } else {
                    for _ in 0..<50_000 { histogram.observe(1) }
                }
            }
            #expect(histogram.count == 200_000)
            #expect(histogram.sum == 200_000)
        }
    }
}
