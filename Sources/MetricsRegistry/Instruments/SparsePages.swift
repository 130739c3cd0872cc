// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A two-level table of atomic counters of which few are used.
///
/// Counters lie in pages of 64, allocated when the first of them counts. Nothing is freed before the end.
@safe
struct SparsePages: ~Copyable, @unchecked Sendable {
    private typealias Page = UnsafeMutablePointer<Atomic<UInt64>>
    private typealias Node = UnsafeMutablePointer<Atomic<Page?>>

    /// Counters in a page, and pages of a node.
    static var pageCells: Int { 64 }
    /// Counters of all pages of a node.
    static var nodeCells: Int { 4_096 }

    /// The number of counters, a multiple of `nodeCells`.
    let count: Int
    private let nodes: UnsafeMutablePointer<Atomic<Node?>>
    private let maximumBlocks: Int
    private let blocks = Atomic(0)

    /// - Parameter maximumBlocks: The maximum number of pages and nodes together, each of which takes 512 bytes.
    init(count: Int, maximumBlocks: Int) {
        let nodeCount = (count + Self.nodeCells - 1) / Self.nodeCells
        self.count = nodeCount * Self.nodeCells
        self.maximumBlocks = maximumBlocks
        unsafe nodes = .allocate(capacity: nodeCount)
        for index in 0..<nodeCount {
            unsafe (nodes + index).initialize(to: Atomic(nil))
        }
    }

    deinit {
        let nodeCount = count / Self.nodeCells
        for index in 0..<nodeCount {
            guard let node = unsafe nodes[index].load(ordering: .acquiring) else { continue }
            for place in 0..<64 {
                if let page = unsafe node[place].load(ordering: .acquiring) { unsafe Self.free(page) }
            }
            unsafe Self.free(node)
        }
        unsafe nodes.deinitialize(count: nodeCount)
        unsafe nodes.deallocate()
    }

    /// The maximum number of counters that are allocated.
    var madeCells: Int { blocks.load(ordering: .acquiring) * Self.pageCells }

    /// Whether no counter is allocated.
    var isEmpty: Bool { blocks.load(ordering: .acquiring) == 0 }

    /// Adds to a counter; false, and no change, if the limit of blocks is reached.
    @inline(__always)
    func add(_ amount: UInt64, at index: Int) -> Bool {
        guard let page = unsafe existingPage(of: index) ?? newPage(of: index) else { return false }
        unsafe page[index & 63].wrappingAdd(amount, ordering: .relaxed)
        return true
    }

    /// Raises a counter to `value` if it is lower; false, and no change, if the limit of blocks is reached.
    func raise(to value: UInt64, at index: Int) -> Bool {
        guard let page = unsafe existingPage(of: index) ?? newPage(of: index) else { return false }
        unsafe page[index & 63].raise(to: value)
        return true
    }

    /// Calls `body` with every non-zero counter of `range`, in order; `range` begins and ends at a node.
    @inline(__always)
    func forEachCount(in range: Range<Int>, _ body: (_ index: Int, _ count: UInt64) -> Void) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        for first in stride(from: range.lowerBound, to: range.upperBound, by: Self.nodeCells) {
            guard let node = unsafe nodes[first >> 12].load(ordering: .acquiring) else { continue }
            for place in 0..<64 {
                guard let page = unsafe node[place].load(ordering: .acquiring) else { continue }
                for cell in 0..<Self.pageCells {
                    let count = unsafe page[cell].load(ordering: .relaxed)
                    if count != 0 { body(first + place * Self.pageCells + cell, count) }
                }
            }
        }
    }

    @inline(__always)
    private func existingPage(of index: Int) -> Page? {
        precondition(index >= 0 && index < count)
        guard let node = unsafe nodes[index >> 12].load(ordering: .acquiring) else { return nil }
        return unsafe node[(index >> 6) & 63].load(ordering: .acquiring)
    }

    @inline(never)
    private func newPage(of index: Int) -> Page? {
        let node: Node
        if let existing = unsafe nodes[index >> 12].load(ordering: .acquiring) {
            unsafe node = existing
        } else {
            guard reserve() else { return nil }
            let fresh = Node.allocate(capacity: 64)
            for place in 0..<64 { unsafe (fresh + place).initialize(to: Atomic(nil)) }
            let (exchanged, existing) = unsafe nodes[index >> 12].compareExchange(
                expected: nil,
                desired: fresh,
                ordering: .acquiringAndReleasing
            )
            if !exchanged { giveBack { unsafe Self.free(fresh) } }
            unsafe node = exchanged ? fresh : existing ?? fresh
        }
        guard reserve() else { return nil }
        let fresh = Page.allocate(capacity: Self.pageCells)
        for cell in 0..<Self.pageCells { unsafe (fresh + cell).initialize(to: Atomic(0)) }
        let (exchanged, existing) = unsafe node[(index >> 6) & 63].compareExchange(
            expected: nil,
            desired: fresh,
            ordering: .acquiringAndReleasing
        )
        if exchanged { return unsafe fresh }
        giveBack { unsafe Self.free(fresh) }
        return unsafe existing
    }

    private func reserve() -> Bool {
        if blocks.wrappingAdd(1, ordering: .relaxed).oldValue < maximumBlocks { return true }
        blocks.wrappingSubtract(1, ordering: .relaxed)
        return false
    }

    private func giveBack(_ free: () -> Void) {
        free()
        blocks.wrappingSubtract(1, ordering: .relaxed)
    }

    private static func free(_ page: Page) {
        unsafe page.deinitialize(count: pageCells)
        unsafe page.deallocate()
    }

    private static func free(_ node: Node) {
        unsafe node.deinitialize(count: 64)
        unsafe node.deallocate()
    }
}
