// SPDX-License-Identifier: Apache-2.0

public import Synchronization

/// Atomic words in as many stripes as `Stripe` tells, each stripe on cache lines of its own, all zero at first.
///
/// 128 bytes, since x86 fetches lines of 64 by twos and Apple's CPUs have lines of 128.
@safe
@usableFromInline
struct StripedCells: ~Copyable, @unchecked Sendable {
    @inlinable static var lineWords: Int { 16 }

    @usableFromInline let stripeMask: Int
    @usableFromInline let cells: UnsafeMutablePointer<Atomic<UInt64>>

    init() {
        stripeMask = Stripe.count - 1
        let words = Stripe.count * Self.lineWords
        let room = UnsafeMutableRawPointer.allocate(
            byteCount: words * MemoryLayout<Atomic<UInt64>>.stride,
            alignment: Self.lineWords * MemoryLayout<Atomic<UInt64>>.stride
        )
        unsafe cells = room.bindMemory(to: Atomic<UInt64>.self, capacity: words)
        for index in 0..<words { unsafe (cells + index).initialize(to: Atomic(0)) }
    }

    deinit {
        unsafe cells.deinitialize(count: (stripeMask + 1) * Self.lineWords)
        unsafe UnsafeMutableRawPointer(cells).deallocate()
    }

    var stripes: Range<Int> { 0..<stripeMask + 1 }

    /// Does `body` with the word of this stripe, or of the one that it is taken for.
    @inlinable @inline(__always)
    func withCell<Result>(ofStripe stripe: Int, _ body: (borrowing Atomic<UInt64>) -> Result) -> Result {
        unsafe body(cells[(stripe & stripeMask) * Self.lineWords])
    }
}
