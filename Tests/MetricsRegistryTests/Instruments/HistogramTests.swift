// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Testing

@Suite("Histograms")
struct HistogramTests {
    private let fixture = RegistryFixture()

    @Test("a value on a bound belongs to that bound's bucket, the next larger double to the next")
    func boundaries() {
        let bounds = [-1, 0, 0.5, 60, 900]
        let histogram = fixture.registry.histogram("delay_seconds", help: "Delay.", buckets: bounds)
        for bound in bounds { histogram.observe(bound) }
        #expect(histogram.bucketCounts == [1, 1, 1, 1, 1, 0])
        for bound in bounds { histogram.observe(bound.nextUp) }
        #expect(histogram.bucketCounts == [1, 2, 2, 2, 2, 1])
    }

    @Test("histograms with any number of bounds find every bucket", arguments: [0, 1, 7, 8, 9, 15, 16, 17, 40])
    func everyBucket(count: Int) {
        let bounds = (0..<count).map { Double($0) * 10 }
        let histogram = fixture.registry.histogram("size_bytes", help: "Size.", buckets: bounds)
        for bucket in 0...count { histogram.observe(Double(bucket) * 10 - 5) }
        #expect(histogram.bucketCounts == Array(repeating: 1, count: count + 1))
        #expect(histogram.count == UInt64(count + 1))
    }

    @Test("a final +Inf among the bounds adds no bucket")
    func infiniteBound() {
        let histogram = fixture.registry.histogram("delay_seconds", help: "Delay.", buckets: [1, .infinity])
        #expect(histogram.bounds == [1])
        #expect(fixture.conflicts.isEmpty)
    }

    @Test("a histogram ignores and counts values without a finite sum")
    func ignoredValues() throws {
        let histogram = fixture.registry.histogram("delay_seconds", help: "Delay.", buckets: [1])
        for value in [Double.nan, .infinity, -.infinity] { histogram.observe(value) }
        try histogram.merge(counts: [1, 1], sum: .nan)
        #expect(histogram.bucketCounts == [0, 0])
        #expect(histogram.sum == 0)
        #expect(fixture.samples()["metrics_registry_ignored_values_total"] == "4")
    }

    @Test("a histogram sum saturates and recovers with values of the other sign", arguments: [1.0, -1.0])
    func largestSum(sign: Double) throws {
        for native in [nil, NativeBuckets()] {
            let name = native == nil ? "classic" : "native"
            let histogram = fixture.registry.histogram(name, help: "H.", buckets: [1], native: native)
            histogram.observe(sign * 1e308)
            histogram.observe(sign * 1e308)
            try histogram.merge(counts: [0, 1], sum: sign * 1e308)
            #expect(histogram.sum == sign * .greatestFiniteMagnitude)
            for _ in 1...3 { histogram.observe(-sign * 1e308) }
            #expect(histogram.sum.magnitude < 1.3e308)
            try histogram.restore(counts: [9, 9], sum: .greatestFiniteMagnitude)
            #expect(histogram.sum.isFinite)
            #expect(histogram.bucketCounts == [9, 9])
        }
    }

    @Test("a histogram adds the tally of a batch")
    func histogramMerging() throws {
        let histogram = fixture.registry.histogram("delay_seconds", help: "Delay.", buckets: [1, 2])
        histogram.observe(0.5)
        try histogram.merge(counts: [1, 0, 3], sum: 30.25)
        #expect(histogram.bucketCounts == [2, 0, 3])
        #expect(histogram.sum == 30.75)
    }

    @Test("a tally with the wrong number of buckets is refused completely and says what was expected")
    func mismatch() {
        let histogram = fixture.registry.histogram("delay_seconds", help: "Delay.", buckets: [1, 2])
        let error = #expect(throws: HistogramMismatch.self) { try histogram.merge(counts: [1, 1], sum: 2) }
        #expect(error?.expected == 3)
        #expect(error?.found == 2)
        #expect(error?.description.contains("expected 3") == true)
        #expect(throws: HistogramMismatch.self) { try histogram.restore(counts: [1, 1, 1, 1], sum: 2) }
        #expect(histogram.count == 0)
        #expect(histogram.sum == 0)
    }

    @Test("restoring a histogram raises buckets and sum, never lowers them, and adopts the creation time")
    func histogramRestoring() throws {
        let histogram = fixture.registry.histogram("drift_seconds", help: "Drift.", buckets: [1, 2])
        try histogram.restore(counts: [5, 0, 2], sum: 20, created: 12)
        #expect(histogram.bucketCounts == [5, 0, 2])
        #expect(histogram.sum == 20)
        #expect(histogram.created == 12)
        try histogram.restore(counts: [1, 1, 1], sum: 4)
        #expect(histogram.bucketCounts == [5, 1, 2])
        #expect(histogram.sum == 20)
        #expect(histogram.created == 12)
    }

    @Test("restoring an empty histogram adopts a negative sum")
    func negativeSum() throws {
        let histogram = fixture.registry.histogram("skew_seconds", help: "Skew.", buckets: [-1, 1])
        try histogram.restore(counts: [2, 0, 0], sum: -9)
        #expect(histogram.sum == -9)
    }

    @Test("a page shows cumulative histogram buckets whose last one is the count")
    func histogramPage() {
        let histogram = fixture.registry.histogram("delay_seconds", help: "Delay.", buckets: [0.1, 60])
        for value in [0.05, 0.25, 0.5, 100] { histogram.observe(value) }
        #expect(
            fixture.page() == """
                # HELP delay_seconds Delay.
                # TYPE delay_seconds histogram
                delay_seconds_bucket{le="0.1"} 1
                delay_seconds_bucket{le="60"} 3
                delay_seconds_bucket{le="+Inf"} 4
                delay_seconds_sum 100.8
                delay_seconds_count 4

                """
        )
    }
}
