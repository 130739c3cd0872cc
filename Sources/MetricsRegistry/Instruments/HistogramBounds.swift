// SPDX-License-Identifier: Apache-2.0

/// The finite upper bounds of a histogram, strictly increasing, and the settings of its native buckets, shared by all
/// series of a family.
///
/// The bounds lie in lanes of eight, padded with +Inf, so that the search compares a lane without branching.
final class HistogramBounds: Sendable {
    let values: [Double]
    let native: NativeBuckets?
    private let lanes: [SIMD8<Double>]

    /// Creates bounds from those registered, without a final +Inf; nil if they do not increase strictly or one is not
    /// a number.
    init?(_ bounds: [Double], native: NativeBuckets? = nil) {
        var values = bounds
        if values.last == .infinity { values.removeLast() }
        guard values.allSatisfy(\.isFinite), zip(values, values.dropFirst()).allSatisfy(<) else { return nil }
        self.values = values
        self.native = native
        lanes = stride(from: 0, to: values.count, by: 8).map { start in
            var lane = SIMD8<Double>(repeating: .infinity)
            for (offset, value) in values[start...].prefix(8).enumerated() {
                lane[offset] = value
            }
            return lane
        }
    }

    /// No bounds: one bucket for all.
    static let none = HistogramBounds()

    private init() {
        values = []
        native = nil
        lanes = []
    }

    /// Whether there are only native buckets.
    var isNativeOnly: Bool { values.isEmpty && native != nil }

    /// The number of finite bounds; there is one more bucket, for +Inf.
    var count: Int { values.count }

    /// The bucket of `value`: the number of bounds below it, since a bound belongs to its bucket.
    @inline(__always)
    func bucket(of value: Double) -> Int {
        let wanted = SIMD8(repeating: value)
        var below = 0
        for lane in lanes {
            let isBelow = SIMD8<Int64>.zero.replacing(with: 1, where: lane .< wanted)
            let inLane = Int(truncatingIfNeeded: isBelow.wrappedSum())
            below += inLane
            if inLane < 8 { break }
        }
        return below
    }
}
