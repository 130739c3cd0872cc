// SPDX-License-Identifier: Apache-2.0

/// A saved state as a broken disk or another program might leave it.
struct StateDamage {
    private var choices: Choices

    init(_ choices: Choices) {
        self.choices = choices
    }

    /// The state with one to four of its bytes changed, or without its end.
    mutating func applied(to state: [UInt8]) -> [UInt8] {
        guard !state.isEmpty else { return state }
        var damaged = state
        for _ in 0...choices.next(3) {
            let place = choices.next(damaged.count)
            switch choices.next(4) {
            case 0: damaged[place] ^= 1 << UInt8(choices.next(8))
            case 1: damaged[place] = 0xFF
            case 2: damaged.replaceSubrange(place..<min(place + 9, damaged.count), with: repeatElement(0xFF, count: 9))
            default: damaged.removeLast(choices.next(damaged.count))
            }
        }
        return damaged
    }
}
