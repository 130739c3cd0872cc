// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A fixed number of atomic words side by side; an index outside them traps.
@safe
struct AtomicCells: ~Copyable, @unchecked Sendable {
    let count: Int
    private let cells: UnsafeMutablePointer<Atomic<UInt64>>

    /// All words zero.
    init(count: Int) {
        self.count = count
        unsafe cells = .allocate(capacity: count)
        for index in 0..<count {
            unsafe (cells + index).initialize(to: Atomic(0))
        }
    }

    deinit {
        unsafe cells.deinitialize(count: count)
        unsafe cells.deallocate()
    }

    @inline(__always)
    func add(_ amount: UInt64, at index: Int) {
        precondition(index >= 0 && index < count)
        unsafe cells[index].wrappingAdd(amount, ordering: .relaxed)
    }

    /// Adds so that who reads the sum with an acquiring fence behind also sees what was stored before.
    @inline(__always)
    func addReleasing(_ amount: UInt64, at index: Int) {
        precondition(index >= 0 && index < count)
        unsafe cells[index].wrappingAdd(amount, ordering: .releasing)
    }

    /// Raises a word to `value` if it is lower; otherwise as `addReleasing`.
    func raise(to value: UInt64, at index: Int) {
        precondition(index >= 0 && index < count)
        unsafe cells[index].raise(to: value, releasing: true)
    }

    func load(_ index: Int) -> UInt64 {
        precondition(index >= 0 && index < count)
        return unsafe cells[index].load(ordering: .relaxed)
    }
}
