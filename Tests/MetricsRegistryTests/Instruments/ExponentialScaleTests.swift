// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MetricsRegistry

@Suite("The buckets of native histograms")
struct ExponentialScaleTests {
    @Test("every magnitude lies in the bucket that client_golang puts it in, at every schema")
    func keys() throws {
        let reference = try ReferenceBounds()
        var wrong = 0
        for magnitude in sampleMagnitudes(reference, random: 1_000) {
            let finest = ExponentialScale.shared.finestKey(of: magnitude)
            for schema in NativeBuckets.schemas {
                let key = ExponentialScale.key(finest, down: ExponentialScale.finestSchema - schema)
                if key != reference.key(of: magnitude, schema: schema) { wrong += 1 }
            }
        }
        #expect(wrong == 0)
    }

    @Test("the upper bound of a bucket is its largest value", arguments: NativeBuckets.schemas)
    func upperBounds(schema: Int) throws {
        let reference = try ReferenceBounds()
        let steps = ExponentialScale.finestSchema - schema
        for magnitude in sampleMagnitudes(reference, random: 200) {
            let key = ExponentialScale.key(ExponentialScale.shared.finestKey(of: magnitude), down: steps)
            let bound = ExponentialScale.upperBound(of: key, schema: schema)
            let expected = reference.upperBound(key, schema: schema)
            #expect(bound == (expected.isFinite ? expected : .greatestFiniteMagnitude))
            #expect(magnitude <= bound)
        }
    }

    @Test(
        "a growth factor takes the coarsest resolution that doesn't grow faster",
        arguments: [
            (65_536, -4), (65_535, -3), (256, -3), (16, -2), (4, -1), (2, 0), (1.9, 1), (1.5, 1), (1.1, 3), (1.09, 4),
            (1.003, 8), (1.001, 8), (1, 8), (0, 8), (-1, 8), (1e300, -4), (.infinity, -4), (.nan, 8),
        ] as [(Double, Int)]
    )
    func resolutions(factor: Double, schema: Int) {
        #expect(NativeBuckets(growthFactor: factor).schema == schema)
    }

    @Test("settings are brought within their limits")
    func limits() {
        #expect(NativeBuckets(schema: 9).schema == 8)
        #expect(NativeBuckets(schema: -9).schema == -4)
        #expect(NativeBuckets(maximumBuckets: 0).maximumBuckets == 4)
        #expect(NativeBuckets(maximumBuckets: .max).maximumBuckets == 1_000)
        for threshold in [-1, .nan, .infinity] as [Double] {
            #expect(NativeBuckets(zeroThreshold: threshold).zeroThreshold == 0x1p-128)
        }
    }
}
