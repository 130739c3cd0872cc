// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry
internal import Synchronization

/// What the C library's allocator holds.
final class HeapFamilies: Sendable {
    private let allocated: Gauge
    private let free: Gauge
    private let mapped: Gauge
    private let read: @Sendable () -> HeapTotals?
    private let pace: Mutex<HeapPace>

    /// Reads the heap for the first time; nil where it can't be read.
    init?(_ registry: MetricsRegistry, read: @escaping @Sendable () -> HeapTotals? = { HeapTotals.read() }) {
        var pace = HeapPace()
        guard let totals = pace.reading(read) else { return nil }
        self.read = read
        self.pace = Mutex(pace)
        allocated = registry.gauge("swift_heap_allocated_bytes", help: "Heap memory in use.", unit: "bytes")
        free = registry.gauge("swift_heap_free_bytes", help: "Heap memory kept for later use.", unit: "bytes")
        mapped = registry.gauge(
            "swift_heap_mapped_bytes",
            help: "Heap memory that the allocator has from the system, in use or not.",
            unit: "bytes"
        )
        set(totals)
    }

    /// Reads the heap, unless it is too early or another thread does; the values then stay as they are.
    func collect() {
        _ = pace.withLockIfAvailable { pace in
            if let totals = pace.reading(read) { set(totals) }
        }
    }

    private func set(_ totals: HeapTotals) {
        allocated.set(totals.allocated)
        free.set(totals.free)
        mapped.set(totals.mapped)
    }
}
