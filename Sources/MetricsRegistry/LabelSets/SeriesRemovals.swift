// SPDX-License-Identifier: Apache-2.0

public import Synchronization

/// How often series of a family have been removed. From the first time on look-ups take a lock.
@usableFromInline
final class SeriesRemovals: Sendable {
    @usableFromInline let counter = Atomic<Int>(0)

    init() {}

    @inlinable @inline(__always) var count: Int {
        counter.load(ordering: .acquiring)
    }

    func add() {
        counter.wrappingAdd(1, ordering: .releasing)
    }
}
