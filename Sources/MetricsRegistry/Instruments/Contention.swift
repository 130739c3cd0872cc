// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Tells whether threads get into each other's way often, and not now and then over hours.
struct Contention: ~Copyable, Sendable {
    /// Collisions between two looks at how much was done meanwhile.
    private static var patience: UInt64 { 16 }
    /// Work for each collision from which on a collision is rare.
    private static var rarity: UInt64 { 256 }

    private let collisions = Atomic<UInt64>(0)
    private let seen = Atomic<UInt64>(0)

    init() {}

    /// Notes a collision; true when the latest came with little work between them. `work` gives all that was done so far,
    /// and is asked for rarely.
    func isFrequent(work: () -> UInt64) -> Bool {
        let (_, count) = collisions.wrappingAdd(1, ordering: .relaxed)
        if !count.isMultiple(of: Self.patience) { return false }
        let done = work()
        let before = seen.exchange(done, ordering: .relaxed)
        return done &- min(before, done) < Self.patience * Self.rarity
    }
}
