// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Random numbers that a printed seed brings back (Steele, Lea and Flood, 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package init(_ seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}

/// A clock that stands still until it is moved, in microseconds since 1970.
package final class ManualClock: Sendable {
    /// 2025-11-15.
    package static let start: Int64 = 1_763_185_000_000_000

    private let time = Mutex(start)

    package init() {}

    package var now: Int64 { time.withLock { $0 } }

    package func advance(seconds: Int64) {
        time.withLock { $0 += seconds * 1_000_000 }
    }
}
