// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

@testable import MetricsRegistry

@Suite("Native histograms")
struct NativeHistogramTests {
    private let fixture = RegistryFixture()

    @Test("a native histogram counts values by magnitude, and those near zero in the zero bucket")
    func nativeHistogramCounting() throws {
        let histogram = native(NativeBuckets(schema: 0, zeroThreshold: 0.25))
        for value in [1, 1.5, 2, 2, 3, -0.3, 0.25, -0.25, 0, -0.0] { histogram.observe(value) }
        let counts = try #require(histogram.nativeCounts)
        #expect(counts.schema == 0)
        #expect(counts.zeroThreshold == 0.25)
        #expect(counts.zeroCount == 4)
        #expect(counts.positive == [.init(index: 0, count: 1), .init(index: 1, count: 3), .init(index: 2, count: 1)])
        #expect(counts.negative == [.init(index: -1, count: 1)])
        #expect(counts.count == 10)
        #expect(histogram.count == 10)
        #expect(histogram.bucketCounts == [10])
        #expect(histogram.sum == 9.2)
    }

    @Test("a page with too many native buckets shows coarser ones, as computed by hand", arguments: [4, 20, 160])
    func nativeHistogramMerging(maximum: Int) throws {
        let reference = try ReferenceBounds()
        for schema in NativeBuckets.schemas {
            let histogram = native(NativeBuckets(schema: schema, maximumBuckets: maximum, zeroThreshold: 0))
            let magnitudes = (0..<240).map { _ in Double.random(in: 0.001...1_000) }
            let values = magnitudes.map { Bool.random() ? $0 : -$0 }
            var shown = schema
            for (index, value) in values.enumerated() {
                histogram.observe(value)
                if index % 57 != 0 { continue }
                let counts = try #require(histogram.nativeCounts)
                #expect(counts.schema <= shown)
                shown = counts.schema
                #expect(counts == reference.counts(values[...index], finest: schema, maximum: maximum))
            }
        }
    }

    @Test("native histograms of values of all magnitudes have bounded memory and lose none")
    func nativeHistogramHostile() throws {
        for zeroThreshold in [0, 0x1p-128] {
            for maximum in [4, 160] {
                let histogram = native(
                    NativeBuckets(schema: 8, maximumBuckets: maximum, zeroThreshold: zeroThreshold)
                )
                var observed: UInt64 = 0
                for exponent in -1074...1023 {
                    for part in 0..<4 {
                        let magnitude = scalbn(1 + Double(part) / 4, exponent)
                        histogram.observe(magnitude)
                        histogram.observe(-magnitude)
                        observed += 2
                    }
                }
                let counts = try #require(histogram.nativeCounts)
                #expect(counts.count == observed)
                #expect(counts.positive.count + counts.negative.count <= maximum)
                #expect(histogram.count == observed)
                #expect(try #require(histogram.sparse).memory <= 300 << 10)
            }
        }
    }

    @Test("the coarsest native buckets agree with the values beyond the zero bucket")
    func widenedZero() throws {
        let reference = try ReferenceBounds()
        let histogram = native(NativeBuckets(schema: 8, maximumBuckets: 20, zeroThreshold: 0))
        let values = sampleMagnitudes(reference, random: 100).map { Bool.random() ? $0 : -$0 }
        for value in values { histogram.observe(value) }
        let counts = try #require(histogram.nativeCounts)
        #expect(counts.schema == -4)
        let near = values.filter { $0.magnitude <= counts.zeroThreshold }
        #expect(counts.zeroCount == UInt64(near.count))
        let far = values.filter { $0.magnitude > counts.zeroThreshold }
        #expect(counts.positive == reference.buckets(far.filter { $0 > 0 }, schema: -4))
        #expect(counts.negative == reference.buckets(far.filter { $0 < 0 }.map(-), schema: -4))
        #expect(counts.positive.count + counts.negative.count <= 20)
    }

    @Test("concurrent native observations lose nothing during scrapes")
    func nativeHistogramConcurrency() async throws {
        for round in 0..<8 {
            let histogram = native(NativeBuckets(schema: round % 2 == 0 ? 8 : 3), "delay_\(round)_seconds")
            let perTask = 4_000
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<4 {
                    group.addTask {
                        for index in 0..<perTask {
                            let exponent = (index * 13 + task) % 240 - 120
                            histogram.observe(Double(sign: .plus, exponent: exponent, significand: 1.3))
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<50 {
                        let counts = histogram.nativeCounts
                        if (counts?.count ?? 0) > UInt64(4 * perTask) { Issue.record("more than observed") }
                    }
                }
            }
            #expect(histogram.nativeCounts?.count == UInt64(4 * perTask))
        }
    }

    @Test("the native count is never behind that of the fixed bounds")
    func nativeHistogramBoth() async throws {
        let histogram = fixture.registry.histogram(
            "delay_seconds",
            help: "Delay.",
            buckets: [1, 2],
            native: NativeBuckets()
        )
        let observed = fixture.registry.counter("observed_total", help: "Observed.")
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for index in 0..<200_000 { histogram.observe(Double(index % 5)) }
                observed.add()
            }
            group.addTask {
                while observed.value == 0 {
                    let bounds = histogram.count
                    atomicMemoryFence(ordering: .acquiring)
                    if (histogram.nativeCounts?.count ?? 0) < bounds { Issue.record("the native count is behind") }
                }
            }
        }
        #expect(histogram.count == 200_000)
        #expect(histogram.nativeCounts?.count == 200_000)
        #expect(histogram.bucketCounts == [80_000, 40_000, 80_000])
    }

    @Test("text pages of a histogram without bounds show all observations as one bucket")
    func textPage() {
        let histogram = native(NativeBuckets())
        for value in [0.5, -3, 0] { histogram.observe(value) }
        #expect(
            fixture.page() == """
                # HELP delay_seconds Delay.
                # TYPE delay_seconds histogram
                delay_seconds_bucket{le="+Inf"} 3
                delay_seconds_sum -2.5
                delay_seconds_count 3

                """
        )
    }

    @Test("different native buckets under the same name are a conflict")
    func nativeHistogramConflicts() {
        let first = native(NativeBuckets())
        #expect(native(NativeBuckets()) === first)
        #expect(fixture.conflicts.isEmpty)
        _ = native(NativeBuckets(schema: 5))
        _ = fixture.registry.histogram("delay_seconds", help: "Delay.")
        #expect(fixture.conflicts.map(\.reason) == [.otherBuckets, .otherBuckets])
    }

    private func native(_ settings: NativeBuckets, _ name: String = "delay_seconds") -> Histogram {
        fixture.registry.histogram(name, help: "Delay.", native: settings)
    }
}

extension ReferenceBounds {
    func buckets(_ magnitudes: [Double], schema: Int) -> [NativeCounts.Bucket] {
        var counts: [Int: UInt64] = [:]
        for magnitude in magnitudes { counts[key(of: magnitude, schema: schema), default: 0] += 1 }
        return counts.keys.sorted().map { NativeCounts.Bucket(index: $0, count: counts[$0] ?? 0) }
    }

    /// The expected page for non-zero values: the finest schema with few enough buckets.
    func counts(_ values: ArraySlice<Double>, finest: Int, maximum: Int) -> NativeCounts? {
        for schema in (NativeBuckets.schemas.lowerBound...finest).reversed() {
            let negative = buckets(values.filter { $0 < 0 }.map(-), schema: schema)
            let positive = buckets(values.filter { $0 > 0 }, schema: schema)
            if negative.count + positive.count > maximum { continue }
            return NativeCounts(
                schema: schema,
                zeroThreshold: 0,
                zeroCount: 0,
                negative: negative,
                positive: positive
            )
        }
        return nil
    }
}
