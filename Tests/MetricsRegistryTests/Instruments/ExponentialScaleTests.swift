// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import MetricsRegistry

@Suite("Native bucket boundaries")
struct ExponentialScaleTests {
    @Test("every magnitude lies in the same native bucket as in client_golang, at every schema")
    func exponentialScaleKeys() throws {
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

    @Test("the upper bound of a native bucket is its largest value", arguments: NativeBuckets.schemas)
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
        "a growth factor selects the coarsest resolution that does not grow faster",
        arguments: [
            (65_536, -4), (65_535, -3), (256, -3), (16, -2), (4, -1), (2, 0), (1.9, 1), (1.5, 1), (1.1, 3), (1.09, 4),
            (1.003, 8), (1.001, 8), (1, 8), (0, 8), (-1, 8), (1e300, -4), (.infinity, -4), (.nan, 8),
        ] as [(Double, Int)]
    )
    func resolutions(factor: Double, schema: Int) {
        #expect(NativeBuckets(growthFactor: factor).schema == schema)
    }

    @Test("native bucket settings are clamped to their limits")
    func exponentialScaleLimits() {
        #expect(NativeBuckets(schema: 9).schema == 8)
        #expect(NativeBuckets(schema: -9).schema == -4)
        #expect(NativeBuckets(maximumBuckets: 0).maximumBuckets == 4)
        #expect(NativeBuckets(maximumBuckets: .max).maximumBuckets == 1_000)
        for threshold in [-1, .nan, .infinity] as [Double] {
            #expect(NativeBuckets(zeroThreshold: threshold).zeroThreshold == 0x1p-128)
        }
    }
}

/// Native buckets computed by definition, with the bounds from the source of client_golang.
struct ReferenceBounds {
    /// From Debian's package golang-github-prometheus-client-golang-dev.
    private static let source =
        "/usr/share/gocode/src/github.com/prometheus/client_golang/prometheus/histogram.go"

    /// The bounds within [0.5, 1) of the schemas 0 to 8.
    private let tables: [[Double]]

    init() throws {
        let text = try String(contentsOfFile: Self.source, encoding: .utf8)
        let start = try #require(text.range(of: "nativeHistogramBounds = [][]float64{"))
        let end = try #require(text[start.upperBound...].range(of: "\n}\n"))
        tables = text[start.upperBound..<end.lowerBound].split(separator: "{").dropFirst().map { table in
            table.split { !"0123456789.".contains($0) }.filter { $0.hasPrefix("0.") }.compactMap { Double($0) }
        }
        try #require(tables.map(\.count) == (0...8).map { 1 << $0 })
    }

    /// The bucket of a magnitude.
    func key(of magnitude: Double, schema: Int) -> Int {
        let (fraction, exponent) = frexp(magnitude)
        if schema > 0 {
            let table = tables[schema]
            return Self.firstPlace(in: table, notBelow: fraction) + (exponent - 1) * table.count
        }
        var key = fraction == 0.5 ? exponent - 1 : exponent
        while key % (1 << -schema) != 0 { key += 1 }
        return key / (1 << -schema)
    }

    private static func firstPlace(in table: [Double], notBelow value: Double) -> Int {
        var (low, high) = (0, table.count)
        while low < high {
            let middle = (low + high) / 2
            if table[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The upper bound of a bucket, infinite beyond the doubles.
    func upperBound(_ key: Int, schema: Int) -> Double {
        if schema < 0 { return scalbn(1, key << -schema) }
        let table = tables[schema]
        return scalbn(table[key & (table.count - 1)], (key >> schema) + 1)
    }
}

/// Magnitudes of every kind: bounds and their neighbours, powers of two, subnormals, the largest, and random ones.
func sampleMagnitudes(_ reference: ReferenceBounds, random: Int) -> [Double] {
    var samples: [Double] = [
        .leastNonzeroMagnitude, .leastNormalMagnitude, .leastNormalMagnitude.nextDown, .greatestFiniteMagnitude, 1, 0.1,
    ]
    for exponent in stride(from: -1074, through: 1023, by: 7) { samples.append(scalbn(1, exponent)) }
    for key in -300...300 { samples.append(reference.upperBound(key, schema: 8)) }
    for key in stride(from: -274_944, to: 262_144, by: 1_977) { samples.append(reference.upperBound(key, schema: 8)) }
    samples += samples.flatMap { [$0.nextUp, $0.nextDown] }
    for _ in 0..<random { samples.append(Double(bitPattern: UInt64.random(in: 1..<0x7FF0_0000_0000_0000))) }
    for _ in 0..<random { samples.append(Double.random(in: 1e-6...1e6)) }
    return samples.filter { $0 > 0 && $0.isFinite }
}
