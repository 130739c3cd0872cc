// SPDX-License-Identifier: Apache-2.0

internal import CHeap
internal import MetricsRegistry
internal import Synchronization

/// What the C library's allocator holds (mallinfo2(3)).
final class HeapFamilies: Sendable {
    private let allocated: Gauge
    private let free: Gauge
    private let mapped: Gauge
    private let pace = Mutex(HeapPace())

    init(_ registry: MetricsRegistry) {
        allocated = registry.gauge("swift_heap_allocated_bytes", help: "Heap memory in use.", unit: "bytes")
        free = registry.gauge("swift_heap_free_bytes", help: "Heap memory kept for later use.", unit: "bytes")
        mapped = registry.gauge(
            "swift_heap_mapped_bytes",
            help: "Heap memory that the allocator has from the system, in use or not.",
            unit: "bytes"
        )
    }

    func collect() {
        pace.withLock { pace in
            let start = ContinuousClock.now
            guard pace.allows(start) else { return }
            let info = mallinfo2()
            pace.took(ContinuousClock.now - start, endedAt: ContinuousClock.now)
            allocated.set(info.uordblks + info.hblkhd)
            free.set(info.fordblks)
            mapped.set(info.arena + info.hblkhd)
        }
    }
}

/// Keeps what may take long to a thousandth of the time.
struct HeapPace {
    private var next: ContinuousClock.Instant?

    func allows(_ now: ContinuousClock.Instant) -> Bool {
        next.map { now >= $0 } ?? true
    }

    mutating func took(_ duration: Duration, endedAt end: ContinuousClock.Instant) {
        next = end + duration * 1_000
    }
}
