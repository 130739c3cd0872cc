// SPDX-License-Identifier: Apache-2.0

/// The generator that every draw of the simulator comes from: the same seed gives the same numbers on every machine.
///
/// SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014. Only whole numbers are
/// drawn, because the mathematical functions of two libraries may differ in their last digit.
struct StoryRandom: Sendable {
    private var state: UInt64

    /// A stream of numbers of its own for each number, such as a device's.
    init(seed: UInt64, stream: UInt64) {
        state = Self.mixed(seed &+ 0x9E37_79B9_7F4A_7C15) ^ Self.mixed(stream &+ 0xD1B5_4A32_D192_ED03)
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mixed(state)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below the limit.
    mutating func below(_ limit: Int64) -> Int64 {
        guard limit > 0 else { return 0 }
        return Int64(next().multipliedFullWidth(by: UInt64(limit)).high)
    }

    /// A number of the range.
    mutating func from(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + below(range.upperBound - range.lowerBound + 1)
    }

    /// Whether something happens that happens so many times in a million.
    mutating func chance(_ partsPerMillion: Int64) -> Bool { below(1_000_000) < partsPerMillion }

    /// One of some values, none of which is preferred.
    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int(below(Int64(values.count)))] }
}
