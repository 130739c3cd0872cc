// SPDX-License-Identifier: Apache-2.0

/// A saved state as a broken disk or another program might leave it.
struct StateDamage {
    private var seed: UInt64

    init(_ seed: UInt64) {
        self.seed = seed | 1
    }

    /// The state with one to four of its bytes changed, or without its end.
    mutating func applied(to state: [UInt8]) -> [UInt8] {
        guard !state.isEmpty else { return state }
        var damaged = state
        for _ in 0...next(3) {
            let place = next(damaged.count)
            switch next(4) {
            case 0: damaged[place] ^= 1 << UInt8(next(8))
            case 1: damaged[place] = 0xFF
            case 2: damaged.replaceSubrange(place..<min(place + 9, damaged.count), with: repeatElement(0xFF, count: 9))
            default: damaged.removeLast(next(damaged.count))
            }
        }
        return damaged
    }

    private mutating func next(_ limit: Int) -> Int {
        seed ^= seed << 13
        seed ^= seed >> 7
        seed ^= seed << 17
        return Int(seed % UInt64(limit))
    }
}
