// SPDX-License-Identifier: Apache-2.0

internal import CHeap

/// What the C library's allocator holds, in bytes.
struct HeapTotals: Equatable {
    var allocated: Int
    var free: Int
    var mapped: Int

    /// Walks all free memory under the allocator's lock; nil where the C library has no figures.
    static func read() -> HeapTotals? {
        let totals = heap_totals_now()
        return totals.known ? HeapTotals(allocated: totals.allocated, free: totals.free, mapped: totals.mapped) : nil
    }
}
