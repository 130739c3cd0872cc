// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A sequence lock: what is stored in one write is read whole or not at all.
///
/// A writer never waits for a reader. A reader runs again when a write came between; only after many such attempts does
/// it keep writers off, for as long as it copies. Neither runs code of a user's in here.
struct UpdateSequence: ~Copyable, Sendable {
    /// Attempts of a reader before it keeps writers off.
    private static var attempts: Int { 64 }

    private let writers = Mutex<Void>(())
    /// Odd while a write is going on.
    private let sequence = Atomic<UInt64>(0)

    /// Runs `body`, which stores to atomic words only.
    func write(_ body: () -> Void) {
        writers.withLock { _ in
            sequence.wrappingAdd(1, ordering: .relaxed)
            atomicMemoryFence(ordering: .releasing)
            body()
            sequence.wrappingAdd(1, ordering: .releasing)
        }
    }

    /// Runs `body`, which copies atomic words, until no write came between.
    func read(_ body: () -> Void) {
        for _ in 0..<Self.attempts {
            let before = sequence.load(ordering: .acquiring)
            if before & 1 == 1 {
                writers.withLock { _ in }
                continue
            }
            body()
            atomicMemoryFence(ordering: .acquiring)
            if sequence.load(ordering: .relaxed) == before { return }
        }
        writers.withLock { _ in body() }
    }
}
