// SPDX-License-Identifier: Apache-2.0

internal import CHeap
internal import MetricsRegistry
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// What the C library's allocator holds.
final class HeapFamilies: Sendable {
    private let allocated: Gauge
    private let free: Gauge
    private let mapped: Gauge
    private let read: @Sendable () -> HeapTotals?
    private let limiter: Mutex<HeapReadLimiter>

    /// Reads the heap for the first time; nil where it can't be read.
    init?(_ registry: MetricsRegistry, read: @escaping @Sendable () -> HeapTotals? = { HeapTotals.read() }) {
        var limiter = HeapReadLimiter()
        guard let totals = limiter.reading(read) else { return nil }
        self.read = read
        self.limiter = Mutex(limiter)
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
        _ = limiter.withLockIfAvailable { limiter in
            if let totals = limiter.reading(read) { set(totals) }
        }
    }

    private func set(_ totals: HeapTotals) {
        allocated.set(totals.allocated)
        free.set(totals.free)
        mapped.set(totals.mapped)
    }
}

/// Keeps what may take long to a thousandth of the time, and ends it once it took so long that others felt it.
struct HeapReadLimiter {
    /// CPU time of one reading past which there is no other.
    static let longest = Duration.milliseconds(2)

    private var next: ContinuousClock.Instant?
    private var isStopped = false

    /// What `read` tells; nil when it is too early for it.
    mutating func reading(_ read: () -> HeapTotals?) -> HeapTotals? {
        let start = ContinuousClock.now
        guard allowsReading(at: start) else { return nil }
        let processor = ThreadTime.now
        let totals = read()
        let end = ContinuousClock.now
        recordReading(end - start, processor: ThreadTime.now - processor, endedAt: end)
        return totals
    }

    func allowsReading(at now: ContinuousClock.Instant) -> Bool {
        !isStopped && next.map { now >= $0 } ?? true
    }

    /// - Parameters:
    ///   - duration: Time on the clock, which includes that for which the thread did not run.
    ///   - processor: CPU time.
    mutating func recordReading(_ duration: Duration, processor: Duration, endedAt end: ContinuousClock.Instant) {
        isStopped = isStopped || processor > Self.longest
        next = end + duration * 1_000
    }
}

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

enum ThreadTime {
    /// CPU time that this thread has taken.
    static var now: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
