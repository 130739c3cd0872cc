// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MetricsRegistry

@Suite("Native histogram tallies")
struct NativeTallyTests {
    private let fixture = RegistryFixture()

    @Test("native buckets count a tally at its bounds, and just above the last one")
    func nativeTallyMerging() throws {
        let histogram = histogram(buckets: [1, 4], NativeBuckets(schema: 0))
        try histogram.merge(counts: [2, 0, 3], sum: 100)
        #expect(histogram.bucketCounts == [2, 0, 3])
        #expect(histogram.nativeCounts?.positive == [.init(index: 0, count: 2), .init(index: 3, count: 3)])
        #expect(histogram.nativeCounts?.count == histogram.count)
    }

    @Test("native buckets without bounds count a tally at its mean")
    func nativeTallyMean() throws {
        let histogram = histogram(NativeBuckets(schema: 0))
        try histogram.merge(counts: [10], sum: 30)
        #expect(histogram.nativeCounts?.positive == [.init(index: 2, count: 10)])
        #expect(histogram.sum == 30)
    }

    @Test("restored fixed buckets raise the native ones by the difference")
    func restoringCounts() throws {
        let histogram = histogram(buckets: [1], NativeBuckets(schema: 0))
        histogram.observe(0.5)
        try histogram.restore(counts: [3, 1], sum: 9)
        try histogram.restore(counts: [3, 1], sum: 9)
        #expect(histogram.bucketCounts == [3, 1])
        #expect(histogram.nativeCounts?.count == 4)
    }

    @Test("native counts of an earlier process are restored exactly, at every schema")
    func restoringNative() throws {
        for schema in NativeBuckets.schemas {
            let settings = NativeBuckets(schema: schema)
            let earlier = histogram(settings, "earlier_\(schema + 4)")
            for index in 1...100 { earlier.observe(Double(index) * (index % 3 == 0 ? -0.7 : 0.3)) }
            earlier.observe(0)
            let kept = try #require(earlier.nativeCounts)
            let later = histogram(settings, "later_\(schema + 4)")
            try later.restore(native: kept, sum: earlier.sum, created: 5)
            try later.restore(native: kept, sum: earlier.sum)
            #expect(later.nativeCounts == kept)
            #expect(later.sum == earlier.sum)
            #expect(later.created == 5)
        }
    }

    @Test("native counts of another schema are restored completely, coarser ones at their upper bounds")
    func restoringOtherSchema() throws {
        let coarse = NativeCounts(
            schema: 0,
            zeroThreshold: 0.5,
            zeroCount: 2,
            negative: [.init(index: 3, count: 1)],
            positive: [.init(index: 0, count: 5), .init(index: 1, count: 6)]
        )
        let finer = histogram(NativeBuckets(schema: 2), "finer")
        try finer.restore(native: coarse, sum: 1)
        #expect(finer.nativeCounts?.positive == [.init(index: 0, count: 5), .init(index: 4, count: 6)])
        #expect(finer.nativeCounts?.negative == [.init(index: 12, count: 1)])
        let coarser = histogram(NativeBuckets(schema: -1), "coarser")
        try coarser.restore(native: coarse, sum: 1)
        #expect(coarser.nativeCounts?.positive == [.init(index: 0, count: 5), .init(index: 1, count: 6)])
        #expect(coarser.nativeCounts?.negative == [.init(index: 2, count: 1)])
        #expect(coarser.count == 14)
    }

    @Test("impossible native counts and unknown schemas are ignored on restore")
    func hostileCounts() throws {
        let histogram = histogram(NativeBuckets(schema: 3))
        for index in [Int.min, -1 << 30, 1 << 30, Int.max] {
            let hostile = NativeCounts(
                schema: 8,
                zeroThreshold: 0,
                zeroCount: 0,
                negative: [.init(index: index, count: 1)],
                positive: [.init(index: index, count: 1)]
            )
            try histogram.restore(native: hostile, sum: 0)
        }
        let unknown = NativeCounts(schema: 60, zeroThreshold: 0, zeroCount: 9, negative: [], positive: [])
        try histogram.restore(native: unknown, sum: 0)
        #expect(histogram.count == 0)
    }

    @Test("a histogram without native buckets refuses native counts")
    func nativeTallyRefused() {
        let plain = fixture.registry.histogram("plain", help: "Plain.", buckets: [1])
        let none = NativeCounts(schema: 0, zeroThreshold: 0, zeroCount: 0, negative: [], positive: [])
        #expect(throws: HistogramMismatch.self) { try plain.restore(native: none, counts: [1, 1], sum: 0) }
        #expect(plain.nativeCounts == nil)
        let both = histogram(buckets: [1], NativeBuckets())
        #expect(throws: HistogramMismatch.self) { try both.restore(native: none, sum: 0) }
    }

    private func histogram(
        buckets: [Double] = [],
        _ settings: NativeBuckets,
        _ name: String = "delay_seconds"
    ) -> Histogram {
        fixture.registry.histogram(name, help: "Delay.", buckets: buckets, native: settings)
    }
}
